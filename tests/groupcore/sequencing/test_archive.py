"""The archive: what a group's next first member begins with, and how much a node keeps of it."""

from __future__ import annotations

from random import Random

from groupcore.sequencing.archive import RUN_COST_BYTES, SHELVED_LEAST_BYTES, Archive, Kept
from groupcore.sequencing.archiving import ASKED_AT_ONCE
from groupcore.sequencing.events import Delivered, StateInstalled
from groupcore.sequencing.names import Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.shelf import MemoryShelf
from groupcore.view import Address
from tests.groupcore.sequencing.durable_world import DurableWorld

SENDER = Process(Address("a", 1), 1)
STATE = bytes(2 * SHELVED_LEAST_BYTES)


def filled(total_max: int = 10_000) -> tuple[Archive, MemoryShelf]:
    shelf = MemoryShelf()
    return Archive(1 << 20, total_max, shelf), shelf


def add(archive: Archive, group: int, payload: bytes) -> None:
    """The group's next message, as if it had been recorded."""
    one = archive.groups.get(group)
    last = 0 if one is None else max([one.seqno, *(run.last for run in one.runs())])
    packed = Archive(1 << 20, 1 << 20)
    packed.open([group, last, None, b"\x90", [[last + 1, [["a", 1], 1], 1, 1, [payload]]]])
    run = next(packed.groups[group].runs())
    if one is None:
        archive.replace(group, 0, b"", {})
        one = archive.groups.setdefault(group, archive.get(group))
    archive.runs_bytes -= one.cost_bytes
    one.keep(run)
    archive.runs_bytes += one.cost_bytes
    archive.behind[group] = None


def messages(archive: Archive, group: int) -> list[bytes]:
    return [payload for run in archive.get(group).runs() for payload in run.payloads]


def is_consistent(archive: Archive, shelf: MemoryShelf) -> bool:
    """I2 and I3."""
    costs = {group: one.cost_bytes for group, one in archive.groups.items()}
    used = 0
    for one in archive.groups.values():
        used += len(one._shelved) + isinstance(one._state, int)
    with_runs = {group for group, cost in costs.items() if cost}
    return (
        archive.runs_bytes == sum(costs.values())
        and set(archive.behind) == with_runs
        and len(shelf) == used
    )


def test_i1_runs_that_were_shelved_come_first_and_as_they_were() -> None:
    archive, _ = filled()
    wanted = []
    for at in range(9):
        add(archive, 1, b"%d" % at)
        wanted.append(b"%d" % at)
        if at % 3 == 0:
            archive.shelve(1)
    assert messages(archive, 1) == wanted
    runs = list(archive.get(1).runs())
    assert runs[0] == Kept(1, SENDER, 1, 1, [b"0"])
    assert [run.seqno for run in runs] == list(range(1, 10))


def test_i2_i3_what_is_counted_and_shelved_is_what_is_there() -> None:
    random = Random(3)
    archive, shelf = filled()
    for _ in range(600):
        group = random.randrange(1, 6)
        what = random.random()
        one = archive.groups.get(group)
        if what < 0.6:
            add(archive, group, bytes(random.randrange(50)))
        elif what < 0.75:
            archive.shelve(group)
        elif what < 0.9 and one is not None:
            last = max([one.seqno, *(run.last for run in one.runs())])
            archive.replace(group, random.randrange(one.seqno, last + 1), STATE, {})
        elif what < 0.95:
            archive.forget(group)
        else:
            half = list(archive.groups)[::2]
            opened = archive.beside()
            for part in (archive.pack(archive.groups), archive.pack(half)):
                opened.open(part)
            archive.become(opened)
        assert is_consistent(archive, shelf)
    archive.clear()
    assert len(shelf) == archive.runs_bytes == 0


def test_a_newer_state_takes_the_place_of_shelved_runs_and_of_no_later_ones() -> None:
    archive, shelf = filled()
    for at in range(6):
        add(archive, 1, b"%d" % at)
        if at in (1, 3):
            archive.shelve(1)
    archive.replace(1, 3, STATE, {})
    assert messages(archive, 1) == [b"3", b"4", b"5"]
    assert archive.get(1).state == STATE
    assert len(shelf) == 1
    installed, first, *_ = archive.get(1).events(1, 100, SENDER.node)
    assert installed == StateInstalled(1, 3, STATE)
    assert isinstance(first, Delivered)


def test_while_there_is_not_too_much_nobody_is_asked() -> None:
    archive, _ = filled(total_max=3 * RUN_COST_BYTES + 3)
    for group in (3, 1, 2):
        add(archive, group, b"x")
    assert archive.oldest(2) == []
    add(archive, 1, b"x")
    assert archive.oldest(2) == [3, 1], "whose first run came first"
    assert archive.oldest(2) == [2, 3], "I3 of archiving: each has its turn"


def test_the_runs_of_all_groups_stay_within_the_bound_whoever_hosts_them() -> None:
    """Groups 1 to 30 have a member at a, the others none; all are sent to."""
    total = 6_000
    options = ServiceOptions(durable=True, archive_total_bytes=total)
    world = DurableWorld("abc", options=options)
    groups = [world.create(f"g{at}") for at in range(2 * ASKED_AT_ONCE)]
    mine, other = world.open("a"), world.open("b")
    hosted = groups[: len(groups) // 2]
    for group in hosted:
        world.join(mine, group)
    sent: dict[int, list[bytes]] = {group: [] for group in groups}
    for at in range(400):
        group = groups[at % len(groups)]
        sent[group].append(b"%d" % at)
        world.send(other, group, sent[group][-1])
        world.run(1)
    world.run(100)
    for name in "abc":
        archive = world[name].service.plane.archive
        assert archive is not None
        assert archive.runs_bytes <= total
        assert any(archive.get(group).state for group in hosted)
    late = world.open("c")
    for group in groups:
        world.join(late, group)
    assert {group: world["c"].state[group] for group in groups} == sent
