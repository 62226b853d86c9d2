"""Message content: an identity that can be read back, and filler up to a size."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from zlib import crc32

from groupcore.sim.trace import Mid

SIZE_MIN = 24
"""Smallest message, in bytes: room for its identity."""
WORD = b"word "
"""In front of what an application says to the others."""


def compose_message(mid: Mid, size_bytes: int, word: bytes = b"") -> bytes:
    """A message of that identity; its filler depends on the identity, so that a mix-up shows.

    `word`: what applications tell each other by it; without a semicolon.
    """
    head = f"{mid.origin}:{mid.inc}:{mid.lseq}:".encode()
    if word:
        head += WORD + word + b";"
    filler = b"%08x" % crc32(head)
    missing = max(size_bytes - len(head), 8)
    return head + (filler * (missing // 8 + 1))[:missing]


def identify(payload: bytes) -> Mid:
    """The identity in a message; what is not one of ours becomes a message that nobody sent."""
    try:
        origin, inc, lseq, _ = payload.split(b":", 3)
        return Mid(origin.decode(), int(inc), int(lseq))
    except (ValueError, UnicodeDecodeError):
        return Mid("?", 0, crc32(payload))


def read_word(payload: bytes) -> bytes:
    """What an application says to the others by a message of ours; empty when nothing."""
    content = payload.split(b":", 3)[-1]
    return content[len(WORD) :].partition(b";")[0] if content.startswith(WORD) else b""


def content_hash(payload: bytes) -> int:
    """What the trace keeps of a content."""
    return crc32(payload)


def state_hash(entries: Iterable[tuple[Mid, int]]) -> str:
    """The hash of the state that these messages, with their content hashes, have led to."""
    digest = blake2b(digest_size=8)
    for entry in entries:
        digest.update(state_step(*entry))
    return digest.hexdigest()


def state_step(mid: Mid, content: int) -> bytes:
    """What one message adds to the hash of the state."""
    return f"{mid.origin}/{mid.inc}/{mid.lseq}/{content};".encode()
