"""The page's editor alone in a browser: opening a long document, and typing in it.

No server: the document is in the page's memory (`webui/bench`), and every verb is done at once.
For each number of blocks: `open_ms` until the editor has made its elements, `paint_ms` until they
are on the screen; `key_ms` from a key to the next picture (a picture comes every 16.7 ms at most),
and `work_ms` in which the page was busy with the key: script, style, layout and paint. `other_ms`
is script and layout for a letter of somebody else. Needs `npm ci` in webui, and Chromium.
"""

from __future__ import annotations

import asyncio
import functools
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.async_api import Page

from bench.measuring import load_average, quantile
from tests.chromium import chromium
from tests.end_to_end.browser import running_browser

WEBUI = Path(__file__).resolve().parent.parent / "webui"
SIZES = (1, 100, 1_000, 5_000)
KEYS = 150
QUICK_KEYS = 40

WATCH = """() => {
  window.keys = [];
  addEventListener("keydown", () => {
    const began = performance.now();
    const channel = new MessageChannel();
    requestAnimationFrame(() => {
      channel.port1.onmessage = () => window.keys.push(performance.now() - began);
      channel.port2.postMessage(0);
    });
  }, { capture: true });
}"""

OTHER = """(count) => {
  const { model } = window.bench;
  const last = model.value.blocks.length - 1;
  const times = [];
  for (let n = 0; n < count; n += 1) {
    const { id } = model.value.blocks[(n * 37) % (last + 1)];
    const began = performance.now();
    model.others([["edit", id, ["x"]]]);
    document.body.getBoundingClientRect();
    times.push(performance.now() - began);
  }
  return times;
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Writes no log."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The files of a folder on a port of the loopback interface."""
    handler = functools.partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def spread(times: list[float]) -> dict[str, float]:
    """Median, 99th percentile and maximum."""
    shares = {"p50": quantile(times, 0.5), "p99": quantile(times, 0.99), "max": max(times)}
    return {name: round(value, 2) for name, value in shares.items()}


async def busy_ms(page: Page, keys: int) -> list[float]:
    """Type in the middle of the last block; what the page worked for each key."""
    await page.locator("[data-block-id]").last.click()
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")
    times: list[float] = []
    for _ in range(keys):
        before = await worked(session)
        await page.keyboard.press("x")
        await page.wait_for_timeout(20)
        times.append((await worked(session) - before) * 1e3)
    return times


async def worked(session: object) -> float:
    """Seconds of tasks on the page's main thread so far."""
    answer = await session.send("Performance.getMetrics")  # type: ignore[attr-defined]
    return float(next(one["value"] for one in answer["metrics"] if one["name"] == "TaskDuration"))


async def measure(page: Page, url: str, blocks: int, keys: int) -> dict[str, object]:
    """All figures for one number of blocks."""
    await page.goto(f"{url}/?blocks={blocks}")
    await page.wait_for_function("() => window.bench")
    opened, painted = await page.evaluate("() => [bench.opened_ms, bench.painted_ms]")
    await page.evaluate(WATCH)
    work = await busy_ms(page, keys)
    to_picture: list[float] = await page.evaluate("() => window.keys")
    others: list[float] = await page.evaluate(OTHER, keys)
    return {
        "open_ms": round(opened, 1),
        "paint_ms": round(painted, 1),
        "key_ms": spread(to_picture),
        "work_ms": spread(work),
        "other_ms": spread(others),
    }


async def measure_all(keys: int) -> dict[str, object]:
    """One browser, one page for each size."""
    figures: dict[str, object] = {}
    with served(WEBUI / "dist-bench") as url:
        async with running_browser(chromium()) as browser:
            for blocks in SIZES:
                page = await browser.new_page(viewport={"width": 1280, "height": 800})
                figures[str(blocks)] = await measure(page, url, blocks, keys)
                await page.close()
    return figures


def run(quick: bool) -> dict[str, object]:
    """Build the bench page, and measure."""
    build = ["npx", "vite", "build", "--config", "vite.bench.config.ts", "--logLevel", "warn"]
    subprocess.run(build, cwd=WEBUI, check=True, stdout=subprocess.DEVNULL)
    load = load_average()
    return {"load": load, "blocks": asyncio.run(measure_all(QUICK_KEYS if quick else KEYS))}
