"""Frames of this protocol, and the WebSocket frame around them (`groupcore.frames` has the rest).

A WebSocket frame is made here, too, so that one encoding serves every session (hot path, rule 18).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from groupcore import frames
from groupcore.frames import Json, Message, pack
from server.errors import BadMessageError
from server.limits import (
    FRAME_BYTES_SENT,
    FRAME_MESSAGES_MAX,
    INTEGER_MAX,
    ITEMS_MAX,
    NESTING_MAX,
)

__all__ = [
    "Frame",
    "Json",
    "Message",
    "check_values",
    "close_frame",
    "decode_frame",
    "join_messages",
    "pack",
    "websocket_header",
]

RULES = frames.FrameRules(FRAME_MESSAGES_MAX, ITEMS_MAX, NESTING_MAX, INTEGER_MAX)


class Frame:
    """One binary message, encoded once: the bare payload and the whole WebSocket frame."""

    __slots__ = ("payload", "wire")

    def __init__(self, payload: bytes) -> None:
        self.payload = payload
        self.wire = websocket_header(len(payload)) + payload


def websocket_header(size_bytes: int) -> bytes:
    """The header of an unmasked, unfragmented binary frame (RFC 6455, section 5.2)."""
    if size_bytes < 126:
        return bytes((0x82, size_bytes))
    if size_bytes < 65536:
        return struct.pack("!BBH", 0x82, 126, size_bytes)
    return struct.pack("!BBQ", 0x82, 127, size_bytes)


def close_frame(code: int, reason: str) -> bytes:
    """A whole close frame, for a connection that is past ordinary closing."""
    body = struct.pack("!H", code) + reason.encode()[:120]
    return bytes((0x88, len(body))) + body


def join_messages(messages: Sequence[bytes]) -> list[Frame]:
    """Packed messages as frames, bounded in number and bytes; a larger one stands alone."""
    return [Frame(one) for one in frames.joined(messages, FRAME_MESSAGES_MAX, FRAME_BYTES_SENT)]


def decode_frame(data: bytes) -> list[Message]:
    """The messages of a frame from a browser; BadMessageError `bad_frame` when it is malformed."""
    try:
        return frames.decode(data, RULES)
    except frames.BadFrameError as error:
        raise BadMessageError("bad_frame", str(error)) from None


def check_values(root: object) -> None:
    """Nesting, integers and text of everything inside; BadMessageError `bad_frame`."""
    try:
        frames.check_values(root, RULES)
    except frames.BadFrameError as error:
        raise BadMessageError("bad_frame", str(error)) from None
