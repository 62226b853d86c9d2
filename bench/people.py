"""Two people in real browsers, and when each letter is on the screen of which of them.

A key counts from the time of its event, which is when the browser got it; a letter is painted when
the frame that has it was handed on. Chromium's clock is the machine's monotonic one, so times of
two browsers compare.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import CDPSession

from bench.measuring import cpu_of, quantile
from tests.chromium import chromium
from tests.end_to_end.browser import BrowserTab, Tabs, running_browser

LETTER = "z"
"""What is typed; no other text has it."""
LIMIT_S = 20.0

WATCH = """([id, letter]) => {
  const keys = [], painted = [];
  window.watched = { keys, painted };
  addEventListener("keydown", (event) => {
    if (event.key === letter) keys.push(event.timeStamp);
  }, { capture: true });
  let found = null;  // so that looking for it is none of what is measured
  const block = () => found?.isConnected ? found
    : found = document.querySelector(`[data-testid=editor] [data-block-id="${id}"]`);
  const letters = () => (block()?.textContent ?? "").split(letter).length - 1;
  let isDue = false;
  const look = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      const count = letters();
      if (count <= painted.length) return;
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        while (painted.length < count) painted.push(performance.now());
      };
      channel.port2.postMessage(0);
    });
  };
  new MutationObserver(look).observe(document.querySelector("[data-testid=editor]"), {
    subtree: true, childList: true, characterData: true,
  });
}"""


def children_of(pid: int) -> Iterator[int]:
    """A process and all that come from it."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            yield from children_of(int(child))


def browsers_of(pid: int) -> list[int]:
    """The browsers' processes that come from this one, a parent before its children."""
    commands = ((one, Path(f"/proc/{one}/cmdline").read_bytes()) for one in children_of(pid))
    return [one for one, command in commands if b"chrom" in command.partition(b"\0")[0]]


def tree_cpu_s(pid: int) -> float:
    """CPU seconds of a process and all that come from it and live."""
    return sum(cpu_of(one) for one in children_of(pid))


async def metrics_of(cdp: CDPSession) -> dict[str, float]:
    """Chromium's counters of a page; `Performance` is enabled, its times are of processors."""
    answer = await cdp.send("Performance.getMetrics")
    return {one["name"]: float(one["value"]) for one in answer["metrics"]}


@dataclass(slots=True)
class Person:
    """A tab in a browser of its own."""

    tab: BrowserTab
    cdp: CDPSession
    pid: int
    began_s: float = 0.0

    async def metrics(self) -> dict[str, float]:
        """Chromium's counters of the page."""
        return await metrics_of(self.cdp)

    async def watch(self, block: str) -> None:
        """Note from now on when letters of this block are painted, and when keys fall."""
        await self.tab.page.evaluate(WATCH, [block, LETTER])
        self.began_s = (await self.metrics())["NavigationStart"]

    async def count(self) -> int:
        """How many letters are painted."""
        return int(await self.tab.page.evaluate("() => window.watched.painted.length"))

    async def times_s(self, what: str, since: int) -> list[float]:
        """When `keys` fell or letters were `painted`, on the machine's monotonic clock."""
        times = await self.tab.page.evaluate(f"() => window.watched.{what}")
        return [self.began_s + ms / 1e3 for ms in times[since:]]

    @property
    def cpu_s(self) -> float:
        """CPU of all of the browser's processes."""
        return tree_cpu_s(self.pid)


@asynccontextmanager
async def person(node: str, doc: str, name: str, pid: int) -> AsyncIterator[Person]:
    """Somebody who has the document in a browser of their own; `pid` is this process's."""
    before = set(browsers_of(pid))
    async with running_browser(chromium()) as browser:
        own = next(one for one in browsers_of(pid) if one not in before)
        tabs = Tabs(browser)
        tab = await tabs.document(node, doc, name)
        cdp = await tab.page.context.new_cdp_session(tab.page)
        await cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
        yield Person(tab, cdp, own)
        await tabs.close()


@asynccontextmanager
async def two_people(
    nodes: tuple[str, str], doc: str, pid: int
) -> AsyncIterator[tuple[Person, Person]]:
    """Who types at the first node, and who reads at the second."""
    async with AsyncExitStack() as stack:
        writer = await stack.enter_async_context(person(nodes[0], doc, "Writer", pid))
        reader = await stack.enter_async_context(person(nodes[1], doc, "Reader", pid))
        yield writer, reader


async def put_in(people: tuple[Person, Person], number: int) -> str:
    """Both have this block in sight; the writer's caret is at its end. Its id."""
    writer, _ = people
    found = str(await writer.tab.block(number).get_attribute("data-block-id"))
    for one in people:
        await one.tab.bring(number, "center")
    await writer.tab.put_caret(number)
    for one in people:
        await one.watch(found)
    return found


async def type_letters(
    writer: Person, reader: Person, count: int, per_s: float
) -> tuple[list[float], list[float]]:
    """Press so many keys; milliseconds until each was painted at the writer, and at the reader."""
    since = await writer.count()
    begin = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, begin + number / per_s - time.monotonic()))
        await writer.tab.page.keyboard.press(LETTER)
    deadline = time.monotonic() + LIMIT_S
    while min(await writer.count(), await reader.count()) < since + count:
        assert time.monotonic() < deadline, "a letter was not painted"
        await asyncio.sleep(0.05)
    fell = await writer.times_s("keys", since)
    own, remote = [await one.times_s("painted", since) for one in (writer, reader)]
    return (
        [1e3 * (at - key) for at, key in zip(own, fell, strict=True)],
        [1e3 * (at - key) for at, key in zip(remote, fell, strict=True)],
    )


def spread(times_ms: list[float]) -> dict[str, float]:
    """Median, 99th percentile and maximum."""
    shares = {
        "p50_ms": quantile(times_ms, 0.5),
        "p99_ms": quantile(times_ms, 0.99),
        "max_ms": max(times_ms),
    }
    return {name: round(value, 1) for name, value in shares.items()}
