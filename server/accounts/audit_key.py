"""The key of a node's audit file: kept in the data folder, derived from the cluster key if any.

Without a cluster key, and where nodes have certificates, a node draws a key of its own at its first
start: who has the cluster key, or another node's, forges nothing in this node's file. With the
cluster key alone, all nodes derive the same audit key by HKDF-SHA-256 (RFC 5869), so that each of
them can verify the file of another.
The key stands in `audit.key`, mode 0600, as `audit:` and 64 hexadecimal digits; where the folder is
sealed, so is that line.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from groupcore.aio import KeyFile
from groupcore.errors import KeyFileError
from server.errors import DamagedStoreError, KeyProblem
from server.rest import Seals, told
from server.sealed_lines import MARK, open_line, seal_line

NAME = "audit.key"
PREFIX = "audit:"
KEY_BYTES = 32
INFO = b"groupcore audit log 1"
_FILE_BYTES_MAX = 1_024


def derived(cluster_key: bytes) -> bytes:
    """The audit key of a cluster with this key: 32 bytes."""
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=INFO).derive(cluster_key)


def read_any(path: Path, seals: Seals | None = None) -> tuple[bytes, ...]:
    """The audit keys that a file gives: an audit key itself, or one for each cluster key in it.

    KeyProblem where it cannot be read, where others may read it, or where it holds no key.
    """
    with suppress(OSError, UnicodeDecodeError):
        if path.read_bytes().startswith((PREFIX.encode(), MARK)):
            return (read_audit_key(path, seals),)
    try:
        return tuple(derived(key) for key in KeyFile(path).read())
    except KeyFileError as error:
        raise KeyProblem(str(error)) from None


def read_audit_key(path: Path, seals: Seals | None = None) -> bytes:
    """The key in an `audit.key`; KeyProblem, whose text never holds a key. DamagedStoreError."""
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(_FILE_BYTES_MAX).strip()
    except OSError as error:
        raise KeyProblem(f"cannot read the audit key {path}: {error.strerror}") from None
    if mode & 0o077:
        raise KeyProblem(
            f"the audit key {path} has mode {mode:04o}: others may read it; run: chmod 600 {path}"
        )
    with told():
        text = open_line(None if seals is None else seals.box(NAME), 0, text)
    try:
        key = bytes.fromhex(text.decode("ascii").removeprefix(PREFIX))
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise KeyProblem(f"the audit key {path} is damaged; put it back from a copy")
    return key


class AuditKey:
    """The keys that a node has for its audit file; KeyProblem.

    `current` is the one to write with, `known` all to read with, `is_first` says that the folder
    has kept none so far: what its file has was written without, or with a key that is lost.
    """

    def __init__(
        self,
        folder: Path,
        cluster: Sequence[bytes] = (),
        seals: Seals | None = None,
        own: bool = False,
    ) -> None:
        self._path, self._fresh = folder / NAME, folder / f".{NAME}.new"
        self._seals = seals
        kept = read_audit_key(self._path, seals) if self._path.exists() else None
        self.is_first = kept is None
        from_cluster = [derived(key) for key in cluster]
        if from_cluster and not own:
            self.current = from_cluster[0]
        elif kept is not None and kept not in from_cluster:
            self.current = kept
        elif self._fresh.exists():  # a start that has not come to `keep`
            self.current = self._read_fresh()
        else:
            self.current = secrets.token_bytes(KEY_BYTES)
        former = () if kept is None else (kept,)
        self.known = tuple(dict.fromkeys((self.current, *former, *from_cluster)))
        if kept != self.current or self._is_plain():
            self._write()

    def keep(self) -> None:
        """The file is written with the current key from here on: the folder keeps it."""
        if self._fresh.exists():
            self._fresh.replace(self._path)
        self.is_first = False

    def _is_plain(self) -> bool:
        """It was written before there was something to seal it with."""
        is_sealed = self._path.read_bytes().startswith(MARK)
        return self._seals is not None and self._seals.box(NAME) is not None and not is_sealed

    def _read_fresh(self) -> bytes:
        try:
            return read_audit_key(self._fresh, self._seals)
        except (KeyProblem, DamagedStoreError):  # torn by a crash, so nothing was written with it
            return secrets.token_bytes(KEY_BYTES)

    def _write(self) -> None:
        with suppress(FileNotFoundError):
            self._fresh.unlink()
        handle = os.open(self._fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        box = None if self._seals is None else self._seals.box(NAME)
        with os.fdopen(handle, "wb") as file:
            file.write(seal_line(box, 0, f"{PREFIX}{self.current.hex()}".encode()) + b"\n")
            file.flush()
            os.fsync(file.fileno())
