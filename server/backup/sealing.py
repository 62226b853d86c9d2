"""A backup's file as it is sealed on a disk: a head, then pieces of 64 KiB, each sealed.

Documents and pictures in it are sealed once more, each under a key of its own, which stands in a
second file (`server.backup.keys`). Files of the first version have no such keys.

The head has the file's data key, which is random and seals this file alone, wrapped by the key file
(`groupcore.aio.rest_key`), in two blocks of 4 KiB. So a key change writes one block after the other
and a power cut leaves one of them whole. The nonce of a piece is its number, and its associated
data says whether it is the last one: pieces cannot be exchanged, left out, or cut off.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from groupcore.aio.box import KEY_BYTES
from groupcore.aio.errors import BrokenSealError, RestKeyError
from groupcore.aio.rest_key import RestKey
from server.backup.entry_sealing import EntrySealing
from server.backup.keys import write_keys
from server.errors import KeyProblem
from server.paged_file import PAGE_BYTES, PagedFile
from server.rest import FLAG

FORMER, MAGIC = b"\xc1GRBACKUP1\n", b"\xc1GRBACKUP2\n"
"""The first version, and this one."""
BLOCK_BYTES = 4096
BLOCKS = 2
HEAD_BYTES = BLOCKS * BLOCK_BYTES
PIECE_BYTES = PAGE_BYTES
TAG_BYTES = 16
STORED_BYTES = PIECE_BYTES + TAG_BYTES
_NONCE = Struct(">4xQ")
MORE, LAST = b"more", b"last"


def block_of(key: bytes, rest: RestKey, magic: bytes = MAGIC) -> bytes:
    """One block of the head."""
    return (magic + rest.wrap(key) + b"\n").ljust(BLOCK_BYTES, b"\0")


def magic_of(path: Path) -> bytes | None:
    """Of which version a sealed backup is, as one of its blocks says; None: it is not sealed.
    OSError."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    found = (head[at : at + len(MAGIC)] for at in range(0, HEAD_BYTES, BLOCK_BYTES))
    return next((one for one in found if one in (FORMER, MAGIC)), None)


def is_sealed_backup(path: Path) -> bool:
    """Whether it is; OSError."""
    return magic_of(path) is not None


def backup_key(path: Path, rest: RestKey | None) -> bytes:
    """What a sealed backup is sealed under; KeyProblem, OSError."""
    if rest is None:
        raise KeyProblem(f"the backup {path} is sealed; give the file of its key by {FLAG}")
    with path.open("rb") as file:
        try:
            return key_of(file, rest, path)[0]
        except BrokenSealError as error:
            raise OSError(str(error)) from None


def key_of(file: IO[bytes], rest: RestKey, path: Path) -> tuple[bytes, bool]:
    """The file's data key, and whether the newest key has wrapped it in all blocks.

    KeyProblem, BrokenSealError.
    """
    found: list[tuple[bytes, bool]] = []
    wrong: RestKeyError | None = None
    for at in range(BLOCKS):
        file.seek(at * BLOCK_BYTES)
        block = file.read(BLOCK_BYTES)
        line = block[len(MAGIC) :].partition(b"\n")[0]
        try:
            found.append(rest.unwrap(line, path))
        except RestKeyError as error:
            wrong = error
        except BrokenSealError:
            continue
    if found:
        return found[0][0], len(found) == BLOCKS and all(is_newest for _, is_newest in found)
    if wrong is not None:
        raise KeyProblem(f"{FLAG}: {wrong}")
    raise BrokenSealError("its wrapped key is damaged")


class Sealing:
    """Writes a backup into a file, sealed where there is a key; `end` once all is written, then
    `write_keys` before the file gets its name."""

    def __init__(self, file: IO[bytes], rest: RestKey | None) -> None:
        self._file = file
        self._waiting = bytearray()
        self._number = 0
        self._cipher: AESGCM | None = None
        self._entries = EntrySealing()
        self._key = b""
        if rest is not None:
            self._key = os.urandom(KEY_BYTES)
            self._cipher = AESGCM(self._key)
            file.write(b"".join(block_of(self._key, rest) for _ in range(BLOCKS)))

    def write(self, data: bytes) -> None:
        """More of it; OSError."""
        if self._cipher is None:
            self._file.write(data)
            return
        self._waiting += self._entries.feed(data)
        self._put_whole()

    def _put_whole(self) -> None:
        while len(self._waiting) > PIECE_BYTES:
            self._put(bytes(self._waiting[:PIECE_BYTES]), MORE)
            del self._waiting[:PIECE_BYTES]

    def end(self) -> None:
        """That was all; OSError."""
        if self._cipher is not None:
            self._waiting += self._entries.end()
            self._put_whole()
            self._put(bytes(self._waiting), LAST)

    def write_keys(self, path: Path) -> None:
        """Have the keys of its documents beside the backup `path`, where it is sealed; OSError."""
        if self._cipher is not None:
            write_keys(path, self._key, self._entries.keys)

    def _put(self, piece: bytes, which: bytes) -> None:
        assert self._cipher is not None, "plain backups have no pieces"
        self._file.write(self._cipher.encrypt(_NONCE.pack(self._number), piece, which))
        self._number += 1


class SealedBackup(PagedFile):
    """Reads a sealed backup as if it were not; BrokenSealError, KeyProblem from the constructor,
    OSError where a piece is not what was written."""

    def __init__(self, file: IO[bytes], rest: RestKey, path: Path) -> None:
        self._file = file
        key, _ = key_of(file, rest, path)
        self._cipher = AESGCM(key)
        stored = file.seek(0, os.SEEK_END) - HEAD_BYTES
        self._pieces = -(-stored // STORED_BYTES)
        super().__init__(max(0, stored - self._pieces * TAG_BYTES))
        self._held: tuple[int, bytes] = (-1, b"")

    def _page(self, number: int) -> bytes:
        if self._held[0] != number:
            self._file.seek(HEAD_BYTES + number * STORED_BYTES)
            stored = self._file.read(STORED_BYTES)
            which = LAST if number == self._pieces - 1 else MORE
            try:
                self._held = number, self._cipher.decrypt(_NONCE.pack(number), stored, which)
            except (InvalidTag, ValueError):
                raise OSError(f"piece {number + 1} of {self._pieces} is not as sealed") from None
        return self._held[1]


@contextmanager
def open_backup(path: Path, rest: RestKey | None) -> Iterator[IO[bytes]]:
    """A backup, sealed or not, to be read as if it were not; KeyProblem, OSError."""
    if not is_sealed_backup(path):
        with path.open("rb") as plain:
            yield plain
        return
    if rest is None:
        raise KeyProblem(f"the backup {path} is sealed; give the file of its key by {FLAG}")
    with path.open("rb") as file:
        try:
            raw = SealedBackup(file, rest, path)
        except BrokenSealError as error:
            raise OSError(str(error)) from None
        yield io.BufferedReader(raw, PIECE_BYTES)


def renew_backup(path: Path, rest: RestKey) -> bool:
    """Have the newest key wrap the file's, in place; whether another one had. KeyProblem, OSError.

    One block is on the disk before the other is written.
    """
    magic = magic_of(path) or MAGIC
    with path.open("r+b") as file:
        try:
            key, was_newest = key_of(file, rest, path)
        except BrokenSealError as error:
            raise OSError(str(error)) from None
        if was_newest:
            return False
        for at in reversed(range(BLOCKS)):
            file.seek(at * BLOCK_BYTES)
            file.write(block_of(key, rest, magic))
            file.flush()
            os.fsync(file.fileno())
    return True
