"""The key file of what lies on disks, and how it wraps the keys that seal.

The file is made and read as the cluster's key file is: 32 bytes in hexadecimal, mode 0600; a new
key is put on a line behind the present one. What the file holds seals no data. It wraps random data
keys, one a folder (`groupcore.aio.data_key`) and one a backup, so that it changes without any data
being written anew: every key of the file unwraps, the last one wraps.

A wrapped key is one line: the print of the key that wrapped it, nonce and ciphertext, and a
checksum of both, all hexadecimal. So another key (a print that is unknown), damage (a checksum that
is wrong) and a wrap that is forged are told apart.
"""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from groupcore.aio.box import derived
from groupcore.aio.errors import BrokenSealError, RestKeyError
from groupcore.aio.key_file import read_keys
from groupcore.aio.sealed_store import checksum

PRINT_BYTES = 8
NONCE_BYTES = 12
WRAP_INFO = b"groupcore rest wrap 1"
PRINT_INFO = b"groupcore rest print 1"


def print_of(key: bytes) -> str:
    """By what a key is told from others; it says nothing about the key."""
    return derived(key, PRINT_INFO, length=PRINT_BYTES).hex()


class RestKey:
    """The keys of a key file, as they were when it was read; KeyFileError from the constructor.

    Keeping it in use asks nothing of the file any more.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._keys = {print_of(key): key for key in read_keys(self.path)}
        self.newest = next(reversed(self._keys))

    def wrap(self, secret: bytes) -> bytes:
        """The secret under the newest key, a line without its end.

        The nonce is random: 2^32 wraps under one key, of which each folder, backup and key change
        takes one, meet the same nonce with probability 2^-33.
        """
        nonce = os.urandom(NONCE_BYTES)
        cipher = AESGCM(derived(self._keys[self.newest], WRAP_INFO))
        words = f"{self.newest} {(nonce + cipher.encrypt(nonce, secret, None)).hex()}".encode()
        return words + b" " + checksum(words).hex().encode()

    def unwrap(self, line: bytes, what: Path) -> tuple[bytes, bool]:
        """The secret, and whether the newest key has wrapped it.

        RestKeyError where that key is not in the file, BrokenSealError for damage.
        """
        words, _, seal = line.strip().rpartition(b" ")
        name, _, wrapped = words.decode("ascii", "replace").partition(" ")
        if checksum(words).hex().encode() != seal:
            raise BrokenSealError(f"the wrapped key in {what} is damaged")
        key = self._keys.get(name)
        if key is None:
            raise RestKeyError(
                f"{what} was sealed under the key {name}, and {self.path} holds "
                f"{', '.join(self._keys)}; put that key into the file, on a line before the others"
            )
        try:
            data = bytes.fromhex(wrapped)
            nonce, rest = data[:NONCE_BYTES], data[NONCE_BYTES:]
            return AESGCM(derived(key, WRAP_INFO)).decrypt(nonce, rest, None), name == self.newest
        except (ValueError, InvalidTag):
            raise BrokenSealError(f"the wrapped key in {what} is damaged") from None
