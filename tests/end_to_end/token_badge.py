"""Judge of the save badge in a game of tokens: from what a page sent, heard and painted.

The badge may say `saved` or `kept` only when no call of the page is unanswered or not on disk at a
quorum, and each letter that was typed has gone out in a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tests.end_to_end.token_evidence import Event

SETTLED = ("saved", "kept")
"""What the badge says when nothing waits: of texts that have no place it says `kept`."""
LETTER = re.compile(r"[A-Z0-9\]]")
"""Keys that write: the `[` of a token is left out, as the page of a game may stop it."""
TAKES_OUT = re.compile(r"Control\+[xzXZ]|Delete|Backspace")
"""Keys that may take out what has not been sent: then nothing has to be."""

KEPT = """async () => {
  const all = await indexedDB.databases();
  if (!all.some(({ name }) => name === "groupcore")) return [];
  const open = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const database = await open(indexedDB.open("groupcore"));
  const kept = await open(database.transaction("documents").objectStore("documents").getAll());
  database.close();
  return kept.filter(({ doc }) => !doc.startsWith("outline/"))
    .map(({ state, drafts }) => JSON.stringify([state, drafts]));
}"""
"""What the page's store keeps of documents; nothing when all is with the nodes."""


class _Calls:
    """The calls of one page that are not known to be saved."""

    def __init__(self) -> None:
        self._open: dict[str, set[int]] = {}
        self._saves = True

    def sent(self, message: dict[str, Any]) -> None:
        """Something that the page sent."""
        if message["t"] == "call":
            self._open.setdefault(message["name"], set()).add(message["n"])

    def heard(self, message: dict[str, Any]) -> None:
        """Something that its node said."""
        match message["t"]:
            case "welcome":
                self._saves = bool(message.get("saves"))
            case "saved":
                calls = self._open.get(message["name"], set())
                calls -= {n for n in calls if n <= message["n"]}
            case "result":
                self._answered(message["name"], message["n"], "")
            case "error" if "n" in message and not message.get("temporary"):
                self._answered(message.get("name", ""), message["n"], message["code"])
            case "snapshot" | "opened":
                for n, _results, code in message.get("done") or ():
                    self._answered(message["name"], n, code)

    def _answered(self, name: str, n: int, code: str) -> None:
        """`result_lost` is of a call that was done; with other codes it never will be."""
        if code not in ("", "result_lost") or not self._saves:
            self._open.get(name, set()).discard(n)

    def __str__(self) -> str:
        return ", ".join(f"{n} of {name}" for name, some in self._open.items() for n in some)


def false_saves(events: Iterable[Event]) -> list[str]:
    """Where a page has painted that all is saved while it was not; its events, in their order."""
    calls = _Calls()
    typed = ""
    found: list[str] = []
    for at, who, what, details in events:
        if what == "out":
            calls.sent(details)
            typed = "" if details["t"] == "call" else typed
        elif what == "in":
            calls.heard(details)
        elif what == "key" and LETTER.fullmatch(details[0]):
            typed += details[0]
        elif what == "key" and TAKES_OUT.fullmatch(details[0]):
            typed = ""
        elif what == "paints" and details[0] in SETTLED and (str(calls) or typed):
            lacks = f"calls {calls}" if str(calls) else f"what was typed, {typed}"
            found.append(f"false: at {at:.3f} {who} says {details[0]} without {lacks}")
    return found
