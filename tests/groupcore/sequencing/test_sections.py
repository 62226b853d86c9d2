"""What a node's processes send: runs, in parts that fit into sections, and whose each is."""

from __future__ import annotations

import pytest

from groupcore.batch import MESSAGE_COST_BYTES, PACKED_BYTES
from groupcore.sequencing.headers import Send, chain_of
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.sections import RUN_BYTES, RUNS_MAX, Unaccepted
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.sequencing.world import World

LIMIT = RUN_BYTES + 100 + 2 * PACKED_BYTES
"""A section has room for a run of two messages of 100 bytes together."""


def run_of(*sizes: int) -> Unaccepted:
    payloads = [bytes(size) for size in sizes]
    return Unaccepted(7, 11, payloads, sum(sizes))


def test_a_run_that_fits_is_not_cut() -> None:
    run = run_of(40, 60)
    assert run.room_bytes == RUN_BYTES + 40 + 60 + 2 * PACKED_BYTES
    assert run.parts(run.room_bytes) == [run]
    assert len(run.parts(run.room_bytes - 1)) == 2


def test_a_run_is_cut_between_messages_and_keeps_its_numbers() -> None:
    parts = run_of(40, 50, 20, 90).parts(LIMIT)
    assert [(part.first, part.last, part.size_bytes) for part in parts] == [
        (11, 12, 90),
        (13, 13, 20),
        (14, 14, 90),
    ]
    assert {part.group for part in parts} == {7}


def test_a_message_above_the_limit_stands_alone() -> None:
    parts = run_of(10, 500, 10).parts(LIMIT)
    assert [part.size_bytes for part in parts] == [10, 500, 10]


def test_parts_cost_together_what_the_run_costs() -> None:
    run = run_of(40, 50, 20, 90)
    assert sum(part.cost_bytes for part in run.parts(LIMIT)) == run.cost_bytes
    assert run.cost_bytes == 200 + 4 * MESSAGE_COST_BYTES


def test_the_chain_number_of_a_run_follows_from_its_place_in_the_frame() -> None:
    stretches: list[tuple[int, ...]] = [(1, 2, 30, 0), (2, 1, 5, 0), (1, 2, 40, 1)]
    assert [chain_of(stretches, index) for index in range(5)] == [30, 31, 5, 40, 41]
    with pytest.raises(AssertionError):
        chain_of(stretches, 5)


def sections_of(runs: int, size: int, limit: int) -> list[tuple[int, int]]:
    """Bytes and runs of each section in which a process sends so many messages of that size."""
    world = World("ab", options=ServiceOptions(section_bytes=limit))
    groups = [world.create(name) for name in "gh"]
    process = world.open("b")
    for number in range(runs):
        payload = number.to_bytes(4, "big") + bytes(size)
        world["b"].service.send(process, groups[number % 2], [payload], world.now)
    world.turn()
    sections = []
    for source, _, data in world.packets:
        (raw,) = unpack_packets(b"\x91" + data)
        batch = decode_packet(raw, source, None)
        if isinstance(header := batch.headers[-1], Send):
            sections.append((batch.size_bytes, len(header.groups) // 8))
    return sections


def test_a_section_is_no_larger_than_its_limit_though_it_has_room_for_more_runs() -> None:
    sections = sections_of(runs=40, size=400, limit=4_000)
    assert sum(count for _, count in sections) == 40
    assert max(size for size, _ in sections) < 4_000
    assert max(count for _, count in sections) < RUNS_MAX


def test_a_section_has_no_more_runs_than_may_be_though_it_has_room_for_more_bytes() -> None:
    sections = sections_of(runs=RUNS_MAX + 10, size=1, limit=56_000)
    assert [count for _, count in sections] == [RUNS_MAX, 10]
