"""A node that has missed something takes it from another before it serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.events import Saved
from groupcore.view import Address
from server.peers import PeerMessage, StateDenied, StateOffer, StateRequest
from server.recovery.joiner import Joiner
from server.recovery.provider import Order, Provider, in_the_past
from server.recovery.sealed_stream import Opener, Sealer, TransferError
from server.serve import RunningNode
from tests.server.support import KEY, Cluster, browser, create, get, text_change, until


async def edit(node: RunningNode, doc: str, count: int, client: str = "editor") -> None:
    """So many edits of one client."""
    async with browser(node, client) as ann:
        snapshot = await ann.open(doc)
        for op in range(snapshot["applied"] + 1, snapshot["applied"] + count + 1):
            version = node.node.replica.version_of(doc)
            await ann.submit(doc, op, version, [text_change("b1", 0, f"{op} ")])
            await ann.take("update", op=op)


def same(first: RunningNode, second: RunningNode) -> bool:
    """Whether both nodes hold the same documents at the same position."""
    one, other = first.node.replica, second.node.replica
    if one.position != other.position or set(one.documents) != set(other.documents):
        return False
    return all(one.dump(doc).state == other.dump(doc).state for doc in one.documents)


async def test_an_empty_node_takes_everything_and_then_follows(cluster: Cluster) -> None:
    first = await cluster.start("a")
    doc = await create(first)
    await edit(first, doc, 3)
    second = await cluster.start("b")
    assert same(first, second)
    await edit(second, doc, 1)
    await until(lambda: same(first, second))


async def test_a_node_that_was_away_takes_the_log_and_keeps_its_own(cluster: Cluster) -> None:
    first, _ = await cluster.start("a"), await cluster.start("b")
    doc = await create(first)
    await cluster.stop("b")
    await edit(first, doc, 3)
    second = await cluster.start("b")
    assert same(first, second)
    assert second.node.metrics.catchup.labels("stream")._value.get() == 1
    chains = [await node.journal.chain_at(4) for node in (first, second)]
    assert chains[0] == chains[1]


async def test_a_log_that_was_pruned_is_replaced_by_snapshots(cluster: Cluster) -> None:
    first = await cluster.start("a", snapshot_every=10, log_kept=0)
    await cluster.start("b")
    doc = await create(first)
    await cluster.stop("b")
    await edit(first, doc, 25)
    await until(lambda: first.node.order.checkpointer.done >= 1)
    second = await cluster.start("b")
    assert same(first, second)
    assert second.node.metrics.catchup.labels("snapshot")._value.get() == 1
    await cluster.stop("b")
    again = await cluster.start("b")
    assert same(first, again)


async def test_the_whole_cluster_starts_again_from_its_disks(cluster: Cluster) -> None:
    first = await cluster.start("a")
    doc = await create(first)
    await edit(first, doc, 3)
    version = first.node.replica.version_of(doc)
    await cluster.stop("a")
    again = await cluster.start("a")
    assert again.node.replica.version_of(doc) == version
    assert (again.node.order.epoch, again.node.order.epochs) == (2, {1: 0, 2: 4})
    await edit(again, doc, 1)
    # The epoch is the order's; the document's own moves with its next transaction.
    assert again.node.replica.version_of(doc) == (2, version[1] + 1)


async def test_a_branch_that_was_lost_is_given_up(cluster: Cluster) -> None:
    first, second = await cluster.start("a"), await cluster.start("b")
    doc = await create(first)
    await until(lambda: same(first, second))
    await cluster.stop("b")
    await edit(first, doc, 3, "lost")
    await cluster.stop("a")
    # The group goes on from what b held: a's three edits are on a branch that nobody has.
    second = await cluster.start("b")
    await edit(second, doc, 5, "kept")
    first = await cluster.start("a")
    assert same(first, second)
    assert first.node.replica.documents[doc].document.applied_op("lost") == 0


async def test_what_is_ordered_during_the_transfer_is_applied_after_it(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await cluster.start("a")
    doc = await create(first)
    may_go = asyncio.Event()
    stream = Provider.stream

    async def slow(self: Provider, ticket: bytes, request: StateRequest) -> AsyncIterator[bytes]:
        async for chunk in stream(self, ticket, request):
            yield chunk
            await may_go.wait()

    monkeypatch.setattr(Provider, "stream", slow)
    second = await cluster.begin("b")
    await until(lambda: first.node.provider.given == 1)
    await edit(first, doc, 4)
    assert (await get(second.url + "/readyz"))[0] == 503
    may_go.set()
    await until(lambda: second.node.ready)
    await until(lambda: same(first, second))


async def test_when_a_provider_dies_midway_the_next_one_gives_the_state(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await cluster.start("a"), await cluster.start("b")
    await create(first)
    asked: list[Provider] = []
    stream = Provider.stream

    async def dies(self: Provider, ticket: bytes, request: StateRequest) -> AsyncIterator[bytes]:
        asked.append(self)
        async for chunk in stream(self, ticket, request):
            yield chunk[: len(chunk) // 2] if len(asked) == 1 else chunk
            if len(asked) == 1:
                return

    monkeypatch.setattr(Provider, "stream", dies)
    third = await cluster.start("c")
    assert asked == [first.node.provider, second.node.provider]
    assert third.node.joiner.failures == 1
    assert same(first, third)


async def test_a_ticket_is_good_once(cluster: Cluster) -> None:
    node = await cluster.start("a")
    offer = await node.node.provider.answer(StateRequest(1, 0, 0, b"", 0))
    assert isinstance(offer, StateOffer)
    assert (await get_bytes(offer.url))[0] == 200
    assert (await get_bytes(offer.url))[0] == 404
    assert (await get(node.admin_url + "/internal/transfer/zz"))[0] == 404


async def get_bytes(url: str) -> tuple[int, bytes]:
    import aiohttp

    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.read()


async def test_a_node_that_is_not_whole_gives_nothing(cluster: Cluster) -> None:
    node = await cluster.start("a")
    cluster.channel("a").lose_primary(True)
    await until(lambda: not node.node.primary)
    answer = await node.node.provider.answer(StateRequest(1, 0, 0, b"", 0))
    assert isinstance(answer, StateDenied)


async def test_holders_are_asked_in_turn_until_one_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.recovery.joiner.ANSWER_S", 0.01)
    monkeypatch.setattr("server.recovery.joiner.PAUSE_S", 0.0)
    asked: list[str] = []
    holders = [Address("a", 1), Address("b", 1)]

    async def tell(holder: Address, message: PeerMessage) -> None:
        asked.append(holder.name)
        assert isinstance(message, StateRequest)
        if holder.name == "b":
            joiner.receive(StateDenied(message.ask, "busy"))

    joiner = Joiner(KEY, tell)
    fetch = joiner.fetch(lambda: holders, 1, 2, b"", 3, lambda *_: None)
    task = asyncio.create_task(fetch)
    await until(lambda: len(asked) >= 4)
    task.cancel()
    assert asked[:4] == ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("epoch", "position", "past"),
    [
        (0, 0, True),
        (1, 5, True),
        (1, 6, False),
        (2, 6, True),
        (2, 9, True),
        (2, 10, False),
        (3, 9, True),
        (3, 13, False),
        (4, 2, False),
        (1, -1, False),
    ],
)
def test_a_place_above_the_floor_of_the_next_epoch_is_on_a_lost_branch(
    epoch: int, position: int, past: bool
) -> None:
    assert in_the_past(epoch, position, Order(3, 12, {1: 0, 2: 5, 3: 9})) is past


@given(st.lists(st.binary(max_size=600_000), max_size=3), st.integers(1, 100_000))
def test_a_sealed_stream_is_opened_as_it_was_whatever_the_pieces(
    parts: list[bytes], piece: int
) -> None:
    sealer, opener = Sealer(KEY, b"t"), Opener(KEY, b"t")
    chunks = [chunk for part in parts for chunk in sealer.feed(part)]
    wire = b"".join([*chunks, *sealer.finish()])
    plain = b"".join(opener.feed(wire[at : at + piece]) for at in range(0, len(wire), piece))
    assert plain == b"".join(parts)
    assert opener.finished


@given(st.data())
def test_a_stream_that_was_changed_or_cut_short_never_finishes(data: st.DataObject) -> None:
    sealer = Sealer(KEY, b"t")
    chunks = [*sealer.feed(bytes(300_000)), *sealer.finish()]
    wire = bytearray(b"".join(chunks))
    place = data.draw(st.integers(0, len(wire) - 1))
    match data.draw(st.sampled_from(["flip", "cut", "swap", "drop", "key"])):
        case "flip":
            wire[place] ^= 1 << data.draw(st.integers(0, 7))
        case "cut":
            del wire[place:]
        case "swap":
            wire = bytearray(b"".join([chunks[1], chunks[0], *chunks[2:]]))
        case "drop":
            wire = bytearray(b"".join(chunks[1:]))
        case "key":
            chunks = []
    opener = Opener(KEY if chunks else bytes(32), b"t")
    try:
        opener.feed(bytes(wire))
    except TransferError:
        return
    assert not opener.finished


async def test_what_was_saved_while_the_state_came_is_known_as_saved_after_it(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await cluster.start("a")
    doc = await create(first)
    may_go = asyncio.Event()
    answer = Provider.answer

    async def late(self: Provider, request: StateRequest) -> StateOffer | StateDenied:
        await may_go.wait()
        return await answer(self, request)

    monkeypatch.setattr(Provider, "answer", late)
    second = await cluster.begin("b")
    await edit(first, doc, 2)
    second.node.receive([Saved(1, 3)])
    assert second.node.order.saved.version(doc) == 0
    may_go.set()
    await until(lambda: second.node.ready)
    assert second.node.order.saved.version(doc) == 2
