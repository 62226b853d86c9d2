"""Group commit: one writer thread that commits what has gathered, and tells the loop.

Idea. The loop hands over commands and never waits; the writer takes all that have gathered, runs
them in one transaction and commits once, then calls back into the loop. Slow disks make groups
larger and never block the loop (reliability, row 37).

When the disk is full the writer keeps the group, reports `full` and tries again each second; any
other error ends it: an fsync that failed is never believed again (row 36).
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from groupcore.aio.private import make_folder
from groupcore.histogram import SHORT_S, Histogram

GROUP_MAX = 4096
"""Most commands in one transaction."""

RETRY_S = 1.0
"""Between two tries when the disk is full."""


class Transactional(Protocol):
    """A store whose changes are made in transactions."""

    def begin(self) -> None:
        """Open a transaction."""

    def commit(self) -> None:
        """Make everything since `begin` durable."""

    def rollback(self) -> None:
        """Forget everything since `begin`."""

    def close(self) -> None:
        """Close the files."""


S = TypeVar("S", bound=Transactional)
T = TypeVar("T")


class Item(NamedTuple, Generic[S]):
    """A command, who waits for its result, its size, and what to call on the loop when it is on
    disk."""

    command: Callable[[S], object]
    future: Future[object] | None
    size_bytes: int
    done: Callable[[], None] | None


class GroupCommit(Generic[S]):
    """The writer of a store. `commits`: groups that are on disk; `took_s`: how long each took.

    `after` is called in the thread behind each commit; what it returns, on the loop.
    `on_trouble(kind, detail)` is called on the loop, with kind `full`, `recovered` or `failed`.
    """

    def __init__(self, store: S, name: str) -> None:
        self.store = store
        self.queued_bytes = 0
        self.failed = False
        self.full = False
        self.commits = 0
        self.took_s = Histogram(SHORT_S)
        self._name = name
        self._items: queue.SimpleQueue[Item[S] | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._after: Callable[[], Callable[[], None] | None] = lambda: None
        self._on_trouble: Callable[[str, str], None] = lambda kind, detail: None

    @property
    def runs(self) -> bool:
        """Whether the thread has been started."""
        return self._thread is not None

    def start(
        self,
        on_trouble: Callable[[str, str], None],
        after: Callable[[], Callable[[], None] | None] = lambda: None,
    ) -> None:
        """Start the writer; called on the loop that the callbacks shall run on."""
        self._loop = asyncio.get_running_loop()
        self._after, self._on_trouble = after, on_trouble
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Write what is queued, then close the store."""
        self._closing.set()
        self._items.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        self.store.close()

    def put(
        self,
        command: Callable[[S], object],
        size_bytes: int = 0,
        done: Callable[[], None] | None = None,
    ) -> None:
        """Run a command in the next group; nothing waits for it."""
        self._put(Item(command, None, size_bytes, done))

    def wait_for(self, command: Callable[[S], T]) -> T:
        """Run a command and wait until it is on disk; for other threads than the loop's."""
        future: Future[object] = Future()
        self._put(Item(command, future, 0, None))
        return future.result()  # type: ignore[return-value]

    async def ask(self, command: Callable[[S], T]) -> T:
        """Run a command and wait until it is on disk."""
        future: Future[object] = Future()
        self._put(Item(command, future, 0, None))
        return await asyncio.wrap_future(future)  # type: ignore[arg-type]

    def _put(self, item: Item[S]) -> None:
        if self.failed:
            if item.future is not None:
                item.future.set_exception(OSError(f"the {self._name} has failed"))
            return
        self.queued_bytes += item.size_bytes
        self._items.put(item)

    # --- the writer thread ----------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            group, end = self._gather()
            if group and not self._write(group):
                return
            told = self._after()
            self._call(self._committed, group, told)
            if end:
                return

    def _gather(self) -> tuple[list[Item[S]], bool]:
        """Wait for a command, take all that are there; True when the writer shall end."""
        group = []
        item = self._items.get()
        while item is not None:
            group.append(item)
            if len(group) >= GROUP_MAX or self._items.empty():
                return group, False
            item = self._items.get()
        return group, True

    def _write(self, group: list[Item[S]]) -> bool:
        """One transaction for the group; False when the writer has ended."""
        while True:
            began_s = time.perf_counter()
            try:
                self.store.begin()
                results = [item.command(self.store) for item in group]
                self.store.commit()
                self.took_s.observe(time.perf_counter() - began_s)
                break
            except (sqlite3.Error, OSError) as error:
                again = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
                if not again or self._closing.is_set() or not self._undo():
                    self._fail(group, str(error))
                    return False
                if not self.full:
                    self.full = True
                    self._call(self._on_trouble, "full", str(error))
                self._closing.wait(RETRY_S)
        if self.full:
            self.full = False
            self._call(self._on_trouble, "recovered", "")
        for item, result in zip(group, results, strict=True):
            if item.future is not None and item.future.set_running_or_notify_cancel():
                item.future.set_result(result)
        return True

    def _undo(self) -> bool:
        try:
            self.store.rollback()
        except sqlite3.Error:
            return False
        return True

    def _fail(self, group: list[Item[S]], detail: str) -> None:
        self.failed = True
        for item in group:
            if item.future is not None and item.future.set_running_or_notify_cancel():
                item.future.set_exception(OSError(detail))
        self._call(self._on_trouble, "failed", detail)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        """Run on the loop, unless it has ended."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def _committed(self, group: list[Item[S]], told: Callable[[], None] | None) -> None:
        """On the loop, behind a commit."""
        self.commits += 1
        for item in group:
            self.queued_bytes -= item.size_bytes
            if item.done is not None:
                item.done()
        if told is not None:
            told()


def lock_folder(folder: Path) -> int:
    """Take a folder for this process, which it is made for if it is not there.

    BlockingIOError when another process has it, another OSError when it cannot be used.
    """
    make_folder(folder)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock
