"""What a game of tokens that fails leaves behind: all that its pages said, heard and showed.

One file a game, a line an event, by time: seconds since the game began, who, what, details.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgpack
from playwright.async_api import Page

RECORD = r"""(() => {
  const events = [];
  window.evidence = events;
  const note = (kind, ...details) => events.push([Date.now() / 1000, kind, ...details]);
  const stateNow = () => document.querySelector("[data-testid=save-state]")?.dataset.state;
  const coded = (data) => typeof data === "string" ? data
    : btoa(String.fromCharCode(...new Uint8Array(data.buffer ?? data)));
  const Native = WebSocket;
  window.WebSocket = class extends Native {
    constructor(...how) {
      super(...how);
      this.addEventListener("message", ({ data }) => note("in", coded(data)));
      this.addEventListener("open", () => note("socket opens"));
      this.addEventListener("close", ({ code }) => note("socket closes", code));
    }
    send(data) {
      note("out", coded(data));
      super.send(data);
    }
  };
  addEventListener("keydown", ({ key, ctrlKey }) => note("key", ctrlKey ? `Control+${key}` : key),
    { capture: true });
  let last = "";
  const look = () => {
    const editor = document.querySelector("[data-testid=editor]");
    if (editor === null) return;
    const shown = [...editor.querySelectorAll("[data-block-id]")].map((block) => {
      const copy = block.cloneNode(true);
      for (const caret of copy.querySelectorAll(".remote-caret")) caret.remove();
      return `${block.dataset.blockId}: ${copy.textContent}`;
    });
    const state = stateNow();
    const { anchorNode, anchorOffset, focusOffset } = getSelection();
    const caret = anchorNode?.nodeType === 3
      ? `${anchorNode.data.slice(Math.max(0, anchorOffset - 7), anchorOffset)}|` : "";
    const now = JSON.stringify([state, shown]);
    if (now !== last) note("shows", state, shown, caret, anchorOffset, focusOffset);
    last = now;
  };
  addEventListener("DOMContentLoaded", () => new MutationObserver(look)
    .observe(document.body, { childList: true, subtree: true, characterData: true,
      attributes: true, attributeFilter: ["data-state"] }));
  // What is painted: a badge that is changed a moment after the text is not false yet.
  let noted = 0;
  const paint = () => {
    requestAnimationFrame(paint);
    if (events.length === noted || stateNow() === undefined) return;
    note("paints", stateNow());
    noted = events.length;
  };
  requestAnimationFrame(paint);
})()"""

DULL = {"ping", "pong"}

Event = tuple[float, str, str, Any]
"""When (seconds since 1970), who, what, details."""


def decoded(coded: str) -> list[Any]:
    """The messages of a frame."""
    messages = msgpack.unpackb(base64.b64decode(coded), strict_map_key=False)
    return [one for one in messages if one.get("t") not in DULL]


async def events_of(letter: str, page: Page) -> list[Event]:
    """What a page has recorded."""
    found: list[Event] = []
    for at, kind, *details in await page.evaluate("() => window.evidence"):
        if kind in ("in", "out"):
            found += [(at, letter, kind, message) for message in decoded(details[0])]
        else:
            found.append((at, letter, kind, details))
    return found


def write(path: Path, summary: str, events: list[Event], began: float) -> None:
    """The file of a game; `began`: seconds since 1970."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(summary + "\n\n")
        for at, who, what, details in sorted(events, key=lambda event: event[0]):
            shown = json.dumps(details, ensure_ascii=False, default=str)
            file.write(f"{at - began:8.3f} {who} {what} {shown}\n")
