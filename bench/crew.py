"""A crew: member processes on loopback that send all the time, while one joins, leaves or dies."""

from __future__ import annotations

import multiprocessing
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Self

from bench.crew_member import Duty, Log, run_member
from groupcore.peers import SocketAddress
from groupcore.stacks import StackOptions
from groupcore.view import View

PATIENCE_S = 30.0
"""How long a crew may take for anything before the benchmark gives up."""


class Crew:
    """The parent's side. `views` and `installed_at` are each member's newest view, and when."""

    def __init__(
        self, size: int, rate_per_s: float = 200.0, options: StackOptions | None = None
    ) -> None:
        self.size = size
        port = 30_000 + secrets.randbelow(20_000)
        key = secrets.token_bytes(32)
        self._duty = Duty("", port, key, size, rate_per_s, options=options or StackOptions())
        self._context = multiprocessing.get_context("spawn")
        self._pipes: dict[str, Connection] = {}
        self._processes: dict[str, SpawnProcess] = {}
        self.views: dict[str, View] = {}
        self.installed_at: dict[str, int] = {}
        self._answers: dict[str, tuple[int, object]] = {}

    def __enter__(self) -> Self:
        """Start all members and wait until they are in one view."""
        for index in range(self.size):
            self.start(f"n{index}")
        self.until_together()
        return self

    def __exit__(self, *_: object) -> None:
        """Kill what still runs."""
        for process in self._processes.values():
            process.kill()
            process.join()

    def start(self, name: str, rate_per_s: float | None = None) -> None:
        """Start one member more."""
        rate = self._duty.rate_per_s if rate_per_s is None else rate_per_s
        ours, theirs = self._context.Pipe()
        duty = replace(self._duty, name=name, rate_per_s=rate)
        process = self._context.Process(target=run_member, args=(duty, theirs))
        process.start()
        theirs.close()
        self._pipes[name], self._processes[name] = ours, process

    def leave(self, name: str) -> None:
        """Have one member leave, and wait until it has."""
        self._pipes[name].send(("leave", None))
        self._until(lambda: name in self._answers, f"{name} leaves")
        self._answers.pop(name)
        self._processes[name].join(PATIENCE_S)
        self._forget(name)

    def kill(self, name: str) -> int:
        """Kill one member with SIGKILL; when, in nanoseconds."""
        now = time.monotonic_ns()
        self._processes[name].kill()
        self._processes[name].join()
        self._forget(name)
        return now

    def stop(self, name: str) -> int:
        """Stop one member with SIGSTOP: silent, its connections open; when, in nanoseconds."""
        pid = self._processes[name].pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        return time.monotonic_ns()

    def _forget(self, name: str) -> None:
        self._pipes.pop(name).close()
        del self._processes[name]
        self.views.pop(name, None)

    def coordinator(self) -> str:
        """The coordinator of the view that all are in."""
        return next(iter(self.views.values())).coordinator.name

    def until_together(self, without: Iterable[str] = ()) -> int:
        """Wait until all living members, but these, are in one view of just them; when."""
        names = sorted(set(self._processes) - set(without))

        def together() -> bool:
            views = [self.views.get(name) for name in names]
            first = views[0]
            return (
                first is not None and sorted(first.names) == names and views == len(views) * [first]
            )

        self._until(together, f"{' '.join(names)} are in one view")
        return max(self.installed_at[name] for name in names)

    def run_for(self, seconds: float) -> None:
        """Let the crew work."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0:
            self._listen(rest)

    def log(self, name: str) -> tuple[int, Log]:
        """What a member has seen so far, and when it said so."""
        at, log = self._ask(name, "log")
        assert isinstance(log, Log)
        return at, log

    def place(self, name: str) -> SocketAddress:
        """Where a member's unicast socket is bound."""
        _, place = self._ask(name, "place")
        assert isinstance(place, tuple)
        return place

    def deafen(self, name: str, to: frozenset[SocketAddress]) -> None:
        """Have a member hear nothing from these places; from none: everything again."""
        self._pipes[name].send(("deafen", to))

    def _ask(self, name: str, what: str) -> tuple[int, object]:
        self._pipes[name].send((what, None))
        self._until(lambda: name in self._answers, f"{name} answers")
        return self._answers.pop(name)

    def _until(self, is_so: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            rest = end - time.monotonic()
            if rest <= 0:
                views = {name: str(view) for name, view in self.views.items()}
                raise TimeoutError(f"waited {PATIENCE_S:g} s until {what}; views: {views}")
            self._listen(rest)

    def _listen(self, seconds: float) -> None:
        for ready in wait(list(self._pipes.values()), seconds):
            assert isinstance(ready, Connection)
            try:
                what, name, at, thing = ready.recv()
            except (EOFError, ConnectionError):
                continue
            if what == "view":
                self.views[name], self.installed_at[name] = thing, at
            elif what == "excluded":
                self.views.pop(name, None)
            else:
                self._answers[name] = (at, thing)
