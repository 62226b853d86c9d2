"""Access lists: judged where the order decides, alike everywhere; nothing behind a revocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from groupcore.sequencing.events import Departed, StateWanted
from groupcore.sequencing.names import Process
from groupcore.shared import (
    Changed,
    ClosedError,
    ForbiddenError,
    OperationDenied,
    SharedObject,
    operation,
)
from groupcore.shared.access import EVERYBODY, Guarded, LastManagerError, Right
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import PRINCIPAL_MAX, Operate, decode, encode_operate, pack
from groupcore.shared.object import declaration
from groupcore.shared.replica import Replica
from groupcore.shared.testing import BAD_WEATHER, Weather, World
from groupcore.shared.types import Text
from groupcore.view import Address
from tests.groupcore.shared.ports import GROUP, ME, OTHER, HandPort, begin, feed, run

LIST = {"ann": Right.MANAGE, "bob": Right.WRITE, "eve": Right.READ}


class Minutes(Guarded, check_every=8):
    """Lines that some may write."""

    needs: ClassVar[Mapping[str, Right]] = {"wish": Right.READ, "clear": Right.MANAGE}
    rights: dict[str, Right] = LIST
    lines: list[str]

    @operation
    def note(self, line: str) -> int:
        self.lines.append(line)
        return len(self.lines)

    @operation
    def wish(self, line: str) -> int:
        self.lines.append(line)
        return len(self.lines)

    @operation
    def clear(self) -> None:
        self.lines.clear()


class Unclaimed(Guarded, check_every=0):
    """Nobody's to begin with."""

    count: int = 0

    @operation
    def add(self) -> int:
        self.count += 1
        return self.count


def said(principal: str, *calls: tuple[str, list[object]]) -> bytes:
    return encode_operate(0, calls, principal)


def machine(kind: type[SharedObject] = Minutes) -> Machine:
    made = Machine(kind(), GROUP)
    made.apply(Entry(1, ME, 0, None, True))
    return made


def apply(made: Machine, payload: bytes) -> Exception | None:
    return made.apply(Entry(made.position + 1, ME, 1, payload)).error


def opened(principal: str) -> tuple[Replica[Minutes], HandPort, Minutes]:
    port = HandPort(ME, principal)
    replica = Replica(Minutes, port)
    replica.open()
    begin(replica, ME, OTHER)
    return replica, port, replica.ready.result()


# --- the verdict ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("principal", "allowed"),
    [
        ("ann", {"note", "wish", "clear", "grant", "revoke", "claim"}),
        ("bob", {"note", "wish"}),
        ("eve", {"wish"}),
        ("mallory", set()),
        ("", set()),
    ],
)
def test_a_call_is_judged_by_the_list_as_it_was_before_it(
    principal: str, allowed: set[str]
) -> None:  # A1
    arguments: dict[str, list[object]] = {
        **{"note": ["x"], "wish": ["x"], "clear": [], "claim": []},
        **{"grant": ["zoe", "READ"], "revoke": ["eve"]},
    }
    passed = {
        name
        for name, wire in arguments.items()
        if not isinstance(apply(machine(), said(principal, (name, wire))), ForbiddenError)
    }
    assert passed == allowed


def test_what_is_refused_changes_nothing_and_the_others_calls_of_its_transaction_neither() -> None:
    made = machine()  # A2
    before = made.target.lines, made.time_ms  # type: ignore[attr-defined]
    payload = encode_operate(10**12, [("wish", ["x"]), ("note", ["y"])], "eve")
    assert isinstance(apply(made, payload), ForbiddenError)
    assert (made.target.lines, made.time_ms) == before  # type: ignore[attr-defined]


def test_a_transaction_is_judged_by_the_state_before_all_of_it() -> None:
    payload = said("ann", ("grant", ["bob", "MANAGE"]), ("revoke", ["ann"]), ("clear", []))
    made = machine()
    assert apply(made, payload) is None
    assert isinstance(apply(made, said("ann", ("clear", []))), ForbiddenError)


def test_a_judge_that_fails_lets_nobody_pass() -> None:
    class Broken(SharedObject):
        def may_call(self, principal: str, operation: str) -> bool:
            raise RuntimeError("no idea")

        @operation
        def touch(self) -> None:
            pass

    error = apply(machine(Broken), said("ann", ("touch", [])))
    assert isinstance(error, ForbiddenError)
    assert "no idea" in str(error)


def test_an_object_that_is_nobodys_is_the_first_claimers() -> None:
    made = machine(Unclaimed)
    assert isinstance(apply(made, said("bob", ("add", []))), ForbiddenError)
    assert isinstance(apply(made, said("", ("claim", []))), ForbiddenError)
    assert apply(made, said("ann", ("claim", []))) is None
    assert isinstance(apply(made, said("bob", ("claim", []))), ForbiddenError)
    assert apply(made, said("ann", ("add", []))) is None


@pytest.mark.parametrize(
    "call",
    [("revoke", ["ann"]), ("grant", ["ann", "WRITE"]), ("grant", ["ann", "NONE"])],
)
def test_the_last_manager_cannot_go(call: tuple[str, list[object]]) -> None:  # A4
    made = machine()
    assert isinstance(apply(made, said("ann", call)), LastManagerError)
    assert made.target.rights == LIST  # type: ignore[attr-defined]
    assert apply(made, said("ann", ("grant", ["bob", "MANAGE"]))) is None
    assert apply(made, said("ann", call)) is None


def test_everybodys_entry_counts_beside_their_own() -> None:
    made = machine()
    assert apply(made, said("ann", ("grant", [EVERYBODY, "WRITE"]))) is None
    for principal in ("", "mallory", "eve"):
        assert apply(made, said(principal, ("note", ["x"]))) is None
    minutes = made.target
    assert isinstance(minutes, Minutes)
    assert minutes.right_of("mallory") is Right.WRITE
    assert minutes.right_of("ann") is Right.MANAGE


@pytest.mark.parametrize("name", ["", "x" * (PRINCIPAL_MAX + 1)])
def test_a_name_that_none_has_is_not_put_on_the_list(name: str) -> None:
    assert isinstance(apply(machine(), said("ann", ("grant", [name, "READ"]))), ValueError)


@pytest.mark.parametrize("principal", ["", 7, None, "x" * (PRINCIPAL_MAX + 1)])
def test_a_message_with_no_principals_name_in_its_place_does_nothing(principal: object) -> None:
    made = machine()
    error = apply(made, pack([1, 0, [["note", ["x"]]], principal]))
    assert error is not None
    assert not isinstance(error, ForbiddenError)
    assert made.target.lines == []  # type: ignore[attr-defined]


def test_a_library_type_can_be_guarded() -> None:
    class Letter(Guarded, Text):
        rights: dict[str, Right] = LIST

    made = Machine(Letter(), GROUP)
    assert "grant" in made.target._shared.declaration.operations
    assert {"rights", "text"} <= set(made.target._shared.declaration.fields) | {"text"}


# --- one replica ----------------------------------------------------------------------------------


def test_an_earlier_call_stands_and_a_later_one_is_refused_to_its_caller() -> None:
    replica, port, minutes = opened("bob")
    early, late = minutes.note("early"), minutes.note("late")
    feed(replica, run(3, ME, 1, port.sent[0]))
    feed(replica, run(4, OTHER, 1, said("ann", ("grant", ["bob", "READ"]))))
    (told,) = feed(replica, run(5, ME, 2, port.sent[1]))
    assert early.result() == 1
    with pytest.raises(ForbiddenError, match="bob may not call note"):
        late.result()
    assert minutes.lines == ["early"]
    assert told == OperationDenied(GROUP, 5, ME, "bob", "note")
    assert (replica.counters.denied, replica.counters.failed) == (1, 0)


def test_who_may_not_read_any_more_is_shown_nothing_behind_that() -> None:  # A3, R4
    replica, port, minutes = opened("eve")
    changes, waiting = minutes.changes(), minutes.wish("later")
    revoke = said("ann", ("revoke", ["eve"]))
    hidden = said("ann", ("note", ["secret"]))
    feed(replica, run(3, OTHER, 1, said("ann", ("note", ["seen"])), revoke, hidden))
    assert minutes.lines == ["seen"]
    assert minutes.right_of("eve") is Right.NONE
    assert [change.position for change in changes.take()] == [3, 4]
    assert changes.ended
    assert port.asked == ["join", "leave"]
    assert isinstance(waiting.error, ForbiddenError)
    with pytest.raises(ForbiddenError, match="as of position 4"):
        minutes.note("x")
    feed(replica, StateWanted(1, GROUP))  # the replica beneath goes on, for others
    taker = Replica(Minutes, HandPort(OTHER, "ann"))
    state = port.given[0][1]
    assert state is not None
    taker.body.machine.load(decode_state(state))
    assert taker.body.machine.target.lines == ["seen", "secret"]  # type: ignore[attr-defined]
    assert not replica.closed.done
    feed(replica, Departed(GROUP, 6, ME, gone=False))
    assert replica.closed.done


def decode_state(state: bytes) -> bytes:
    from groupcore.shared.messages import unpack

    match unpack(state):
        case [int(), bytes(packed)]:
            return packed
    raise AssertionError("no state")


def test_who_may_not_read_is_not_given_the_object() -> None:
    port = HandPort(ME, "mallory")
    replica = Replica(Minutes, port)
    replica.open()
    begin(replica, ME)
    with pytest.raises(ForbiddenError, match="mallory may not read"):
        replica.ready.result()
    assert port.asked == ["join", "leave"]


def test_a_forbidden_object_is_closed_when_the_cluster_went_on_without_the_node() -> None:
    replica, port, _ = opened("eve")
    feed(replica, run(3, OTHER, 1, said("ann", ("revoke", ["eve"]))))
    replica.interrupt()
    port.become(Process(Address("a", 2), 1))
    replica.restart()
    assert replica.closed.done
    assert port.asked == ["join", "leave"]


# --- many replicas, a bad network -----------------------------------------------------------------


class Audited(Minutes):
    """Minutes that somebody always has open."""

    rights: dict[str, Right] = {**LIST, "root": Right.MANAGE}  # noqa: RUF012


class Judge:
    """Invariant 22: the list replayed from the order alone, by other code than the object's."""

    def __init__(self) -> None:
        self.rights = {name: int(right) for name, right in LIST.items()} | {"root": 3}
        self.denied: dict[int, str] = {}
        self.readable: dict[int, set[str]] = {}

    def follow(self, position: int, payload: bytes | None) -> None:
        message = None if payload is None else decode(payload)
        if isinstance(message, Operate):
            (call,) = message.calls
            needed = {"wish": 1, "note": 2}.get(call[0], 3)
            if self.rights.get(message.principal, 0) < needed:
                self.denied[position] = message.principal
            else:
                self._change(*call)
        self.readable[position] = {name for name, right in self.rights.items() if right}

    def _change(self, name: str, wire: object) -> None:
        assert isinstance(wire, list)
        after = dict(self.rights)
        if name == "grant":
            after[wire[0]] = Right[wire[1]]
        elif name == "revoke":
            after.pop(wire[0], None)
        if 3 in after.values():
            self.rights = after


PEOPLE = ("ann", "bob", "eve", "kim")
WEATHERS = pytest.mark.parametrize("weather", [Weather(), BAD_WEATHER], ids=["good", "bad"])


@WEATHERS
@pytest.mark.parametrize("seed", range(15))
def test_22_every_replica_judges_alike_and_as_the_order_says(seed: int, weather: Weather) -> None:
    heard: dict[str, list[int]] = {}

    async def use(world: World, name: str, principal: str) -> None:
        node = world.node(name, principal)
        for _ in range(4):
            try:
                minutes = await node.open(Audited, "minutes")
            except ForbiddenError:
                await world.elapse(1.0)
                continue
            changes = minutes.changes()
            for number in range(12):
                action = world.draw.random()
                other = world.draw.choice(PEOPLE)
                try:
                    if action < 0.5:
                        minutes.note(f"{name}{number}")
                    elif action < 0.6:
                        minutes.wish(f"{name}{number}")
                    elif action < 0.75:
                        minutes.revoke(other)
                    else:
                        minutes.grant(other, world.draw.choice(list(Right)))
                except (ForbiddenError, ClosedError):
                    break
                await world.elapse(world.draw.random() / 10)
            heard.setdefault(principal, [])
            for change in changes.take():
                if isinstance(change, Changed):
                    heard[principal].append(change.position)
            await minutes.close()

    async def main(world: World) -> Judge:
        await world.node("audit", "root").open(Audited, "minutes")
        users = [
            world.spawn(use(world, f"n{number}", principal))
            for number, principal in enumerate((*PEOPLE, "ann"))
        ]
        for user in users:
            await user
        await world.settle()
        judge = Judge()
        sequence = world._order.sequence("minutes", Audited.group_order)
        for slot in sequence.slots:
            judge.follow(slot.seqno, slot.payload)
        return judge

    world = World(seed, weather)
    judge = world.run(main)
    denied: dict[str, dict[int, str]] = {}
    for node, event in world.events:
        if isinstance(event, OperationDenied):
            denied.setdefault(node, {})[event.position] = event.principal
    assert denied["audit"] == judge.denied != {}
    for events in denied.values():
        assert events.items() <= judge.denied.items()
    for principal, positions in heard.items():
        for position in positions:
            assert principal in judge.readable[position - 1]
    world.assert_equal("minutes")


def test_classes_that_need_other_rights_are_of_other_versions() -> None:
    def made(needs: Mapping[str, Right]) -> bytes:
        kind = type("Minutes", (Guarded,), {"needs": needs})
        return declaration(kind()).fingerprint

    reading = {"claim": Right.READ}
    assert made(reading) == made(dict(reading))
    assert len({made({}), made(reading), made({"claim": Right.MANAGE})}) == 3
