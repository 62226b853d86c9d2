"""A checkpoint of a node with many groups is packed some of them a turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

import pytest
from msgpack import packb, unpackb

from groupcore.sequencing import node_packing, record_table
from groupcore.sequencing.archive import Archive, Archived
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.node_packing import Packing, pack_whole
from groupcore.sequencing.node_state import Taking, take_node_state
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.restoring import Restoring
from groupcore.sequencing.service import Service
from groupcore.sequencing.shelf import MemoryShelf
from tests.groupcore.sequencing.durable_world import DurableWorld

GROUPS = 40
SLICE = 4


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_table, "SLICE", SLICE)
    monkeypatch.setattr(node_packing, "ARCHIVED_SLICE", SLICE)


def crowd(options: ServiceOptions) -> tuple[DurableWorld, list[GroupId]]:
    """Many groups, each with something in its archive."""
    world = DurableWorld("ab", options=options)
    groups = [world.create(f"g{number}") for number in range(GROUPS)]
    process = world.open("a")
    for group in groups:
        world.send(process, group, b"%d" % group)
    world.run(40)
    return world, groups


def archived(service: Service) -> dict[GroupId, tuple[int, bytes | None, list[object]]]:
    archive = service.plane.archive
    assert archive is not None
    return {
        group: (one.seqno, one.state, [tuple(run) for run in one.runs()])
        for group, one in archive.groups.items()
    }


def test_no_turn_packs_more_than_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    portions = [0]
    pack_records, pack_archived = record_table.pack_records, Archive.pack

    def records_counted(plane: Plane, records: Sequence[Record]) -> bytes:
        portions[-1] += len(records)
        return pack_records(plane, records)

    def archived_counted(
        self: Archive, groups: Iterable[GroupId], known: Mapping[GroupId, int]
    ) -> bytes:
        chosen = list(groups)
        portions[-1] += len(chosen)
        return pack_archived(self, chosen, known)

    world, groups = crowd(ServiceOptions(durable=True, checkpoint_bytes=20_000))
    monkeypatch.setattr(node_packing, "pack_records", records_counted)
    monkeypatch.setattr(Archive, "pack", archived_counted)
    log = world["a"].service.plane.log
    assert log is not None
    log.size_bytes += 20_000
    world["a"].service.idle.end()  # this has come from nowhere
    while log.size_bytes > 10_000:
        portions.append(0)
        assert len(portions) < 100, "no checkpoint is made"
        assert world["a"].service.next_wake() == 0.0 or len(portions) == 2
        world["a"].service.end_turn(world.now)
        world.store(world["a"], world["a"].service.take())
    assert sum(portions) >= 2 * GROUPS
    assert max(portions) <= SLICE
    world.turn()
    world.run(40)
    world.power_cut()
    assert world.restart("ab")
    world.run(40)
    world.join(world.open("b"), groups[7])
    assert world["b"].state[groups[7]] == [b"%d" % groups[7]]


def test_i1_what_is_archived_while_the_state_is_packed_is_in_it_as_it_is_in_the_end() -> None:
    world, groups = crowd(ServiceOptions(durable=True))
    a, process = world["a"].service, world.open("a")
    archive = a.plane.archive
    assert archive is not None
    packing = Packing(a.plane)
    state, turns = None, 0
    while state is None:
        state = packing.step(a.conductor.place())
        turns += 1
        if turns == 15:  # some are packed, others are not
            for group in (groups[0], groups[-1]):
                world.send(process, group, b"later")
            world.run(5)
            archive.replace(groups[1], 1, b"newer", {})
            a.delete(groups[2], world.now)
            world.turn()
    other = Service(world["b"].address, world.options, Random(0))
    take_node_state(other.plane, state)
    assert archived(other) == archived(a)
    assert groups[2] not in archived(a)


def test_what_is_archived_is_opened_a_part_a_turn_and_counts_when_all_of_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A node that opened all of it between two packets would be silent, and be taken for dead."""
    world, _ = crowd(ServiceOptions(durable=True))
    a = world["a"].service
    state = pack_whole(a.plane, a.conductor.place())
    other = Service(world["b"].address, world.options, Random(0))
    archive, opened = other.plane.archive, 0
    assert archive is not None
    restore = Archive.open

    def counted(self: Archive, part: bytes) -> None:
        nonlocal opened
        opened += 1
        restore(self, part)

    monkeypatch.setattr(Archive, "open", counted)
    taking = Taking(other.plane, state)
    assert not opened
    most, is_whole = 0, False
    while not is_whole:
        before, is_whole = opened, taking.step()
        most = max(most, opened - before)
        assert not archive.groups
    assert (most, opened > 5) == (1, True)
    parts = opened
    taking.finish()
    assert opened == parts
    assert archived(other) == archived(a)


def test_a_log_is_taken_over_an_entry_or_a_part_a_step_and_is_the_same_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sessions at a node that begins a new life go on in between."""
    world, groups = crowd(ServiceOptions(durable=True, checkpoint_bytes=20_000))
    for host in world.lives():
        assert host.service.plane.log is not None
        host.service.plane.log.size_bytes += 20_000
    world.run(60)
    process = world.open("a")
    for group in groups[:5]:
        world.send(process, group, b"behind the checkpoint")
        world.run(3)
    me, log = world["a"].address, list(world.disks["a"].stored)
    at_once = Service(me, world.options, Random(0), log)
    done = [0, 0]
    opened, entered = Archive.open, Restoring._entry

    def opening(self: Archive, part: bytes) -> None:
        done[0] += 1
        opened(self, part)

    def entering(self: Restoring, kind: int, entry: list[object]) -> None:
        done[1] += 1
        entered(self, kind, entry)

    monkeypatch.setattr(Archive, "open", opening)
    monkeypatch.setattr(Restoring, "_entry", entering)
    other, former, most = Service(me, world.options, Random(0)), 0, 0
    for _ in other.restore(log):
        most, former = max(most, sum(done) - former), sum(done)
    assert (most, sum(done)) == (1, former)
    assert min(done) > 0
    assert archived(other) == archived(at_once)
    assert (other.held, other.stored_view()) == (at_once.held, at_once.stored_view())


def test_of_a_state_that_is_not_taken_nothing_stays_on_the_shelf() -> None:
    world, groups = crowd(ServiceOptions(durable=True))
    a = world["a"].service
    assert a.plane.archive is not None
    a.plane.archive.replace(groups[0], 2, bytes(1_000), {})
    state = pack_whole(a.plane, a.conductor.place())
    shelf = MemoryShelf()
    other = Service(world["b"].address, world.options, Random(0), shelf=shelf)
    taking = Taking(other.plane, state)
    while not taking.step():
        pass
    assert len(shelf) > 0
    taking.drop()
    assert len(shelf) == 0


def test_an_archive_of_an_earlier_version_is_read() -> None:
    archive = Archive(1_000, 1_000)
    archive.groups[3] = Archived(archive.shelf, 5, b"state")
    (entry,) = unpackb(archive.pack([3]))
    other = Archive(1_000, 1_000)
    for part in unpackb(packb([entry])):
        other.open(part)
    assert (other.get(3).seqno, other.get(3).state) == (5, b"state")
