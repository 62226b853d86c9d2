"""Operations that are not deterministic are found and named; equal replicas hardly notice."""

from __future__ import annotations

import itertools

import pytest

from groupcore.sequencing.names import Process
from groupcore.shared import Diverged, SharedObject, operation
from groupcore.shared.checking import CUTS_MAX, STATE_BYTES_MAX, Checker, _spread
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import HASHES_MAX, Check, Trail, Verify, decode, encode
from groupcore.shared.testing import BAD_WEATHER, DivergedError, Weather, World
from tests.groupcore.shared.ports import GROUP, ME, OTHER, HandPort, calls

ticks = itertools.count()


class Ledger(SharedObject, check_every=16):
    """Honest, but for what it is asked to do."""

    total: int = 0
    names: list[str]

    @operation
    def add(self, by: int) -> None:
        self.total += by

    @operation
    def add_chance(self, name: str) -> None:
        self.names.append(f"{name} {next(ticks)}")

    @operation
    def forget(self) -> None:
        self.names.clear()

    @operation
    def slip(self) -> None:
        if SLIPPERY and self.context.position not in SLIPPED:
            SLIPPED.add(self.context.position)
            self.total += 1

    def on_joined(self, process: Process) -> None:
        if process.node.name == "unlucky":
            self.names.append(str(next(ticks)))


SLIPPERY: list[bool] = []
SLIPPED: set[int] = set()


def found(world: World) -> list[Diverged]:
    return [event for _, event in world.events if isinstance(event, Diverged)]


@pytest.mark.parametrize("weather", [Weather(), BAD_WEATHER], ids=["good", "bad"])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_operation_where_replicas_part_is_named_everywhere(
    seed: int, weather: Weather
) -> None:
    async def main(world: World) -> int:
        ledgers = [await world.node(name).open(Ledger, "l") for name in "abcd"]
        place = 0
        for number in range(120):
            ledger = world.draw.choice(ledgers)
            if number == 60:
                changes = ledger.changes()
                await ledger.add_chance("x")
                place = changes.take()[-1].position
            pending = ledger.add(number)
            if number % 7 == 0:
                await pending
        await world.settle()
        return place

    world = World(seed, weather, strict=False)
    place = world.run(main)
    events = found(world)
    assert {event.position for event in events} == {place}
    assert {(event.operation, event.last_equal) for event in events} == {("add_chance", place - 1)}
    assert all(event.arguments == {"name": "x"} for event in events)
    assert {name for name, event in world.events} == set("abcd")


def test_a_membership_hook_that_is_not_deterministic_is_named() -> None:
    async def main(world: World) -> None:
        ledger = await world.node("a").open(Ledger, "l")
        other = await world.node("b").open(Ledger, "l")
        await world.node("unlucky").open(Ledger, "l")
        for _ in range(40):
            await ledger.add(1)
            await other.add(1)
        await world.settle()

    world = World(3, strict=False)
    world.run(main)
    named = [event for event in found(world) if event.operation]
    assert {event.operation for event in named} == {"on_joined"}
    assert {name for name, event in world.events} == {"a", "b", "unlucky"}


def test_a_strict_world_fails_a_program_whose_replicas_part() -> None:
    async def main(world: World) -> None:
        ledger = await world.node("a").open(Ledger, "l")
        await world.node("b").open(Ledger, "l")
        await ledger.add_chance("x")
        for _ in range(40):
            await ledger.add(1)
        await world.settle()

    with pytest.raises(DivergedError, match="add_chance"):
        World(1).run(main)


def test_what_differs_once_and_never_again_is_noticed_but_not_named() -> None:
    async def main(world: World) -> None:
        ledger = await world.node("a").open(Ledger, "l")
        await world.node("b").open(Ledger, "l")
        SLIPPERY.append(True)
        await ledger.slip()
        SLIPPERY.clear()
        for _ in range(60):
            await ledger.add(1)
        await world.settle()

    world = World(1, strict=False)
    world.run(main)
    assert {(event.operation, event.caller) for event in found(world)} == {("", None)}


def test_replicas_that_are_equal_again_may_part_and_be_told_again() -> None:  # C2
    async def main(world: World) -> None:
        ledger = await world.node("a").open(Ledger, "l")
        await world.node("b").open(Ledger, "l")
        for _ in range(2):
            await ledger.add_chance("x")
            for _ in range(70):
                await ledger.add(1)
            await world.settle()
            told.append(len(found(world)))
            await ledger.forget()
            for _ in range(70):
                await ledger.add(1)
            await world.settle()

    told: list[int] = []
    world = World(1, strict=False)
    world.run(main)
    assert told == [2, 4]


def test_equal_replicas_exchange_two_messages_a_cut() -> None:  # C1
    async def main(world: World) -> None:
        ledgers = [await world.node(name).open(Ledger, "l") for name in "abcde"]
        for number in range(160):
            await ledgers[number % 5].add(1)
        await world.settle()
        world.assert_equal("l")
        # 5 joins, 160 operations, and VERIFY and CHECK for each of at most 10 cuts.
        assert 165 + 16 <= world.replicas("l")["a"].position <= 165 + 20

    World(1).run(main)


def checker(every: int = 4) -> tuple[Checker, HandPort, Machine]:
    port = HandPort()
    machine = Machine(Ledger(), GROUP)
    made = Checker(lambda: Machine(Ledger(), GROUP), every, port)
    made.begin(machine)
    return made, port, machine


def play(made: Checker, machine: Machine, process: Process, *payloads: bytes) -> list[object]:
    said: list[object] = []
    for payload in payloads:
        entry = Entry(machine.position + 1, process, machine.position + 1, payload)
        said += made.applied(machine, entry, machine.apply(entry))
    return said


ADD = calls(("add", [1]))


def test_who_notices_that_a_cut_is_due_asks_once_and_then_says_the_hash() -> None:
    made, port, machine = checker()
    play(made, machine, OTHER, *[ADD] * 6)
    assert port.sent == []
    play(made, machine, ME, ADD, ADD)
    assert [decode(payload) for payload in port.sent] == [Verify(asked=False)]
    play(made, machine, ME, *port.sent)
    check = decode(port.sent[1])
    assert isinstance(check, Check)
    assert check.position == machine.position
    play(made, machine, ME, port.sent[1])
    assert made.compared == 1


def test_a_second_request_right_behind_the_first_makes_no_cut() -> None:
    made, port, machine = checker()
    play(made, machine, ME, *[ADD] * 4)
    request = port.sent[0]
    play(made, machine, OTHER, request)
    play(made, machine, ME, request)
    assert len(port.sent) == 1
    play(made, machine, ME, encode(Verify(asked=True)))
    assert len(port.sent) == 2


def test_a_cut_whose_hash_nobody_says_holds_the_next_one_up_but_not_for_ever() -> None:
    made, port, machine = checker()
    play(made, machine, OTHER, *[ADD] * 4, encode(Verify(asked=False)))
    play(made, machine, ME, *[ADD] * 63)
    assert port.sent == []
    play(made, machine, ME, ADD)
    assert len(port.sent) == 1


def test_a_hash_from_before_ones_own_time_says_nothing() -> None:
    made, port, machine = checker()
    assert play(made, machine, OTHER, encode(Check(999, b"12345678"))) == []
    assert (port.sent, made.compared) == ([], 0)


def test_states_and_log_that_are_kept_are_bounded() -> None:  # C3
    made, _, machine = checker()
    for _ in range(6):
        play(made, machine, OTHER, *[ADD] * 4, encode(Verify(asked=True)))
    assert len(made._cuts) == CUTS_MAX
    assert made._log[0].position == made._cuts[0].position + 1
    big = calls(("add_chance", ["x" * (STATE_BYTES_MAX + 1)]))
    play(made, machine, OTHER, big, encode(Verify(asked=True)))
    assert made._cuts[-1].state is None
    play(made, machine, OTHER, *[big] * 5)
    assert made._log_bytes <= 16 << 20
    # Too large to be kept, so it cannot be replayed; the difference is told all the same.
    said = play(made, machine, OTHER, encode(Trail(ME, machine.position, {1: b"12345678"})))
    assert [type(event) for event in said] == [Diverged]


def test_without_checks_nothing_is_kept_or_said() -> None:
    made, port, machine = checker(every=0)
    play(made, machine, ME, *[ADD] * 500, encode(Verify(asked=True)))
    assert (port.sent, len(made._log), made._cuts) == ([], 0, [])


@pytest.mark.parametrize("length", [0, 1, 5, 64, 65, 1000])
def test_a_trail_has_both_ends_and_few_positions_between(length: int) -> None:
    places = _spread(10, 10 + length)
    assert (places[0], places[-1]) == (10, 10 + length)
    assert places == sorted(set(places))
    assert len(places) == min(length + 1, HASHES_MAX)


def test_a_long_stretch_is_narrowed_down_in_turns() -> None:
    async def main(world: World) -> int:
        ledger = await world.node("a").open(Ledger, "l")
        other = await world.node("b").open(Ledger, "l")
        for number in range(900):
            ledger.add(number)
            if number == 300:
                await other.add_chance("x")
                await world.settle()
        await world.settle()
        return 0

    world = World(5, strict=False)
    Ledger.check_every = 800
    try:
        world.run(main)
    finally:
        Ledger.check_every = 16
    assert {event.operation for event in found(world)} == {"add_chance"}
