"""The update log of a prefetch: the requests since a backup began, in a small database of its own.

Source. State transfer paper, 3.4.4 ("at the same time starts logging all requests to an update
log, e.g. a small database").
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from groupcore.aio.private import make_file
from groupcore.blocks.errors import ValueRefusedError
from groupcore.blocks.values import pack_value, unpack_value

STATE_BYTES_MAX = 1 << 30
"""Largest packed log; the bound that counts is `bytes_max`."""


class UpdateLog:
    """Requests behind `begin` in their order, in a file that `close` deletes.

    It need not survive a crash: the prefetch begins anew then, and so nothing is synced.
    """

    def __init__(self, path: Path, epoch: int, begin: int, bytes_max: int) -> None:
        """Begin behind this place in the order; `bytes_max` bounds the requests together."""
        self.epoch = epoch
        self.begin = begin
        self.used_bytes = 0
        self._bytes_max = bytes_max
        self._path = path
        path.unlink(missing_ok=True)
        make_file(path)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute("CREATE TABLE requests (position INTEGER PRIMARY KEY, body BLOB)")
        self._connection.execute("BEGIN")

    def append(self, position: int, request: bytes) -> bool:
        """Keep a request; False when the log would be larger than it may."""
        self.used_bytes += len(request)
        if self.used_bytes > self._bytes_max:
            return False
        self._connection.execute("INSERT INTO requests VALUES (?, ?)", (position, request))
        return True

    def packed(self) -> bytes:
        """The log as bytes, for `read_log`."""
        rows = self._connection.execute("SELECT position, body FROM requests ORDER BY position")
        requests = [list(row) for row in rows]
        return pack_value([self.epoch, self.begin, requests], bytes_max=STATE_BYTES_MAX)

    def close(self) -> None:
        """Delete it."""
        self._connection.close()
        self._path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Updates:
    """A log that was taken: the requests behind `begin` of `epoch`, with their positions."""

    epoch: int
    begin: int
    requests: list[tuple[int, bytes]]


def read_log(packed: bytes) -> Updates:
    """The log in these bytes; ValueRefusedError when they are not one, or its order is wrong."""
    match unpack_value(packed):
        case [int(epoch), int(begin), list(rows)]:
            requests = []
            last = begin
            for row in rows:
                match row:
                    case [int(position), bytes(request)] if position > last:
                        requests.append((position, request))
                        last = position
                    case _:
                        raise ValueRefusedError("a request of the update log is malformed")
            return Updates(epoch, begin, requests)
        case _:
            raise ValueRefusedError("not an update log")
