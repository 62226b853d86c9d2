"""How coroutines on an asyncio loop wait for what the library has no loop for."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

from groupcore.shared.pending import Signal


def wait(signal: Signal) -> Generator[object, None, None]:
    """Wait for a signal on the running loop."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not future.done():
            future.set_result(None)

    signal.when_done(wake)
    yield from future
