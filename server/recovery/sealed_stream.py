"""A stream of sealed chunks between two nodes of one cluster.

Each chunk is a big-endian 32-bit length and an AES-256-GCM box of at most CHUNK_BYTES plaintext.
The key is drawn from the cluster key and the transfer's random ticket, so it serves one stream;
the nonce is the chunk's number, and the associated data says whether it is the last, so chunks
cannot be swapped, dropped or the stream cut short. The last holds a hash of everything before.
"""

from __future__ import annotations

import hashlib
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

CHUNK_BYTES = 262_144
"""Most plaintext in a chunk."""

TAG_BYTES = 16
DIGEST_BYTES = 32


class TransferError(Exception):
    """The transfer has failed; another holder may be asked."""


def _box(cluster_key: bytes, ticket: bytes) -> AESGCM:
    info = b"groupcore transfer v1"
    return AESGCM(HKDF(SHA256(), 32, salt=ticket, info=info).derive(cluster_key))


class Sealer:
    """The provider's end: plaintext in, sealed chunks out."""

    def __init__(self, cluster_key: bytes, ticket: bytes) -> None:
        self._box = _box(cluster_key, ticket)
        self._count = 0
        self._buffer = bytearray()
        self._digest = hashlib.blake2b(digest_size=DIGEST_BYTES)

    def feed(self, data: bytes) -> list[bytes]:
        """Sealed chunks as soon as they are full."""
        self._digest.update(data)
        self._buffer += data
        chunks = []
        while len(self._buffer) >= CHUNK_BYTES:
            chunks.append(self._seal(bytes(self._buffer[:CHUNK_BYTES]), last=False))
            del self._buffer[:CHUNK_BYTES]
        return chunks

    def finish(self) -> list[bytes]:
        """What is left, and the last chunk."""
        chunks = [self._seal(bytes(self._buffer), last=False)] if self._buffer else []
        self._buffer.clear()
        return [*chunks, self._seal(self._digest.digest(), last=True)]

    def _seal(self, plain: bytes, last: bool) -> bytes:
        sealed = self._box.encrypt(self._count.to_bytes(12, "big"), plain, bytes((last,)))
        self._count += 1
        return struct.pack("!I", len(sealed)) + sealed


class Opener:
    """The joiner's end: bytes in as they come, plaintext out; TransferError when they are wrong."""

    def __init__(self, cluster_key: bytes, ticket: bytes) -> None:
        self._box = _box(cluster_key, ticket)
        self._count = 0
        self._buffer = bytearray()
        self._digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        self.finished = False

    def feed(self, data: bytes) -> bytes:
        """The plaintext of the chunks that are complete now."""
        self._buffer += data
        plain = bytearray()
        while len(self._buffer) >= 4:
            size = struct.unpack_from("!I", self._buffer)[0]
            if not TAG_BYTES <= size <= CHUNK_BYTES + TAG_BYTES:
                raise TransferError("a chunk has a wrong length")
            if len(self._buffer) < 4 + size:
                break
            plain += self._open(bytes(self._buffer[4 : 4 + size]))
            del self._buffer[: 4 + size]
        return bytes(plain)

    def _open(self, sealed: bytes) -> bytes:
        if self.finished:
            raise TransferError("bytes behind the last chunk")
        nonce = self._count.to_bytes(12, "big")
        self._count += 1
        try:
            plain = self._box.decrypt(nonce, sealed, b"\x00")
        except InvalidTag:
            self._finish(nonce, sealed)
            return b""
        self._digest.update(plain)
        return plain

    def _finish(self, nonce: bytes, sealed: bytes) -> None:
        try:
            digest = self._box.decrypt(nonce, sealed, b"\x01")
        except InvalidTag:
            raise TransferError("a chunk does not open; do the nodes share one key?") from None
        if digest != self._digest.digest():
            raise TransferError("the hash over the stream is wrong")
        self.finished = True
