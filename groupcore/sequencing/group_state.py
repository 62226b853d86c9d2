"""A group's state as it travels: its place, what it depends on, and what the host gave."""

from __future__ import annotations

from typing import cast

from msgpack import packb, unpackb

from groupcore.context import Numbers, decode_context

HEAD_LENGTH = 4
"""Bytes that say how long the part of a state is that is this service's own."""


def pack_group_state(seqno: int, context: bytes, content: bytes) -> bytes:
    """The state as of `seqno`; `context` is encoded.

    The content is not packed with the rest: it may be large, and is copied once.
    """
    head = cast(bytes, packb([seqno, context]))
    return b"".join((len(head).to_bytes(HEAD_LENGTH, "big"), head, content))


def unpack_group_state(state: bytes) -> tuple[int, Numbers, bytes]:
    """Place, context and content of a state."""
    end = HEAD_LENGTH + int.from_bytes(state[:HEAD_LENGTH], "big")
    seqno, context = unpackb(state[HEAD_LENGTH:end])
    return seqno, decode_context(context), state[end:]
