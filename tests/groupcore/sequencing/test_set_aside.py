"""Commands that are none: set aside at the same place of the order by all nodes, in every life."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgpack import packb, unpackb

from groupcore.batch import Batch
from groupcore.errors import WireError
from groupcore.sequencing.commands import (
    PREFIX,
    Drain,
    EndStream,
    Moved,
    decode_command,
    encode_command,
    encode_set_aside,
)
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.events import SetAside
from groupcore.sequencing.headers import Digest
from groupcore.sequencing.judging import TOLD_MAX
from groupcore.sequencing.log import COMMAND
from groupcore.sequencing.names import SEQNO_MAX, Process
from groupcore.sequencing.stream import MISSING_MAX
from groupcore.sim.groups.insider import put_frames
from groupcore.view import Address
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.world import Host, World

FOUR_BYTES = b"\xc1\x92\x90\x00"
"""A command whose code is a list: it once raised TypeError behind the log, in every life anew."""
GARBAGE = [
    FOUR_BYTES,
    PREFIX,
    PREFIX + b"\x92\x91\x01\x90",
    PREFIX + b"\x92\xc3\x93\x01\xa1g\x00",
    PREFIX + b"\x92\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\x93\x01\xa1g\x00",
    PREFIX + b"\x91" * 2_000,
    PREFIX + b"\xdd\xff\xff\xff\xff",
    PREFIX + b"\x92\x7f\x90",
    encode_command(Moved(1, (1,), (SEQNO_MAX + 1,))),
    encode_command(EndStream(Address("a", 1), SEQNO_MAX + 1, Address("b", 1), 1)),
]


def order(world: World, at: str, *payloads: bytes) -> None:
    """Whoever has the key puts these bytes into the order."""
    world[at].service.plane.commands.extend(payloads)
    world.turn()


def set_aside(host: Host) -> list[SetAside]:
    return [event for event in host.events if isinstance(event, SetAside)]


def fingerprints(world: World) -> set[str]:
    return {host.service.plane.directory.fingerprint() for host in world.hosts.values()}


@pytest.mark.parametrize("garbage", GARBAGE, ids=lambda bytes_: bytes_[:8].hex())
def test_what_is_no_command_is_set_aside_by_all_at_one_place_and_the_order_goes_on(
    garbage: bytes,
) -> None:
    world = World("abc")
    before = fingerprints(world)
    order(world, "c", garbage)
    assert fingerprints(world) == before
    assert world.create("g") == 1
    said = [set_aside(host) for host in world.hosts.values()]
    assert said[0] == said[1] == said[2]
    assert [event.by for event in said[0]] == [world["c"].address]
    assert len({host.service.plane.ordered for host in world.hosts.values()}) == 1


def test_what_is_set_aside_is_counted_and_only_the_first_places_are_told() -> None:
    world = World("ab")
    order(world, "a", *[FOUR_BYTES] * (TOLD_MAX + 50))
    for host in world.hosts.values():
        assert host.service.plane.counters["set_aside.bad_command"] == TOLD_MAX + 50
        assert len(set_aside(host)) == TOLD_MAX


def test_what_is_no_command_never_reaches_the_log_and_its_place_does() -> None:
    world = DurableWorld("abc")
    order(world, "b", FOUR_BYTES, PREFIX + b"\xff" * 4_000)
    world.run(5)
    for disk in world.disks.values():
        entries = [entry for part in disk.stored for entry in unpackb(part, strict_map_key=False)]
        logged = [entry[2] for entry in entries if entry[0] == COMMAND]
        assert len(logged) >= 2
        assert FOUR_BYTES not in logged
        assert max(map(len, logged)) < 200


def old_log(world: DurableWorld, payload: bytes) -> None:
    """Have every disk hold the bytes themselves, as builds before have logged them."""
    world.run(5)
    kept = encode_set_aside(WireError("bad_command", "not [code, fields]"))
    for disk in world.disks.values():
        changed = []
        for part in disk.stored:
            assert len(kept) < 100
            changed.append(_exchanged(part, kept, payload))
        disk.stored[:] = changed


def _exchanged(part: bytes, former: bytes, payload: bytes) -> bytes:
    entries = unpackb(part, strict_map_key=False)
    for entry in entries:
        if entry[0] == COMMAND and entry[2] == former:
            entry[2] = payload
    packed: bytes = packb(entries)
    return packed


@pytest.mark.parametrize("is_old", [False, True], ids=["judged", "logged by an older build"])
def test_after_a_restart_all_set_the_same_places_aside_and_go_on(is_old: bool) -> None:
    world = DurableWorld("abc")
    world.create("before")
    order(world, "b", FOUR_BYTES)
    group = world.create("behind")
    place = set_aside(world["a"])[0].place
    if is_old:
        old_log(world, FOUR_BYTES)
    world.run(5)
    world.power_cut()
    assert world.restart("abc")
    world.run(20)
    for host in world.hosts.values():
        assert host.service.plane.directory.names["behind"] == group
        assert [event.place for event in set_aside(host)] == [place]
    assert len(fingerprints(world)) == 1
    process = world.open("a")
    world.join(process, group)
    world.send(process, group, b"on we go")
    world.run(20)
    assert world["a"].state[group] == [b"on we go"]


def test_who_joins_later_has_the_directory_of_those_who_have_set_aside() -> None:
    world = DurableWorld("ab")
    order(world, "a", FOUR_BYTES)
    world.create("g")
    world.add("c")
    world.run(200)
    order(world, "a", FOUR_BYTES)
    world.run(20)
    assert len(fingerprints(world)) == 1
    assert len({host.service.plane.ordered for host in world.hosts.values()}) == 1


def test_a_command_that_makes_the_directory_raise_ends_no_node_in_no_life(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = DurableWorld("abc")
    apply: Callable[..., object] = Directory.apply

    def raising(self: Directory, command: object, by: Address) -> object:
        if isinstance(command, Drain):
            raise KeyError(command.name)
        return apply(self, command, by)

    monkeypatch.setattr(Directory, "apply", raising)
    order(world, "a", encode_command(Drain(1, "a", True)))
    group = world.create("behind")
    assert {event.reason for event in set_aside(world["b"])} == {"fault"}
    world.run(5)
    world.power_cut()
    assert world.restart("abc")
    for host in world.hosts.values():
        assert host.service.plane.directory.names["behind"] == group
        assert host.service.plane.counters["set_aside.fault"] == 1


def test_why_a_command_was_set_aside_is_read_from_what_stands_in_its_place() -> None:
    why = WireError("bad_header", "x" * 500)
    with pytest.raises(WireError) as raised:
        decode_command(encode_set_aside(why))
    assert raised.value.reason == "bad_header"
    assert len(encode_set_aside(why)) < 200


def test_a_frame_that_cannot_be_read_as_a_whole_says_nothing_of_chains() -> None:
    """Its columns do not fit, its stretches do: they name the first two runs of a process."""
    world = DurableWorld("abc")
    put_frames(world["c"].service, 1)
    world.run(5)
    process = Process(world["c"].address, 1)
    for name in "ab":
        plane = world[name].service.plane
        assert plane.streams[process.node].recorded > 0
        assert plane.counters["bad_frame.bad_column"] == 1
        assert plane.chains.reached(plane.senders.key(process)) == 0


def test_a_member_that_names_a_frame_far_away_costs_nobody_more_than_a_request() -> None:
    world = DurableWorld("abc")
    insider = world["c"]
    far = Digest(insider.service.plane.view_number, SEQNO_MAX, ())
    for name in "ab":
        service = world[name].service
        service.receive(Batch(insider.address, None, (far,)), world.now)
        stream = service.plane.streams[insider.address]
        assert stream.missing == (stream.taken + 1, stream.taken + MISSING_MAX)
    world.run(20)
    assert world.create("g") == 1
