"""A shelf in a file of the node's folder, which is begun anew with each life.

The file is scratch: nothing is synced, and nothing of it is read by the next life. What the disk
has no room for stays in memory. Where the node's folder is sealed the file is, too, under a key
that is in this process's memory alone.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from groupcore.aio.box import Box
from groupcore.aio.errors import StorageError
from groupcore.aio.private import make_file
from groupcore.sequencing.shelf import MemoryShelf

CACHE_KIB = 2_048
"""What of the file is kept in memory by us; the system keeps more."""


class FileShelf:
    """See `groupcore.sequencing.shelf.Shelf`. For one thread; StorageError from the constructor,
    and where what was put cannot be read again."""

    def __init__(self, path: Path, box: Box | None = None) -> None:
        self._path = path
        self._box = box
        self._spare = MemoryShelf()
        try:
            path.unlink(missing_ok=True)
            make_file(path)
            self._file = sqlite3.connect(path, isolation_level=None)
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._file.execute("PRAGMA journal_mode = MEMORY")
            self._file.execute("PRAGMA synchronous = OFF")
            self._file.execute("PRAGMA secure_delete = ON")  # what goes is written over
            self._file.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            self._file.execute("CREATE TABLE shelf (number INTEGER PRIMARY KEY, data BLOB)")
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"{path} cannot be used: {error}") from None

    def put(self, data: bytes) -> int:
        """Keep this; gives its number."""
        stored = data if self._box is None else self._box.seal(data)
        try:
            done = self._file.execute("INSERT INTO shelf (data) VALUES (?)", (stored,))
        except sqlite3.Error:  # the disk is full, as a rule
            return -self._spare.put(data)
        return done.lastrowid or 0

    def get(self, number: int) -> bytes:
        """What is kept under this number."""
        if number < 0:
            return self._spare.get(-number)
        try:
            row = self._file.execute(
                "SELECT data FROM shelf WHERE number = ?", (number,)
            ).fetchone()
        except sqlite3.Error as error:
            raise StorageError(f"{self._path} cannot be read: {error}") from None
        if row is None:
            raise StorageError(f"{self._path} has lost what was put there")
        data: bytes = row[0]
        return data if self._box is None else self._box.open(data)

    def drop(self, number: int) -> None:
        """Keep it no longer; its room is used again."""
        if number < 0:
            self._spare.drop(-number)
            return
        try:
            self._file.execute("DELETE FROM shelf WHERE number = ?", (number,))
        except sqlite3.Error:
            return  # it takes room until this life ends

    def close(self) -> None:
        """The life is over, and the file goes."""
        self._file.close()
        self._path.unlink(missing_ok=True)
