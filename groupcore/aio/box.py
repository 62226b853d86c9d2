"""Seals what lies on a disk: each record by itself, bound to the kind of its file and its place.

A sealed record is `magic, lane, counter, chance, ciphertext, tag`: AES-256-GCM under a key that is
derived (HKDF-SHA-256) from the folder's data key, the kind, and the lane, 16 random bytes that each
opened box draws anew. The nonce is a counter of 64 bits and 32 random bits. Magic begins with the
byte that no MessagePack value begins with, so plain records of before are told from sealed ones.

Invariants.
  B1  No two records are sealed with the same key and nonce: one counter a lane. A machine that is
      cloned while it runs has lane and counter twice; the 32 random bits then differ but with
      probability 2^-32 a record.
  B2  A record opens only in files of the kind and at the place that it was sealed for.
  B3  Where all was sealed once, a plain record is damage.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from struct import Struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from groupcore.aio.errors import BrokenSealError

MAGIC = b"\xc1GR1"
KEY_BYTES = 32
LANE_BYTES = 16
CHANCE_BYTES = 4
_COUNTER = Struct(">Q")
_NONCE = len(MAGIC) + LANE_BYTES
_CIPHERTEXT = _NONCE + _COUNTER.size + CHANCE_BYTES
OVERHEAD_BYTES = _CIPHERTEXT + 16
"""So much longer is a record when it is sealed."""
INFO = b"groupcore rest 1 "
_CIPHERS_MAX = 256
"""Lanes whose ciphers are kept; each is one opening of the folder."""


def derived(key: bytes, info: bytes, salt: bytes | None = None, length: int = KEY_BYTES) -> bytes:
    """A key for one purpose from another one."""
    return HKDF(SHA256(), length, salt=salt, info=info).derive(key)


def is_sealed(stored: bytes) -> bool:
    """Whether these bytes were sealed by a box."""
    return stored[: len(MAGIC)] == MAGIC


class Box:
    """Seals and opens the records of one kind; from any thread.

    `takes_plain`: whether records that were written before there was a key are taken as they are.
    """

    def __init__(
        self, key: bytes, kind: str, takes_plain: Callable[[], bool] = lambda: False
    ) -> None:
        self._key = key
        self._info = INFO + kind.encode()
        self._takes_plain = takes_plain
        lane = os.urandom(LANE_BYTES)
        self._ciphers: dict[bytes, AESGCM] = {}
        self._cipher = self._cipher_of(lane)
        self._head = MAGIC + lane
        self._count = count()

    @classmethod
    def scratch(cls, kind: str) -> Box:
        """For what only this process reads again: its key is in memory alone."""
        return cls(os.urandom(KEY_BYTES), kind)

    def seal(self, data: bytes, place: bytes = b"") -> bytes:
        """The record, as it stands at this place of the file (B1)."""
        nonce = _COUNTER.pack(next(self._count)) + os.urandom(CHANCE_BYTES)
        return self._head + nonce + self._cipher.encrypt(nonce, data, place)

    def open(self, stored: bytes, place: bytes = b"") -> bytes:
        """What was sealed for this place; BrokenSealError (B2, B3)."""
        if not is_sealed(stored):
            if self._takes_plain():
                return stored
            raise BrokenSealError("it is not sealed, where all was sealed once")
        if len(stored) < OVERHEAD_BYTES:
            raise BrokenSealError("it is cut short")
        cipher = self._cipher_of(stored[len(MAGIC) : _NONCE])
        try:
            return cipher.decrypt(stored[_NONCE:_CIPHERTEXT], stored[_CIPHERTEXT:], place)
        except InvalidTag:
            raise BrokenSealError("it is not what was sealed for this place") from None

    def _cipher_of(self, lane: bytes) -> AESGCM:
        found = self._ciphers.get(lane)
        if found is None:
            if len(self._ciphers) >= _CIPHERS_MAX:
                self._ciphers.clear()
            found = self._ciphers[lane] = AESGCM(derived(self._key, self._info, lane))
        return found
