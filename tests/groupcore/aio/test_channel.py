"""The rules of channels: real ones, on the loopback interface, with and without multicast."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from groupcore.aio.channel import Channel
from groupcore.aio.errors import LineageError, PortInUseError, ReaderTooSlowError
from groupcore.aio.inbox import Message
from groupcore.aio.lineage import FileLineage
from groupcore.aio.lives import GOOD_S, RejoinPace
from groupcore.errors import (
    ChannelClosedError,
    CompositionError,
    IdInUseError,
    KeyFileError,
    MessageTooLargeError,
    NotPrimaryError,
)
from groupcore.events import (
    Congested,
    Event,
    Excluded,
    Found,
    PrimaryLost,
    PrimaryRegained,
    ViewInstalled,
)
from tests.groupcore.aio.cluster import (
    KEY,
    LIMIT_S,
    Cluster,
    close_all,
    events_until,
    free_port,
    names,
    read,
)
from tests.groupcore.aio.test_connections import until

pytestmark = pytest.mark.slow


@pytest.fixture(params=["multicast", "unicast"])
async def cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    made = Cluster(request.param == "multicast")
    yield made
    await close_all(made)


@pytest.fixture
async def multicast_cluster() -> AsyncIterator[Cluster]:
    made = Cluster(with_multicast=True)
    yield made
    await close_all(made)


# --- a group --------------------------------------------------------------------------------------


async def test_a_channel_alone_forms_a_group_and_hears_itself(cluster: Cluster) -> None:
    a = await cluster.connected("a")
    assert names(a) == ("a",)
    assert a.primary
    await a.multicast(b"one")
    await a.multicast(b"two")
    assert await read(a, 2) == [("a", b"one", 1), ("a", b"two", 2)]


async def test_all_members_get_all_messages_in_one_order(cluster: Cluster) -> None:
    channels = [await cluster.connected(node_id) for node_id in ("a", "b", "c")]
    for number in range(40):
        for channel in channels:
            await channel.multicast(b"%d" % number)
        if number % 5 == 0:
            await asyncio.sleep(0)
    a, b, c = await asyncio.gather(*(read(channel, 120) for channel in channels))
    assert a == b == c
    assert [position for _, _, position in a] == list(range(1, 121))
    for sender in "abc":
        sent = [int(payload) for origin, payload, _ in a if origin == sender]
        assert sent == list(range(40))


async def test_a_large_message_and_a_unicast_arrive(cluster: Cluster) -> None:
    a, b = [await cluster.connected(node_id) for node_id in ("a", "b")]
    await b.multicast(bytes(1_000_000))
    await a.unicast(b.address, b"for b")
    got = await read(b, 2)
    assert sorted((origin, len(payload)) for origin, payload, _ in got) == [
        ("a", 5),
        ("b", 1_000_000),
    ]
    assert ("a", b"for b", 0) in got


async def test_a_small_datagram_size_carries_views_and_messages(
    multicast_cluster: Cluster,
) -> None:
    a, b = [
        await multicast_cluster.connected(node_id, datagram_bytes_max=1_400)
        for node_id in ("a" * 64, "b" * 64)
    ]
    await a.multicast(bytes(20_000))
    assert [len(payload) for _, payload, _ in await read(b, 1)] == [20_000]


async def test_views_and_messages_come_in_one_order_of_events(multicast_cluster: Cluster) -> None:
    a = await multicast_cluster.connected("a")
    await a.multicast(b"before")
    await multicast_cluster.connected("b")
    await a.multicast(b"after")
    got = await events_until(a, lambda item: isinstance(item, Message) and item.position == 2)
    shapes = [
        item.view.names if isinstance(item, ViewInstalled) else item.payload
        for item in got
        if isinstance(item, ViewInstalled | Message)
    ]
    assert shapes == [("a",), b"before", ("a", "b"), b"after"]


async def test_a_member_that_leaves_is_gone_from_the_view_at_once(cluster: Cluster) -> None:
    a, b = [await cluster.connected(node_id) for node_id in ("a", "b")]
    await b.multicast(b"last words")
    await b.close()
    got = await events_until(
        a, lambda item: isinstance(item, ViewInstalled) and item.view.number == 3
    )
    assert names(a) == ("a",)
    assert any(isinstance(item, Message) and item.payload == b"last words" for item in got)
    assert b.view is None


async def test_a_stranger_with_another_key_is_not_heard(multicast_cluster: Cluster) -> None:
    a = await multicast_cluster.connected("a")
    other = await multicast_cluster.connected("b", key=b"o" * 32)
    await a.multicast(b"secret")
    await read(a, 1)
    assert names(a) == ("a",)
    assert names(other) == ("b",)
    assert a.counters()["transport.drops.unknown_key_epoch"] > 0


async def test_a_second_node_of_the_same_id_is_refused(cluster: Cluster) -> None:  # fault 19
    a = await cluster.connected("a")
    with pytest.raises(IdInUseError, match="its own"):
        await cluster.connected("a")
    assert names(a) == ("a",)
    await a.multicast(b"undisturbed")
    assert await read(a, 1) == [("a", b"undisturbed", 1)]


async def test_a_new_life_has_a_larger_incarnation(
    multicast_cluster: Cluster, tmp_path: Path
) -> None:
    lineage = FileLineage(tmp_path / "lineage")
    first = await multicast_cluster.connected("a", lineage=lineage)
    before, view = first.address, first.view
    await first.close()
    second = await multicast_cluster.connected("a", lineage=FileLineage(tmp_path / "lineage"))
    assert second.address.incarnation > before.incarnation
    assert view is not None
    assert second.view is not None
    assert second.view.lineage == view.lineage


# --- exclusion and congestion ---------------------------------------------------------------------


async def test_an_excluded_channel_comes_back_by_itself_as_a_new_life_and_the_log_says_why(
    multicast_cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    a, b = [await multicast_cluster.connected(node_id) for node_id in ("a", "b")]
    before = b.address
    b._on_deliveries([Excluded("the view went on")])
    assert "b is excluded from the group (the view went on)" in caplog.text
    assert b.view is None
    assert not b.primary
    with pytest.raises(NotPrimaryError):
        b.multicast_nowait(b"lost")
    sending = asyncio.create_task(b.multicast(b"kept"))
    got = await events_until(b, lambda item: isinstance(item, Message))
    await sending
    kinds = [type(item) for item in got]
    assert kinds.index(Excluded) < len(kinds) - 1 - kinds[::-1].index(ViewInstalled)
    assert b.address.incarnation > before.incarnation
    assert (await read(a, 1))[0][:2] == ("b", b"kept")


def test_the_first_rejoin_is_at_once_and_only_who_comes_and_goes_waits() -> None:
    pace = RejoinPace()
    assert [pace.delay_s(3.0), pace.delay_s(3.5), pace.delay_s(5.0)] == [0.0, 0.5, 1.0]


def test_the_pause_before_a_rejoin_doubles_and_good_time_halves_it() -> None:
    pace = RejoinPace()
    now, pauses = 0.0, []
    for _ in range(12):
        pauses.append(pace.delay_s(now))
        now += pauses[-1] + 3.0
    assert pauses == [0, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 160, 160]
    now += 6 * GOOD_S
    assert pace.delay_s(now) == 4.0
    assert pace.delay_s(now + 20 * GOOD_S) == 0.0
    assert pace.exclusions == 14


def test_a_process_that_was_not_scheduled_waits_longer() -> None:
    pace = RejoinPace()
    now, pauses = 0.0, []
    for _ in range(6):
        pauses.append(pace.delay_s(now, starved=True))
        now += pauses[-1] + 3.0
    assert pauses == [0, 10, 20, 40, 80, 160]


async def test_sends_wait_while_the_group_is_congested_or_out_of_reach(
    multicast_cluster: Cluster,
) -> None:
    a = await multicast_cluster.connected("a")
    for closes, opens in (
        (Congested(on=True), Congested(on=False)),
        (PrimaryLost(), PrimaryRegained()),
    ):
        a._on_deliveries([closes])
        sending = asyncio.create_task(a.multicast(b"text"))
        for _ in range(3):
            await asyncio.sleep(0)
        assert not sending.done()
        a._on_deliveries([opens])
        async with asyncio.timeout(LIMIT_S):
            await sending
    assert len(await read(a, 2)) == 2


async def test_a_send_that_waits_when_the_channel_closes_is_told(
    multicast_cluster: Cluster,
) -> None:
    a = await multicast_cluster.connected("a")
    a._on_deliveries([PrimaryLost()])
    sending = asyncio.create_task(a.multicast(b"text"))
    await asyncio.sleep(0)
    await a.close()
    with pytest.raises(ChannelClosedError):
        await sending


# --- the receiver ---------------------------------------------------------------------------------


async def test_a_receiver_gets_a_turns_deliveries_at_once_and_no_inner_events(
    multicast_cluster: Cluster,
) -> None:
    turns: list[list[object]] = []
    done = asyncio.Event()

    def receive(deliveries: list[Any]) -> None:
        turns.append(deliveries)
        if not isinstance(deliveries[-1], Event):
            done.set()

    a = await multicast_cluster.connected("a", receiver=receive)
    for number in range(5):
        a.multicast_nowait(b"%d" % number)
    async with asyncio.timeout(LIMIT_S):
        await done.wait()
    assert [type(item) for item in turns[0]] == [ViewInstalled]
    (delivery,) = turns[-1]
    assert getattr(delivery, "payloads", None) == [b"0", b"1", b"2", b"3", b"4"]
    count = len(turns)
    a._on_deliveries([Found()])
    assert len(turns) == count


async def test_a_receiver_that_fails_does_not_stop_the_channel(
    multicast_cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    def receive(_: list[Any]) -> None:
        raise ValueError("not mine")

    with caplog.at_level(logging.ERROR):
        a = await multicast_cluster.connected("a", receiver=receive)
    assert names(a) == ("a",)
    assert any("receiver of a failed" in message for message in caplog.messages)


async def test_a_reader_that_does_not_read_loses_the_channel_and_not_the_memory(
    multicast_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groupcore.aio.inbox.INBOX_ITEMS_MAX", 3)
    a = await multicast_cluster.connected("a")
    for _ in range(5):
        a.multicast_nowait(b"text")
    with pytest.raises(ReaderTooSlowError):
        await events_until(a, lambda _: False)
    with pytest.raises(ChannelClosedError, match="wait to be read"):
        await a.multicast(b"text")


# --- misuse and errors ----------------------------------------------------------------------------


async def test_a_closed_channel_says_so(multicast_cluster: Cluster) -> None:
    a = multicast_cluster.channel("a")
    for address in ("address", "socket_address"):
        with pytest.raises(ChannelClosedError):
            getattr(a, address)
    with pytest.raises(ChannelClosedError, match="connect it"):
        await a.multicast(b"text")
    await a.connect()
    with pytest.raises(ChannelClosedError, match="make a new one"):
        await a.connect()
    await a.close()
    await a.close()
    for send in (a.multicast(b"text"), a.connect()):
        with pytest.raises(ChannelClosedError):
            await send
    assert [item async for item in a] == []


async def test_a_message_above_the_limit_is_refused(multicast_cluster: Cluster) -> None:
    a = await multicast_cluster.connected("a")
    with pytest.raises(MessageTooLargeError, match="split it"):
        await a.multicast(bytes((16 << 20) + 1))
    small = await multicast_cluster.connected("b", datagram_bytes_max=1_400)
    with pytest.raises(MessageTooLargeError):
        await small.multicast(bytes(2_000_000))


async def test_what_cannot_be_connected_says_why_and_leaves_nothing_open(
    multicast_cluster: Cluster, tmp_path: Path
) -> None:
    a = await multicast_cluster.connected("a")
    with pytest.raises(PortInUseError):
        await multicast_cluster.connected("b", port=a.socket_address[1])
    with pytest.raises(CompositionError):
        await multicast_cluster.connected("b", stack="UDP:PING:GMS")
    damaged = tmp_path / "lineage"
    damaged.write_bytes(b"damaged")
    with pytest.raises(LineageError, match="move it away"):
        await multicast_cluster.connected("b", lineage=FileLineage(damaged))
    foreign = FileLineage(tmp_path / "foreign")
    foreign.begin(1)
    foreign.store(b"another version's record")
    with pytest.raises(LineageError, match="move the lineage file away"):
        await multicast_cluster.connected("b", lineage=foreign)
    with pytest.raises(KeyFileError):
        multicast_cluster.channel("b", key=None, ttl=1)


async def test_connecting_can_be_given_up(multicast_cluster: Cluster) -> None:
    lonely = multicast_cluster.channel("a", cluster_size=3)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await lonely.connect()
    with pytest.raises(ChannelClosedError):
        await lonely.multicast(b"text")


def knows_both(channel: Channel) -> bool:
    """Whether this one says that a and b are there."""
    awaiting = channel.awaiting
    return awaiting is not None and awaiting.here == ("a", "b")


async def test_who_is_there_is_known_also_where_the_process_has_slept(
    multicast_cluster: Cluster,
) -> None:
    """The layers' clock leaves out what it has slept: what was heard is as old as that says."""
    a, b = (multicast_cluster.channel(name, cluster_size=5) for name in ("a", "b"))
    for one in (a, b):
        one.awake.slept_s = 60.0
    connecting = [asyncio.create_task(one.connect()) for one in (a, b)]
    try:
        await until(lambda: all(knows_both(one) for one in (a, b)))
    finally:
        for task in connecting:
            task.cancel()
        await asyncio.wait(connecting)


async def test_a_channel_is_an_async_context() -> None:
    group = f"228.8.8.8:{free_port()}"
    async with Channel("test", node_id="a", multicast=group, key=KEY) as channel:
        channel.synced(1, 0)
        await channel.multicast(b"text")
        assert await read(channel, 1) == [("a", b"text", 1)]
        assert channel.counters()["transport.datagrams_sent"] > 0
        # The kernel drops the copies that the multicast loop brings back (Linux), or reads count.
        if sys.platform == "linux":
            assert "udp.received" not in channel.counters()
    assert channel.view is None


async def test_messages_handed_over_together_arrive_in_their_order(cluster: Cluster) -> None:
    a = await cluster.connected("a")
    await a.multicast_all([b"one", b"two", b"three"])
    assert await read(a, 3) == [("a", b"one", 1), ("a", b"two", 2), ("a", b"three", 3)]
    with pytest.raises(MessageTooLargeError):
        await a.multicast_all([b"small", bytes(128 << 20)])
    await a.multicast_all([])
