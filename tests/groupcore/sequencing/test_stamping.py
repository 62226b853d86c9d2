"""Frames: what a turn has numbered leaves in as few as hold it."""

from __future__ import annotations

import pytest

from groupcore.aio.life import SECTION_RESERVE_BYTES
from groupcore.batch import Batch, pack_messages
from groupcore.errors import WireError
from groupcore.sequencing.headers import (
    Accept,
    AcceptOfOne,
    AcceptUnplaced,
    Digest,
    pack_column,
    processes_of,
    stretches_of,
    unpack_column,
)
from groupcore.sequencing.logged_frames import logged_frame
from groupcore.sequencing.names import BEGINNING, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.stamping import Stamping
from groupcore.view import Address
from groupcore.wire import encode_packet
from tests.groupcore.sequencing.world import Packet, World

A, B = Address("a", 1), Address("b", 1)


def accept(origins: tuple[Address, ...], *stretches: int, runs: int) -> Accept:
    column = pack_column([1] * runs)
    return Accept(1, 1, BEGINNING, origins, b"", b"", pack_column([*stretches]), *[column] * 4)


def test_runs_are_one_stretch_where_node_process_and_chain_go_on_and_only_there() -> None:
    stamping = Stamping(1)
    for seqno, (origin, process, chain) in enumerate(
        [(A, 1, 5), (A, 1, 6), (B, 1, 7), (B, 2, 8), (B, 2, 10), (B, 2, 11), (A, 2, 12)], 1
    ):
        stamping.add(origin, process, chain, (7, seqno, [b"x"]), seqno, {})
    assert stamping.runs == 7
    assert stamping.stretches() == [
        (1, 2, 5, 0),
        (1, 1, 7, 1),
        (2, 1, 8, 1),
        (2, 2, 10, 1),
        (2, 1, 12, 0),
    ]


def frames(world: World, name: str, since: int) -> list[Batch]:
    """The frames of a node's own stream behind this one."""
    own = world[name].service.plane.own
    return [batch for _, batch in own.kept(since + 1, own.received)]


def busy(world: World, size: int) -> tuple[int, list[Process]]:
    """Processes of all nodes send to groups of `a` at the same moment: its frames before that."""
    processes = [world.open(name) for name in "abc"]
    groups = [world.create(f"g{at}") for at in range(3)]
    for process, group in zip(processes, groups, strict=True):
        world.join(process, group)
    world.run(60)
    world.lose(Digest)  # so that no frame becomes stable, and all can be looked at
    before = world["a"].service.plane.own.received
    for process, group in zip(processes, groups, strict=True):
        world.send(process, group, bytes(size), bytes(size))
    world.turn()
    packets, world.packets = world.packets, []
    for packet in packets:
        world.deliver(packet)
    world.turn()
    return before, processes


def test_what_several_nodes_have_sent_is_one_frame() -> None:
    world = World("abc")
    before, processes = busy(world, 20)
    first, *others = frames(world, "a", before)
    headers = [batch.headers[-1] for batch in (first, *others)]
    assert all(isinstance(header, Accept) for header in headers)
    nodes = [header.origins for header in headers if isinstance(header, Accept)]
    assert {B, Address("c", 1)} in [set(origins) for origins in nodes]
    told = [one for header in headers if isinstance(header, Accept) for one in processes_of(header)]
    assert sorted(told) == sorted(processes)
    world.lose_nothing()
    world.run()
    for process in processes:
        (given,) = [
            runs for (who, _), runs in world[process.node.name].given.items() if who == process
        ]
        assert given == [bytes(20)] * 2


def test_a_section_that_fills_a_frame_goes_alone_and_closed() -> None:
    world = World("abc")
    before, _ = busy(world, world.options.section_bytes // 3)
    sent = frames(world, "a", before)
    headers = [batch.headers[-1] for batch in sent]
    assert [len(header.origins) for header in headers if isinstance(header, Accept)] == [1, 1, 1]
    body = pack_messages([bytes(world.options.section_bytes // 3)] * 2)
    assert [batch.body for batch in sent] == [body] * 3


@pytest.mark.parametrize("size", [0, 1, 20, 150])
@pytest.mark.parametrize(
    ("names", "count", "run"), [("abbccc", 6, 400), ("bc", 90, 1), ("bc" * 40, 1, 1)]
)
def test_sections_and_frames_are_no_larger_than_they_may_be(
    size: int, names: str, count: int, run: int
) -> None:
    """However small the messages are: what stands of them in columns counts as well."""
    options = ServiceOptions(section_bytes=1_000)
    world = World("abc", options=options)
    processes = [world.open(name) for name in names]
    groups = [world.create(f"g{at}") for at in range(count)]
    world.run(60)
    sizes: list[int] = []

    def look(packet: Packet) -> bool:
        sizes.append(len(packet[2]))
        return False

    world.lost = look
    for process in processes:
        for group in groups:
            world[process.node.name].service.send(process, group, [bytes(size)] * run, 0.0)
    world.turn()
    world.run()
    assert sum(sizes) > len(names) * count * run * size  # all of them have come by
    assert max(sizes) <= options.section_bytes + SECTION_RESERVE_BYTES


def test_a_run_says_of_which_node_its_process_is() -> None:
    header = accept((A, B), 1, 2, 5, 1, 1, 1, 9, 0, runs=3)
    assert processes_of(header) == [Process(B, 1), Process(B, 1), Process(A, 1)]


def test_a_stretch_of_none_of_the_nodes_is_refused() -> None:
    with pytest.raises(WireError, match="none of 1 nodes"):
        stretches_of(accept((A,), 1, 1, 5, 1, runs=1))


def test_a_frame_in_the_log_of_an_earlier_version_is_read() -> None:
    columns = [pack_column(numbers) for numbers in ([7, 8], [3, 4], [1, 1], [1, 1])]
    stretches = pack_column([5, 2, 30])
    since = pack_column([5, 2, 30, 0])
    body = pack_messages([b"one", b"two"])
    for former in (
        AcceptOfOne(12, 3, B, b"", b"", stretches, *columns),
        AcceptUnplaced(12, 3, (B,), b"", b"", since, *columns),
    ):
        batch = logged_frame(encode_packet(Batch(A, None, (former,), body, 2)), A)
        (header,) = batch.headers
        assert isinstance(header, Accept)
        assert (header.frame, header.view, header.place) == (12, 3, BEGINNING)
        assert header.origins == (B,)
        assert stretches_of(header) == [(5, 2, 30, 0)]
        assert unpack_column(header.seqnos, 2) == (3, 4)
        assert (batch.body, batch.count) == (body, 2)
