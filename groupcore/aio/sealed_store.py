"""A SQLite database that notices when commits are missing at its end.

SQLite ends its write-ahead log silently at the first bad checksum, which would make a damaged
log a shorter one. So a small file `head` beside it, written after each commit, tells the last
position: a log that ends before it is damaged (reliability, row 39). What is stored in order hashes
what is before it (`chain`), so a changed, lost or swapped record shows.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
from abc import ABC, abstractmethod
from pathlib import Path

from groupcore.log_chain import GENESIS

HEAD = struct.Struct("!QQ16s")

META = "CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"


def checksum(*parts: bytes) -> bytes:
    """The checksum of stored bytes, their boundaries included."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(struct.pack("!Q", len(part)) + part)
    return digest.digest()


class SealedStore(ABC):
    """The open database. All calls come from one thread at a time; each runs in a transaction
    that the caller opens with `begin` and ends with `commit`.

    `epoch`, `position` and `chain` are those of the last record; epochs are 0 where there are none.
    """

    def __init__(self, path: Path) -> None:
        self.folder = path.parent
        self.path = path
        self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.epoch = self.position = 0
        self.chain = GENESIS
        self._head = os.open(self.folder / "head", os.O_RDWR | os.O_CREAT, 0o600)

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
        self.set_meta("head", HEAD.pack(self.epoch, self.position, self.chain))
        self.database.execute("COMMIT")
        self.write_head(self.epoch, self.position, self.chain)

    def rollback(self) -> None:
        """Forget everything since `begin`, in memory too."""
        if self.database.in_transaction:
            self.database.execute("ROLLBACK")
        head = self.get_meta("head")
        if head is not None:
            self.epoch, self.position, self.chain = HEAD.unpack(head)

    def write_head(self, epoch: int, position: int, chain: bytes) -> None:
        """Tell beside the database how far it reaches; never more than it holds."""
        body = HEAD.pack(epoch, position, chain)
        os.pwrite(self._head, body + checksum(body), 0)

    def read_head(self) -> tuple[int, int]:
        """Epoch and position that the head file tells; 0, 0 when it is new or was torn."""
        data = os.pread(self._head, HEAD.size + 16, 0)
        body, seal = data[: HEAD.size], data[HEAD.size :]
        if len(data) != HEAD.size + 16 or checksum(body) != seal:
            return 0, 0
        epoch, position, _ = HEAD.unpack(body)
        return epoch, position

    def check_head(self, epoch: int, position: int, chain: bytes) -> None:
        """Raise `damaged` unless the log ends where it was left: here."""
        head = self.get_meta("head")
        if head is not None and HEAD.unpack(head) != (epoch, position, chain):
            raise self.damaged("the log does not end where the last commit left it")
        if self.read_head() > (epoch, position):
            raise self.damaged("committed operations are missing at the end of the log")

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
        found: int = database.execute("PRAGMA user_version").fetchone()[0]
        count = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found or count:
            return found
        if self.read_head() > (0, 0):
            raise self.damaged("it is empty, but was not")
        database.executescript(f"BEGIN; {META} {tables} PRAGMA user_version = {version}; COMMIT;")
        self.begin()
        for key, value in owner.items():
            self.set_meta(key, value.encode())
        self.commit()
        return version

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
