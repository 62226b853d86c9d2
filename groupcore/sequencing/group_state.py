"""A group's state as it travels: its place, what it depends on, and what the host gave."""

from __future__ import annotations

from typing import cast

from msgpack import packb

from groupcore.context import Numbers, decode_context
from groupcore.errors import WireError
from groupcore.sequencing import columns

HEAD_LENGTH = 4
"""Bytes that say how long the part of a state is that is this service's own."""


def pack_group_state(seqno: int, context: bytes, content: bytes) -> bytes:
    """The state as of `seqno`; `context` is encoded.

    The content is not packed with the rest: it may be large, and is copied once.
    """
    head = cast(bytes, packb([seqno, context]))
    return b"".join((len(head).to_bytes(HEAD_LENGTH, "big"), head, content))


def unpack_group_state(state: bytes) -> tuple[int, Numbers, bytes]:
    """Place, context and content of a state; WireError when the bytes are none."""
    end = HEAD_LENGTH + int.from_bytes(state[:HEAD_LENGTH], "big")
    if end > len(state):
        raise columns.bad("shorter than it says")
    seqno, context = columns.items(columns.unpacked(state[HEAD_LENGTH:end]), 2)
    return columns.counted(seqno)[0], decode_context(columns.blob(context)), state[end:]


def is_group_state(state: bytes, least: int) -> bool:
    """Whether these bytes are a state of a group, as of `least` or a later number."""
    try:
        return unpack_group_state(state)[0] >= least
    except WireError:
        return False
