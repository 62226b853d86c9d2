"""What a log's file holds: of which format it is, and how parts and the record are sealed there."""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path

from groupcore.aio.box import Box, is_sealed
from groupcore.aio.errors import BrokenSealError, RestKeyError

VERSION = 1
SEALED_VERSION = 2
"""The same tables, in which records may be sealed: programs of before keep away from them."""
VERSIONS = (VERSION, SEALED_VERSION)
LOG = "log"
"""The kind of what is sealed here."""
RECORD = b"record"
"""The place of the membership record."""
_PLACE = struct.Struct(">4sQ")


class DamagedError(Exception):
    """The log is not what was written."""


def place_of(position: int) -> bytes:
    """For which place a part of the log is sealed."""
    return _PLACE.pack(b"part", position)


def opened(box: Box | None, stored: bytes, place: bytes, what: str) -> bytes:
    """A part or record, as it was written; DamagedError, RestKeyError."""
    if box is None:
        if is_sealed(stored):
            raise RestKeyError(f"{what} is sealed; give the file of its key")
        return stored
    try:
        return box.open(stored, place)
    except BrokenSealError as error:
        raise DamagedError(f"{what}: {error}") from None


def version_of(path: Path) -> int | None:
    """The format of a log that is there; None where there is none, or it cannot be read."""
    if not path.is_file():
        return None
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        found: int = database.execute("PRAGMA user_version").fetchone()[0]
        return found
    except sqlite3.Error:
        return None
    finally:
        database.close()
