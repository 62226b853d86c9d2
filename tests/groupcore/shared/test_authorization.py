"""Objects that ask what lets a node call: judged at the place in the order, alike everywhere."""

from __future__ import annotations

import pytest

from groupcore.sequencing.names import Process
from groupcore.shared import Authorized, ForbiddenError, MisfitError, SharedObject, operation
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import (
    AUTHORIZATION_MAX,
    Operate,
    decode,
    encode_authorized,
    encode_operate,
    pack,
)
from groupcore.shared.replica import Replica
from groupcore.shared.testing import BAD_WEATHER, World
from groupcore.shared.verdicts import Call
from groupcore.view import Address
from tests.groupcore.shared.ports import GROUP, ME, HandPort, begin

NODE = Process(Address("a", 1), 1)


class Till(SharedObject, check_every=4):
    """Takes coins from nodes that show a word, each once."""

    coins: int = 0
    shown: list[bytes]

    def check_authorization(self, operations: tuple[str, ...], authorized: Authorized) -> None:
        if operations == ("look",):
            return
        word = authorized.authorization
        if not word.startswith(b"word") or word in self.shown:
            raise ValueError("no word")
        if word.endswith(b"late"):
            self.shown.append(word)
            raise ValueError("thought better of it")
        self.shown.append(word)

    @operation
    def look(self) -> int:
        return self.coins

    @operation
    def put(self, coins: int) -> int:
        if coins < 0:
            raise ValueError("a coin is worth something")
        self.coins += coins
        return self.coins


def _machine() -> tuple[Machine, Till]:
    till = Till()
    machine = Machine(till, GROUP)
    machine.apply(Entry(1, NODE, 0, None, joined=True))
    return machine, till


def _put(machine: Machine, coins: int, word: bytes = b"", stamp_ms: int = 1000) -> object:
    text = encode_operate(stamp_ms, [("put", [coins])])
    payload = encode_authorized(text, word) if word else text
    done = machine.apply(Entry(machine.position + 1, NODE, machine.position, payload))
    return done.error if done.error is not None else done.results[0]


def test_what_shows_nothing_is_refused_and_does_nothing() -> None:
    machine, till = _machine()
    refused = _put(machine, 1)
    assert isinstance(refused, ForbiddenError)
    assert "put" in str(refused)
    assert "no word" in str(refused)
    assert (till.coins, till.shown) == (0, [])


def test_what_shows_something_is_done_once() -> None:
    machine, till = _machine()
    assert _put(machine, 2, b"word 1") == 2
    assert isinstance(_put(machine, 2, b"word 1"), ForbiddenError)
    assert _put(machine, 3, b"word 2") == 5
    assert till.shown == [b"word 1", b"word 2"]


def test_what_was_shown_stays_shown_where_the_operation_fails() -> None:
    """So nobody has it done later, when it would not fail."""
    machine, till = _machine()
    assert isinstance(_put(machine, -1, b"word 1"), ValueError)
    assert (till.coins, till.shown) == (0, [b"word 1"])


def test_a_refusal_takes_back_what_the_judge_has_changed() -> None:
    machine, till = _machine()
    assert isinstance(_put(machine, 1, b"word late"), ForbiddenError)
    assert till.shown == []


def test_who_is_refused_does_not_move_the_orders_time() -> None:
    machine, _ = _machine()
    _put(machine, 1, b"word 1", stamp_ms=1000)
    _put(machine, 1, stamp_ms=9000)
    payload = encode_operate(9000, [])
    done = machine.apply(Entry(machine.position + 1, NODE, machine.position, payload))
    assert isinstance(done.error, ForbiddenError)
    assert machine.time_ms == 1000


def test_a_transaction_is_judged_by_all_its_operations() -> None:
    machine, till = _machine()
    text = encode_operate(0, [("look", []), ("put", [5])])
    done = machine.apply(Entry(2, NODE, 1, text))
    assert isinstance(done.error, ForbiddenError)
    assert till.coins == 0


def test_a_numbered_call_is_told_its_verdict_again_whatever_it_shows() -> None:
    machine, till = _machine()
    text = encode_operate(0, [("put", [5])], "", Call("page", 1, 0))
    first = machine.apply(Entry(2, NODE, 1, encode_authorized(text, b"word 1")))
    again = machine.apply(Entry(3, NODE, 2, encode_authorized(text, b"word 1")))
    assert (first.verdict, again.repeated) == (again.verdict, True)
    assert till.coins == 5


def test_a_class_that_does_not_ask_does_what_is_shown_to_it() -> None:
    class Free(SharedObject):
        count: int = 0

        @operation
        def add(self) -> int:
            self.count += 1
            return self.count

    machine = Machine(Free(), GROUP)
    machine.apply(Entry(1, NODE, 0, None, joined=True))
    payload = encode_authorized(encode_operate(0, [("add", [])]), b"whatever")
    assert machine.apply(Entry(2, NODE, 1, payload)).results == [1]


@pytest.mark.parametrize(
    "payload",
    [
        encode_authorized(b"", b"word"),
        encode_authorized(pack([5]), b"word"),
        encode_authorized(encode_operate(0, []), b""),
        encode_authorized(encode_operate(0, []), b"w" * (AUTHORIZATION_MAX + 1)),
        encode_authorized(encode_authorized(encode_operate(0, []), b"in"), b"out"),
        pack([6, "text", b"word"]),
        pack([6, b"text"]),
    ],
)
def test_what_is_no_authorized_message_does_nothing(payload: bytes) -> None:
    with pytest.raises(MisfitError):
        decode(payload)


def test_each_sending_is_authorized_by_itself() -> None:
    """What waits for its node's next life is authorized there: an authorization is good once."""
    port = HandPort()
    asked: list[bytes] = []

    def authorize(name: str, text: bytes) -> bytes:
        asked.append(text)
        return b"word %d" % len(asked)

    port.authorize = authorize
    replica = Replica(Till, port)
    replica.open()
    begin(replica, ME)
    replica.target.put(1)
    first = decode(port.sent[0])
    assert isinstance(first, Operate)
    assert (first.authorized.authorization, first.authorized.text) == (b"word 1", asked[0])
    replica.interrupt()
    replica.target.put(2)
    assert len(port.sent) == 1
    replica.restart()
    begin(replica, ME)
    sent = decode(port.sent[1])
    assert isinstance(sent, Operate)
    assert sent.authorized.authorization == b"word 2"


async def _shop(world: World) -> None:
    given = 0

    def authorize(name: str, text: bytes) -> bytes:
        nonlocal given
        assert name == "till"
        given += 1
        return b"word %d" % given

    trusted, other = world.node("trusted"), world.node("other")
    trusted.authorize = authorize
    mine, theirs = await trusted.open(Till, "till"), await other.open(Till, "till")
    for coins in range(1, 9):
        await mine.put(coins)
        with pytest.raises(ForbiddenError):
            await theirs.put(100)
    await world.settle()
    assert (mine.coins, theirs.coins) == (36, 36)
    assert mine.shown == theirs.shown


@pytest.mark.parametrize("seed", range(5))
def test_all_replicas_judge_alike(seed: int) -> None:
    World(seed=seed, weather=BAD_WEATHER).run(_shop)
