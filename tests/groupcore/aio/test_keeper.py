"""Documents that a node keeps: opened once, closed late, never half."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from groupcore.aio import Node
from groupcore.aio.documents import new_id
from groupcore.errors import GroupcoreError
from groupcore.events import Excluded
from groupcore.shared.documents import DocumentOutline
from groupcore.shared.documents.keeper import Keeper
from groupcore.shared.errors import ClosedError
from groupcore.shared.object import is_current
from groupcore.shared.types import Counter
from tests.groupcore.aio.cluster import KEY, LIMIT_S, free_port
from tests.groupcore.aio.test_objects import until


@pytest_asyncio.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    """One node by itself, with a log: what nobody has open is still there."""
    multicast = f"228.8.8.8:{free_port()}"
    async with (
        asyncio.timeout(LIMIT_S),
        Node("keeper-test", node_id="a", multicast=multicast, key=KEY, data_dir=tmp_path) as node,
    ):
        yield node


def keeper_on(node: Node) -> Keeper:
    return Keeper(node, new_id, linger_s=0.05)


async def test_k1_all_who_hold_a_document_share_one_opening(node: Node) -> None:
    keeper = keeper_on(node)
    found = await asyncio.gather(*[keeper.hold("d") for _ in range(5)])
    assert len({id(document) for document in found}) == 1
    assert len(keeper) == 1
    for _ in range(4):
        keeper.let_go("d")
    assert keeper.documents == {"d": found[0]}
    keeper.let_go("d")
    await until(lambda: len(keeper) == 0)


async def test_k3_a_hold_before_the_time_is_over_keeps_it_open(node: Node) -> None:
    keeper = keeper_on(node)
    first = await keeper.hold("d")
    keeper.let_go("d")
    assert await keeper.hold("d") is first
    held = keeper._held["d"]
    assert held.timer is None
    keeper.let_go("d")
    await until(lambda: len(keeper) == 0)


async def test_k3_what_is_no_more_is_closed_whoever_holds_it(node: Node) -> None:
    keeper = keeper_on(node)
    await keeper.hold("d")
    keeper.drop("d")
    keeper.drop("unknown")
    await until(lambda: len(keeper) == 0)
    keeper.let_go("d")
    assert len(keeper) == 0


async def test_k1_a_hold_while_it_is_being_closed_opens_it_anew(node: Node) -> None:
    keeper = keeper_on(node)
    first = await keeper.hold("d")
    await first.outline.rename("Kept")
    for _ in range(20):
        keeper.let_go("d")
        held = keeper._held["d"]
        keeper._close_soon("d", held)
        again = await keeper.hold("d")
        assert again is not first
        assert again.outline.title == "Kept"
        assert not again.tender.ended
        assert again.outline.tenders
        first = again
    keeper.let_go("d")
    await until(lambda: len(keeper) == 0)


async def test_k2_a_failed_opening_leaves_nothing_open(node: Node) -> None:
    keeper = Keeper(node, new_id)
    other = await node.open(Counter, "doc/d")
    for _ in range(3):
        results = await asyncio.gather(keeper.hold("d"), keeper.hold("d"), return_exceptions=True)
        assert all(isinstance(one, GroupcoreError) for one in results)
        assert len(keeper) == 0
    assert len(node.host.sessions) == 1
    await other.close()


async def test_k2_who_gives_up_before_it_is_open_leaves_nothing_open(node: Node) -> None:
    keeper = Keeper(node, new_id)
    before = len(node.host.sessions)
    for turns in range(12):
        holding = asyncio.create_task(keeper.hold("d"))
        for _ in range(turns):
            await asyncio.sleep(0)
        holding.cancel()
        await asyncio.wait([holding])
        if not holding.cancelled():
            keeper.let_go("d")
            keeper._close_soon("d", keeper._held["d"])
        await until(lambda: len(keeper) == 0)
        assert len(node.host.sessions) == before
    async with keeper.holding("d") as document:
        assert isinstance(document.outline, DocumentOutline)


async def test_k1_a_document_that_has_failed_is_opened_anew_for_all_who_hold_it(
    node: Node,
) -> None:
    keeper = keeper_on(node)
    first = await keeper.hold("d")
    keeper._held["d"].stream.end()  # type: ignore[union-attr]
    again = await keeper.hold("d")
    assert again is not first
    keeper.let_go("d")
    held = keeper._held["d"]
    assert held.timer is None
    assert keeper.documents == {"d": again}
    keeper.let_go("d")
    await until(lambda: len(keeper) == 0)


async def test_a_node_that_leaves_opens_nothing_any_more(node: Node) -> None:
    keeper = keeper_on(node)
    await keeper.hold("d")
    await keeper.close()
    assert len(keeper) == 0
    with pytest.raises(ClosedError, match="leaving"):
        await keeper.hold("d")


async def test_who_reads_at_a_node_that_has_just_come_back_is_given_the_document_of_now(
    node: Node,
) -> None:
    """In between its objects show states that lead to that one, from the beginning on."""
    keeper = keeper_on(node)
    async with keeper.holding("d") as document:
        await document.outline.rename("Plan")
        former = node.process
        node.groups.channel._on_deliveries([Excluded("the view went on")])
        await until(lambda: not is_current(document.outline))
        async with keeper.reading("d") as again:
            assert again is document
            assert is_current(again.outline)
            assert again.outline.title == "Plan"
        assert node.process != former
