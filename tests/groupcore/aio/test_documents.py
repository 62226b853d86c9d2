"""Documents on real nodes, over the loopback interface."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.aio import Node
from groupcore.aio.documents import open_document_at
from groupcore.objects.rich_delta import Run, rich
from tests.groupcore.aio.cluster import KEY, LIMIT_S, free_port
from tests.groupcore.aio.test_objects import until

pytestmark = pytest.mark.slow


async def test_two_nodes_and_a_session_write_one_document() -> None:
    multicast = f"228.8.8.8:{free_port()}"
    async with (
        asyncio.timeout(LIMIT_S),
        Node("documents-test", node_id="a", multicast=multicast, key=KEY) as a,
        Node("documents-test", node_id="b", multicast=multicast, key=KEY) as b,
    ):
        at_a = await open_document_at(a, "plan", keep=True, copies=2)
        at_b = await open_document_at(b, "plan", keep=True, copies=2)
        async with b.session() as session:
            ann = await open_document_at(session, "plan", author="ann", tend=False)
            first, second = await ann.insert("", [rich("One"), rich("Two three")])
            await ann.write(first, (3, Run("!")))
            third = await ann.split(second, 3)
            await until(lambda: third in at_a.outline.entries)
            await ann.join(second, into=first)
            await until(
                lambda: not (second in at_a.outline.entries or second in at_b.outline.entries)
            )
            assert await at_a.text() == await at_b.text() == "One!Two\n three"
            await until(lambda: not (at_a.blocks[second].owes or at_b.blocks[second].owes))
            assert not at_a.tender.troubles
