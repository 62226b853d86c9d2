"""The journal: one writer thread that commits in groups, and tells the loop what is on disk.

Idea. The loop hands over commands and never waits; the writer takes all that have gathered, runs
them in one transaction and commits once (group commit), then calls back into the loop. Slow disks
make groups larger and never block the loop (reliability, row 37).

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
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from server.errors import IdInUseProblem, SettingsProblem
from server.store import Record, Recovered, Store, StoredDocument, open_store

GROUP_MAX = 4096
"""Most commands in one transaction."""

RETRY_S = 1.0
"""Between two tries when the disk is full."""

T = TypeVar("T")
Command = Callable[[Store], object]


class Journal:
    """This node's durable copy of the order. Open it, read `recovered`, then `start` it.

    `on_synced(epoch, position)` is called on the loop after each commit that moved the end of the
    log; `on_trouble(kind, detail)` with kind `full`, `recovered` or `failed`.
    """

    def __init__(self, folder: Path, cluster: str, node_id: str) -> None:
        self._lock = lock_folder(folder)
        try:
            self._store = open_store(folder, cluster, node_id)
            self.recovered: Recovered = self._store.recover()
        except BaseException:
            os.close(self._lock)
            raise
        self.queued_bytes = 0
        self.failed = False
        self.full = False
        self._replaced = False
        self.commits = 0
        self._commands: queue.SimpleQueue[tuple[Command, Future[object] | None, int] | None]
        self._commands = queue.SimpleQueue()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_synced: Callable[[int, int], None] = lambda epoch, position: None
        self._on_trouble: Callable[[str, str], None] = lambda kind, detail: None

    def start(
        self,
        on_synced: Callable[[int, int], None],
        on_trouble: Callable[[str, str], None],
    ) -> None:
        """Start the writer; called on the loop that the callbacks shall run on."""
        self._loop = asyncio.get_running_loop()
        self._on_synced, self._on_trouble = on_synced, on_trouble
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    async def close(self) -> None:
        """Write what is queued, then close the files."""
        self._closing.set()
        self._commands.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        self._store.close()
        os.close(self._lock)

    # --- commands: none of these waits ----------------------------------------------------------

    def append(self, records: list[Record]) -> None:
        """Add ordered operations at the end of the log."""
        size = sum(len(record.payload) for record in records)
        self._put(lambda store: store.append(records), None, size)

    def put_document(self, stored: StoredDocument) -> None:
        """Store a document's state."""
        self._put(lambda store: store.put_document(stored), None, len(stored.state))

    def checkpoint(self, position: int, prune_to: int) -> None:
        """Every document is stored as of `position`; records up to `prune_to` may go."""
        self._put(lambda store: store.set_checkpoint(position, prune_to), None, 0)

    def put_epoch(self, epoch: int, floor: int) -> None:
        """A new epoch begins behind `floor`."""
        self._put(lambda store: store.put_epoch(epoch, floor), None, 0)

    def replace(self, state: Recovered) -> None:
        """Take a whole state over, atomically, in place of everything about the order."""

        def run(store: Store) -> None:
            # A crash behind this line must not find a head that the new branch does not reach.
            store.write_head(0, 0, bytes(16))
            store.replace(state)
            self._replaced = True

        self._put(run, None, 0)

    async def read(self, after: int, count: int) -> list[tuple[Record, bytes]]:
        """Records behind a position with their chains; waits for all queued before."""
        return await self._ask(lambda store: store.read_log(after, count))

    async def chain_at(self, position: int) -> bytes | None:
        """The chain at a position, None when the log no longer holds it."""
        return await self._ask(lambda store: store.chain_at(position))

    async def flushed(self) -> tuple[int, int, bytes]:
        """Wait until everything queued is on disk; epoch, position and chain there."""
        return await self._ask(lambda store: (store.epoch, store.position, store.chain))

    # --- the channel's lineage port: called from worker threads, or before the writer runs -------

    durable = True
    """What the channel stores here outlives the process."""

    def begin(self, incarnation_least: int) -> tuple[int, bytes | None]:
        """Begin a life of the channel: an incarnation above all former ones, the last record."""

        def run(store: Store) -> tuple[int, bytes | None]:
            former = int.from_bytes(store.get_meta("incarnation") or b"", "big")
            incarnation = max(incarnation_least, former + 1)
            store.set_meta("incarnation", incarnation.to_bytes(8, "big"))
            return incarnation, store.get_lineage()

        if self._thread is not None:
            return self._wait_for(run)
        self._store.begin()
        result = run(self._store)
        self._store.commit()
        return result

    def store(self, record: bytes) -> None:
        """Keep the channel's record durably; OSError when it could not be kept."""
        self._wait_for(lambda store: store.put_lineage(record))

    def _wait_for(self, command: Callable[[Store], T]) -> T:
        future: Future[object] = Future()
        self._put(command, future, 0)
        return future.result()  # type: ignore[return-value]

    async def _ask(self, command: Callable[[Store], T]) -> T:
        future: Future[object] = Future()
        self._put(command, future, 0)
        return await asyncio.wrap_future(future)  # type: ignore[arg-type]

    def _put(self, command: Command, future: Future[object] | None, size: int) -> None:
        if self.failed:
            if future is not None:
                future.set_exception(OSError("the journal has failed"))
            return
        self.queued_bytes += size
        self._commands.put((command, future, size))

    # --- the writer thread ----------------------------------------------------------------------

    def _run(self) -> None:
        last = self._store.chain
        while True:
            group, end = self._gather()
            if group and not self._write(group):
                return
            place = (self._store.epoch, self._store.position)
            moved, last = self._replaced or self._store.chain != last, self._store.chain
            self._replaced = False
            self._call(self._after, sum(size for _, _, size in group), place, moved)
            if end:
                return

    def _gather(self) -> tuple[list[tuple[Command, Future[object] | None, int]], bool]:
        """Wait for a command, take all that are there; True when the journal shall close."""
        group = []
        item = self._commands.get()
        while item is not None:
            group.append(item)
            if len(group) >= GROUP_MAX or self._commands.empty():
                return group, False
            item = self._commands.get()
        return group, True

    def _write(self, group: list[tuple[Command, Future[object] | None, int]]) -> bool:
        """One transaction for the group; False when the journal has ended."""
        while True:
            try:
                self._store.begin()
                results = [command(self._store) for command, _, _ in group]
                self._store.commit()
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
        for (_, future, _), result in zip(group, results, strict=True):
            if future is not None and future.set_running_or_notify_cancel():
                future.set_result(result)
        return True

    def _undo(self) -> bool:
        try:
            self._store.rollback()
        except sqlite3.Error:
            return False
        return True

    def _fail(self, group: list[tuple[Command, Future[object] | None, int]], detail: str) -> None:
        self.failed = True
        for _, future, _ in group:
            if future is not None and future.set_running_or_notify_cancel():
                future.set_exception(OSError(detail))
        self._call(self._on_trouble, "failed", detail)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        """Run on the loop, unless it has ended."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def _after(self, size: int, position: tuple[int, int], moved: bool) -> None:
        """On the loop, behind a commit."""
        self.queued_bytes -= size
        self.commits += 1
        if moved:
            self._on_synced(*position)


def lock_folder(folder: Path) -> int:
    """Take the data folder for this process; IdInUseProblem when another one has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise SettingsProblem(f"--data {folder} cannot be used: {error}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise IdInUseProblem(
            f"another process uses the data folder {folder}; stop it, or choose another --data"
        ) from None
    return lock
