"""Key files: the cluster's key as hexadecimal or base64 text, readable by its owner only.

A file has one key, and while the key is being changed a new one on a line behind it.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from groupcore.errors import KeyFileError
from groupcore.seal import KEY_BYTES, key_epoch

_FILE_BYTES_MAX = 1_024
KEYS_MAX = 4
"""Most keys in one file."""


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A key file of a node: given as its `key`, the node can change the key while it runs."""

    path: Path

    def read(self) -> tuple[bytes, ...]:
        """Its keys, the newest last; KeyFileError."""
        return read_keys(self.path)

    def keep(self, key: bytes) -> None:
        """Let it hold this key alone; OSError."""
        keep_key(self.path, key)


def read_key_file(path: Path | str) -> bytes:
    """The key in this file, the first one if it has several; KeyFileError as `read_keys`."""
    return read_keys(path)[0]


def read_keys(path: Path | str) -> tuple[bytes, ...]:
    """The 32-byte keys in this file, the newest last.

    KeyFileError when it cannot be read, when others may read it (mode 0600 or stricter is needed;
    docs/threats.md, T25), when it does not hold keys, or when two of them have the same key epoch.
    The text of the error never holds a key.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise KeyFileError(
            f"cannot read the key file {path} ({error.strerror}); make one with: "
            f"(umask 077; openssl rand -hex 32 > {path})"
        ) from None
    if mode & 0o077:
        raise KeyFileError(
            f"the key file {path} has mode {mode:04o}: others may read the key; run: "
            f"chmod 600 {path}"
        )
    keys = [_decode(line) for line in text.split(b"\n") if line.strip()]
    known = tuple(dict.fromkeys(key for key in keys if key is not None))
    if not known or None in keys or len(keys) > KEYS_MAX:
        raise KeyFileError(
            f"the key file {path} does not hold {KEY_BYTES} bytes as hexadecimal (64 digits) or "
            f"base64, one key on a line, at most {KEYS_MAX}; make one with: "
            f"(umask 077; openssl rand -hex 32 > {path})"
        )
    if len({key_epoch(key) for key in known}) < len(known):
        raise KeyFileError(
            f"two keys of the key file {path} cannot be told apart by their epoch, which one pair "
            f"in 256 cannot; make the last one anew: openssl rand -hex 32"
        )
    return known


def keep_key(path: Path | str, key: bytes) -> None:
    """Let the file hold this key alone, written whole or not at all; OSError when it cannot be."""
    path = Path(path)
    fresh = path.with_name(f".{path.name}.new")
    with suppress(FileNotFoundError):
        fresh.unlink()
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise


def _decode(line: bytes) -> bytes | None:
    line = line.strip()
    try:
        key = (
            bytes.fromhex(line.decode("ascii"))
            if len(line) == 2 * KEY_BYTES
            else base64.b64decode(line, validate=True)
        )
    except (ValueError, binascii.Error):
        return None
    return key if len(key) == KEY_BYTES else None
