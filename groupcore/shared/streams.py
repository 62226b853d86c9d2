"""Iterations over what happens: bounded, and independent of the runtime that waits for them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from groupcore.shared.errors import TooSlowError
from groupcore.shared.pending import Pending, Wait

T = TypeVar("T")

WAITING_MAX = 10_000
"""Most items that may wait to be read, unless the caller says otherwise."""


class Stream(Generic[T]):
    """`async for` over items as they come; begins when it is made.

    It ends when it is closed (also by `async with`) or its source ends. Above `waiting_max`
    unread items it ends with TooSlowError, so that one that nobody reads costs no more than that.
    Who sets `tap` is called with each item at once, and has nothing to read.
    """

    def __init__(self, wait: Wait, waiting_max: int = WAITING_MAX) -> None:
        self._wait = wait
        self._waiting_max = waiting_max
        self._items: deque[T] = deque()
        self._ended = False
        self._error: Exception | None = None
        self._reader: Pending[None] | None = None
        self.tap: Callable[[T], None] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come; what waits can still be read."""
        return self._ended

    def push(self, item: T) -> None:
        """Add an item, from the source's side."""
        if self._ended:
            return
        if self.tap is not None:
            self.tap(item)
            return
        if len(self._items) >= self._waiting_max:
            self._items.clear()
            self.end(TooSlowError(f"{self._waiting_max} items waited to be read"))
            return
        self._items.append(item)
        self._wake()

    def end(self, error: Exception | None = None) -> None:
        """Say that nothing more will come; `error` is raised behind what waits."""
        if not self._ended:
            self._ended = True
            self._error = error
            self._wake()

    def close(self) -> None:
        """End it and forget what waits, from the reader's side."""
        self._items.clear()
        self.end()

    def take(self) -> list[T]:
        """All items that wait, without waiting."""
        items = list(self._items)
        self._items.clear()
        return items

    def _wake(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.resolve(None)

    def __aiter__(self) -> Stream[T]:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._ended:
                error, self._error = self._error, None
                if error is not None:
                    raise error
                raise StopAsyncIteration
            if self._reader is None:
                self._reader = Pending(self._wait)
            await self._reader
        return self._items.popleft()

    async def __aenter__(self) -> Stream[T]:
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.close()
