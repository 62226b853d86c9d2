"""All nodes are killed at once while texts are handed from block to block: nothing that was saved
is missing or doubled afterwards."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack, suppress
from itertools import count
from pathlib import Path
from random import Random

import pytest
from websockets.exceptions import WebSocketException

from tests.end_to_end.cluster import NAMES, Cluster, eventually, running_cluster
from tests.server.support import Fields, Page

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROUNDS = 4
TOKENS = [f"t{number:03d}." for number in range(60)]
WIDTH = len(TOKENS[0])


class Cutter:
    """Splits blocks between tokens, and joins blocks to those before them, over one node."""

    def __init__(self, url: str, doc: str, seed: int) -> None:
        self.done = 0
        self._url = url
        self._doc = doc
        self._chance = Random(seed)
        self._ids = (f"n{seed}-{number}" for number in count())
        self._order: list[str] = []

    async def run(self) -> None:
        """Until the connection breaks."""
        with suppress(WebSocketException, OSError, TimeoutError):
            async with Page(self._url) as page:
                await self._cut(page)

    async def _cut(self, page: Page) -> None:
        outline = await page.open("DocumentOutline", f"doc/{self._doc}")
        order = [block for block, *_ in outline["state"]["blocks"]]
        while True:
            block = self._chance.choice(order)
            name = f"doc/{self._doc}/{block}"
            state = (await page.open("Block", name)).get("state")
            if state is None or state["status"] != "open":
                order.remove(block)
                continue
            if len(order) > 6 and block != order[0] and self._chance.random() < 0.5:
                into = self._chance.choice([one for one in order if one != block])
                await page.call(name, "join", into)
                order.remove(block)
            else:
                order += await self._split(page, name, state)
            await page.send({"t": "close", "name": name})
            self.done += 1

    async def _split(self, page: Page, name: str, state: Fields) -> list[str]:
        text = "".join(one if isinstance(one, str) else one[0] for one in state["content"])
        at = WIDTH * self._chance.randint(0, len(text) // WIDTH)
        new = next(self._ids)
        answer = await page.call(name, "split", state["version"], at, new, [])
        return [new] if answer["t"] == "result" and answer["results"] == [None] else []


async def tokens_of(cluster: Cluster, doc: str) -> list[str]:
    """All tokens of a document as the first node has it."""
    text = "".join(block["text"] for block in (await cluster.document("a", doc))["blocks"])
    return [text[at : at + WIDTH] for at in range(0, len(text), WIDTH)]


async def test_texts_that_go_from_block_to_block_survive_the_loss_of_all_nodes(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a", "".join(TOKENS))
        for round_number in range(ROUNDS):
            cutters = [
                Cutter(cluster.nodes[name].url, doc, 10 * round_number + place)
                for place, name in enumerate(NAMES)
            ]
            tasks = [asyncio.create_task(cutter.run()) for cutter in cutters]
            while min(cutter.done for cutter in cutters) < 8 + 3 * round_number:
                await asyncio.wait(tasks, timeout=0.01)
                assert not any(task.done() for task in tasks), [task.exception() for task in tasks]
            for name in NAMES:
                cluster.nodes[name].process.kill()
            for name in NAMES:
                await cluster.nodes[name].kill()
            await asyncio.wait(tasks)
            await cluster.start(*NAMES)

            async def is_whole() -> bool:
                return sorted(await tokens_of(cluster, doc)) == TOKENS

            try:
                await eventually(is_whole, "every token once")
            except AssertionError:
                found = Counter(await tokens_of(cluster, doc))
                wanted = Counter(TOKENS)
                raise AssertionError(
                    f"round {round_number}: lost {wanted - found}, more {found - wanted}"
                ) from None
