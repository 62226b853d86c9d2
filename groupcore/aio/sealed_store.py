"""A SQLite database that notices when commits are missing at its end.

SQLite ends its write-ahead log silently at the first bad checksum, which would make a damaged
database an older one. So commits are counted, and a small file `head` beside the database, written
after each, tells how many there were and where the log ended: a database behind it is damaged
(reliability, row 39), whatever the lost commits changed. What is stored in order hashes what is
before it (`chain`), so a changed, lost or swapped record shows.

The file is on disk before the database is, and each write of it is within one sector. So a crash
leaves the former head or the new one, and one that cannot be read is damage, too: without it
nothing tells a whole database from an older one.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

from groupcore.aio.private import make_file
from groupcore.log_chain import GENESIS

HEAD = struct.Struct("!QQ16s")

META = "CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"


def checksum(*parts: bytes) -> bytes:
    """The checksum of stored bytes, their boundaries included."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(struct.pack("!Q", len(part)) + part)
    return digest.digest()


def _sync_folder(folder: Path) -> None:
    """What was made in it is found there behind a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class SealedStore(ABC):
    """The open database. All calls come from one thread at a time; each runs in a transaction
    that the caller opens with `begin` and ends with `commit`.

    `position` and `chain` are those of the last record, `commits` counts transactions.
    """

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.path = path
        make_file(path)
        self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.commits = self.position = 0
        self.chain = GENESIS
        self._head = os.open(self.folder / "head", os.O_RDWR | os.O_CREAT, 0o600)

    def close_untouched(self) -> None:
        """Close the files and leave what is committed and not in the database yet beside it.

        SQLite takes over what it believes of the log ahead, and removes it, with what a damaged
        frame hides: a second name keeps that for who looks at it.
        """
        ahead = self.path.with_name(f"{self.path.name}-wal")
        kept = ahead.with_name(f"{ahead.name}-kept")
        with suppress(OSError):
            kept.unlink(missing_ok=True)
            os.link(ahead, kept)
        self.close()
        with suppress(OSError):
            kept.replace(ahead)

    @abstractmethod
    def damaged(self, detail: str) -> Exception:
        """The error that says what to do about a damaged store."""

    def close(self) -> None:
        """Close the files."""
        self.database.close()
        os.close(self._head)

    def begin(self) -> None:
        """Open a transaction."""
        self.database.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make everything since `begin` durable."""
        self.commits += 1
        head = HEAD.pack(self.commits, self.position, self.chain)
        self.set_meta("head", head)
        self.database.execute("COMMIT")
        self._write_head(head)

    def rollback(self) -> None:
        """Forget everything since `begin`, in memory too."""
        if self.database.in_transaction:
            self.database.execute("ROLLBACK")
        head = self.get_meta("head")
        if head is not None:
            self.commits, self.position, self.chain = HEAD.unpack(head)

    def _write_head(self, head: bytes) -> None:
        """Tell beside the database how far it reaches; never more than it holds."""
        os.pwrite(self._head, head + checksum(head), 0)

    def _read_head(self) -> tuple[int, int] | None:
        """Commits and position that the head file tells; None: it cannot be read."""
        data = os.pread(self._head, HEAD.size + 16, 0)
        head, seal = data[: HEAD.size], data[HEAD.size :]
        if len(data) != HEAD.size + 16 or checksum(head) != seal:
            return None
        commits, position, _ = HEAD.unpack(head)
        return commits, position

    def check_head(self, position: int, chain: bytes) -> None:
        """Raise `damaged` unless the log ends where it was left, here, and no commit is missing."""
        head = self.get_meta("head")
        if head is None:
            raise self.damaged("it does not say where it ends")
        commits, *end = HEAD.unpack(head)
        if end != [position, chain]:
            raise self.damaged("the log does not end where the last commit left it")
        told = self._read_head()
        if told is None:
            raise self.damaged("the file head cannot be read, so commits may be missing")
        if told > (commits, position):
            raise self.damaged("commits are missing at the end")
        self.commits = commits

    def check_pages(self) -> None:
        """Raise `damaged` when SQLite finds something wrong."""
        found = self.database.execute("PRAGMA quick_check").fetchone()
        if found != ("ok",):
            raise self.damaged(str(found[0]).splitlines()[0])

    def prepare(self, tables: str, version: int, owner: dict[str, str]) -> int:
        """Set the database up for use and make what is not there; the version that it has.

        `owner`: what is written into a new one. Raises `damaged` when it is empty, but was not.
        """
        database = self.database
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("PRAGMA secure_delete = ON")  # what goes is written over
        found: int = database.execute("PRAGMA user_version").fetchone()[0]
        count = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found or count:
            return found
        if (self._read_head() or (0, 0)) > (0, 0):
            raise self.damaged("it is empty, but was not")
        self._write_head(HEAD.pack(0, 0, GENESIS))
        os.fsync(self._head)
        _sync_folder(self.folder)
        database.executescript(f"BEGIN; {META} {tables} PRAGMA user_version = {version}; COMMIT;")
        self.begin()
        for key, value in owner.items():
            self.set_meta(key, value.encode())
        self.fill()
        self.commit()
        return version

    @abstractmethod
    def fill(self) -> None:
        """What a new one holds, beside whose it is."""

    def owner(self, key: str) -> str:
        """Whose it is; raises `damaged` when it does not say so."""
        value = self.get_meta(key)
        if value is None:
            raise self.damaged(f"it does not say its {key}")
        return value.decode(errors="replace")

    def get_meta(self, key: str) -> bytes | None:
        """The value of a key, or None."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def set_meta(self, key: str, value: bytes) -> None:
        """Set a key."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
