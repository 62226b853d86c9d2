"""Clients as processes of their own, for the benchmarks that go through a gateway."""

from __future__ import annotations

import asyncio
import multiprocessing
import multiprocessing.context
from collections.abc import Callable
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any


class Helper:
    """A process of our own at the other end of a pipe."""

    def __init__(self, process: multiprocessing.context.SpawnProcess, pipe: Connection) -> None:
        self.process = process
        self._pipe = pipe

    async def ask(self, question: object = None) -> Any:  # noqa: ANN401  # what it was told to send
        """Send something, None for nothing, and wait for the next answer."""
        if question is not None:
            self._pipe.send(question)
        return await asyncio.get_running_loop().run_in_executor(None, self._pipe.recv)


@contextmanager
def helper(target: Callable[..., None], *arguments: object) -> Any:  # noqa: ANN401
    """Run `target(*arguments, pipe)` in a fresh process; it is killed in the end."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(*arguments, theirs))
    process.start()
    theirs.close()  # so that the end of the process is heard
    try:
        yield Helper(process, ours)
    finally:
        process.kill()
        process.join()
