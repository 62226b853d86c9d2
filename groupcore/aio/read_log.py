"""A log that is read beside the node that writes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from groupcore.aio.box import Box
from groupcore.aio.log_records import DamagedError, opened, place_of
from groupcore.aio.sealed_store import HEAD
from groupcore.log_chain import GENESIS, chained


class ReadLog:
    """The log in a file, read beside a node that may be running: all of one commit, for `with`.

    Iterate over it, also several times, for the parts, oldest first; `check` has looked at their
    checksums. DamagedError, RestKeyError, sqlite3.Error.
    """

    def __init__(self, path: Path, box: Box | None = None) -> None:
        self._path = path
        self._box = box
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
        query = "SELECT position, part FROM log WHERE position > ? ORDER BY position"
        for at, part in self._database.execute(query, (self._base()[0],)):
            yield opened(self._box, part, place_of(at), f"part {at} of {self._path}")

    def check(self) -> None:
        """Every checksum is right, and the end is where the last commit left it."""
        head = self._meta("head")
        position, chain = self._base()
        query = "SELECT position, part, chain FROM log WHERE position > ? ORDER BY position"
        for at, part, expected in self._database.execute(query, (position,)):
            chain = chained(chain, 0, at, part)
            if chain != expected or at != position + 1:
                raise DamagedError(f"the checksum of part {at} is wrong")
            position = at
        if head is not None and HEAD.unpack(head)[1:] != (position, chain):
            raise DamagedError("the log does not end where the last commit left it")

    def _base(self) -> tuple[int, bytes]:
        """Where the log begins: parts up to there are on their way out of the file."""
        base = self._meta("base")
        _, position, chain = HEAD.unpack(base) if base is not None else (0, 0, GENESIS)
        return position, chain

    def _meta(self, key: str) -> bytes | None:
        row = self._database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])
