"""The keys of a sealed backup's documents and pictures: a small file beside it, to erase by.

Each document, and each picture, of a sealed backup is sealed once more under a key of its own.
These keys stand in `FILE.keys`, which is sealed under the backup's key. To erase a document that
small file is written anew without its key, and without those of the pictures that no other document
has: then nobody can read them in the backup, whoever has the key file. The backup itself is never
written.

The new file is on the disk before it takes the former one's place; then the former one is written
over, as far as the file system does that in place. So a power cut leaves the former keys or the new
ones, whole. A keys file opens beside its own backup only.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from msgpack import packb, unpackb
from msgpack.exceptions import UnpackException

from groupcore.aio.box import KEY_BYTES, Box
from groupcore.aio.errors import BrokenSealError
from groupcore.aio.private import open_file
from server.errors import DamagedStoreError, KeyProblem

KIND, ENTRY = "backup keys", "backup entry"
"""The kinds of what is sealed here, and of an entry."""
PLACE = b"keys"
SUFFIX = ".keys"


@dataclass(slots=True)
class Keys:
    """By document, by picture; `uses`: which pictures a document has."""

    documents: dict[str, bytes] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    uses: dict[str, list[str]] = field(default_factory=dict)

    def of(self, entry: str) -> bytes | None:
        """The key of an entry of the backup; None: it is erased."""
        kind, _, name = entry.partition("/")
        return (self.documents if kind == "documents" else self.pictures).get(name)

    def make(self, entry: str) -> bytes:
        """A new key, for an entry."""
        kind, _, name = entry.partition("/")
        key = os.urandom(KEY_BYTES)
        (self.documents if kind == "documents" else self.pictures)[name] = key
        return key

    def erase(self, documents: Iterable[str]) -> int:
        """Forget the keys of these, and of pictures that no other document has; of how many."""
        gone = [doc for doc in documents if self.documents.pop(doc, None) is not None]
        freed = {name for doc in gone for name in self.uses.pop(doc, ())}
        used = {name for names in self.uses.values() for name in names}
        for name in freed - used:
            self.pictures.pop(name, None)
        return len(gone)


def keys_path(path: Path) -> Path:
    """Where the keys of this backup are."""
    return path.with_name(path.name + SUFFIX)


def seal_entry(key: bytes, name: str, data: bytes) -> bytes:
    """An entry under its own key."""
    return Box(key, ENTRY).seal(data, name.encode())


def open_entry(key: bytes, name: str, stored: bytes) -> bytes:
    """The entry as it was; OSError where it is not what was sealed."""
    try:
        return Box(key, ENTRY).open(stored, name.encode())
    except BrokenSealError as error:
        raise OSError(str(error)) from None


def read_keys(path: Path, key: bytes) -> Keys:
    """The keys of the backup `path`, which is sealed under `key`; KeyProblem, DamagedStoreError."""
    where = keys_path(path)
    try:
        stored = where.read_bytes()
    except FileNotFoundError:
        raise KeyProblem(
            f"{where} is missing: without the keys of its documents nobody can read {path}; "
            "keep the two files together"
        ) from None
    try:
        return _read(Box(key, KIND).open(stored, PLACE))
    except (BrokenSealError, UnpackException, ValueError, TypeError, AttributeError):
        raise DamagedStoreError(
            f"{where} is damaged, or of another backup; put it back from a copy"
        ) from None


def _read(packed: bytes) -> Keys:
    documents, pictures, uses = unpackb(packed)
    for one in (*documents.values(), *pictures.values()):
        if not isinstance(one, bytes) or len(one) != KEY_BYTES:
            raise ValueError("not a key")
    return Keys(documents, pictures, {doc: list(names) for doc, names in uses.items()})


def write_keys(path: Path, key: bytes, keys: Keys) -> None:
    """Have these be the keys of the backup `path`; on the disk when it returns. OSError."""
    where = keys_path(path)
    aside = where.with_name(f"{where.name}.part")
    packed: bytes = packb([keys.documents, keys.pictures, keys.uses])
    try:
        with open_file(aside, "wb") as file:
            file.write(Box(key, KIND).seal(packed, PLACE))
            file.flush()
            os.fsync(file.fileno())
        with ExitStack() as opened:
            former = opened.enter_context(where.open("r+b")) if where.exists() else None
            aside.replace(where)
            _sync(where.parent)
            if former is not None:
                _write_over(former)
    finally:
        aside.unlink(missing_ok=True)


def _write_over(file: IO[bytes]) -> None:
    """Zeroes in place of what is there, on the disk."""
    file.write(bytes(file.seek(0, os.SEEK_END) - file.seek(0)))
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def erase(path: Path, key: bytes, documents: Iterable[str]) -> int:
    """Erase documents in the backup `path`; how many of them were in it. KeyProblem,
    DamagedStoreError, OSError: nothing is changed.

    One at a time, whoever does it: else one would bring back what another has just erased.
    """
    with path.open("rb") as backup:
        fcntl.flock(backup, fcntl.LOCK_EX)
        keys = read_keys(path, key)
        count = keys.erase(documents)
        if count:
            write_keys(path, key, keys)
        return count
