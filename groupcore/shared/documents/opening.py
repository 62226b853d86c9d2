"""Opening the blocks of a document, of which there may be thousands, some at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Protocol

from groupcore.shared.pending import Pending

OPENING_MAX = 200
"""So many blocks are opened at a time."""


class Starter(Protocol):
    """Who runs coroutines."""

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine beside the others."""


class Opening:
    """What is to be opened; `open_one` opens a block, or finds that it cannot be opened.

    What somebody waits for comes first: a person looks at it.
    """

    def __init__(self, host: Starter, open_one: Callable[[str], Awaitable[None]]) -> None:
        self._host = host
        self._open_one = open_one
        self._first: dict[str, list[Pending[None]]] = {}
        self._later: dict[str, None] = {}
        self._open: set[str] = set()

    def want(self, block: str) -> None:
        """Have it opened by and by."""
        if block not in self._first and block not in self._open:
            self._later[block] = None
            self._begin()

    def waited(self, block: str, done: Pending[None]) -> Pending[None]:
        """Have it opened before those that nobody waits for; gives `done`."""
        self._later.pop(block, None)
        self._first.setdefault(block, []).append(done)
        self._begin()
        return done

    def _begin(self) -> None:
        """One more, if there is room."""
        if len(self._open) < OPENING_MAX:
            block = next((one for one in self._first if one not in self._open), None)
            if block is None:
                block = next(iter(self._later), None)
            if block is not None:
                self._later.pop(block, None)
                self._open.add(block)
                self._host.start(self._run(block))

    async def _run(self, block: str) -> None:
        try:
            await self._open_one(block)
        except Exception:
            self._tried(block)
            raise
        self._tried(block)

    def _tried(self, block: str) -> None:
        self._open.discard(block)
        for done in self._first.pop(block, ()):
            done.resolve(None)
        self._begin()
