"""Whoever is in a document may call themselves what they like: others read it, and nothing more."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import msgpack
import pytest
from playwright.async_api import expect
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.end_to_end.browser import Tabs
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.payloads import PAYLOADS
from tests.end_to_end.test_browser_hostile import nothing_ran

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

SUBPROTOCOL = Subprotocol("groupcore.v1.msgpack")
NAMES = [" ".join(one.split())[:80].strip() for one in PAYLOADS if one.isprintable()]
AT_ONCE = 28
"""So many sessions, that the names are shown in eight turns."""
MISSING = """(names) => {
  const rows = [...document.querySelectorAll("[data-testid=people-row]")];
  const carets = [...document.querySelectorAll("[data-testid=remote-caret]")];
  const isShown = (name) => rows.some((row) =>
      row.dataset.name === name && row.querySelector(".people-name").textContent === name) &&
    carets.some((caret) => caret.dataset.name === name);
  return names.filter((name) => !isShown(name));
}"""


@asynccontextmanager
async def sessions(node: str, doc: str, count: int) -> AsyncIterator[list[ClientConnection]]:
    """So many guests who are in a document, and read what they are sent."""
    url = node.replace("http", "ws", 1) + "/ws"
    async with AsyncExitStack() as stack:
        found = []
        for _ in range(count):
            socket = await stack.enter_async_context(connect(url, subprotocols=[SUBPROTOCOL]))
            hello = {"t": "hello", "v": 1, "client": secrets.token_hex(16)}
            here = {"t": "open", "name": f"doc/{doc}/here", "type": "Presence"}
            await socket.send(msgpack.packb([hello, here]))
            is_here = asyncio.Event()
            stack.callback(asyncio.create_task(read(socket, is_here)).cancel)
            await is_here.wait()
            found.append(socket)
        yield found


async def read(socket: ClientConnection, is_here: asyncio.Event) -> None:
    """Take everything, and say that one lives."""
    async for frame in socket:
        assert isinstance(frame, bytes)
        for message in msgpack.unpackb(frame, strict_map_key=False):
            if message["t"] == "opened":
                is_here.set()
            if message["t"] == "ping":
                await socket.send(msgpack.packb([{"t": "pong"}]))


async def test_hostile_names_of_those_who_are_here_are_shown_as_text(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "start")
    [block] = [one["id"] for one in (await cluster.document("a", doc))["blocks"]]
    tab = await tabs.document(cluster.nodes["b"].url, doc, "One")
    async with sessions(cluster.nodes["a"].url, doc, AT_ONCE) as guests:
        for first in range(0, len(NAMES), AT_ONCE):
            names = NAMES[first : first + AT_ONCE]
            for guest, name in zip(guests, names, strict=False):
                value = [name, block, 2, 2, block, False, 0]
                present = {"t": "present", "name": f"doc/{doc}/here", "value": value}
                await guest.send(msgpack.packb([present]))
            if first == 0:
                await tab.page.get_by_test_id("people").click()
                await expect(tab.page.get_by_test_id("people-panel")).to_be_visible()

            async def are_shown(names: list[str] = names) -> bool:
                return bool(await tab.page.evaluate(MISSING, names) == [])

            await eventually(are_shown, "all names are shown")
            await nothing_ran(tab)
        await tab.page.get_by_role("button", name=f"Follow {names[0]}").click()
        await expect(tab.page.get_by_test_id("following")).to_contain_text(names[0])
        await nothing_ran(tab)
