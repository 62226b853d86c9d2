"""The node's end of a worker process."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

from server.work.frames import FRAME_BYTES_MAX, HEAD_BYTES, packed
from server.work.kinds import Kind

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from server.work.process import main; main(sys.argv[2], int(sys.argv[3]), sys.argv[4] == '1')"
)


class WorkerGoneError(Exception):
    """The process has ended without an answer: by its limits, or by a library that fell over."""


class Worker:
    """One process. `is_fit`: it waits for the next piece of work."""

    def __init__(self, process: Process, kind: Kind) -> None:
        self._process = process
        self.kind = kind
        self.is_fit = True

    @classmethod
    async def start(cls, kind: Kind) -> Worker:
        """Begin one; OSError where the machine has no room for it."""
        alone = "1" if kind.is_alone else "0"
        arguments = (str(ROOT), kind.function, str(kind.memory_bytes), alone)
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-c",
            PROGRAM,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=environment,
        )
        return cls(process, kind)

    async def ask(self, kind: Kind, arguments: tuple[object, ...]) -> bytes:
        """Have a piece of work done; the answer's frame. WorkerGoneError, TimeoutError.

        Whatever ends this before the answer is there, ends the process too.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None, "it was begun with a pipe"
        assert stdout is not None, "it was begun with a pipe"
        self.is_fit = False
        frame = packed([kind.function, kind.cpu_s, *arguments])
        if len(frame) > FRAME_BYTES_MAX:
            raise WorkerGoneError
        try:
            async with asyncio.timeout(kind.wall_s):
                stdin.write(frame)
                await stdin.drain()
                head = await stdout.readexactly(1 + HEAD_BYTES)
                size = int.from_bytes(head[1:], "big")
                if size > FRAME_BYTES_MAX:
                    raise WorkerGoneError
                body = await stdout.readexactly(size)
        except (asyncio.IncompleteReadError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            raise WorkerGoneError from None
        self.is_fit = bool(head[0])
        return body

    @property
    def lives(self) -> bool:
        """Whether the process runs."""
        return self._process.returncode is None

    async def end(self) -> None:
        """End the process; it has nothing that it would have to put away."""
        self.is_fit = False
        if self.lives:
            self._process.kill()
        await self._process.wait()
