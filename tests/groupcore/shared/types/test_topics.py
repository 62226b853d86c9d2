"""Topics and presence: open senders, subscribers that come and go, pointers that fade."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from groupcore.sequencing.events import Joined, Volatile
from groupcore.shared import (
    ArgumentsError,
    ClosedError,
    DeclarationError,
    MessageRejected,
    TooSlowError,
)
from groupcore.shared.messages import pack
from groupcore.shared.scalars import SCALARS
from groupcore.shared.testing import BAD_WEATHER, Weather, World
from groupcore.shared.types import (
    Counter,
    FifoTopic,
    Presence,
    PresenceChanged,
    Published,
    Topic,
)
from tests.groupcore.shared.ports import GROUP, ME, OTHER, HandPort, feed, run

WEATHERS = pytest.mark.parametrize("weather", [Weather(), BAD_WEATHER], ids=["good", "bad"])


@dataclass(frozen=True)
class Switched:
    room: str
    on: bool


@dataclass(frozen=True)
class Cursor:
    x: int
    y: int


@WEATHERS
@pytest.mark.parametrize("seed", range(5))
def test_subscribers_get_the_same_events_in_one_order(seed: int, weather: Weather) -> None:
    async def main(world: World) -> None:
        seen: list[list[Published[Switched]]] = []

        async def subscribe(name: str) -> None:
            topic = await world.node(name).open(Topic[Switched], "lights")
            events: list[Published[Switched]] = []
            seen.append(events)
            async with topic.subscribe() as subscription:
                ready.append(name)
                async for event in subscription:
                    events.append(event)
                    if len(events) == 40:
                        break

        ready: list[str] = []
        subscribers = [world.spawn(subscribe(name)) for name in "abc"]
        switches = [await world.node(name).open(Topic[Switched], "lights") for name in "de"]
        while len(ready) < 3:
            await world.elapse(0.1)
        for number in range(40):
            switches[number % 2].publish(Switched(f"room {number}", True))
        for subscriber in subscribers:
            await subscriber
        assert seen[0] == seen[1] == seen[2]
        assert {event.process.node.name for event in seen[0]} == {"d", "e"}
        positions = [event.position for event in seen[0]]
        assert positions == sorted(positions)

    World(seed, weather).run(main)


def test_a_publisher_need_not_subscribe_and_learns_when_its_event_has_its_place() -> None:
    async def main(world: World) -> None:
        switch = await world.node("a").open(Topic[Switched], "lights")
        lamp = await world.node("b").open(Topic[Switched], "lights")
        await switch.publish(Switched("hall", True))  # nobody is there to see it
        async with lamp.subscribe() as events:
            await switch.publish(Switched("hall", False))
            await world.settle()
            assert [event.value for event in events.take()] == [Switched("hall", False)]
        with pytest.raises(ArgumentsError, match="publish"):
            switch.publish("on")  # type: ignore[arg-type]

    World(1).run(main)


def test_an_event_comes_behind_what_its_publisher_had_seen() -> None:
    async def main(world: World) -> None:
        counter = await world.node("a").open(Counter, "count")
        seen = await world.node("b").open(Counter, "count")
        bell = await world.node("a").open(Topic[int], "bell")
        listener = await world.node("b").open(Topic[int], "bell")
        async with listener.subscribe() as events:
            counter.add(5)
            bell.publish(1)
            async for _ in events:
                break
            assert seen.value == 5

    for seed in range(10):
        World(seed, BAD_WEATHER).run(main)


def test_the_last_subscriber_leaves_the_group_and_one_that_comes_joins_again() -> None:
    async def main(world: World) -> None:
        topic = await world.node("a").open(Topic[int], "t")
        other = await world.node("b").open(Topic[int], "t")
        for round_ in range(3):
            one, two = topic.subscribe(), topic.subscribe()
            await one.ready
            await other.publish(round_)
            await world.settle()
            assert [event.value for event in one.take()] == [round_]
            one.close()
            await other.publish(100)
            await world.settle()
            assert [event.value for event in two.take()] == [round_, 100]
            two.close()
            quick = topic.subscribe()  # while the topic is leaving
            await quick.ready
            quick.close()
            await world.settle()

    for seed in range(4):
        World(seed).run(main)


def test_a_subscription_that_nobody_reads_ends_and_is_dropped() -> None:
    async def main(world: World) -> None:
        topic = await world.node("a").open(FifoTopic[int], "t")
        subscription = topic.subscribe(waiting_max=3)
        await subscription.ready
        for number in range(6):
            await topic.publish(number)
        await world.settle()
        with pytest.raises(TooSlowError):
            await anext(subscription.stream)
        with pytest.raises(StopAsyncIteration):
            await anext(subscription.stream)
        assert topic._subscriptions == []

    World(1).run(main)


def test_a_closed_topic_ends_its_subscriptions_and_refuses() -> None:
    async def main(world: World) -> None:
        topic = await world.node("a").open(Topic[int], "t")
        subscription = topic.subscribe()
        await subscription.ready
        await topic.close()
        with pytest.raises(StopAsyncIteration):
            await anext(subscription.stream)
        for act in (topic.subscribe, lambda: topic.publish(1)):
            with pytest.raises(ClosedError):
                act()
        again = await world.node("a").open(Topic[int], "t")
        await again.publish(2)

    World(1).run(main)


def test_what_a_crashed_node_waited_for_fails() -> None:
    async def main(world: World) -> None:
        topic = await world.node("a").open(Topic[int], "t")
        subscription = topic.subscribe()
        pending = topic.publish(1)
        world.crash("a")
        for outcome in (pending, subscription.ready):
            assert isinstance(outcome.error, ClosedError)

    World(1).run(main)


def test_messages_that_are_no_events_are_told_and_skipped() -> None:
    port = HandPort()
    topic = Topic[int](port, SCALARS[int])
    (said,) = feed(topic, run(1, OTHER, 1, b"\x01", b"\xc1"))
    assert said == MessageRejected(GROUP, 2, OTHER, said.detail)  # type: ignore[attr-defined]


def test_a_topic_or_presence_says_of_what() -> None:
    async def main(world: World) -> None:
        for kind in (Topic, Presence):
            with pytest.raises(DeclarationError, match=r"open (Topic|Presence)\[...\]"):
                world.node("a").open(kind, "x")

    World(1).run(main)


def test_everybody_sees_where_the_others_are() -> None:
    async def main(world: World) -> None:
        rooms = [await world.node(name).open(Presence[Cursor], "room") for name in "abc"]
        changes = rooms[0].changes()
        rooms[1].set(Cursor(1, 2))
        await world.elapse(0.2)
        b, c = world.node("b").process, world.node("c").process
        assert rooms[0].others == rooms[2].others == {b: Cursor(1, 2)}
        assert (rooms[1].others, rooms[1].mine) == ({}, Cursor(1, 2))
        rooms[2].set(Cursor(3, 4))
        rooms[1].set(None)
        await world.elapse(0.2)
        assert rooms[0].others == {c: Cursor(3, 4)}
        assert (
            changes.take()
            == [
                PresenceChanged(b, Cursor(1, 2)),
                PresenceChanged(c, Cursor(3, 4)),
                PresenceChanged(b, None),
            ]
            or len(changes.take()) == 0
        )
        with pytest.raises(ArgumentsError):
            rooms[0].set("here")  # type: ignore[arg-type]

    World(1).run(main)


def test_fast_movements_are_sent_at_intervals_and_the_last_one_counts() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Presence[int], "room")
        b = await world.node("b").open(Presence[int], "room")
        changes = b.changes()
        for number in range(100):
            a.set(number)
            await world.elapse(0.001)
        await world.elapse(0.2)
        assert b.others == {world.node("a").process: 99}
        assert len(changes.take()) <= 4

    World(1).run(main)


def test_who_comes_late_sees_who_is_here_and_lost_values_are_made_good() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Presence[int], "room")
        a.set(7)
        await world.elapse(0.5)
        b = await world.node("b").open(Presence[int], "room")
        await world.elapse(11)
        assert b.others == {world.node("a").process: 7}

    for seed in range(6):
        World(seed, Weather(loss=0.3)).run(main)


def test_who_is_silent_or_gone_is_here_no_more() -> None:
    async def main(world: World) -> None:
        rooms = {name: await world.node(name).open(Presence[str], "room") for name in "abcd"}
        for name, room in rooms.items():
            room.set(name)
        await world.elapse(1)
        assert sorted(rooms["a"].others.values()) == ["b", "c", "d"]
        await rooms["b"].close()
        await world.elapse(0.1)
        assert sorted(rooms["a"].others.values()) == ["c", "d"]
        world.crash("c")
        await world.elapse(1)
        assert sorted(rooms["a"].others.values()) == ["d"]
        world.cut_off("d")
        await world.elapse(20)
        assert rooms["a"].others == {}
        assert rooms["d"].others == {}
        world.reconnect("d")
        await world.elapse(6)
        assert sorted(rooms["a"].others.values()) == ["d"]
        with pytest.raises(ClosedError):
            rooms["b"].set("x")

    World(1).run(main)


def test_a_value_that_is_none_of_ours_is_told() -> None:
    presence = Presence[int](HandPort(), SCALARS[int])
    presence.open()
    feed(presence, Joined(GROUP, 1, ME))
    for payload in (b"\xc1", pack(5), pack(["x"])):
        (said,) = feed(presence, Volatile(GROUP, OTHER, payload))
        assert isinstance(said, MessageRejected)
    feed(presence, Volatile(GROUP, ME, pack([1])), Volatile(GROUP, OTHER, pack([2])))
    assert presence.others == {OTHER: 2}
