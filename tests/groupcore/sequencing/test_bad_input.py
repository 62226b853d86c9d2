"""Bad input: a typed error to the caller, counted, and nothing has changed, line by line.

Of requests through the API the caller hears; of packets the node that sent them, where that says
something to it. Plans from outside are in `test_plan` and `test_planning`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgpack
import pytest

from groupcore.batch import Batch, Header, pack_messages
from groupcore.context import encode_context
from groupcore.errors import GroupRefusedError, WireError
from groupcore.sequencing import headers as h
from groupcore.sequencing.commands import EndStream, Moved, encode_command
from groupcore.sequencing.events import Refused
from groupcore.sequencing.log import COMMAND, FRAMES, LIFE, OVER
from groupcore.sequencing.names import BEGINNING, GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.view import Address
from tests.groupcore.sequencing.scene import Scene
from tests.groupcore.sequencing.world import World

UNKNOWN: GroupId = 99
STRANGER = Address("x", 7)
NOBODY = Process(STRANGER, 1)


@pytest.fixture
def scene() -> Scene:
    return Scene()


# --- requests through the API ---------------------------------------------------------------------

Ask = Callable[[Scene, Service], int | None]

REQUESTS: dict[str, tuple[Ask, str]] = {
    "join an unknown group": (
        # One with a higher number than any may still come: see `test_expected`.
        lambda s, service: service.join(s.outside, 0, s.world.now),
        "unknown_group",
    ),
    "leave an unknown group": (
        lambda s, service: service.leave(s.outside, UNKNOWN, s.world.now),
        "unknown_group",
    ),
    "delete an unknown group": (
        lambda s, service: service.delete(UNKNOWN, s.world.now),
        "unknown_group",
    ),
    "move an unknown group": (
        lambda s, service: service.move((UNKNOWN,), s.world["b"].address, "plan", s.world.now),
        "unknown_group",
    ),
    "move to an unknown node": (
        lambda s, service: service.move((s.group,), STRANGER, "plan", s.world.now),
        "unknown_node",
    ),
    "move to where it is": (
        lambda s, service: service.move((s.group,), s.world["a"].address, "plan", s.world.now),
        "already_there",
    ),
    "call off an unknown move": (
        lambda s, service: service.cancel_move(77, s.world.now),
        "unknown_move",
    ),
    "drain an unknown node": (
        lambda s, service: service.drain("nobody", True, s.world.now),
        "unknown_node",
    ),
    "another order under the same name": (
        lambda s, service: service.create("g", Order.STRICT, s.world.now),
        "bad_order",
    ),
    "leave a group without being in it": (
        lambda s, service: service.leave(s.outside, s.group, s.world.now),
        "not_a_member",
    ),
    "join as nobody": (lambda s, service: service.join(NOBODY, s.group, 0.0), "left"),
    "a name that is too long": (
        lambda s, service: service.create("x" * 65, Order.STRICT, s.world.now),
        "bad_name",
    ),
    "a name that is no text": (
        lambda s, service: service.create(5, Order.STRICT, s.world.now),  # type: ignore[arg-type]
        "bad_name",
    ),
    "a name that is no Unicode text": (
        lambda s, service: service.create("\ud800", Order.STRICT, s.world.now),
        "bad_name",
    ),
}


@pytest.mark.parametrize("what", REQUESTS)
def test_a_request_that_is_wrong_is_refused_with_its_code_and_changes_nothing(
    scene: Scene, what: str
) -> None:
    ask, code = REQUESTS[what]
    service = scene.service("c")
    before = scene.state("a", "b", "c")
    request = ask(scene, service)
    scene.world.turn()
    ((told, refused),) = scene.refusals("c")
    assert refused == code
    assert told == request
    assert scene.state("a", "b", "c") == before
    counters = service.counters() | service.plane.directory.counters()
    assert sum(n for name, n in counters.items() if name.endswith(f"refused.{code}")) == 1


SENDS: dict[str, tuple[Ask, str]] = {
    "to an unknown group": (
        lambda s, service: service.send(s.outside, UNKNOWN, [b"x"], s.world.now),
        "unknown_group",
    ),
    "a volatile message to an unknown group": (
        lambda s, service: service.send_volatile(s.outside, UNKNOWN, b"x", s.world.now),
        "unknown_group",
    ),
    "as a process of another node": (
        lambda s, service: service.send(s.inside, s.group, [b"x"], s.world.now),
        "left",
    ),
    "as nobody": (lambda s, service: service.send(NOBODY, s.group, [b"x"], 0.0), "left"),
    "a message that is too large": (
        lambda s, service: service.send(s.outside, s.group, [b"x", bytes(60_001)], s.world.now),
        "too_large",
    ),
    "a volatile message that is too large": (
        lambda s, service: service.send_volatile(s.outside, s.group, bytes(7_001), s.world.now),
        "too_large",
    ),
}


@pytest.mark.parametrize("what", SENDS)
def test_a_send_that_is_refused_says_so_to_the_call_that_it_is(scene: Scene, what: str) -> None:
    ask, code = SENDS[what]
    service = scene.service("c")
    before = scene.state("a", "b", "c")
    with pytest.raises(GroupRefusedError) as caught:
        ask(scene, service)
    assert caught.value.code == code
    scene.world.turn()
    assert scene.refusals("c") == []
    assert scene.state("a", "b", "c") == before
    assert service.counters()[f"sequencing.refused.{code}"] == 1


def test_a_process_joins_once_and_a_move_that_is_under_way_is_not_begun_again(
    scene: Scene,
) -> None:
    scene.service("a").join(scene.inside, scene.group, scene.world.now)
    scene.world.turn()
    assert [code for _, code in scene.refusals("a")] == ["already_a_member"]
    scene.world.lost = lambda _: True  # what a has numbered is not held, so nothing can leave it
    scene.world.send(scene.inside, scene.group, b"x")
    for _ in range(2):
        scene.service("c").move((scene.group,), scene.world["b"].address, "plan", scene.world.now)
    scene.world.turn()
    assert [code for _, code in scene.refusals("c")] == ["moving"]


def test_a_move_that_would_split_a_strict_component_is_refused() -> None:
    world = World("abc")
    groups = [world.create(f"s{number}", Order.STRICT) for number in range(2)]
    for process in (world.open("a"), world.open("b")):
        for group in groups:
            world.join(process, group)
    world.run(100)
    before = world["b"].service.plane.directory.fingerprint()
    world["a"].service.move((groups[0],), world["c"].address, "plan", world.now)
    world.turn()
    assert [e.code for e in world["a"].events if isinstance(e, Refused)] == ["breaks_s2"]
    assert world["b"].service.plane.directory.fingerprint() == before


# --- packets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_of", [h.Join, h.Leave])
def test_a_join_or_leave_of_a_group_that_is_no_more_is_answered(
    scene: Scene, request_of: type[h.Join | h.Leave]
) -> None:
    gone = scene.world.create("gone")
    scene.service("a").delete(gone, scene.world.now)
    scene.world.run(20)
    before = scene.state("a")
    (answer,) = scene.hand("a", request_of(gone, 1, 5, BEGINNING))
    refusal = answer.headers[-1]
    assert isinstance(refusal, h.Refusal)
    assert (refusal.request, refusal.code) == (5, "unknown_group")
    assert scene.state("a") == before
    assert scene.service("a").counters()["sequencing.unknown_group"] == 1


def test_a_leave_of_who_is_no_member_is_answered(scene: Scene) -> None:
    (answer,) = scene.hand("a", h.Leave(scene.group, 9, 5, BEGINNING))
    refusal = answer.headers[-1]
    assert isinstance(refusal, h.Refusal)
    assert refusal.code == "not_a_member"
    assert scene.service("a").plane.own.received == scene.service("a").plane.own.stable


def test_messages_for_an_unknown_group_are_counted_and_change_nothing(scene: Scene) -> None:
    before = scene.state("a")
    assert scene.hand("a", scene.send_header(UNKNOWN), b"x") == []
    assert scene.state("a") == before
    assert scene.service("a").counters()["sequencing.unknown_group"] == 1


BAD_SECTIONS: dict[str, tuple[Callable[[Scene], h.Send], str]] = {
    "a context that is none": (
        lambda s: s.send_header(s.group, context=b"rubbish"),
        "dropped.bad_context",
    ),
    "a context that names frames that nobody can have": (
        lambda s: s.send_header(s.group, context=encode_context({s.world["b"].address: 1 << 40})),
        "dropped.bad_context",
    ),
    "columns of different lengths": (
        lambda s: h.Send(
            BEGINNING,
            b"",
            h.pack_column([1, 1, 1, 0, 0]),
            h.pack_column([s.group]),
            h.pack_column([1, 2]),
            h.pack_column([1]),
        ),
        "dropped.bad_column",
    ),
    "stretches of other runs": (
        lambda s: s.send_header(s.group, stretch=[1, 2, 1, 0, 0]),
        "dropped.bad_column",
    ),
    "half a stretch": (lambda s: s.send_header(s.group, stretch=[1, 1, 1]), "dropped.bad_column"),
    "runs of no messages": (lambda s: s.send_header(s.group, count=0), "dropped.bad_section"),
    "other messages than it says": (
        lambda s: s.send_header(s.group, count=7),
        "dropped.bad_section",
    ),
}


@pytest.mark.parametrize("what", BAD_SECTIONS)
def test_a_section_that_is_wrong_is_counted_and_changes_nothing(scene: Scene, what: str) -> None:
    make, counter = BAD_SECTIONS[what]
    before = scene.state("a")
    assert scene.hand("a", make(scene), b"x") == []
    assert scene.state("a") == before
    assert scene.service("a").counters()[f"sequencing.{counter}"] == 1


BAD_BODIES: dict[str, bytes] = {
    "rubbish": b"\xc1rubbish",
    "a text among them": msgpack.packb([b"v1", "text"]),
    "fewer than it says": pack_messages([b"v1"]),
    "so large that it would be passed on as it is": msgpack.packb([bytes(5_000), "text"]),
}


@pytest.mark.parametrize("what", BAD_BODIES)
def test_a_section_that_does_not_hold_its_messages_gets_no_number_and_blanks_nobodys(
    scene: Scene, what: str
) -> None:
    before = scene.state("a")
    header = h.Send(
        BEGINNING,
        b"",
        h.pack_column([1, 1, 1, 0, 0, 2, 1, 1, 0, 0]),
        h.pack_column([scene.group, scene.group]),
        h.pack_column([1, 1]),
        h.pack_column([1, 1]),
    )
    batch = Batch(scene.world["c"].address, None, (header,), BAD_BODIES[what], 2)
    service = scene.service("a")
    service.receive(batch, scene.world.now)
    service.end_turn(scene.world.now)
    assert service.take().sends == []
    assert scene.state("a") == before
    assert service.counters()["sequencing.dropped.bad_section"] == 1
    scene.world.send(scene.outside, scene.group, b"neighbour")
    scene.world.run(100)
    assert scene.world["b"].given[scene.other, scene.group] == [b"neighbour"]


def test_what_a_context_names_of_a_stream_that_there_is_not_constrains_nobody(
    scene: Scene,
) -> None:
    header = scene.send_header(scene.group, context=encode_context({STRANGER: 5}))
    scene.hand("a", header, b"x")
    assert scene.service("a").plane.records[scene.group].seqno == 2
    assert scene.service("a").sequencer.ownership.owned[scene.group].seqno == 3


def test_message_ids_out_of_sequence_get_no_number_and_those_before_are_asked_for(
    scene: Scene,
) -> None:
    header = scene.send_header(scene.group, first=5, stretch=[1, 1, 5, 4, 4])
    (answer,) = scene.hand("a", header, b"x")
    missing = answer.headers[-1]
    assert isinstance(missing, h.Missing)
    assert scene.service("a").sequencer.ownership.owned[scene.group].seqno == 2
    assert scene.service("a").counters()["sequencing.out_of_sequence"] == 1


def test_messages_that_have_their_numbers_get_no_others(scene: Scene) -> None:
    world = scene.world
    world.send(scene.outside, scene.group, b"x")
    world.run(100)
    before = scene.state("a")
    (answer,) = scene.hand("a", scene.send_header(scene.group), b"x")
    repeated = answer.headers[-1]
    assert isinstance(repeated, h.Repeated)
    assert repeated.number == 1
    assert scene.state("a") == before
    assert scene.service("a").counters()["sequencing.repeated"] == 1


# --- what is of the past, or of nobody ------------------------------------------------------------


def test_a_redirect_of_a_former_epoch_leads_nobody_astray(scene: Scene) -> None:
    world = scene.world
    for target in "bc":
        world.move(scene.group, target)
        world.run(50)
    epoch = scene.service("b").plane.directory.entries[scene.group].epoch
    stale = h.Redirect(scene.group, world["a"].address, epoch - 1)
    scene.hand("b", stale)
    world.send(scene.other, scene.group, b"x")
    world.run(50)
    assert b"x" in world["b"].given[scene.other, scene.group]
    assert scene.service("a").counters().get("sequencing.forwarded", 0) == 0


@pytest.mark.parametrize(
    "command",
    [
        Moved(1, (1,), (2,)),
        EndStream(STRANGER, 5, Address("a", 1), 1),
        EndStream(Address("b", 1), 5, Address("a", 1), 1),
    ],
    ids=["a move that is none", "the end of no stream", "the end of a member's stream"],
)
def test_a_command_of_another_time_changes_nothing_anywhere(
    scene: Scene, command: Moved | EndStream
) -> None:
    before = [service.plane.directory.fingerprint() for service in map(scene.service, "abc")]
    counted = sum(scene.service("b").plane.directory.counters().values())
    for name in "abc":
        scene.service(name).on_order(
            scene.world["c"].address, encode_command(command), scene.world.now
        )
    assert before == [scene.service(name).plane.directory.fingerprint() for name in "abc"]
    assert sum(scene.service("b").plane.directory.counters().values()) == counted + 1


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\xc1", "bad_command"),
        (b"\xc1rubbish", "bad_command"),
        (b"\xc1\x92\x63\x90", "unknown_command"),
    ],
)
def test_a_command_that_is_none_is_counted(scene: Scene, payload: bytes, reason: str) -> None:
    before = scene.service("a").plane.directory.fingerprint()
    scene.service("a").on_order(scene.world["b"].address, payload, scene.world.now)
    assert scene.service("a").plane.directory.fingerprint() == before
    assert scene.service("a").counters()[f"sequencing.set_aside.{reason}"] == 1


STALE: dict[str, Callable[[Scene], Header]] = {
    "a frame of a stranger": lambda s: h.Change(1, 1, s.group, 3, STRANGER, 1, 1, 1),
    "the repair of a stranger's frame": lambda s: h.Repair(STRANGER, b"x"),
    "frames that nobody has": lambda s: h.Fetch(STRANGER, 1, 5),
    "a level of another view": lambda s: h.Level(77, STRANGER, 5, STRANGER),
    "a reached of another view": lambda s: h.Reached(77, STRANGER, 5),
    "a piece of a state that nobody has asked for": lambda s: h.StatePiece(9, 0, 1, b"", b"x"),
    "the answer to a request that nobody has made": lambda s: h.Refusal(999, "left", b""),
    "what is missing of nobody": lambda s: h.Missing(99, 1),
    "an accept for nobody": lambda s: h.Repeated(s.group, 99, 5),
}


@pytest.mark.parametrize("what", STALE)
def test_a_packet_of_another_time_or_of_nobody_changes_nothing(scene: Scene, what: str) -> None:
    before = scene.state("b")
    by = scene.world["c"].address
    header = STALE[what](scene)
    batch = Batch(STRANGER if isinstance(header, h.Change) else by, None, (header,))
    scene.service("b").receive(batch, scene.world.now)
    scene.service("b").end_turn(scene.world.now)
    assert scene.service("b").take().sends == []
    assert scene.state("b") == before


# --- a log that a build has made wrong ------------------------------------------------------------

ENTRIES: dict[str, list[object]] = {
    "an end of a stream of nobody": [OVER, [{}, 1]],
    "an end of a stream of no life": [OVER, ["a", "one"]],
    "a life of nobody": [LIFE, [7, 1]],
    "frames of nobody": [FRAMES, [["a"], 1], 1, [], 0],
    "frames from no number on": [FRAMES, ["a", 1], -1, [], 0],
    "a command of nobody": [COMMAND, ["", 1], b"", [1, 1]],
    "a command at no place": [COMMAND, ["a", 1], b"", [1, "x"]],
    "no entry": [77, []],
}


@pytest.mark.parametrize("what", ENTRIES)
def test_a_log_is_refused_where_it_is_read(what: str) -> None:
    """By a typed error, at the entry: what is no node or number is not looked up later."""
    part = msgpack.packb([[LIFE, ["a", 1]], ENTRIES[what]])
    with pytest.raises(WireError):
        Service(Address("a", 2), ServiceOptions(durable=True), Random(0), [part])
