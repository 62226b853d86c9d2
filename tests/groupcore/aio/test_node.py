"""The rules of the pump: one turn goes out together, and records are kept before reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random
from typing import ClassVar

import pytest

from groupcore.aio import node as module
from groupcore.aio.lineage import MemoryLineage
from groupcore.aio.node import Node
from groupcore.aio.udp import UdpSockets
from groupcore.batch import Batch
from groupcore.effects import Effect, Notify, Persist, StartTimer, Up
from groupcore.endpoint import Delivery, Endpoint
from groupcore.events import Connect, Event, Found, Left, Persisted, PrimaryLost, Synced
from groupcore.layer import Layer
from groupcore.seal import Keyring
from groupcore.stack import Stack
from groupcore.transport import Transport, TransportOptions
from groupcore.view import Address

ME = Address("a", 1)


class Echo(Layer):
    """Delivers at once what is sent, and does what the test's events ask for."""

    name: ClassVar[str] = "ECHO"

    def __init__(self) -> None:
        self.told: list[Event] = []
        self.told_more = asyncio.Event()

    async def told_of(self, event: Event) -> None:
        async with asyncio.timeout(5):
            while event not in self.told:
                self.told_more.clear()
                await self.told_more.wait()

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        return [Up(batch)]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        self.told.append(event)
        self.told_more.set()
        match event:
            case Synced(_, token):
                return [Persist(token, b"%d" % token)]
            case PrimaryLost():
                return [StartTimer("soon", 0.001)]
        return []

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        return [Notify(Found())]


class Running:
    """A node on real sockets, and what it has delivered, turn by turn."""

    def __init__(self, lineage: MemoryLineage) -> None:
        self.layer = Echo()
        keys = Keyring("home", {1: b"k" * 32}, 1)
        transport = Transport(ME, keys, b"b" * 16, TransportOptions(), Random(1))
        self.sockets = UdpSockets("127.0.0.1")
        self.turns: list[list[Delivery | Event]] = []
        self.when_delivered: Callable[[], None] | None = None
        self.delivered = asyncio.Event()
        endpoint = Endpoint(ME, Stack([self.layer]), transport)
        self.node = Node(endpoint, self.sockets, lineage, self.deliver)

    def deliver(self, deliveries: list[Delivery | Event]) -> None:
        self.turns.append(deliveries)
        self.delivered.set()
        if self.when_delivered is not None:
            then, self.when_delivered = self.when_delivered, None
            then()

    async def next_delivery(self) -> None:
        self.delivered.clear()
        await self.delivered.wait()


Start = Callable[[MemoryLineage], Awaitable[Running]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    every: list[Running] = []

    async def start_node(lineage: MemoryLineage) -> Running:
        running = Running(lineage)
        every.append(running)
        running.node.start(Connect())
        await asyncio.sleep(0)
        return running

    yield start_node
    for running in every:
        await running.node.stop()
        running.sockets.close()


async def test_messages_of_one_loop_turn_travel_as_one_batch(start: Start) -> None:
    running = await start(MemoryLineage())
    for number in range(3):
        running.node.send(None, b"%d" % number)
    assert running.turns == []
    await running.next_delivery()
    assert running.turns == [[Delivery(ME, 0, [b"0", b"1", b"2"])]]


async def test_events_are_told_after_what_was_sent_before_them(start: Start) -> None:
    running = await start(MemoryLineage())
    running.node.send(None, b"text")
    running.node.notify(Left())
    await running.next_delivery()
    assert running.layer.told == [Connect(), Left()]
    assert running.turns == [[Delivery(ME, 0, [b"text"])]]


async def test_what_the_receiver_sends_has_a_turn_of_its_own(start: Start) -> None:
    running = await start(MemoryLineage())
    running.when_delivered = lambda: running.node.send(None, b"second")
    running.node.send(None, b"first")
    await running.next_delivery()
    assert len(running.turns) == 1
    await running.next_delivery()
    assert running.turns == [[Delivery(ME, 0, [b"first"])], [Delivery(ME, 0, [b"second"])]]


async def test_a_timer_wakes_the_stack(start: Start) -> None:
    running = await start(MemoryLineage())
    running.node.notify(PrimaryLost())
    await running.next_delivery()
    assert running.turns == [[Found()]]


class Recording(MemoryLineage):
    """A lineage that fails as often as told, and remembers the order of what happened."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__()
        self.failures = failures
        self.stored: list[bytes] = []

    def store(self, record: bytes) -> None:
        if self.failures:
            self.failures -= 1
            raise OSError(28, "No space left on device")
        self.stored.append(record)


async def test_records_are_stored_in_order_and_reported_when_they_are(start: Start) -> None:
    lineage = Recording()
    running = await start(lineage)
    for token in (1, 2, 3):
        running.node.notify(Synced(0, token))
    await running.layer.told_of(Persisted(3))
    assert lineage.stored == [b"1", b"2", b"3"]
    assert running.layer.told[-3:] == [Persisted(1), Persisted(2), Persisted(3)]


async def test_a_record_that_the_disk_refuses_is_written_again_and_not_reported_before(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "STORE_RETRY_S", 0.001)
    lineage = Recording(failures=2)
    running = await start(lineage)
    running.node.notify(Synced(0, 7))
    await running.layer.told_of(Persisted(7))
    assert lineage.stored == [b"7"]
    assert [record for record in caplog.messages if "No space left" in record] != []


async def test_a_halted_node_says_and_hears_nothing(start: Start) -> None:
    running = await start(MemoryLineage())
    running.node.send(None, b"text")
    running.node.halt()
    running.node.notify(Left())
    for _ in range(3):
        await asyncio.sleep(0)
    assert running.turns == []
    assert running.layer.told == [Connect()]


async def test_a_node_may_be_halted_by_what_it_delivers(start: Start) -> None:
    running = await start(MemoryLineage())
    running.when_delivered = running.node.halt
    running.node.notify(PrimaryLost())
    running.node.send(None, b"text")
    await running.next_delivery()
    await running.node.stop()
    assert running.turns == [[Delivery(ME, 0, [b"text"])]]
