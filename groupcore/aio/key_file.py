"""Key files: the cluster key as hexadecimal or base64 text, readable by its owner only."""

from __future__ import annotations

import base64
import binascii
import os
import stat
from pathlib import Path

from groupcore.errors import KeyFileError
from groupcore.seal import KEY_BYTES

_FILE_BYTES_MAX = 1_024


def read_key_file(path: Path | str) -> bytes:
    """The 32-byte key in this file.

    KeyFileError when it cannot be read, when others may read it (mode 0600 or stricter is needed,
    threat model T25), or when it does not hold a key. The text of the error never holds the key.
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
    key = _decode(text)
    if key is None:
        raise KeyFileError(
            f"the key file {path} does not hold {KEY_BYTES} bytes as hexadecimal (64 digits) or "
            f"base64; make one with: (umask 077; openssl rand -hex 32 > {path})"
        )
    return key


def _decode(text: bytes) -> bytes | None:
    text = text.strip()
    try:
        key = (
            bytes.fromhex(text.decode("ascii"))
            if len(text) == 2 * KEY_BYTES
            else base64.b64decode(text, validate=True)
        )
    except (ValueError, binascii.Error):
        return None
    return key if len(key) == KEY_BYTES else None
