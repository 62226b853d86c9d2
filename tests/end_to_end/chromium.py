"""What is between a page and its node, and a browser process that a test may kill."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import BrowserContext, WebSocketRoute, async_playwright

from tests.end_to_end.browser import LIMIT_MS
from tests.end_to_end.cluster import eventually
from tests.end_to_end.flags import FLAGS

KEEP_SOCKETS = """(() => {
  const Native = WebSocket;
  window.sockets = [];
  window.WebSocket = class extends Native {
    constructor(...how) {
      super(...how);
      window.sockets.push(this);
    }
  };
})()"""
"""For a page whose connections are to be cut."""
CUT = "() => { for (const socket of window.sockets.splice(0)) socket.close(); }"
"""Cuts them: a browser that is offline keeps those that it has."""

KEPT = """async () => {
  const request = indexedDB.open("groupcore");
  const database = await new Promise((resolve) => {
    request.onsuccess = () => resolve(request.result);
  });
  const all = database.transaction("documents").objectStore("documents").getAll();
  await new Promise((resolve) => { all.onsuccess = resolve; });
  database.close();
  const plain = (_, value) => value instanceof Map ? [...value] : value;
  return JSON.stringify(all.result, plain);
}"""
"""What the browser keeps for later: of all documents."""


class Wire:
    """What a page says to its node; while `is_held` it stays on the way."""

    def __init__(self) -> None:
        self.is_held = False
        self._waiting: list[tuple[WebSocketRoute, str | bytes]] = []

    def take(self, route: WebSocketRoute) -> None:
        """A socket of the page."""
        server = route.connect_to_server()

        def on_message(message: str | bytes) -> None:
            if self.is_held:
                self._waiting.append((server, message))
            else:
                server.send(message)

        route.on_message(on_message)

    def release(self) -> None:
        """All that was held arrives."""
        self.is_held = False
        waiting, self._waiting = self._waiting, []
        for server, message in waiting:
            server.send(message)


@asynccontextmanager
async def own_chromium(executable: Path, profile: Path) -> AsyncIterator[OwnChromium]:
    """A Chromium process with a profile on disk; it is killed at the end, if not before."""
    process = await asyncio.create_subprocess_exec(
        executable,
        *FLAGS,
        "--headless=new",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        "about:blank",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    port_file = profile / "DevToolsActivePort"

    async def has_port() -> bool:
        return port_file.exists() and "\n" in port_file.read_text(encoding="ascii")

    try:
        await eventually(has_port, "Chromium names its port")
        port = port_file.read_text(encoding="ascii").split("\n")[0]
        async with async_playwright() as playwright:
            browser = await playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{port}")
            context = browser.contexts[0]
            context.set_default_timeout(LIMIT_MS)
            yield OwnChromium(process, context)
    finally:
        await killed(process)
        port_file.unlink(missing_ok=True)


class OwnChromium:
    """A browser process of one person."""

    def __init__(self, process: asyncio.subprocess.Process, context: BrowserContext) -> None:
        self.context = context
        self._process = process

    async def kill(self) -> None:
        """End it, and all processes of it, without a word."""
        await killed(self._process)


async def killed(process: asyncio.subprocess.Process) -> None:
    """Kill a process that leads a group of its own, and the group."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
