"""Waiting for something that the loop will make true, without polling."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Waiters:
    """Tasks that wait for a condition; whoever changes something that counts calls `wake`."""

    def __init__(self) -> None:
        self._events: set[asyncio.Event] = set()

    async def until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Wait until the condition holds; False when it did not in time."""
        if condition():
            return True
        event = asyncio.Event()
        self._events.add(event)
        try:
            async with asyncio.timeout(timeout_s):
                while not condition():
                    event.clear()
                    await event.wait()
        except TimeoutError:
            return False
        finally:
            self._events.discard(event)
        return True

    def wake(self) -> None:
        """Something has been applied, saved or installed."""
        for event in self._events:
            event.set()
