"""A checkpoint of a node with many groups is packed some of them a turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import pytest
from msgpack import packb, unpackb

from groupcore.sequencing import node_packing, record_table
from groupcore.sequencing.archive import Archive, Archived
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.node_packing import Packing
from groupcore.sequencing.node_state import take_node_state
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.service import Service
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

    def archived_counted(self: Archive, groups: Iterable[GroupId]) -> bytes:
        chosen = list(groups)
        portions[-1] += len(chosen)
        return pack_archived(self, chosen)

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


def test_an_archive_of_an_earlier_version_is_read() -> None:
    archive = Archive(1_000, 1_000)
    archive.groups[3] = Archived(archive.shelf, 5, b"state")
    (entry,) = unpackb(archive.pack([3]))
    other = Archive(1_000, 1_000)
    other.restore(unpackb(packb([entry])))
    assert (other.get(3).seqno, other.get(3).state) == (5, b"state")
