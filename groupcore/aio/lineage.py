"""Lineages: the one record that a node keeps between its lives, and its incarnation number.

The record is the membership's (which primary view it was in last); without it a restarted cluster
could start twice. It is small, and the newest replaces the former.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Protocol

from groupcore.aio.errors import LineageError

_MAGIC = b"groupcore lineage 1\n"
_CHECK_BYTES = 16
_NUMBER_BYTES = 8


class Lineage(Protocol):
    """Where the record of the last life is kept. Called from worker threads, one at a time.

    `durable`: the record survives a restart of the process, so a node that finds none has lost
    its disk (or never had a life) and has no vote before it is rebuilt.
    """

    durable: bool

    def begin(self, incarnation_least: int) -> tuple[int, bytes | None]:
        """Begin a life: its incarnation, at least this and above all former ones; the record."""
        ...

    def store(self, record: bytes) -> None:
        """Keep the record; when this returns, it is durable. OSError when it could not be kept."""
        ...


class MemoryLineage:
    """A lineage that ends with the process: for tests, and for nodes that always start empty."""

    durable = False

    def __init__(self) -> None:
        self._incarnation = 0
        self._record: bytes | None = None

    def begin(self, incarnation_least: int) -> tuple[int, bytes | None]:
        """Begin a life, see `Lineage`."""
        self._incarnation = max(incarnation_least, self._incarnation + 1)
        return self._incarnation, self._record

    def store(self, record: bytes) -> None:
        """Keep the record in memory."""
        self._record = record


class FileLineage:
    """A lineage in one small file, replaced as a whole at every change.

    A new file is written beside it, synced, renamed over it, and the folder synced: after a crash
    at any point there is the old file or the new one. The incarnation stands in the file too, so
    that it grows even where the clock was set back.
    """

    durable = True

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._lock = Lock()
        self._incarnation = 0

    def begin(self, incarnation_least: int) -> tuple[int, bytes | None]:
        """Begin a life, see `Lineage`; LineageError when its file cannot be used."""
        with self._lock:
            stored, record = self._read()
            incarnation = max(incarnation_least, stored + 1)
            try:
                self._write(incarnation, record)
            except OSError as error:
                raise LineageError(
                    f"cannot write {self._path} ({error.strerror}); give the node a folder that "
                    "it may write to, with room in it"
                ) from None
            return incarnation, record

    def store(self, record: bytes) -> None:
        """Replace the record, durably."""
        with self._lock:
            self._write(self._incarnation, record)

    def _read(self) -> tuple[int, bytes | None]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return 0, None
        except OSError as error:
            raise LineageError(f"cannot read {self._path}: {error.strerror}") from None
        body, check = data[:-_CHECK_BYTES], data[-_CHECK_BYTES:]
        start = len(_MAGIC)
        if (
            len(data) < start + _NUMBER_BYTES + 1 + _CHECK_BYTES
            or not body.startswith(_MAGIC)
            or _checksum(body) != check
        ):
            raise LineageError(
                f"{self._path} is damaged; move it away and this node joins as an empty one"
            )
        incarnation = int.from_bytes(body[start : start + _NUMBER_BYTES], "big")
        present, record = body[start + _NUMBER_BYTES], body[start + _NUMBER_BYTES + 1 :]
        return incarnation, record if present else None

    def _write(self, incarnation: int, record: bytes | None) -> None:
        present = bytes((record is not None,))
        body = _MAGIC + incarnation.to_bytes(_NUMBER_BYTES, "big") + present + (record or b"")
        temporary = self._path.with_name(f"{self._path.name}.new")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(body + _checksum(body))
                file.flush()
                os.fsync(descriptor)
            temporary.replace(self._path)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
            raise
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._incarnation = incarnation


def _checksum(body: bytes) -> bytes:
    return blake2b(body, digest_size=_CHECK_BYTES).digest()
