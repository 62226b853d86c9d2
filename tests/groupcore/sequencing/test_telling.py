"""Who tells how far it is with a stream, when, and to whom."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from groupcore.batch import Batch
from groupcore.sequencing import headers as h
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.reaches import Reaches
from groupcore.sequencing.telling import OVER_S
from groupcore.view import Address, View
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.sequencing.world import Packet, World

A, B, C, D, E = (Address(name, 1) for name in "abcde")


def header_of(packet: Packet) -> object:
    """The header of a packet on its way."""
    (raw,) = unpack_packets(b"\x91" + packet[2])
    return decode_packet(raw, packet[0], None).headers[-1]


def digests(world: World) -> list[tuple[str, str]]:
    """From whom to whom digests are on their way."""
    found = [packet for packet in world.packets if isinstance(header_of(packet), h.Digest)]
    return sorted((source.name, destination.name) for source, destination, _ in found)


def quiet(
    names: str, sequencer: str, options: ServiceOptions | None = None
) -> tuple[World, GroupId, Process]:
    """A group with a process of each node, and everything said that there is to say."""
    world = World(names, options=options)
    group = world.create("g")
    world.move(group, sequencer)
    processes = {name: world.open(name) for name in names}
    for process in processes.values():
        world.join(process, group)
    until_told(world)
    return world, group, processes[sequencer]


def until_told(world: World) -> None:
    """Go on until all has been said, and is not due again for a while."""
    world.run(300)
    while world.packets:
        world.run(1)


def step(world: World) -> None:
    """Everything that is on its way arrives; no time passes."""
    packets, world.packets = world.packets, []
    for packet in packets:
        world.deliver(packet)
    world.turn()


@pytest.mark.parametrize(
    ("names", "sequencer", "spoken"),
    [
        ("ab", "a", [("b", "a")]),
        ("abc", "a", [("b", "a")]),
        ("abc", "c", [("a", "c")]),
        ("abcd", "a", [("b", "a")]),
        ("abcd", "c", [("a", "b"), ("a", "c"), ("a", "d")]),
        ("abcde", "e", [(one, to) for one in "ab" for to in "abcde" if one != to]),
    ],
)
def test_i1_only_those_speak_at_once_whose_word_completes_a_quorum(
    names: str, sequencer: str, spoken: list[tuple[str, str]]
) -> None:
    """With the sequencer and two of four, where the lowest rank is one, everybody has a quorum."""
    world, group, process = quiet(names, sequencer)
    world.send(process, group, b"x")
    assert digests(world) == []
    step(world)
    assert digests(world) == spoken
    step(world)
    assert all(world[name].state[group] == [b"x"] for name in names)


@pytest.mark.parametrize(
    ("k", "stream", "told"),
    [(1, A, [B]), (1, C, [A]), (2, A, [B, C]), (3, D, [A, B, C]), (9, A, [B, C, D])],
)
def test_i1_so_many_speak_as_resilience_demands(
    k: int, stream: Address, told: list[Address]
) -> None:
    reaches = Reaches(k)
    reaches.install(View(1, 1, 0, 1, (A, B, C, D)))
    assert reaches.first_to_tell(stream) == told


def test_in_groups_of_two_or_three_nodes_who_gets_a_frame_delivers_it() -> None:
    world, group, process = quiet("abc", "a")
    world.send(process, group, b"x")
    world.lose(h.Digest)
    step(world)
    assert [world[name].state.get(group, []) for name in "abc"] == [[], [b"x"], [b"x"]]


def test_i2_the_others_speak_within_digest_s_and_say_what_they_have_delivered() -> None:
    world, group, process = quiet("abc", "a")
    world.send(process, group, b"x")
    step(world)
    step(world)
    stream = world["a"].service.plane.own
    assert stream.stable < stream.received
    world.now += 0.005
    world.turn()
    assert {source for source, _ in digests(world)} == {"a", "b", "c"}
    step(world)
    assert stream.stable == stream.received


def test_i2_what_was_told_is_repeated_and_more_and_more_rarely() -> None:
    world, group, process = quiet("abc", "a")
    world.send(process, group, b"x")
    step(world)
    told_ms = []
    for ms in range(1, 700):
        world.now += 0.001
        world.turn()
        if any(source == "c" for source, _ in digests(world)):
            told_ms.append(ms)
        step(world)
    between = [next_ms - ms for ms, next_ms in pairwise(told_ms)]
    assert (told_ms[0] <= 6, between) == (True, [60, 120, 240, 250]), told_ms


def test_i2_who_has_got_a_quarter_of_the_window_speaks_at_once() -> None:
    world, group, process = quiet("abc", "a", ServiceOptions(window_bytes=4_000))
    world.send(process, group, bytes(400))
    step(world)
    assert ("c", "a") not in digests(world)
    step(world)
    world.send(process, group, bytes(700))
    step(world)
    assert ("c", "a") in digests(world)


def test_i2_where_who_should_speak_is_silent_the_others_are_heard_soon() -> None:
    world, group, process = quiet("abc", "a")
    world.lose(h.Digest, of="b")
    world.send(process, group, b"x")
    world.run(5)
    assert world["a"].state[group] == [b"x"]


def test_i3_a_frame_of_a_later_view_is_its_sequencer_s_when_that_is_here() -> None:
    """Else two could deliver in a view what the next one's cut need not contain."""
    world, group, process = quiet("abc", "a")
    world.send(process, group, b"x")
    (batch,) = [one for one in map(frame_of(world), world.packets) if one is not None][:1]
    header = batch.headers[-1]
    assert isinstance(header, h.Accept)
    world.packets.clear()
    header.view += 1
    plane = world["b"].service.plane
    before = plane.reaches.held(A)
    world["b"].service.receive(batch, world.now)
    world["b"].service.end_turn(world.now)
    assert plane.streams[A].received == header.frame
    assert plane.reaches.held(A) == before
    header.view -= 1
    world["c"].service.receive(batch, world.now)
    world["c"].service.end_turn(world.now)
    assert world["c"].service.plane.reaches.held(A) == header.frame


def frame_of(world: World) -> Callable[[Packet], Batch | None]:
    """Opens a packet that has a frame."""

    def frame(packet: Packet) -> Batch | None:
        (raw,) = unpack_packets(b"\x91" + packet[2])
        batch = decode_packet(raw, packet[0], None)
        return batch if isinstance(batch.headers[-1], h.Accept) else None

    return frame


def test_a_frame_says_in_which_view_it_was_made() -> None:
    world, group, process = quiet("abc", "a")
    world.add("d")
    until_told(world)
    world.send(process, group, b"x")
    frames = [batch.headers[-1] for batch in map(frame_of(world), world.packets) if batch]
    assert {one.view for one in frames if isinstance(one, h.Accept)} == {2}


def told_by(world: World, teller: str, stream: Address, turns: int = 60) -> list[h.Reach]:
    """What a node tells of a stream in so many turns, once for each thing that it says."""
    found: dict[h.Reach, None] = {}
    for _ in range(turns):
        world.run(1)
        for packet in world.packets:
            header = header_of(packet)
            if packet[0].name == teller and isinstance(header, h.Digest):
                found.update({one: None for one in header.reaches if one.stream == stream})
    return list(found)


def speak(world: World, who: Address, *reaches: h.Reach) -> None:
    """b hears from another node how far that is."""
    service = world["b"].service
    last = service.plane.stream(who).received
    digest = h.Digest(service.plane.view_number, last, reaches)
    service.receive(Batch(who, None, (digest,)), world.now)


def test_i4_who_speaks_of_a_stream_that_is_over_here_is_told_once_that_it_is() -> None:
    """The life that said so may be over, and that node waits for the word of all."""
    world, _, _ = quiet("abc", "a")
    over = Address("x", 1)
    world["b"].service.plane.gone.add(over)
    speak(world, C, h.Reach(over, 4, 4, 0))
    assert told_by(world, "b", over) == [h.Reach(over, 4, 4, 4)]
    world.now += OVER_S + 1  # for as long as of what ends here
    told_by(world, "b", over)
    speak(world, C, h.Reach(over, 4, 4, 4))
    assert not told_by(world, "b", over), "two that have dropped it would tell each other for ever"
    speak(world, A, h.Reach(over, 4, 4, 0))
    assert told_by(world, "b", over), "another one has not been told yet"


def test_i4_of_a_stream_that_is_here_or_was_never_heard_of_nothing_is_said() -> None:
    world, _, _ = quiet("abc", "a")
    for stream in (A, Address("y", 9)):
        speak(world, C, h.Reach(stream, 99, 99, 99))
        assert h.Reach(stream, 99, 99, 99) not in told_by(world, "b", stream)
