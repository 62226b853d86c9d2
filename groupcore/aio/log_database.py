"""A log's SQLite file: its parts, each hashing the one before it, and the membership record.

With a box each part and the record are sealed at their places, and chain and checksums are those of
what is stored: they tell damage without the key.

What a checkpoint stands for is **cleared**: from its commit on it is no part of the log, and then
it is written over in the file, some megabytes a commit, and SQLite's log ahead is cut. So what was
deleted in the cluster is not found in these files any more, and no commit waits long.
"""

from __future__ import annotations

import sqlite3
import struct
import time
from pathlib import Path

from groupcore.aio.box import Box, is_sealed
from groupcore.aio.log_records import RECORD, SEALED_VERSION, DamagedError, opened, place_of
from groupcore.aio.sealed_store import HEAD, SealedStore, checksum
from groupcore.log_chain import GENESIS, chained
from groupcore.sequencing.log import LogPart

TABLES = """
CREATE TABLE log(position INTEGER PRIMARY KEY, part BLOB NOT NULL, chain BLOB NOT NULL);
CREATE TABLE lineage(one INTEGER PRIMARY KEY CHECK (one = 1), record BLOB NOT NULL,
  checksum BLOB NOT NULL);
"""
PARTS = "SELECT position, part, chain FROM log WHERE position > ? ORDER BY position"
CLEARS = "clears"
"""Beside the log: nothing that a version of before has deleted is in free pages."""
INCARNATION_BYTES = 8
CLEARED_BYTES = 2 << 20
"""So much of what was dropped is written over in one commit: some 50 ms."""
CUT_AGAIN_S = 1.0
"""Where somebody reads beside this program, SQLite's log ahead is cut again after this."""
BUSY_MS = 5_000


class LogStore(SealedStore):
    """The open database. `_checkpoint`: where the log ended before the last one of this life.

    `_committed_checkpoint` is that of the last commit: what a rollback goes back to. `box` seals,
    where there is one; `plain_parts` counts the parts that are not sealed, as of the last `read`.
    `is_clearing`: the files may still show what is no part of the log any more.
    """

    checkpoint_at_s: float = 0.0
    plain_parts: int = 0
    is_clearing: bool = False
    _plain_to: int = 0
    _cut_again_s: float = 0.0
    _checkpoint: tuple[int, bytes] | None = None
    _committed_checkpoint: tuple[int, bytes] | None = None

    def __init__(self, path: Path, box: Box | None = None) -> None:
        super().__init__(path)
        self.box = box

    def damaged(self, detail: str) -> Exception:
        """What the log's owner sets aside."""
        return DamagedError(detail)

    def commit(self) -> None:
        """See `SealedStore`."""
        super().commit()
        self._committed_checkpoint = self._checkpoint
        if self.is_clearing and time.monotonic() >= self._cut_again_s and not self.has_dropped():
            self.is_clearing = not self.cut_ahead()
            self._cut_again_s = time.monotonic() + CUT_AGAIN_S if self.is_clearing else 0.0

    def rollback(self) -> None:
        """See `SealedStore`."""
        self._checkpoint = self._committed_checkpoint
        super().rollback()

    def append(self, parts: list[LogPart]) -> None:
        """Add to the log; a part that is fresh stands for everything before it, and so does a
        checkpoint once a part that is dropping has come."""
        for part in parts:
            if part.fresh:
                self._drop(self.position, self.chain)
            if part.dropping and self._checkpoint is not None:
                self._drop(*self._checkpoint)
            if part.checkpoint:
                self._checkpoint = (self.position, self.chain)
                self.checkpoint_at_s = time.monotonic()
            self.position += 1
            stored = self._stored(part.data, place_of(self.position))
            self.chain = chained(self.chain, 0, self.position, stored)
            row = (self.position, stored, self.chain)
            self.database.execute("INSERT INTO log VALUES (?, ?, ?)", row)

    def _stored(self, data: bytes, place: bytes) -> bytes:
        return data if self.box is None else self.box.seal(data, place)

    def _drop(self, at: int, chain: bytes) -> None:
        """Parts up to here are no part of the log any more; `clear_some` has them go."""
        self.set_meta("base", HEAD.pack(0, at, chain))
        self.is_clearing = True
        if at >= self._plain_to:
            self.plain_parts = 0

    def _base(self) -> tuple[int, bytes]:
        """Where the log begins: the position before its first part, and the chain there."""
        base = self.get_meta("base")
        if base is None:
            return 0, GENESIS
        _, position, chain = HEAD.unpack(base)
        return position, chain

    def has_dropped(self) -> bool:
        """Whether parts are still in the file that are no part of the log."""
        query = "SELECT 1 FROM log WHERE position <= ? LIMIT 1"
        return self.database.execute(query, (self._base()[0],)).fetchone() is not None

    def clear_some(self, most_bytes: int = CLEARED_BYTES) -> None:
        """Write over some of what was dropped, in the transaction that is open."""
        query = "SELECT position, length(part) FROM log WHERE position <= ? ORDER BY position"
        last = size = 0
        for at, part_bytes in self.database.execute(query, (self._base()[0],)):
            last, size = at, size + part_bytes
            if size >= most_bytes:
                break
        self.database.execute("DELETE FROM log WHERE position <= ?", (last,))

    def cut_ahead(self) -> bool:
        """Have nothing in SQLite's log ahead; False while somebody reads beside this program."""
        self.database.execute("PRAGMA busy_timeout = 0")  # nobody waits for who reads
        busy: int = self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self.database.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        return not busy

    def clear_all(self) -> None:
        """Write over what was dropped, and, once, what earlier versions have left in free pages.

        As `seal_plain`: a power cut leaves a log that can be read, and a later call does it again.
        sqlite3.Error, where there is no room.
        """
        self.is_clearing = True
        if self.has_dropped():
            self.begin()
            try:
                self.clear_some(1 << 62)
                self.commit()
            except BaseException:
                self.rollback()
                raise
        if self.get_meta(CLEARS) is None:
            self.database.execute("VACUUM")
            self.begin()
            self.set_meta(CLEARS, b"1")
            self.commit()
        self.is_clearing = not self.cut_ahead()

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
            position, chain = self._base()
            parts, plain, plain_to = [], 0, 0
            for at, part, expected in self.database.execute(PARTS, (position,)):
                chain = chained(chain, 0, at, part)
                if chain != expected or at != position + 1:
                    raise self.damaged(f"the checksum of part {at} is wrong")
                position = at
                if not is_sealed(part):
                    plain, plain_to = plain + 1, at
                parts.append(opened(self.box, part, place_of(at), f"part {at} of {self.path}"))
        except (sqlite3.Error, struct.error, TypeError, UnicodeDecodeError) as error:
            raise self.damaged(str(error)) from None
        self.position, self.chain = position, bytes(chain)
        self.plain_parts, self._plain_to = plain, plain_to
        return parts

    def seal_plain(self) -> None:
        """Seal what is plain, and let nothing of it stay in the file or in SQLite's log ahead.

        After `read`. One transaction, then two steps that a later call does again: so a power cut
        leaves a log that can be read. DamagedError, sqlite3.Error: it is as it was.
        """
        self.begin()
        try:
            self._seal_parts()
            record = self.get_record()
            if record is not None:
                self.put_record(record)
            self.database.execute(f"PRAGMA user_version = {SEALED_VERSION}")
            self.commit()
        except BaseException:
            self.rollback()
            raise
        self.plain_parts = 0
        self.database.execute("VACUUM")  # what was overwritten goes from the free pages
        if not self.cut_ahead():
            raise sqlite3.OperationalError("somebody reads the log beside this program")

    def _seal_parts(self) -> None:
        if not self.plain_parts:
            return
        begins, chain = self._base()
        query = "SELECT position FROM log WHERE position > ? ORDER BY position"
        for (at,) in self.database.execute(query, (begins,)).fetchall():
            query = "SELECT part FROM log WHERE position = ?"
            stored = bytes(self.database.execute(query, (at,)).fetchone()[0])
            if not is_sealed(stored):
                stored = self._stored(stored, place_of(at))
            chain = chained(chain, 0, at, stored)
            row = (stored, chain, at)
            self.database.execute("UPDATE log SET part = ?, chain = ? WHERE position = ?", row)
        self.chain = chain

    def mark_sealed(self) -> None:
        """From here on records may be sealed; sqlite3.Error."""
        self.begin()
        self.database.execute(f"PRAGMA user_version = {SEALED_VERSION}")
        self.commit()

    def put_record(self, record: bytes) -> None:
        """Store the record of membership in place of the former."""
        record = self._stored(record, RECORD)
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
        return opened(self.box, bytes(record), RECORD, f"the membership record of {self.path}")

    def fill(self) -> None:
        """A new store: no life has begun."""
        self._set_incarnation(0)
        self.set_meta(CLEARS, b"1")

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
