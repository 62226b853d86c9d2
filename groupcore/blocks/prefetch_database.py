"""The database of a prefetcher: the application's tables, and how much of the order they hold.

The place stands in the database itself and is written in the transaction of the request that it
belongs to. So a copy of the file always knows what is in it, and nothing is applied twice.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from groupcore.aio.private import make_file
from groupcore.blocks.errors import TransferFailedError

log = logging.getLogger(__name__)

Apply = Callable[[sqlite3.Connection, bytes], None]
"""Does one request; the same at all members. It neither commits nor rolls back."""
Setup = Callable[[sqlite3.Connection], None]
"""Makes the tables of an empty database; it may be called twice (`IF NOT EXISTS`)."""

_POSITION_TABLE = """
CREATE TABLE IF NOT EXISTS groupcore_position
    (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), epoch INTEGER, position INTEGER)
"""


class PrefetchDatabase:
    """One SQLite file in WAL mode, so that readers and backups do not hold up requests.

    `epoch` and `position` are the place in the order up to which requests were applied.
    """

    def __init__(self, path: Path, apply: Apply, setup: Setup | None = None) -> None:
        """Open or make it; `setup` makes the tables of one that is new."""
        self.path = path
        self.failures = 0
        self._apply = apply
        make_file(path)
        # A backup is loaded in a worker thread while the owner does nothing with the connection.
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(_POSITION_TABLE)
        if self._row() is None:
            if setup is not None:
                setup(self._connection)
            self._connection.execute("INSERT INTO groupcore_position VALUES (1, 0, 0)")
        self.epoch, self.position = self._row() or (0, 0)

    def apply(self, epoch: int, position: int, request: bytes) -> None:
        """Do the request of this place, once; one at or below `position` was done before.

        A request that raises is undone and passed over, as at every other member.
        """
        if epoch == self.epoch and position <= self.position:
            return
        self._begin()
        self._connection.execute("SAVEPOINT request")
        try:
            self._apply(self._connection, request)
        except Exception:
            log.exception("request %d.%d failed and was undone", epoch, position)
            self.failures += 1
            self._connection.execute("ROLLBACK TO request")
        self._connection.execute("RELEASE request")
        self.epoch, self.position = epoch, position

    def move_to(self, epoch: int, position: int) -> None:
        """Note that there was no request between the last one and this place."""
        if (epoch, position) != (self.epoch, self.position):
            self._begin()
            self.epoch, self.position = epoch, position

    def commit(self) -> None:
        """Write the requests since the last commit, with their place."""
        if self._connection.in_transaction:
            self._connection.execute(
                "UPDATE groupcore_position SET epoch = ?, position = ?", (self.epoch, self.position)
            )
            self._connection.execute("COMMIT")

    def back_up(self, path: Path) -> None:
        """Write a copy as of now to a file; requests go on meanwhile. For a worker thread."""
        make_file(path)
        source = sqlite3.connect(self.path)
        target = sqlite3.connect(path)
        try:
            # All pages in one step: the copy is of one snapshot, and in WAL mode a reader does
            # not hold up the writer.
            source.backup(target, pages=-1)
        finally:
            target.close()
            source.close()

    def load(self, path: Path) -> None:
        """Replace the content by that of a backup. For a worker thread.

        TransferFailedError when the file is no backup of such a database.
        """
        source = sqlite3.connect(path)
        try:
            check = source.execute("PRAGMA quick_check").fetchone()
            row = source.execute("SELECT epoch, position FROM groupcore_position").fetchone()
            if check != ("ok",) or row is None:
                raise TransferFailedError(f"{path} is damaged; take another backup")
            source.backup(self._connection, pages=-1)
        except sqlite3.DatabaseError as error:
            raise TransferFailedError(f"{path} is no backup ({error}); take another") from None
        finally:
            source.close()
        self.epoch, self.position = row

    def close(self) -> None:
        """Commit and close."""
        self.commit()
        self._connection.close()

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def _row(self) -> tuple[int, int] | None:
        row: tuple[int, int] | None = self._connection.execute(
            "SELECT epoch, position FROM groupcore_position"
        ).fetchone()
        return row
