"""The board of docs/examples in a real browser: pages on several nodes, one of which is killed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs, together
from tests.end_to_end.cluster import ROOT, eventually, free_udp_port
from tests.end_to_end.test_browser_axe import SIZES, violations

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

NAMES = ("a", "b", "c")
WORDS = 40


def free_tcp_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Board:
    """The example, three times, as its page says to start it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.urls = {name: f"http://127.0.0.1:{free_tcp_port()}" for name in NAMES}
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self._multicast = f"228.8.8.8:{free_udp_port()}"

    async def start(self) -> None:
        for name, url in self.urls.items():
            environment = {
                **os.environ,
                "NODE_ID": name,
                "NODES": " ".join(self.urls.values()),
                "MULTICAST": self._multicast,
                "PYTHONPATH": str(ROOT),
            }
            arguments = ("--app-dir", "docs/examples/board", "app:app", "--port")
            with (self.folder / f"{name}.log").open("wb") as log:
                self.processes[name] = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *("-m", "uvicorn"),
                    *arguments,
                    url.rpartition(":")[2],
                    cwd=ROOT,
                    env=environment,
                    stdout=log,
                    stderr=asyncio.subprocess.STDOUT,
                )
        async with aiohttp.ClientSession() as http:

            async def all_answer() -> bool:
                for url in self.urls.values():
                    try:
                        async with http.get(f"{url}/nodes") as answer:
                            found = await answer.json()
                    except aiohttp.ClientError:
                        return False
                    assert found[0] == url
                return True

            await eventually(all_answer, "all nodes answer")

    async def kill(self, name: str) -> None:
        """kill -9."""
        process = self.processes[name]
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()

    async def stop(self) -> None:
        for name in self.processes:
            await self.kill(name)


@pytest_asyncio.fixture(loop_scope="session")
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    made = Board(tmp_path)
    await made.start()
    yield made
    await made.stop()


async def opened(tabs: Tabs, url: str, name: str) -> BrowserTab:
    tab = await tabs.open(f"{url}/?name={name}", name)
    await expect(tab.page.get_by_label("Note")).to_be_enabled()
    return tab


async def note_of(page: Page) -> str:
    return await page.get_by_label("Note").input_value()


async def write(tab: BrowserTab, word: str, at: str, pause_s: float) -> None:
    """Type numbered words from here on; the caret is where the others' edits carry it."""
    await tab.page.get_by_label("Note").focus()
    await tab.press(at)
    for number in range(WORDS):
        await tab.type(f"{word}{number} ", delay_ms=3)
        await asyncio.wait([pause(pause_s)])


def pause(pause_s: float) -> asyncio.Future[None]:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    loop.call_later(pause_s, over.set_result, None)
    return over


async def test_two_pages_on_two_nodes_share_the_board(board: Board, tabs: Tabs) -> None:
    ann = await opened(tabs, board.urls["a"], "Ann")
    bob = await opened(tabs, board.urls["b"], "Bob")
    for tab, count in ((ann, 1), (bob, 2), (ann, 3)):
        await tab.page.get_by_role("button", name="Count").click()
        for page in (ann.page, bob.page):
            await expect(page.get_by_role("button", name=f"Count: {count}")).to_be_visible()
    await bob.page.get_by_role("switch", name="Light").click()
    await expect(ann.page.get_by_role("switch", name="Light")).to_be_checked()
    await ann.page.get_by_label("Note").fill("héllo 😀")
    await expect(bob.page.get_by_label("Note")).to_have_value("héllo 😀")
    people = ann.page.get_by_role("listitem")
    await expect(people).to_have_text(["Ann (you)", "Bob"])
    await bob.page.close()
    await expect(people).to_have_text(["Ann (you)"], timeout=30_000)


@pytest.mark.parametrize("victim", ["a", "b"])
async def test_a_node_is_killed_while_both_type_and_nothing_is_lost_or_doubled(
    board: Board, tabs: Tabs, victim: str
) -> None:
    ann = await opened(tabs, board.urls["a"], "Ann")
    bob = await opened(tabs, board.urls["b"], "Bob")
    for tab in (ann, bob):
        tab.expect_complaints(*NODE_GONE)
    await ann.page.get_by_label("Note").fill("\n")
    await expect(bob.page.get_by_label("Note")).to_have_value("\n")

    async def kill() -> None:
        async def is_half_typed() -> bool:
            words = (await note_of(ann.page)).split()
            return f"bob{WORDS // 3}" in words and f"ann{WORDS // 3}" in words

        await eventually(is_half_typed, "both have typed")
        await board.kill(victim)

    async def count() -> None:
        for _ in range(20):
            await bob.page.get_by_role("button", name="Count").dispatch_event("click")
            await asyncio.wait([pause(0.1)])

    await together(
        write(ann, "ann", "Control+Home", 0.05),
        write(bob, "bob", "Control+End", 0.05),
        count(),
        kill(),
    )

    async def are_equal() -> bool:
        return await note_of(ann.page) == await note_of(bob.page)

    for page in (ann.page, bob.page):
        await expect(page.get_by_role("status")).to_have_text("connected")
        await expect(page.get_by_role("button", name="Count: 20")).to_be_visible()
    for word in ("ann", "bob"):
        last = f"{word}{WORDS - 1} "
        for page in (ann.page, bob.page):
            await expect(page.get_by_label("Note")).to_have_value(re.compile(re.escape(last)))
    await eventually(are_equal, "both pages show the same")
    words = (await note_of(ann.page)).split()
    expected = [f"{word}{number}" for word in ("ann", "bob") for number in range(WORDS)]
    assert words == expected
    fresh = await opened(tabs, board.urls["c"], "Carol")
    await expect(fresh.page.get_by_label("Note")).to_have_value(await note_of(ann.page))


async def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    board: Board, tabs: Tabs
) -> None:
    tab = await tabs.open("about:blank")
    for width, scheme in SIZES:
        await tab.resize(width, scheme)
        await tab.page.goto(f"{board.urls['a']}/?name=Somebody")
        await expect(tab.page.get_by_label("Note")).to_be_enabled()
        assert await violations(tab) == ""
        wide = await tab.page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= width
