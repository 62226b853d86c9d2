"""Where a node keeps its log and its membership record: one SQLite file, one writer thread.

`log` holds what the service puts out, a row for each turn, each hashing the one before it. As one
thread writes everything in the order in which it was handed over, a record of membership is never
on disk before the log that belongs to it.

With a key (`groupcore.aio.rest_key`) each part and the record are sealed at their places, and chain
and checksums are those of what is stored: they tell damage without the key. What was written before
there was one is sealed when the folder is opened.

A log that is damaged is set aside, whole, and the node begins as one that has lost its disk: it has
no vote before it has taken everything from the others. Or it is refused, for a person to look at.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from groupcore.aio.box import Box
from groupcore.aio.commits import GroupCommit, lock_folder
from groupcore.aio.data_key import NAMES as DATA_KEYS
from groupcore.aio.data_key import DataKey, has_data_key, refuse_without_key
from groupcore.aio.errors import (
    BrokenSealError,
    DamagedLogError,
    FolderInUseError,
    ForeignFolderError,
    FormatError,
    StorageError,
)
from groupcore.aio.file_shelf import FileShelf
from groupcore.aio.log_database import TABLES, LogStore
from groupcore.aio.log_records import (
    LOG,
    SEALED_VERSION,
    VERSION,
    VERSIONS,
    DamagedError,
    version_of,
)
from groupcore.aio.private import Narrowed, make_folder
from groupcore.aio.rest_key import RestKey
from groupcore.histogram import Histogram
from groupcore.sequencing.log import LogPart

log = logging.getLogger(__name__)

SHELF = "shelf.sqlite3"
"""Scratch: see `groupcore.aio.file_shelf`."""
FILES = ("log.sqlite3", "log.sqlite3-wal", "log.sqlite3-shm", "head")
QUEUED_BYTES_MAX = 256 << 20
"""What waits for a disk that is full or slow; above it the node gives up."""

OnTrouble = Callable[[str, str], None]


class LogStorage:
    """A node's folder; `durable`, as a `Lineage` is. Its calls come from the loop or, where they
    wait, from other threads. `sets_aside`: a damaged log is moved away, and not refused. `rest`:
    all that is written is sealed under this key file, and what was plain before by `open`.
    """

    durable = True

    def __init__(
        self,
        folder: Path | str,
        cluster: str,
        node_id: str,
        *,
        sets_aside: bool = True,
        rest: RestKey | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.data_key: DataKey | None = None
        """What seals the folder, once it is open; None: nothing does."""
        self._rest = rest
        self.sets_aside = sets_aside
        self.set_aside: Path | None = None
        self.last_written_s: float | None = None
        """When a former process wrote to the log last (Unix time); None: never, or not open yet."""
        self._owner = {"cluster": cluster, "node": node_id}
        self._lock: int | None = None
        self._bytes = 0
        self._shelf: FileShelf | None = None
        self._writer: GroupCommit[LogStore] | None = None
        self._on_trouble: OnTrouble = lambda kind, detail: None

    @property
    def plain_parts(self) -> int:
        """How many parts of the log were written before there was a key, and are not sealed."""
        return 0 if self._writer is None else self._writer.store.plain_parts

    @property
    def is_clearing(self) -> bool:
        """Whether the files may still show what is no part of the log any more."""
        return self._writer is not None and self._writer.store.is_clearing

    @property
    def queued_bytes(self) -> int:
        """What waits to be written."""
        return 0 if self._writer is None else self._writer.queued_bytes

    @property
    def took_s(self) -> Histogram | None:
        """How long each commit took; None before it is opened."""
        return None if self._writer is None else self._writer.took_s

    @property
    def checkpoint_age_s(self) -> float | None:
        """How long ago a checkpoint was written, or the log was opened; None: it is not."""
        if self._writer is None:
            return None
        return time.monotonic() - self._writer.store.checkpoint_at_s

    def disk_bytes(self) -> int:
        """What the log takes on the disk now."""
        found = (self.folder / name for name in FILES)
        return sum(one.stat().st_size for one in found if one.is_file())

    @property
    def full(self) -> bool:
        """Whether there is no room on the disk: what is written now is not saved here yet."""
        return self._writer is not None and self._writer.full

    def counters(self) -> dict[str, int]:
        """What was handed over, commits, and what waits for the next, by name."""
        commits = 0 if self._writer is None else self._writer.commits
        return {
            "log.bytes": self._bytes,
            "log.commits": commits,
            "log.queued_bytes": self.queued_bytes,
        }

    def open(self) -> None:
        """Open the files, or make them; a damaged log is set aside. StorageError and its kinds.

        RestKeyError, with nothing written, where the folder is sealed under a key that is not
        given. Waits for the disk; `start` follows on the loop.
        """
        try:
            self._lock = lock_folder(self.folder)
        except BlockingIOError:
            raise FolderInUseError(
                f"another process uses the folder {self.folder}; stop it, or give this node "
                "another one"
            ) from None
        except OSError as error:
            raise StorageError(f"{self.folder} cannot be used: {error.strerror}") from None
        try:
            if self._rest is None:
                refuse_without_key(self.folder)
            self._close_to_others()
            found = (self.folder / name for name in FILES)
            written = [one.stat().st_mtime for one in found if one.is_file()]
            self.last_written_s = max(written, default=None)
            self._writer = GroupCommit(self._open_store(), "log")
            self._writer.store.checkpoint_at_s = time.monotonic()
        except BaseException:
            os.close(self._lock)
            self._lock = None
            raise

    def _close_to_others(self) -> None:
        """What an earlier version has left readable; other files in the folder are not ours."""
        found = Narrowed()
        for name in FILES:
            with suppress(FileNotFoundError):
                found.take(self.folder / name, (self.folder / name).stat())
        found.tell(self.folder)

    def _open_store(self) -> LogStore:
        try:
            self.data_key = self._open_data_key()
            store = self._checked_store()
        except DamagedError as error:
            if not self.sets_aside:
                raise DamagedLogError(
                    f"the log {self.folder / FILES[0]} is damaged ({error}); move the folder away, "
                    "and the node takes everything from the others"
                ) from None
            self.set_aside = self._move_away("damaged")
            log.error(
                "the log %s is damaged (%s); it is in %s now, and the node takes everything from "
                "the others",
                self.folder / FILES[0],
                error,
                self.set_aside,
            )
            self.data_key = self._open_data_key()
            store = self._checked_store()
        return store

    def _open_data_key(self) -> DataKey | None:
        """What seals the folder, wrapped by the newest key; RestKeyError, DamagedError."""
        if self._rest is None:
            return None
        path = self.folder / FILES[0]
        if not has_data_key(self.folder) and version_of(path) == SEALED_VERSION:
            raise DamagedError(f"{DATA_KEYS[0]} and its copy are missing")
        try:
            found = DataKey(self.folder, self._rest)
            found.renew()
        except BrokenSealError as error:
            raise DamagedError(str(error)) from None
        return found

    def _checked_store(self) -> LogStore:
        path = self.folder / FILES[0]
        try:
            store = LogStore(path, None if self.data_key is None else self.data_key.box(LOG))
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"{path} cannot be opened: {error}") from None
        try:
            self._check(store)
            self._seal(store)
            self._clear(store)
        except BaseException:
            store.close_untouched()
            raise
        return store

    def _seal(self, store: LogStore) -> None:
        """Have nothing plain in the log; where there is no room for that, nothing more."""
        if self.data_key is None or LOG in self.data_key.whole:
            return
        try:
            store.seal_plain()
            self.data_key.note_whole(LOG)
        except sqlite3.Error as error:
            log.warning(
                "what was in the log %s before it was sealed stays in the file until the next "
                "start (%d parts): %s",
                store.path,
                store.plain_parts,
                error,
            )
            if store.plain_parts:
                self._mark_sealed(store)

    def _clear(self, store: LogStore) -> None:
        """Have the files show nothing but the log; where there is no room for that, later."""
        try:
            store.clear_all()
        except sqlite3.Error as error:
            log.warning("what was deleted stays in the file %s for now: %s", store.path, error)

    def _mark_sealed(self, store: LogStore) -> None:
        try:
            store.mark_sealed()
        except sqlite3.Error as error:
            raise StorageError(f"{store.path} cannot be written: {error}") from None

    def _check(self, store: LogStore) -> None:
        try:
            fresh = VERSION if self.data_key is None else SEALED_VERSION
            version = store.prepare(TABLES, fresh, self._owner)
            if version not in VERSIONS:
                raise FormatError(
                    f"{store.path} has format {version}, this program reads format "
                    f"{VERSION} and {SEALED_VERSION}; use the program that wrote it, or an empty "
                    "folder"
                )
            for key, mine in self._owner.items():
                if store.owner(key) != mine:
                    raise ForeignFolderError(
                        f"{self.folder} belongs to {key} {store.owner(key)!r}, not {mine!r}; give "
                        "each node a folder of its own"
                    )
            store.verify()
            store.get_record()
            store.get_incarnation()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise DamagedError(str(error)) from None

    async def begin_empty(self) -> Path:
        """Move the log away, whole, and go on with an empty one; where it is now. On the loop.

        The next incarnation is above all former ones all the same. StorageError.
        """
        await self._running.close()
        former = await asyncio.to_thread(self._emptied)
        self.start(self._on_trouble)
        return former

    def _emptied(self) -> Path:
        try:
            last = LogStore(self.folder / FILES[0])
            incarnation = last.get_meta("incarnation")
            last.close()
            self.set_aside = self._move_away("left")
            store = self._checked_store()
            if incarnation is not None:
                store.begin()
                store.set_meta("incarnation", incarnation)
                store.commit()
        except (OSError, sqlite3.Error, DamagedError) as error:
            raise StorageError(f"{self.folder} cannot be used: {error}") from None
        self._writer = GroupCommit(store, "log")
        self._writer.store.checkpoint_at_s = time.monotonic()
        return self.set_aside

    def _move_away(self, why: str) -> Path:
        number = 1
        while (aside := self.folder / f"{why}-{number}").exists():
            number += 1
        make_folder(aside)
        for name in FILES:
            if (self.folder / name).exists():
                (self.folder / name).rename(aside / name)
        for name in DATA_KEYS:  # who looks at what was moved away needs it there, too
            if (self.folder / name).exists():
                shutil.copy2(self.folder / name, aside / name)
                if self._rest is not None and self.data_key is None:  # it is what is damaged
                    (self.folder / name).unlink()
        return aside

    def new_shelf(self) -> FileShelf:
        """A shelf for a life that begins; that of the former one is no more. StorageError."""
        if self._shelf is not None:
            self._shelf.close()
        box = None if self.data_key is None else Box.scratch(SHELF)
        self._shelf = FileShelf(self.folder / SHELF, box)
        return self._shelf

    def start(self, on_trouble: OnTrouble) -> None:
        """Start the writer; called on the loop. `on_trouble(kind, detail)`: `full`, `failed`."""
        self._on_trouble = on_trouble
        self._running.start(on_trouble, self._go_on_clearing)

    def _go_on_clearing(self) -> None:
        """Behind a commit, in the writer's thread: the next one writes over some more."""
        if self._running.store.is_clearing and self._running.store.has_dropped():
            self._running.put(lambda store: store.clear_some(), 0)

    def clear_again(self) -> None:
        """Try again to have the files show nothing but the log, if somebody has read them."""
        if self.is_clearing:
            self._running.put(lambda store: store.clear_some(), 0)

    async def close(self) -> None:
        """Write what is queued, then close the files."""
        if self._writer is not None:
            await self._writer.close()
            self._writer = None
        if self._shelf is not None:
            self._shelf.close()
            self._shelf = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def _running(self) -> GroupCommit[LogStore]:
        if self._writer is None:
            raise StorageError(f"the log in {self.folder} is not open")
        return self._writer

    # --- the log --------------------------------------------------------------------------------

    def append(self, parts: list[LogPart], done: Callable[[int], None]) -> None:
        """Add to the log; `done` is called on the loop with the last mark, when it is on disk."""
        size, last = sum(len(part.data) for part in parts), parts[-1].mark
        if self.queued_bytes > QUEUED_BYTES_MAX:
            self._on_trouble("failed", "the disk does not keep up")
            return
        self._bytes += size
        self._running.put(lambda store: store.append(parts), size, lambda: done(last))

    def read(self) -> list[bytes]:
        """The whole log, oldest part first; waits for what is queued. Not on the loop."""
        if not self._running.runs:
            return self._running.store.read()
        return self._running.wait_for(lambda store: store.read())

    # --- the lineage port -----------------------------------------------------------------------

    def begin(self, incarnation_least: int) -> tuple[int, bytes | None]:
        """Begin a life, see `Lineage`."""
        return self._running.wait_for(
            lambda store: (store.next_incarnation(incarnation_least), store.get_record())
        )

    def store(self, record: bytes) -> None:
        """Keep the record, behind the log that was handed over before; OSError."""
        self._running.wait_for(lambda store: store.put_record(record))
