"""A page in a real browser that types tokens by real keys, and never tears one itself.

Each key that may hurt a token is looked at in the page when it is pressed, before the editor hears
of it: where the selection is not what the act needs by then, the key is stopped. A caret is put
only behind a token of this page's own, so that no two pages type at one place at once.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from playwright.async_api import BrowserContext, Page

from tests.end_to_end.scrolling import TWO_FRAMES
from tests.end_to_end.token_badge import KEPT

HELPERS = r"""() => {
  const TOKEN = /\[[A-Z]\d{4}\]/gu;
  const editor = () => document.querySelector("[data-testid=editor]");
  const nodesOf = (block) => {
    const drawn = ".remote-caret, .ProseMirror-separator, .ProseMirror-trailingBreak";
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      if (walker.currentNode.parentElement.closest(drawn) === null) found.push(walker.currentNode);
    }
    return found;
  };
  const textOf = (block) => nodesOf(block).map((node) => node.data).join("");
  const blocks = () => [...editor().querySelectorAll("[data-block-id]")]
    .filter((block) => block.dataset.away === undefined);
  const spot = (block, offset) => {
    for (const node of nodesOf(block)) {
      if (offset <= node.length) return [node, offset];
      offset -= node.length;
    }
    return [block, 0];
  };
  // Where the selection is in the text of its block; null: in none, or in several.
  const selected = () => {
    const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection();
    const block = (node) => (node?.nodeType === 1 ? node : node?.parentElement)
      ?.closest("[data-block-id]");
    const own = block(anchorNode);
    if (!own || own !== block(focusNode)) return null;
    const before = (node, offset) => {
      const range = document.createRange();
      range.setStart(own, 0);
      range.setEnd(node, offset);
      const copy = range.cloneContents();
      for (const drawn of copy.querySelectorAll(".remote-caret")) drawn.remove();
      return copy.textContent.length;
    };
    const ends = [before(anchorNode, anchorOffset), before(focusNode, focusOffset)];
    return { text: textOf(own), from: Math.min(...ends), to: Math.max(...ends) };
  };
  const isToken = (text, letter) => text.length === 7 && text[1] === letter
    && text.replace(TOKEN, "") === "";
  const fits = {
    behind: ({ text, from, to }, letter) => from === to
      && isToken(text.slice(from - 7, from), letter)
      && (from === text.length || isToken(text.slice(from, from + 7), text[from + 1])),
    start: ({ from, to }) => from === 0 && to === 0,
    token: ({ text, from, to }, letter) => isToken(text.slice(from, to), letter),
    any: () => true,
  };
  const tokens = () => blocks().flatMap((block) => textOf(block).match(TOKEN) ?? []);
  const changed = (letter) => {
    const { before } = window.game;
    const after = tokens();
    return [...before.filter((one) => !after.includes(one)),
      ...after.filter((one) => !before.includes(one))].filter((one) => one[1] === letter);
  };
  window.game = { changed, guard: null, passed: false, before: [],
    texts: () => [...editor().querySelectorAll("[data-block-id]")].map((block) =>
      block.dataset.away === undefined ? textOf(block) : "(not loaded)"),
    put: (how, letter, chance) => {
      const found = [];
      for (const [index, block] of blocks().entries()) {
        const text = textOf(block);
        if (how === "start" && index > 0) found.push([block, 0, 0]);
        if (how === "start") continue;
        for (const match of text.matchAll(TOKEN)) {
          if (match[0][1] !== letter) continue;
          const end = match.index + 7;
          found.push(how === "token" ? [block, match.index, end] : [block, end, end]);
        }
      }
      const one = found[Math.floor(chance * found.length)];
      if (one === undefined) return null;
      editor().focus();
      const [block, from, to] = one;
      getSelection().setBaseAndExtent(...spot(block, from), ...spot(block, to));
      document.dispatchEvent(new Event("selectionchange"));
      return textOf(block).slice(from, to) || "a place";
    },
  };
  addEventListener("keydown", (event) => {
    const { guard } = window.game;
    if (guard === null || ["Control", "Alt", "Shift"].includes(event.key)) return;
    window.game.guard = null;
    const now = selected();
    window.game.passed = now !== null && fits[guard[0]](now, guard[1]);
    if (!window.game.passed) {
      event.preventDefault();
      event.stopImmediatePropagation();
      return;
    }
    window.game.before = tokens();
  }, { capture: true });
}"""

STANDING = """() => ({
  state: document.querySelector("[data-testid=save-state]")?.dataset.state ?? "none",
  texts: document.querySelector("[data-testid=editor]") === null ? [] : window.game.texts(),
  drafts: [...document.querySelectorAll("[data-testid=draft]")].map((one) => one.textContent),
})"""

PATIENCE_MS = 60_000
"""So long a page may take for what it is asked, on a machine that has more to do."""
KINDS = ("Control+Alt+0", "Control+Alt+1", "Control+Alt+2", "Control+Alt+5")


class TokenPage:
    """One person: `letter` is in the tokens that this page writes."""

    def __init__(
        self, letter: str, context: BrowserContext, page: Page, clipboards: asyncio.Lock
    ) -> None:
        """`clipboards`: all pages of a browser have one clipboard; who has this may use it."""
        self.letter = letter
        self.clipboards = clipboards
        self.context = context
        self.page = page
        self.written: list[str] = []
        self.erased: set[str] = set()
        self.taken: set[str] = set()
        """What undo and redo have taken out or brought back."""
        self.clipboard = ""
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error.message}"))
        page.set_default_timeout(PATIENCE_MS)

    async def begin(self, url: str) -> None:
        """Open the document."""
        await self.page.goto(url)
        await self.page.get_by_test_id("editor").wait_for()
        await self.page.evaluate(HELPERS)
        await self.act("undo", Random(0))  # its part of the page is loaded with the first one

    async def _put(self, how: str, chance: float) -> str | None:
        found: str | None = await self.page.evaluate(
            "([how, letter, chance]) => window.game.put(how, letter, chance)",
            [how, self.letter, chance],
        )
        return found

    async def _key(self, how: str, key: str) -> bool:
        """Press a key if the selection is what the act needs when the page hears of it."""
        arm = "(guard) => { window.game.guard = guard; window.game.passed = false }"
        await self.page.evaluate(arm, [how, self.letter])
        await self.page.keyboard.press(key)
        passed: bool = await self.page.evaluate("() => window.game.passed")
        return passed

    async def act(self, kind: str, draw: Random) -> str:
        """Do one thing; what was done, for the journal, or why not."""
        chance, other = draw.random(), draw.random()
        match kind:
            case "type":
                return await self._type(chance)
            case "split":
                is_put = await self._put("behind", chance) and await self._key("behind", "Enter")
            case "join":
                is_put = await self._put("start", chance) and await self._key("start", "Backspace")
            case "move":
                key = "Alt+ArrowUp" if other < 0.5 else "Alt+ArrowDown"
                is_put = await self._put("behind", chance) and await self._key("any", key)
            case "kind":
                key = KINDS[int(other * len(KINDS))]
                is_put = await self._put("behind", chance) and await self._key("any", key)
            case "erase":
                return await self._erase(chance, "Delete")
            case "cut":
                return await self._paste(chance) if self.clipboard else await self._cut(chance)
            case _:
                return await self._take(kind)
        return kind if is_put else f"{kind}: not possible"

    async def _type(self, chance: float) -> str:
        if await self._put("behind", chance) is None:
            return "type: no place"
        token = f"[{self.letter}{len(self.written) + 1:04d}]"
        if not await self._key("behind", "["):
            return "type: the caret was elsewhere"
        self.written.append(token)
        await self.page.keyboard.type(token[1:])
        shown = await self.page.evaluate("() => window.game.texts().join()")
        return f"type {token}" if token in shown else f"type {token}, and it is not shown"

    async def _erase(self, chance: float, key: str) -> str:
        token = await self._put("token", chance)
        if token is None or not await self._key("token", key):
            return "erase: not possible"
        self.erased.add(token)
        return f"{key} {token}"

    async def _cut(self, chance: float) -> str:
        token = await self._put("token", chance)
        async with self.clipboards:
            if token is None or not await self._key("token", "Control+x"):
                return "cut: not possible"
        self.clipboard = token
        return f"cut {token}"

    async def _paste(self, chance: float) -> str:
        if await self._put("behind", chance) is None:
            return "paste: no place"
        async with self.clipboards:
            write = "(text) => navigator.clipboard.writeText(text)"
            await self.page.evaluate(write, self.clipboard)
            if not await self._key("behind", "Control+v"):
                return "paste: the caret was elsewhere"
            await self.page.evaluate(TWO_FRAMES)
        token, self.clipboard = self.clipboard, ""
        return f"paste {token}"

    async def _take(self, kind: str) -> str:
        """Undo or redo: of what it changes nobody can say how often it was meant to be there."""
        if self.clipboard:
            return f"{kind}: something is on the clipboard"
        if not await self._key("any", "Control+z" if kind == "undo" else "Control+Shift+z"):
            return f"{kind}: not possible"
        await self.page.evaluate(TWO_FRAMES)
        changed = await self.page.evaluate("(own) => window.game.changed(own)", self.letter)
        self.taken.update(changed)
        return f"{kind} {changed}"

    async def standing(self) -> dict[str, Any]:
        """Save state, texts of blocks, texts of drafts."""
        found: dict[str, Any] = await self.page.evaluate(STANDING)
        return found

    async def kept(self) -> list[str]:
        """What the page's store keeps."""
        found: list[str] = await self.page.evaluate(KEPT)
        return found
