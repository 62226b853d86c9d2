"""Nodes as processes of their own that need not load the server: half of what a start takes.

A program that has loaded it (`loaded`) forks itself for each node. They are ended like any process;
how, it is asked afterwards, as they are its children.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Forked:
    """A node's process, with what is asked of those of asyncio."""

    def __init__(self, home: Nursery, pid: int) -> None:
        self.pid = pid
        self._home = home
        self._end = os.pidfd_open(pid)
        self._poll = select.poll()
        self._poll.register(self._end, select.POLLIN)
        self._code: int | None = None

    @property
    def returncode(self) -> int | None:
        """With what it has ended: negative, by this signal; None while it runs."""
        if self._code is None and self._poll.poll(0):
            self._code = self._home.end_of(self.pid)
            os.close(self._end)
        return self._code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait for its end."""
        loop = asyncio.get_running_loop()
        while (code := self.returncode) is None:
            ended, end = asyncio.Event(), os.dup(self._end)
            loop.add_reader(end, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(end)
                os.close(end)
        return code


class Nursery:
    """The program that has loaded the server."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._program = subprocess.Popen(
                [sys.executable, "-m", "tests.end_to_end.loaded", str(theirs.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        with ours:
            self._lines = ours.makefile("rwb")

    def begin(self, arguments: Sequence[str], log: Path) -> Forked:
        """A node with these arguments, which writes to this log."""
        return Forked(self, self._ask({"arguments": list(arguments), "log": str(log)}))

    def end_of(self, pid: int) -> int:
        """With what a process has ended."""
        return self._ask({"ended": pid})

    def _ask(self, task: dict[str, object]) -> int:
        self._lines.write(json.dumps(task).encode() + b"\n")
        self._lines.flush()
        return int(json.loads(self._lines.readline()))

    def close(self) -> None:
        """No more nodes."""
        self._lines.close()
        self._program.wait()


@cache
def nursery() -> Nursery:
    """That of this process, from when it is first asked for one."""
    made = Nursery()
    atexit.register(made.close)
    return made
