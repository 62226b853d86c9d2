"""Chained checksums: what is stored in order hashes what is before it.

So a record that was changed, lost or swapped shows when it is read again. The store on a disk and
the simulated one use the same.
"""

from __future__ import annotations

import hashlib
import struct

CHAIN_BYTES = 16
GENESIS = bytes(CHAIN_BYTES)
"""The chain before the first record."""


def chained(previous: bytes, epoch: int, position: int, payload: bytes) -> bytes:
    """The chain after a record."""
    head = previous + struct.pack("!QQ", epoch, position)
    return hashlib.blake2b(head + payload, digest_size=CHAIN_BYTES).digest()
