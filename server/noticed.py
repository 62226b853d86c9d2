"""Reads, exports and refusals in the audit log: bounded, so that nobody floods it.

Idea. Of what happens again and again, one person's (or address's) first time is an entry at once;
the further times are counted, and written as one entry with their count when the window is over.

Invariants.
  C1  Of one person (or address), kind and subject there is at most one entry a window at each node.
  C2  A kind has at most `most` windows open; beyond them all others share one.
  C3  What the cluster does not take now is counted on, and written when it does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from groupcore.errors import GroupcoreError
from server.accounts.backoff import address_key
from server.errors import BadMessageError

logger = logging.getLogger("server")

READ = "audit.read"
DOCUMENT = "document.exported"
LOG = "log.exported"
PERSON = "person.exported"
REFUSED = "request.refused"
NODE_REFUSED = "node.refused"
OTHERS = "others"
"""What an entry is about that stands for those beyond C2."""
WAIT_S = 1.0
"""So long a request waits for its entry."""
WRITTEN_S = 5.0
"""So long an entry is tried; then it is counted on."""
AGAIN_S = 5.0
"""So much later what was not taken is tried again."""
LOOK_S = 1.0


class Kind(NamedTuple):
    """How long a window of it is, and how many are open at once."""

    window_s: float
    most: int


KINDS = {
    READ: Kind(600.0, 200),
    DOCUMENT: Kind(60.0, 200),
    LOG: Kind(60.0, 200),
    PERSON: Kind(60.0, 200),
    REFUSED: Kind(60.0, 20),
    NODE_REFUSED: Kind(600.0, 20),
}
Write = Callable[[str, str, str, str], Awaitable[None]]
Key = tuple[str, str, str, str]


@dataclass(slots=True)
class Window:
    """Until when, and how often since the last entry; `origin` is where it came from last."""

    until_s: float
    origin: str
    count: int = 0
    is_writing: bool = False


class Noticed:
    """One node's; `write` makes an entry of by, what, about and origin."""

    def __init__(self, write: Write, now_s: Callable[[], float]) -> None:
        self._write = write
        self._now_s = now_s
        self._open: dict[Key, Window] = {}
        self._writing: set[asyncio.Task[None]] = set()

    def note(self, what: str, by: str, about: str, origin: str) -> asyncio.Task[None] | None:
        """It has happened once; the task that writes the entry, if this is the first time."""
        key = self._key(what, by, about, origin)
        window = self._open.get(key)
        is_new = window is None
        if window is None:
            window = self._open[key] = Window(self._now_s() + KINDS[what].window_s, origin)
        window.count += 1
        window.origin = origin
        return self._begin(key, window) if is_new else None

    async def note_first(self, what: str, by: str, about: str, origin: str) -> None:
        """As `note`; waits for the entry, WAIT_S at most."""
        task = self.note(what, by, about, origin)
        if task is not None:
            await asyncio.wait({task}, timeout=WAIT_S)

    def _key(self, what: str, by: str, about: str, origin: str) -> Key:
        key = (what, by, about, "" if by else address_key(origin))
        kind = sum(other[0] == what for other in self._open)
        return key if key in self._open or kind < KINDS[what].most else (what, "", OTHERS, "")

    def _begin(self, key: Key, window: Window) -> asyncio.Task[None]:
        window.is_writing = True
        task = asyncio.get_running_loop().create_task(self._write_down(key, window))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)
        return task

    async def _write_down(self, key: Key, window: Window) -> None:
        what, by, about, _ = key
        count, window.count = window.count, 0
        rest_s = KINDS[what].window_s
        words = [about] if about else []
        if count > 1:
            words.append(f"times={count}")
        try:
            async with asyncio.timeout(WRITTEN_S):
                await self._write(by, what, " ".join(words), window.origin)
        except (GroupcoreError, BadMessageError, TimeoutError):
            window.count += count  # C3
            rest_s = min(rest_s, AGAIN_S)
            logger.warning("%s (%s) is not in the audit log yet", what, about or by or "-")
        finally:
            window.is_writing = False
            window.until_s = self._now_s() + rest_s

    def look(self) -> None:
        """Write what was counted in windows that are over."""
        now = self._now_s()
        for key, window in list(self._open.items()):
            if window.until_s > now or window.is_writing:
                continue
            if window.count:
                self._begin(key, window)
            else:
                del self._open[key]

    async def run(self) -> None:
        """Look from time to time, until it is cancelled."""
        while True:
            await asyncio.sleep(LOOK_S)
            self.look()

    async def close(self) -> None:
        """The node leaves: what was counted is written now."""
        for key, window in self._open.items():
            if window.count and not window.is_writing:
                self._begin(key, window)
        if self._writing:
            with suppress(TimeoutError):
                await asyncio.wait(self._writing, timeout=WAIT_S)
