"""Where a node keeps its log and its membership record: one SQLite file, one writer thread.

`log` holds what the service puts out, a row for each turn, each hashing the one before it. As one
thread writes everything in the order in which it was handed over, a record of membership is never
on disk before the log that belongs to it.

A log that is damaged is set aside, whole, and the node begins as one that has lost its disk: it has
no vote before it has taken everything from the others. Or it is refused, for a person to look at.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

from groupcore.aio.commits import GroupCommit, lock_folder
from groupcore.aio.errors import (
    DamagedLogError,
    FolderInUseError,
    ForeignFolderError,
    FormatError,
    StorageError,
)
from groupcore.aio.file_shelf import FileShelf
from groupcore.aio.private import Narrowed, make_folder
from groupcore.aio.sealed_store import HEAD, SealedStore, checksum
from groupcore.histogram import Histogram
from groupcore.log_chain import GENESIS, chained
from groupcore.sequencing.log import LogPart

log = logging.getLogger(__name__)

VERSION = 1
TABLES = """
CREATE TABLE log(position INTEGER PRIMARY KEY, part BLOB NOT NULL, chain BLOB NOT NULL);
CREATE TABLE lineage(one INTEGER PRIMARY KEY CHECK (one = 1), record BLOB NOT NULL,
  checksum BLOB NOT NULL);
"""
SHELF = "shelf.sqlite3"
"""Scratch: see `groupcore.aio.file_shelf`."""
FILES = ("log.sqlite3", "log.sqlite3-wal", "log.sqlite3-shm", "head")
INCARNATION_BYTES = 8
QUEUED_BYTES_MAX = 256 << 20
"""What waits for a disk that is full or slow; above it the node gives up."""

OnTrouble = Callable[[str, str], None]


class DamagedError(Exception):
    """The log is not what was written."""


class LogStore(SealedStore):
    """The open database. `_checkpoint`: where the log ended before the last one of this life.

    `_committed_checkpoint` is that of the last commit: what a rollback goes back to.
    """

    checkpoint_at_s: float = 0.0
    _checkpoint: tuple[int, bytes] | None = None
    _committed_checkpoint: tuple[int, bytes] | None = None

    def damaged(self, detail: str) -> Exception:
        """What the log's owner sets aside."""
        return DamagedError(detail)

    def commit(self) -> None:
        """See `SealedStore`."""
        super().commit()
        self._committed_checkpoint = self._checkpoint

    def rollback(self) -> None:
        """See `SealedStore`."""
        self._checkpoint = self._committed_checkpoint
        super().rollback()

    def append(self, parts: list[LogPart]) -> None:
        """Add to the log; a part that is fresh stands for everything before it, and so does a
        checkpoint once a part that is dropping has come."""
        for part in parts:
            if part.fresh:
                self.database.execute("DELETE FROM log")
                self.set_meta("base", HEAD.pack(0, self.position, self.chain))
            if part.dropping and self._checkpoint is not None:
                at, chain = self._checkpoint
                self.database.execute("DELETE FROM log WHERE position <= ?", (at,))
                self.set_meta("base", HEAD.pack(0, at, chain))
            if part.checkpoint:
                self._checkpoint = (self.position, self.chain)
                self.checkpoint_at_s = time.monotonic()
            self.position += 1
            self.chain = chained(self.chain, 0, self.position, part.data)
            row = (self.position, part.data, self.chain)
            self.database.execute("INSERT INTO log VALUES (?, ?, ?)", row)

    def verify(self) -> None:
        """Raise DamagedError unless everything is as it was left."""
        try:
            self.check_pages()
            self.read()
            self.check_head(self.position, self.chain)
        except (sqlite3.Error, struct.error, TypeError, UnicodeDecodeError) as error:
            raise self.damaged(str(error)) from None

    def read(self) -> list[bytes]:
        """All parts, oldest first, those that are not committed yet as well; DamagedError."""
        try:
            base = self.get_meta("base")
            _, position, chain = HEAD.unpack(base) if base is not None else (0, 0, GENESIS)
            parts = []
            for at, part, expected in self.database.execute(
                "SELECT position, part, chain FROM log ORDER BY position"
            ):
                chain = chained(chain, 0, at, part)
                if chain != expected or at != position + 1:
                    raise self.damaged(f"the checksum of part {at} is wrong")
                position = at
                parts.append(part)
        except (sqlite3.Error, struct.error, TypeError, UnicodeDecodeError) as error:
            raise self.damaged(str(error)) from None
        self.position, self.chain = position, bytes(chain)
        return parts

    def put_record(self, record: bytes) -> None:
        """Store the record of membership in place of the former."""
        seal = checksum(record)
        self.database.execute("INSERT OR REPLACE INTO lineage VALUES (1, ?, ?)", (record, seal))
        self.set_meta("record", seal)

    def get_record(self) -> bytes | None:
        """The record of membership; DamagedError."""
        row = self.database.execute("SELECT record, checksum FROM lineage").fetchone()
        expected = self.get_meta("record")  # there is none in folders of before
        if row is None:
            if expected is not None:
                raise self.damaged("the membership record is missing")
            return None
        record, seal = row
        if checksum(record) != seal or seal != (expected or seal):
            raise self.damaged("the membership record does not match its checksum")
        return bytes(record)

    def fill(self) -> None:
        """A new store: no life has begun."""
        self._set_incarnation(0)

    def next_incarnation(self, least: int) -> int:
        """A number above those of all former lives; DamagedError."""
        incarnation = max(least, self.get_incarnation() + 1)
        self._set_incarnation(incarnation)
        return incarnation

    def _set_incarnation(self, incarnation: int) -> None:
        number = incarnation.to_bytes(INCARNATION_BYTES, "big")
        self.set_meta("incarnation", number + checksum(number))

    def get_incarnation(self) -> int:
        """That of the last life, 0 where there was none; DamagedError."""
        stored = self.get_meta("incarnation")
        if stored is None:
            if self.commits:  # folders of before have none until a life begins
                raise self.damaged("the number of its last life is missing")
            return 0
        number, seal = stored[:INCARNATION_BYTES], stored[INCARNATION_BYTES:]
        if seal not in (checksum(number), b""):  # without one in folders of before
            raise self.damaged("the number of its last life does not match its checksum")
        return int.from_bytes(number, "big")


class ReadLog:
    """The log in a file, read beside a node that may be running: all of one commit, for `with`.

    Iterate over it, also several times, for the parts, oldest first; `check` has looked at their
    checksums. DamagedError, sqlite3.Error.
    """

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        self._database.isolation_level = None

    def __enter__(self) -> Self:
        """Read as of now."""
        self._database.execute("BEGIN")
        self.version: int = self._database.execute("PRAGMA user_version").fetchone()[0]
        return self

    def __exit__(self, *raised: object) -> None:
        """Let go of it."""
        self._database.close()

    def __iter__(self) -> Iterator[bytes]:
        for (part,) in self._database.execute("SELECT part FROM log ORDER BY position"):
            yield part

    def check(self) -> None:
        """Every checksum is right, and the end is where the last commit left it."""
        base, head = self._meta("base"), self._meta("head")
        _, position, chain = HEAD.unpack(base) if base is not None else (0, 0, GENESIS)
        query = "SELECT position, part, chain FROM log ORDER BY position"
        for at, part, expected in self._database.execute(query):
            chain = chained(chain, 0, at, part)
            if chain != expected or at != position + 1:
                raise DamagedError(f"the checksum of part {at} is wrong")
            position = at
        if head is not None and HEAD.unpack(head)[1:] != (position, chain):
            raise DamagedError("the log does not end where the last commit left it")

    def _meta(self, key: str) -> bytes | None:
        row = self._database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])


class LogStorage:
    """A node's folder; `durable`, as a `Lineage` is. Its calls come from the loop or, where they
    wait, from other threads. `sets_aside`: a damaged log is moved away, and not refused.
    """

    durable = True

    def __init__(
        self, folder: Path | str, cluster: str, node_id: str, *, sets_aside: bool = True
    ) -> None:
        self.folder = Path(folder)
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

        Waits for the disk; `start` follows on the loop.
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
            store = self._checked_store()
        return store

    def _checked_store(self) -> LogStore:
        path = self.folder / FILES[0]
        try:
            store = LogStore(path)
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"{path} cannot be opened: {error}") from None
        try:
            self._check(store)
        except BaseException:
            store.close_untouched()
            raise
        return store

    def _check(self, store: LogStore) -> None:
        try:
            version = store.prepare(TABLES, VERSION, self._owner)
            if version != VERSION:
                raise FormatError(
                    f"{store.path} has format {version}, this program reads format {VERSION}; "
                    "use the program that wrote it, or an empty folder"
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
        return aside

    def new_shelf(self) -> FileShelf:
        """A shelf for a life that begins; that of the former one is no more. StorageError."""
        if self._shelf is not None:
            self._shelf.close()
        self._shelf = FileShelf(self.folder / SHELF)
        return self._shelf

    def start(self, on_trouble: OnTrouble) -> None:
        """Start the writer; called on the loop. `on_trouble(kind, detail)`: `full`, `failed`."""
        self._on_trouble = on_trouble
        self._running.start(on_trouble)

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
