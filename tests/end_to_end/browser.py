"""Real browser tabs on real nodes: Chromium through Playwright, where every complaint is a failure.

One browser process serves all tests of the session; each tab has a context, and so a storage, of
its own. What a tab writes to the console as an error, what it throws and what the content security
policy stops fails the test, unless the test has said that it expects it.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Locator,
    Page,
    Route,
    async_playwright,
    expect,
)

from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.flags import FLAGS
from tests.end_to_end.scrolling import BRING, TWO_FRAMES

LIMIT_MS = 15_000
# Taken out of the environment: the nodes inherit it, and refuse settings that they do not know.
SCREENSHOTS = os.environ.pop("GROUPCORE_SCREENSHOTS", "")
"""The folder for pictures of what tests look at; empty: none are made."""
NODE_GONE = (
    "net::ERR_CONNECTION",
    "WebSocket connection to",
    "net::ERR_EMPTY_RESPONSE",
    "net::ERR_CONTENT_LENGTH_MISMATCH",
)
"""What Chromium itself writes when a node is away."""

Scheme = Literal["light", "dark"]

WATCH_POLICY = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));"""

TEXTS = """() => {
  const blocks = document.querySelectorAll("[data-testid=editor] [data-block-id]");
  return [...blocks].map((block) => {
    if (block.dataset.away !== undefined) {
      const { top, bottom } = block.getBoundingClientRect();
      return bottom > 0 && top < innerHeight ? "(missing)" : "(not loaded)";
    }
    const copy = block.cloneNode(true);
    for (const caret of copy.querySelectorAll(".remote-caret, .picture-frame")) caret.remove();
    return copy.textContent;
  });
}"""

OUT_OF_SIGHT = "(not loaded)"
"""What stands for the text of a block that is not in sight, and so may stay away."""

HTML = """(block) => {
  const copy = block.cloneNode(true);
  const drawn = ".remote-caret, .ProseMirror-separator, .ProseMirror-trailingBreak";
  for (const part of copy.querySelectorAll(drawn)) part.remove();
  for (const part of copy.querySelectorAll(".remote-selection")) {
    part.replaceWith(...part.childNodes);
  }
  return copy.innerHTML;
}"""

SAVE_STATE = """() => {
  const { state, edits } = document.querySelector("[data-testid=save-state]").dataset;
  return [state, Number(edits)];
}"""

RECORD_STATES = f"""() => {{
  const badge = document.querySelector("[data-testid=save-state]");
  const read = {SAVE_STATE};
  window.recordedStates = [read()];
  new MutationObserver(() => window.recordedStates.push(read()))
    .observe(badge, {{ attributes: true }});
}}"""

SAMPLE_FRAMES = f"""() => {{
  const read = {SAVE_STATE};
  const texts = {TEXTS};
  window.sampledFrames = [];
  let last = "";
  const look = () => {{
    requestAnimationFrame(look);
    if (document.querySelector("[data-testid=save-state]") === null) return;
    const [state, edits] = read();
    const frame = [state, edits, texts().join("\\n")];
    if (frame.join() === last) return;
    last = frame.join();
    window.sampledFrames.push(frame);
  }};
  look();
}}"""


class Frame(NamedTuple):
    """What a page painted: the kind of the save state, how many edits are kept, and the text."""

    kind: str
    edits: int
    text: str


class BrowserTab:
    """One tab with the document or the list of documents in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        self._expected: tuple[str, ...] = ()
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("dialog", self._on_dialog)
        # The browser hands over its file choosers some moments after somebody first listens, and
        # in these moments a key or a click opens nothing: somebody listens from the start.
        page.on("filechooser", lambda _: None)

    # --- complaints -----------------------------------------------------------------------------

    def expect_complaints(self, *parts: str) -> None:
        """Console errors that hold one of these are part of the test."""
        self._expected += parts

    def check(self) -> None:
        """Fail with everything that this tab has complained about."""
        found = [text for text in self.problems if not any(part in text for part in self._expected)]
        assert not found, "\n".join([f"{self.page.url} complained:", *found])

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text} ({message.location.get('url')})")

    def _on_error(self, error: Error) -> None:
        self.problems.append(f"uncaught: {error.message}")

    async def _on_dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    # --- what it shows --------------------------------------------------------------------------

    @property
    def editor(self) -> Locator:
        """The text."""
        return self.page.get_by_test_id("editor")

    @property
    def badge(self) -> Locator:
        """The save state."""
        return self.page.get_by_test_id("save-state")

    def block(self, number: int) -> Locator:
        """A block, counted from 0."""
        return self.editor.locator("[data-block-id]").nth(number)

    def caret_of(self, name: str) -> Locator:
        """The caret of another person."""
        return self.page.locator(f'[data-testid=remote-caret][data-name="{name}"]')

    async def hold_back(self, pattern: str) -> asyncio.Event:
        """Requests that match wait until the event is set."""
        may_go = asyncio.Event()

        async def when_it_may(route: Route) -> None:
            await may_go.wait()
            await route.continue_()

        await self.page.route(pattern, when_it_may)
        return may_go

    async def texts(self) -> list[str]:
        """The text of every block; OUT_OF_SIGHT for those that are not loaded, and need not be."""
        found: list[str] = await self.page.evaluate(TEXTS)
        return found

    async def save_state(self) -> tuple[str, int]:
        """The kind of the save state and how many edits are kept."""
        kind, edits = await self.page.evaluate(SAVE_STATE)
        return str(kind), int(edits)

    async def loaded(self) -> None:
        """Wait until the document can be edited."""
        await expect(self.editor).to_be_visible()

    async def shows(self, *texts: str) -> None:
        """Wait until the blocks are exactly these."""

        async def has_them() -> bool:
            return is_shown(await self.texts(), texts)

        try:
            await eventually(has_them, "these blocks")
        except AssertionError:
            found = await self.texts()
            assert found == list(texts), f"it shows {found}"

    async def saved(self) -> None:
        """Wait until the badge says saved, or that what has no place is kept."""
        await expect(self.badge).to_have_attribute("data-state", re.compile("^(saved|kept)$"))

    async def record_states(self) -> None:
        """Note every save state from now on, for `states`."""
        await self.page.evaluate(RECORD_STATES)

    async def states(self) -> list[tuple[str, int]]:
        """Every save state since `record_states`."""
        found = await self.page.evaluate("() => window.recordedStates")
        return [(str(kind), int(edits)) for kind, edits in found]

    async def sample_frames(self) -> None:
        """Note from now on what each frame shows that differs from the one before, for `frames`."""
        await self.page.evaluate(SAMPLE_FRAMES)

    async def frames(self) -> list[Frame]:
        """Every frame since `sample_frames`."""
        await self.page.evaluate(TWO_FRAMES)  # what the page has now is in the next one
        found = await self.page.evaluate("() => window.sampledFrames")
        return [Frame(str(kind), int(edits), str(text)) for kind, edits, text in found]

    async def screenshot(self, name: str) -> None:
        """A picture of the whole page as it is now drawn, where somebody has asked for pictures."""
        await self.page.evaluate(TWO_FRAMES)
        if SCREENSHOTS:
            path = Path(SCREENSHOTS, f"{name}.png")
            await self.page.screenshot(path=path, full_page=True, caret="initial")

    # --- what the person does -------------------------------------------------------------------

    async def resize(self, width: int, scheme: Scheme) -> None:
        """Be a window of this width from now on, light or dark."""
        await self.page.set_viewport_size({"width": width, "height": 800})
        await self.page.emulate_media(color_scheme=scheme)

    async def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            await self.page.keyboard.press(key)

    async def put_caret(self, number: int, where: Literal["Home", "End"] = "End") -> None:
        """Click into a block that one sees, and go to the start or the end of the line."""
        block = self.block(number)
        # Where it is not loaded yet, or not drawn, there is no text to click into.
        await self.bring(number)
        await expect(block).not_to_have_attribute("data-away", "true")
        await self.page.evaluate(TWO_FRAMES)
        await block.click()
        await self.press(where)

    async def bring(
        self, number: int, place: Literal["start", "center", "nearest"] = "nearest"
    ) -> None:
        """Scroll until a block is in sight, at this place of it."""
        await self.block(number).evaluate(BRING, place)

    async def type(self, text: str, delay_ms: float = 15) -> None:
        """Type with real keys."""
        await self.page.keyboard.type(text, delay=delay_ms)

    async def select(self, count: int) -> None:
        """Select so many characters left of the caret."""
        await self.press(*["Shift+ArrowLeft"] * count)

    async def html(self, number: int) -> str:
        """What is in a block's element, without what shows where others are."""
        found: str = await self.block(number).evaluate(HTML)
        return found

    async def paste(self, text: str) -> None:
        """Put plain text on the clipboard, and paste it."""
        await self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        await self.press("Control+v")


class Tabs:
    """Opens tabs, and closes them with a look at what they complained about."""

    def __init__(self, browser: Browser, limit_ms: float = LIMIT_MS) -> None:
        self._browser = browser
        self._limit_ms = limit_ms
        self._contexts: list[BrowserContext] = []
        self._tabs: list[BrowserTab] = []

    async def context(
        self,
        name: str = "Somebody",
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Scheme = "light",
        locale: str = "en-GB",
        keeps_page: bool = False,
    ) -> BrowserContext:
        """A browser profile of a person with this name. `keeps_page`: it lets the page's worker in,
        which answers before what a test puts between a page and its node.
        """
        context = await self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            locale=locale,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
            service_workers="allow" if keeps_page else "block",
        )
        context.set_default_timeout(self._limit_ms)
        await context.add_init_script(WATCH_POLICY)
        keep = 'location.host && (localStorage["groupcore.name"] ??= '
        await context.add_init_script(f'{keep}"{name}")')
        self._contexts.append(context)
        return context

    async def open_in(self, context: BrowserContext, url: str) -> BrowserTab:
        """A tab of a profile."""
        tab = BrowserTab(await context.new_page())
        self._tabs.append(tab)
        await tab.page.goto(url)
        return tab

    async def open(
        self,
        url: str,
        name: str = "Somebody",
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Scheme = "light",
    ) -> BrowserTab:
        """A tab in a profile of its own."""
        context = await self.context(name, width=width, height=height, scheme=scheme)
        return await self.open_in(context, url)

    async def document(self, node: str, doc: str, name: str) -> BrowserTab:
        """A tab with a document, loaded, from the node with this address."""
        tab = await self.open(f"{node}/doc/{doc}", name)
        await tab.loaded()
        return tab

    async def close(self) -> None:
        """Close all."""
        for context in self._contexts:
            await context.close()

    def check(self) -> None:
        """Fail when a tab has complained."""
        for tab in self._tabs:
            tab.check()


@asynccontextmanager
async def running_browser(executable: Path) -> AsyncIterator[Browser]:
    """One Chromium."""
    expect.set_options(timeout=LIMIT_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


def is_shown(shown: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a tab shows these blocks, as far as they are in sight."""
    if len(shown) != len(texts):
        return False
    return all(one in (text, OUT_OF_SIGHT) for one, text in zip(shown, texts, strict=True))


async def together(*actions: Awaitable[None]) -> None:
    """Do these at once."""
    await asyncio.gather(*actions)


async def node_texts(cluster: Cluster, name: str, doc: str) -> list[str]:
    """The text of every block as a node has it."""
    return [str(block["text"]) for block in (await cluster.document(name, doc))["blocks"]]


async def converged(cluster: Cluster, doc: str, tabs: Sequence[BrowserTab]) -> list[str]:
    """Wait until all tabs say saved and show what all living nodes have; the texts."""
    for tab in tabs:
        await tab.saved()
    names = [name for name, node in cluster.nodes.items() if node.running]

    async def everything() -> tuple[list[list[str]], list[list[str]]]:
        shown = [await tab.texts() for tab in tabs]
        return shown, [await node_texts(cluster, name, doc) for name in names]

    async def are_same() -> bool:
        shown, found = await everything()
        is_one = all(texts == found[0] for texts in found)
        return is_one and all(is_shown(texts, found[0]) for texts in shown)

    try:
        await eventually(are_same, "all show the same")
    except AssertionError:
        shown, found = await everything()
        for texts in found + shown:
            assert texts == found[0]
    return await node_texts(cluster, names[0], doc)
