"""The test kit: the orders that it keeps, its bad network, crashes, late joiners, and its seeds."""

from __future__ import annotations

import pytest

from groupcore.sequencing.names import Order
from groupcore.shared import ClosedError, DeclarationError, RefusedError, SharedObject, operation
from groupcore.shared.tasks import StuckError
from groupcore.shared.testing import BAD_WEATHER, DivergedError, Weather, World

GOOD_AND_BAD = pytest.mark.parametrize("weather", [Weather(), BAD_WEATHER], ids=["good", "bad"])
SEEDS = pytest.mark.parametrize("seed", range(6))


SEEN: dict[str, list[str]] = {}
"""What each node has done, over all groups: for tests that look at how these are interleaved."""


class Chat(SharedObject, check_every=8):
    """Lines in the order."""

    lines: list[str]

    @operation
    def say(self, line: str) -> int:
        SEEN.setdefault(self.process.node.name, []).append(line)
        self.lines.append(line)
        return len(self.lines)


class StrictChat(Chat, order=Order.STRICT):
    """The same, totally ordered with all others of its kind."""


@GOOD_AND_BAD
@SEEDS
def test_all_replicas_are_equal_when_everything_has_arrived(seed: int, weather: Weather) -> None:
    async def main(world: World) -> None:
        chats = [await world.node(name).open(Chat, "chat") for name in "abc"]
        for number in range(60):
            chats[world.draw.randrange(3)].say(str(number))
            if world.draw.random() < 0.2:
                await world.elapse(world.draw.random() / 10)
        await world.settle()
        world.assert_equal("chat")
        assert len(chats[0].lines) == 60

    World(seed, weather).run(main)


@GOOD_AND_BAD
@SEEDS
def test_what_was_seen_before_sending_is_delivered_before_it(seed: int, weather: Weather) -> None:
    async def main(world: World) -> None:
        # a tells b in `near`; b, having seen it, tells c in `far`; c is in a's `wide` as well.
        near = [await world.node(name).open(Chat, "near") for name in "ab"]
        far = [await world.node(name).open(Chat, "far") for name in "bc"]
        wide = [await world.node(name).open(Chat, "wide") for name in "ac"]
        arrived = far[1].changes()
        wide[0].say("cause")
        near[0].say("go")
        heard = near[1].changes()
        if not near[1].lines:
            await anext(heard)
        far[0].say("effect")
        await anext(arrived)
        assert wide[1].lines == ["cause"]

    World(seed, weather).run(main)


@SEEDS
def test_strict_groups_are_one_order_at_whoever_is_in_both(seed: int) -> None:
    async def main(world: World) -> None:
        SEEN.clear()
        chats = {}
        for name in "ab":
            for topic in ("x", "y"):
                chats[name, topic] = await world.node(name).open(StrictChat, topic)
        for number in range(30):
            name, topic = world.draw.choice("ab"), world.draw.choice("xy")
            chats[name, topic].say(f"{topic}{number}")
            await world.elapse(world.draw.random() / 100)
        await world.settle()
        assert len(SEEN["a"]) == 30
        assert SEEN["a"] == SEEN["b"]

    World(seed, BAD_WEATHER).run(main)


def test_groups_that_are_not_strict_may_be_interleaved_otherwise() -> None:
    async def interleaving(world: World) -> bool:
        SEEN.clear()
        x = await world.node("c").open(Chat, "x")
        z = await world.node("d").open(Chat, "y")
        for name in "ab":
            for topic in ("x", "y"):
                await world.node(name).open(Chat, topic)
        for number in range(20):
            x.say(f"x{number}")
            z.say(f"y{number}")
        await world.settle()
        return SEEN["a"] == SEEN["b"]

    assert not all(World(seed).run(interleaving) for seed in range(5))


@GOOD_AND_BAD
@SEEDS
def test_a_late_joiner_takes_the_state_in_the_middle_of_everything(
    seed: int, weather: Weather
) -> None:
    async def main(world: World) -> None:
        chats = [await world.node(name).open(Chat, "chat") for name in "ab"]
        for name in "cde":
            for number in range(15):
                chats[world.draw.randrange(len(chats))].say(f"{name}{number}")
                await world.elapse(world.draw.random() / 100)
            chats.append(await world.node(name).open(Chat, "chat"))
        await world.settle()
        world.assert_equal("chat")
        assert len(chats[-1].lines) == 45

    World(seed, weather).run(main)


@SEEDS
def test_a_crash_is_noticed_and_the_others_go_on(seed: int) -> None:
    async def main(world: World) -> None:
        chats = {name: await world.node(name).open(Chat, "chat") for name in "abc"}
        joining = world.spawn(late(world))
        for number in range(20):
            chats["a"].say(str(number))
            pending = chats["b"].say(f"b{number}")
        await world.elapse(world.draw.random() / 50)
        world.crash("b")
        if not pending.done:
            await world.elapse(0)
        assert pending.done
        await joining
        await world.elapse(2)
        await world.settle()
        world.assert_equal("chat")
        assert [process.node.name for process in chats["a"].members] == ["a", "c", "d"]
        back = await world.node("b").open(Chat, "chat")
        assert back.lines == chats["a"].lines
        assert back is not chats["b"]

    async def late(world: World) -> Chat:
        return await world.node("d").open(Chat, "chat")

    World(seed).run(main)


def test_a_node_that_is_cut_off_sees_the_past_and_catches_up() -> None:
    async def main(world: World) -> None:
        a, b = [await world.node(name).open(Chat, "chat") for name in "ab"]
        world.cut_off("b")
        await a.say("one")
        pending = b.say("two")
        await world.settle()
        assert (a.lines, b.lines, pending.done) == (["one"], [], False)
        world.reconnect("b")
        await pending
        await world.settle()
        assert a.lines == b.lines == ["one", "two"]

    World(1).run(main)


def test_one_node_has_one_object_of_a_name_and_may_open_it_again() -> None:
    async def main(world: World) -> None:
        node = world.node("a")
        first = await node.open(Chat, "chat")
        assert await node.open(Chat, "chat") is first
        await first.say("x")
        await first.close()
        with pytest.raises(ClosedError):
            first.say("y")
        again = await node.open(Chat, "chat")
        assert (again is first, again.lines) == (False, [])
        with pytest.raises(DeclarationError):
            node.open(int, "number")

    World(1).run(main)


def test_one_seed_gives_one_run() -> None:
    def play(seed: int) -> tuple[list[str], float]:
        async def main(world: World) -> tuple[list[str], float]:
            chats = [await world.node(name).open(Chat, "chat") for name in "abc"]
            for number in range(30):
                world.draw.choice(chats).say(str(number))
            await world.settle()
            return list(chats[0].lines), world.now_s

        return World(seed, BAD_WEATHER).run(main)

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_an_object_has_a_name_that_its_group_can_have() -> None:
    async def main(world: World) -> None:
        for name in ("x" * 65, ""):
            with pytest.raises(RefusedError) as refused:
                await world.node("a").open(Chat, name)
            assert refused.value.code == "bad_name"

    World(seed=1).run(main)


def test_a_program_that_waits_for_nothing_is_stuck() -> None:
    async def wait_for_ever(world: World) -> None:
        chat = await world.node("a").open(Chat, "chat")
        async for _ in chat.changes():
            pass

    async def run_for_ever(world: World) -> None:
        while True:
            await world.elapse(1000)

    for program in (wait_for_ever, run_for_ever):
        with pytest.raises(StuckError):
            World(1).run(program)


def test_replicas_that_differ_are_told_by_node() -> None:
    async def main(world: World) -> None:
        a, b = [await world.node(name).open(Chat, "chat") for name in "ab"]
        world.cut_off("b")
        await a.say("x")
        with pytest.raises(AssertionError, match=r"replicas of chat differ: positions .'a': 3"):
            world.assert_equal("chat")
        assert b.lines == []

    World(1).run(main)


class Careless(SharedObject):
    """Does something else at each node, and is seldom compared."""

    lines: list[str]

    @operation
    def note(self, line: str) -> None:
        self.lines.append(line)

    @operation
    def sign(self) -> None:
        self.lines.append(self.process.node.name)


async def sign_once(world: World) -> None:
    a, b = [await world.node(name).open(Careless, "notes") for name in "ab"]
    for number in range(5):
        await a.note(str(number))
    await b.sign()


def test_one_operation_that_differs_is_found_at_the_end_of_the_run() -> None:
    async def main(world: World) -> None:
        await sign_once(world)

    with pytest.raises(DivergedError, match=r"replicas of notes differ: positions .'a': 8, 'b': 8"):
        World(1).run(main)
    World(1, strict=False).run(main)


def test_it_is_found_as_soon_as_all_is_quiet_and_a_node_that_is_behind_is_compared_later() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Careless, "notes")
        await world.node("b").open(Careless, "notes")
        await world.settle()
        world.cut_off("b")
        await a.sign()
        await world.settle()  # b has not done it yet
        world.reconnect("b")
        with pytest.raises(DivergedError, match="replicas of notes differ"):
            await world.settle()
        with pytest.raises(AssertionError, match="replicas of notes differ"):
            world.assert_equal("notes")
        await world.settle()  # said once

    World(1).run(main)


def test_what_a_spawned_program_raises_and_nobody_awaits_fails_the_run() -> None:
    async def fail(world: World) -> None:
        await world.elapse(1)
        raise RuntimeError("unseen")

    async def main(world: World) -> None:
        world.spawn(fail(world))
        await world.elapse(2)

    async def careful(world: World) -> None:
        outcome = world.spawn(fail(world))
        with pytest.raises(RuntimeError):
            await outcome

    with pytest.raises(RuntimeError, match="unseen"):
        World(1).run(main)
    World(1).run(careful)


async def open_chat(world: World, node: str, name: str) -> Chat:
    return await world.node(node).open(Chat, name)


@pytest.mark.parametrize("seed", range(60, 70))
def test_a_newcomer_is_shown_what_it_has_heard_of_elsewhere(seed: int) -> None:
    async def main(world: World) -> None:
        near = [await world.node(name).open(Chat, "near") for name in "abd"]
        far = [await world.node(name).open(Chat, "far") for name in "bc"]
        await world.settle()
        opening = world.spawn(open_chat(world, "c", "near"))
        near[0].say("x")
        while "x" not in near[1].lines:
            await world.elapse(0.001)
        far[0].say("I have read x")
        heard = False
        while not opening.done:
            heard = bool(far[1].lines)
            await world.elapse(0.001)
        assert "x" in opening.result().lines or not heard

    World(seed, Weather(delay_most_s=0.05, loss=0.4, resend_s=0.4)).run(main)


def test_a_crashed_node_opens_nothing_any_more() -> None:
    async def main(world: World) -> None:
        node = world.node("a")
        await node.open(Chat, "chat")
        world.crash("a")
        with pytest.raises(ClosedError, match="gone"):
            await node.open(Chat, "other")

    World(1).run(main)


def test_what_was_not_sent_by_who_was_cut_off_and_died_holds_up_nobody() -> None:
    async def main(world: World) -> None:
        a, b = [await world.node(name).open(Chat, "chat") for name in "ab"]
        world.cut_off("b")
        b.say("never heard")
        await world.elapse(0.5)
        world.crash("b")
        await world.elapse(1.0)
        again = await world.node("b").open(Chat, "chat")
        assert await again.say("hello") == 1
        await world.settle()
        assert a.lines == ["hello"]

    World(1).run(main)
