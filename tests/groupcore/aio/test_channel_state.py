"""The rules of state transfer between real channels, on the loopback interface."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from groupcore.aio import (
    AsyncSink,
    AsyncSource,
    BytesSource,
    Channel,
    FileSink,
    FileSource,
    Message,
    SetState,
    StateSource,
)
from groupcore.endpoint import Delivery
from groupcore.errors import NotPrimaryError, SettingsError, TransferBusyError
from groupcore.events import Event, PrimaryLost
from groupcore.transfer.events import ALONE, NO_STATE, TAKEN, TIMED_OUT
from tests.groupcore.aio.cluster import LIMIT_S, Cluster, close_all

pytestmark = pytest.mark.slow

LARGE = bytes(range(256)) * 12_000


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster(with_multicast=True)
    yield made
    await close_all(made)


class Replica:
    """An application whose state is everything that it was given, read by one task."""

    def __init__(self, channel: Channel, initial: bytes = b"") -> None:
        self.channel = channel
        self.state = initial
        self.position = 0
        self.copies = 0
        self.set_states: list[SetState] = []
        self.told = asyncio.Event()
        self.waiting: list[tuple[bytes, asyncio.Event]] = []
        self.task = asyncio.get_running_loop().create_task(self._read())

    def copy(self) -> bytes:
        self.copies += 1
        return self.state

    async def _read(self) -> None:
        async for item in self.channel.events():
            match item:
                case Message(position=position, payload=payload):
                    self.state += payload
                    self.position = position
                case SetState(state=state, position=position):
                    self.set_states.append(item)
                    self.told.set()
                    self.state = self.state if state is None else state
                    self.position = position
            for end, reached in self.waiting:
                if self.state.endswith(end):
                    reached.set()

    async def until(self, end: bytes) -> None:
        reached = asyncio.Event()
        self.waiting.append((end, reached))
        if self.state.endswith(end):
            return
        async with asyncio.timeout(LIMIT_S):
            await reached.wait()


async def replica(cluster: Cluster, name: str, initial: bytes = b"") -> Replica:
    made = Replica(await cluster.connected(name), initial)
    made.channel.state_provider = made
    return made


@pytest.mark.parametrize("medium", ["group", "separate", "auto"])
@pytest.mark.parametrize("initial", [b"", b"small", LARGE], ids=["empty", "small", "large"])
async def test_a_joiner_takes_the_state_and_goes_on_from_there(
    cluster: Cluster, medium: str, initial: bytes
) -> None:
    a = await replica(cluster, "a", initial)
    await a.channel.multicast(b"one ")
    await a.until(b"one ")
    b = await replica(cluster, "b")
    sending = asyncio.get_running_loop().create_task(send_numbers(a.channel, 50))
    assert await b.channel.get_state(medium=medium)
    await sending
    await b.channel.multicast(b"end")
    await a.until(b"end")
    await b.until(b"end")
    assert a.state == b.state
    assert a.state.startswith(initial + b"one ")
    assert [item.provider for item in b.set_states] == [a.channel.address]
    assert a.copies == 1
    assert b.channel.state_report is not None
    assert b.channel.state_report.outcome == TAKEN


async def send_numbers(channel: Channel, count: int) -> None:
    for number in range(count):
        await channel.multicast(b"%d " % number)
        await asyncio.sleep(0)


async def test_a_large_state_comes_over_a_connection_of_its_own(cluster: Cluster) -> None:
    a = await replica(cluster, "a", LARGE)
    b = await replica(cluster, "b")
    assert await b.channel.get_state()
    await b.until(LARGE[-4:])
    assert a.channel.counters()["STATE_TRANSFER.chunks"] == 0
    assert a.channel.counters()["transfer.served"] == 1


async def test_when_the_connection_fails_the_state_comes_through_the_group(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = await replica(cluster, "a", LARGE)
    b = await replica(cluster, "b")
    monkeypatch.setattr("groupcore.aio.state_service.fetch", refused)
    assert await b.channel.get_state(medium="separate")
    await b.until(LARGE[-4:])
    assert b.state == LARGE
    assert a.channel.counters()["STATE_TRANSFER.chunks"] > 50


async def refused(*_: object) -> None:
    from groupcore.aio.errors import TransferError

    raise TransferError("no way there")


async def test_get_state_is_false_for_a_singleton(cluster: Cluster) -> None:
    a = await replica(cluster, "a")
    assert not await a.channel.get_state()
    assert a.channel.state_report is not None
    assert a.channel.state_report.outcome == ALONE


async def test_get_state_is_false_when_nobody_serves_state(cluster: Cluster) -> None:
    a = await replica(cluster, "a")
    a.channel.state_provider = None
    b = await replica(cluster, "b")
    assert not await b.channel.get_state()
    assert b.channel.state_report is not None
    assert b.channel.state_report.outcome == NO_STATE
    assert b.channel.state_report.nulls == (a.channel.address,)


async def test_a_provider_opts_in_at_run_time(cluster: Cluster) -> None:
    a = await replica(cluster, "a", b"state")
    b = await replica(cluster, "b")
    a.channel.state_provider = None
    assert not await b.channel.get_state()
    a.channel.state_provider = a
    assert await b.channel.get_state()


async def test_get_state_needs_no_reader_meanwhile_and_set_state_has_its_place(
    cluster: Cluster,
) -> None:
    a = await replica(cluster, "a", b"state ")
    b = await cluster.connected("b")
    await a.channel.multicast(b"before ")
    await a.until(b"before ")
    assert await b.get_state()
    await a.channel.multicast(b"after")
    shapes: list[object] = []
    async with asyncio.timeout(LIMIT_S):
        async for item in b.events():
            if isinstance(item, Message):
                shapes.append(item.payload)
                if item.payload == b"after":
                    break
            elif isinstance(item, SetState):
                shapes.append((item.state, item.position))
    assert shapes == [b"before ", (b"state before ", 1), b"after"]


async def test_a_reader_that_lags_is_copied_when_it_has_come_to_the_place(
    cluster: Cluster,
) -> None:
    a = await cluster.connected("a")
    b = await replica(cluster, "b")
    await b.channel.multicast(b"one ")
    await b.until(b"one ")
    late = Replica(a)  # begins to read only now: everything still waits for it
    a.state_provider = late
    assert await b.channel.get_state()
    assert b.state == b"one "
    assert late.copies == 1


async def test_a_receiver_is_given_what_came_before_and_then_copied(cluster: Cluster) -> None:
    class Receiver:
        def __init__(self) -> None:
            self.state = b""

        def __call__(self, items: list[Delivery | Event]) -> None:
            for item in items:
                if isinstance(item, Delivery):
                    self.state += b"".join(item.payloads)

        def copy(self) -> bytes:
            return self.state

    receiver = Receiver()
    a = await cluster.connected("a", receiver=receiver, state_provider=receiver)
    b = await replica(cluster, "b")
    for number in range(20):
        b.channel.multicast_nowait(b"%d " % number)
    getting = asyncio.get_running_loop().create_task(b.channel.get_state())
    assert await getting
    assert b.set_states
    assert b.state == receiver.state == b"".join(b"%d " % number for number in range(20))
    assert a.primary


async def test_one_transfer_at_a_time(cluster: Cluster) -> None:
    await replica(cluster, "a", b"state")
    b = await replica(cluster, "b")
    first = asyncio.get_running_loop().create_task(b.channel.get_state())
    await asyncio.sleep(0)
    with pytest.raises(TransferBusyError, match="wait"):
        await b.channel.get_state()
    assert await first


async def test_a_provider_that_never_reads_gives_no_state_in_time(cluster: Cluster) -> None:
    a = await cluster.connected("a")
    b = await replica(cluster, "b")
    a.state_provider = Replica(b.channel)  # serves, but nobody reads a's messages
    assert not await b.channel.get_state(timeout_s=0.2)
    assert b.channel.state_report is not None
    assert b.channel.state_report.outcome == TIMED_OUT


async def test_a_state_is_taken_into_a_file_from_a_file(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(LARGE)

    class Files:
        def copy(self) -> StateSource:
            return FileSource(tmp_path / "source")

    a = await replica(cluster, "a")
    a.channel.state_provider = Files()
    b = await replica(cluster, "b")
    for medium in ("group", "separate"):
        sink = FileSink(tmp_path / "sink")
        assert await b.channel.get_state(into=sink, medium=medium)
        sink.close()
        assert (tmp_path / "sink").read_bytes() == LARGE


async def test_a_coroutine_makes_a_state_and_another_takes_it(cluster: Cluster) -> None:
    class Slow:
        def copy(self) -> StateSource:
            return AsyncSource(self.pieces())

        async def pieces(self) -> AsyncIterator[bytes]:
            for _ in range(50):
                await asyncio.sleep(0)
                yield bytes(10_000)

    taken: list[bytes] = []

    async def write(data: bytes) -> None:
        await asyncio.sleep(0)
        taken.append(data)

    a = await replica(cluster, "a")
    a.channel.state_provider = Slow()
    b = await replica(cluster, "b")
    for medium in ("group", "separate"):
        taken.clear()
        assert await b.channel.get_state(into=AsyncSink(write, taken.clear), medium=medium)
        assert sum(map(len, taken)) == 500_000


async def test_a_provider_that_raises_gives_a_null_state(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def copy(self) -> bytes:
            raise RuntimeError("not now")

    a = await replica(cluster, "a")
    a.channel.state_provider = Broken()
    b = await replica(cluster, "b")
    assert not await b.channel.get_state()
    assert "the state provider of a failed" in caplog.text


async def test_states_of_all_members_are_taken(cluster: Cluster) -> None:
    a = await replica(cluster, "a", b"of a")
    b = await replica(cluster, "b")
    b.state = b"of b"
    b.channel.synced(1, 0)  # says: what is here is a state
    c = await replica(cluster, "c")
    assert await c.channel.get_states()
    await c.told.wait()
    (event,) = c.set_states
    assert event.states == {a.channel.address: b"of a", b.channel.address: b"of b"}


async def test_a_push_sets_the_state_of_others_who_have_not_asked(cluster: Cluster) -> None:
    a = await replica(cluster, "a", b"right")
    b = await replica(cluster, "b", b"wrong")
    c = await replica(cluster, "c", b"own")
    taken = await a.channel.push_state([b.channel.address])
    assert taken == (b.channel.address,)
    await b.until(b"right")
    assert b.state == b"right"
    assert c.state == b"own"


# --- outside the primary view ---------------------------------------------------------------------


async def test_outside_the_primary_view_an_ordered_send_fails_if_so_chosen(
    cluster: Cluster,
) -> None:
    a = await cluster.connected("a", when_not_primary="fail")
    a._on_deliveries([PrimaryLost()])
    assert not a.primary
    with pytest.raises(NotPrimaryError, match="when_not_primary"):
        await a.multicast(b"m")
    with pytest.raises(NotPrimaryError, match="when_not_primary"):
        await a.multicast_all([b"m"])


def test_what_to_do_outside_the_primary_view_is_one_of_two_words() -> None:
    with pytest.raises(SettingsError, match="wait, fail"):
        Channel("test", node_id="a", when_not_primary="perhaps")


def test_sources_of_bytes_are_read_anywhere() -> None:
    source = BytesSource(b"abcdef")
    assert (source.read(0, 4), source.read(4, 4), source.read(6, 4)) == (b"abcd", b"ef", b"")
