"""Processes of one benchmark, each at the end of a pipe, that go through its steps together."""

from __future__ import annotations

import asyncio
import multiprocessing
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Generic, Self, TypeVar

from groupcore.aio.allocator import keep_freed_memory
from groupcore.aio.collector import keep_collections_short

PATIENCE_S = 120.0
"""How long a step may take before the benchmark gives up."""

Wanted = TypeVar("Wanted")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the processes of one run find each other."""

    nodes: int
    port: int = field(default_factory=lambda: 30_000 + secrets.randbelow(20_000))
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    @property
    def multicast(self) -> str:
        """The address of the cluster's multicasts."""
        return f"228.8.8.8:{self.port}"


class Pipe:
    """A process's end: `ask` waits for what the benchmark says, `tell` answers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.tell = connection.send

    async def ask(self) -> object:
        """What the benchmark says next."""
        return await asyncio.get_running_loop().run_in_executor(None, self._connection.recv)


Work = Callable[[int, Cluster, Wanted, Pipe], Coroutine[None, None, None]]


def run_process(
    work: Work[Wanted], index: int, cluster: Cluster, wanted: Wanted, connection: Connection
) -> None:
    """The process's main function."""
    import uvloop

    keep_freed_memory()
    keep_collections_short()
    uvloop.run(work(index, cluster, wanted, Pipe(connection)))


class Processes(Generic[Wanted]):
    """The benchmark's side: `work(index, cluster, wanted, pipe)` runs in each process."""

    def __init__(self, work: Work[Wanted], wanted: Wanted, nodes: int) -> None:
        self.cluster = Cluster(nodes)
        self._work = work
        self._wanted = wanted
        self._context = multiprocessing.get_context("spawn")
        self._pipes: dict[int, Connection] = {}
        self._processes: dict[int, SpawnProcess] = {}

    def __enter__(self) -> Self:
        """Start them all, in their order."""
        for index in range(self.cluster.nodes):
            self.start(index)
        return self

    def __exit__(self, *_: object) -> None:
        """Kill what still runs."""
        for index in list(self._processes):
            self.kill(index)

    def start(self, index: int) -> None:
        """Start one process."""
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=run_process, args=(self._work, index, self.cluster, self._wanted, theirs)
        )
        process.start()
        theirs.close()
        self._pipes[index], self._processes[index] = ours, process

    def kill(self, index: int) -> None:
        """Kill one with SIGKILL."""
        process = self._processes.pop(index)
        process.kill()
        process.join()
        self._pipes.pop(index).close()

    def answer(self, index: int) -> object:
        """What one of them says next; TimeoutError when that takes too long."""
        if not self._pipes[index].poll(PATIENCE_S):
            raise TimeoutError(f"process {index} has said nothing for {PATIENCE_S:g} s")
        return self._pipes[index].recv()

    def ask(self, index: int, what: object) -> object:
        """Say something to one of them, and wait for its answer."""
        self._pipes[index].send(what)
        return self.answer(index)

    def answers(self) -> list[object]:
        """What each of them says next."""
        return [self.answer(index) for index in sorted(self._pipes)]

    def ask_all(self, what: object) -> list[object]:
        """Say the same to all at once, and wait for their answers."""
        for pipe in self._pipes.values():
            pipe.send(what)
        return self.answers()
