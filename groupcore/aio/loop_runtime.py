"""An asyncio loop as what runs the library's coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TypeVar

from groupcore.aio.waiting import wait
from groupcore.errors import GroupcoreError
from groupcore.shared.errors import ClosedError
from groupcore.shared.pending import Pending, Wait

R = TypeVar("R")


class LoopRuntime:
    """The `Runtime` of the running loop, until `end`."""

    wait: Wait = staticmethod(wait)

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[object]] = set()

    def spawn(self, coroutine: Coroutine[object, None, R]) -> Pending[R]:
        """See `Runtime`. What is no error of the library's is told to the loop, too."""
        outcome: Pending[R] = Pending(wait)
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(partial(self._on_done, outcome))
        return outcome

    def _on_done(self, outcome: Pending[R], task: asyncio.Task[R]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            outcome.fail(ClosedError("the node is closed"))
            return
        error = task.exception()
        if error is None:
            outcome.resolve(task.result())
            return
        if not isinstance(error, GroupcoreError):
            about = {"message": "a coroutine of a node has failed", "exception": error}
            task.get_loop().call_exception_handler(about)
        outcome.fail(error if isinstance(error, Exception) else ClosedError(str(error)))

    @property
    def steady_s(self) -> float:
        """See `Runtime`."""
        return asyncio.get_running_loop().time()

    def soon(self, callback: Callable[[], None]) -> Callable[[], None]:
        """See `Runtime`."""
        return asyncio.get_running_loop().call_soon(callback).cancel

    def alarm(self, delay_s: float, callback: Callable[[], None]) -> Callable[[], None]:
        """See `Runtime`."""
        return asyncio.get_running_loop().call_later(max(0.0, delay_s), callback).cancel

    def end(self) -> None:
        """All that runs is cancelled; who waits for it has ClosedError."""
        for task in self._tasks:
            task.cancel()
