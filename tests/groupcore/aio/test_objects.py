"""Shared objects on real nodes, over the loopback interface."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable

import pytest

from groupcore.aio import Node
from groupcore.aio.objects import log_event
from groupcore.errors import ChannelClosedError
from groupcore.events import Excluded
from groupcore.sequencing.events import Delivered
from groupcore.sequencing.names import Order
from groupcore.shared import (
    ClosedError,
    DeclarationError,
    DeletedError,
    Diverged,
    MessageRejected,
    OutcomeUnknownError,
    Pending,
    RefusedError,
    Replaced,
    SchemaMismatchError,
    SharedEvent,
    SharedObject,
    operation,
)
from groupcore.shared.body import Body
from groupcore.shared.types import Counter, Editor, Lock, Map, Presence, Text, Topic
from tests.groupcore.aio.cluster import KEY, LIMIT_S, free_port

pytestmark = pytest.mark.slow

Start = Callable[[str], "asyncio.Future[Node]"]


class Cluster:
    """Nodes that find each other; `events` is what their objects have said."""

    def __init__(self) -> None:
        self.multicast = f"228.8.8.8:{free_port()}"
        self.nodes: dict[str, Node] = {}
        self.events: list[SharedEvent] = []

    async def start(self, *names: str) -> list[Node]:
        for name in names:
            node = Node(
                "objects-test",
                node_id=name,
                on_event=self.events.append,
                multicast=self.multicast,
                key=KEY,
            )
            await node.__aenter__()
            self.nodes[name] = node
        return [self.nodes[name] for name in names]


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster()
    yield made
    for node in made.nodes.values():
        await node.close()


async def until(condition: Callable[[], bool], pause_s: float = 0.01) -> None:
    async with asyncio.timeout(LIMIT_S):
        while True:
            if condition():
                return
            await asyncio.sleep(pause_s)


async def test_an_object_is_the_same_on_all_nodes_and_at_who_comes_late(cluster: Cluster) -> None:
    a, b = await cluster.start("a", "b")
    at_a, at_b = await a.open(Counter, "clicks"), await b.open(Counter, "clicks")
    sums = await asyncio.gather(*(counter.add() for counter in (at_a, at_b) * 10))
    assert sorted(sums) == list(range(1, 21))
    (c,) = await cluster.start("c")
    at_c = await c.open(Counter, "clicks")
    assert at_c.value == 20
    assert [process.node.name for process in at_c.members] == ["a", "b", "c"]
    assert at_c.process == c.process
    assert await at_c.add() == 21
    await asyncio.gather(at_a.refresh(), at_b.refresh())
    assert at_a.value == at_b.value == 21


async def test_one_node_has_one_object_of_a_name(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    first, second = await asyncio.gather(a.open(Map[str, int], "m"), a.open(Map[str, int], "m"))
    assert first is second
    with pytest.raises(DeclarationError, match="is open as"):
        await a.open(Counter, "m")
    await first.set("x", 1)
    await first.close()
    with pytest.raises(ClosedError):
        first.set("x", 2)
    again = await a.open(Map[str, int], "m")
    assert again is not first


async def test_topics_presence_locks_and_texts_work_across_nodes(cluster: Cluster) -> None:
    a, b = await cluster.start("a", "b")
    bell, listener = await a.open(Topic[int], "bell"), await b.open(Topic[int], "bell")
    async with listener.subscribe() as events:
        await bell.publish(7)
        async for event in events:
            assert (event.value, event.process) == (7, a.process)
            break
    here, there = await a.open(Presence[str], "room"), await b.open(Presence[str], "room")
    here.set("Ann")
    await until(lambda: there.others == {a.process: "Ann"})
    lock, other = await a.open(Lock, "lock"), await b.open(Lock, "lock")
    async with lock.hold():
        waiting = asyncio.create_task(other.acquire())
        await until(lambda: lock.waiting == [b.process])
    assert (await waiting).process == b.process
    text, seen = await a.open(Text, "note"), await b.open(Text, "note")
    editor = Editor(text)
    editor.insert(0, "hello")
    await until(lambda: seen.text == "hello")
    assert editor.text == "hello"


async def test_the_lock_of_a_node_that_leaves_goes_to_the_next(cluster: Cluster) -> None:
    a, b = await cluster.start("a", "b")
    lock, other = await a.open(Lock, "lock"), await b.open(Lock, "lock")
    await lock.acquire()
    waiting = asyncio.create_task(other.acquire())
    await until(lambda: len(lock.waiting) == 1)
    await cluster.nodes.pop("a").close()
    assert (await waiting).process == b.process
    assert other.members == (b.process,)


async def test_objects_come_back_by_themselves_when_the_cluster_went_on_without_the_node(
    cluster: Cluster,
) -> None:
    a, b = await cluster.start("a", "b")
    at_a, at_b = await a.open(Counter, "clicks"), await b.open(Counter, "clicks")
    bell, listener = await a.open(Topic[int], "bell"), await b.open(Topic[int], "bell")
    room, other_room = await a.open(Presence[str], "room"), await b.open(Presence[str], "room")
    other_room.set("Bob")
    events = listener.subscribe()
    await events.ready
    await at_b.add(5)
    changes = at_b.changes()
    former = b.process
    b.groups.channel._on_deliveries([Excluded("the view went on")])
    lost, unsaid = at_b.add(100), bell.publish(1)
    unknown = listener.publish(2)
    await until(lambda: b.process != former)
    held, said = at_b.add(1), listener.publish(3)
    await asyncio.gather(unsaid, said)
    with pytest.raises(OutcomeUnknownError):
        await unknown
    outcomes = await asyncio.gather(lost, held, return_exceptions=True)
    assert isinstance(outcomes[0], OutcomeUnknownError | int)
    assert outcomes[1] == at_b.value
    assert any(isinstance(change, Replaced) for change in changes.take())
    await at_a.refresh()
    assert at_a.value == at_b.value
    assert set(at_a.members) == {a.process, b.process}
    await until(lambda: room.others == {b.process: "Bob"})

    def is_heard() -> bool:
        bell.publish(9)
        return any(event.value == 9 for event in events.take())

    await until(is_heard, 0.1)


async def test_another_version_of_a_class_is_refused(cluster: Cluster) -> None:
    class Score(SharedObject):
        points: int = 0

    a, b = await cluster.start("a", "b")
    await a.open(Score, "score")

    class Score(SharedObject):  # type: ignore[no-redef]
        points: int = 0
        level: int = 1

    with pytest.raises(SchemaMismatchError):
        await b.open(Score, "score")


async def test_what_the_service_refuses_says_why(cluster: Cluster) -> None:
    class StrictCounter(Counter, order=Order.STRICT):
        pass

    (a,) = await cluster.start("a")
    text = await a.open(Map[str, str], "m")
    with pytest.raises(RefusedError) as refused:
        text.set("x", "y" * 70_000)
    assert refused.value.code == "too_large"
    await a.open(Counter, "c1")
    await a.room()
    (b,) = await cluster.start("b")
    with pytest.raises(RefusedError) as refused:
        await b.open(StrictCounter, "c1")
    assert refused.value.code == "bad_order"
    for name in ("x" * 65, "", 5):
        with pytest.raises(RefusedError) as refused:
            await b.open(Counter, name)  # type: ignore[arg-type]
        assert refused.value.code == "bad_name"


async def test_a_node_that_is_closed_says_so(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    counter = await a.open(Counter, "c")
    pending: Pending[int] = counter.add()
    await cluster.nodes.pop("a").close()
    assert isinstance(pending.error, ClosedError) or pending.result() == 1
    with pytest.raises(ClosedError):
        counter.add()
    unused = Node("objects-test", node_id="x")
    with pytest.raises(ChannelClosedError):
        _ = unused.process


async def test_replicas_that_part_are_told_with_the_operation(cluster: Cluster) -> None:
    class Bad(SharedObject, check_every=8):
        values: list[int]

        @operation
        def add(self, value: int) -> None:
            self.values.append(value)

        @operation
        def add_address(self) -> None:
            self.values.append(id(self) % 1_000_003)

    a, b = await cluster.start("a", "b")
    at_a, at_b = await a.open(Bad, "bad"), await b.open(Bad, "bad")
    await at_a.add_address()
    for number in range(40):
        await at_a.add(number)
        await at_b.add(number)
    await until(lambda: sum(isinstance(event, Diverged) for event in cluster.events) >= 2)
    named = [event.operation for event in cluster.events if isinstance(event, Diverged)]
    assert named == ["add_address"] * len(named)


async def test_a_bug_of_ours_ends_one_object_and_no_other(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (a,) = await cluster.start("a")
    doomed, other = await a.open(Counter, "doomed"), await a.open(Counter, "other")
    feed = Body.feed

    def fail(self: Body[object], event: object) -> list[SharedEvent]:
        if isinstance(event, Delivered) and self.faces[0].target is doomed:
            raise AssertionError("a bug")
        return feed(self, event)  # type: ignore[arg-type]

    monkeypatch.setattr(Body, "feed", fail)
    with caplog.at_level(logging.ERROR), pytest.raises(ClosedError, match="has failed"):
        await doomed.add()
    assert await other.add() == 1


async def test_a_node_logs_what_nobody_listens_to(caplog: pytest.LogCaptureFixture) -> None:
    process = None
    with caplog.at_level(logging.WARNING):
        log_event(Diverged(1, process, 5, 4, "bad", {}, None))  # type: ignore[arg-type]
        log_event(MessageRejected(1, 5, process, "no"))  # type: ignore[arg-type]
    assert "parted" in caplog.text
    assert "no operation" in caplog.text


async def test_a_topic_and_a_presence_end_with_their_node(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    bell = await a.open(Topic[int], "bell")
    room = await a.open(Presence[int], "room")
    subscription = bell.subscribe()
    await subscription.ready
    await cluster.nodes.pop("a").close()
    with pytest.raises(ClosedError):
        bell.publish(1)
    with pytest.raises(ClosedError):
        room.set(1)
    assert subscription.stream.ended


async def test_a_deleted_object_ends_at_who_has_it_open_and_its_name_is_free(
    cluster: Cluster,
) -> None:
    a, b = await cluster.start("a", "b")
    clicks, theirs = await a.open(Counter, "clicks"), await b.open(Counter, "clicks")
    topic, here = await b.open(Topic[str], "news"), await b.open(Presence[str], "here")
    await clicks.add(5)
    for name in ("clicks", "news", "here"):
        await until(lambda name=name: name in a.groups.names)  # type: ignore[misc]
        assert await a.delete(name)
        assert not await a.delete(name)
        await until(lambda name=name: name not in b.groups.names)  # type: ignore[misc]
    for counter in (clicks, theirs):
        with pytest.raises(DeletedError, match="clicks has been deleted"):
            await counter.add()
    with pytest.raises(ClosedError):
        await topic.publish("late")
    assert not here.others
    again = await b.open(Counter, "clicks")
    assert again is not theirs
    assert await again.add() == 1
