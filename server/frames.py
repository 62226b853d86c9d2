"""Frames between browser and node: msgpack arrays of maps, decoded strictly.

A frame that is not of the documented form raises BadMessageError `bad_frame`; nothing else leaves
the decoder, whatever the bytes are. A WebSocket frame around it is made here too, so that one
encoding serves every session (hot path, rule 18).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NoReturn

from msgpack import ExtType, Packer, Unpacker
from msgpack.exceptions import UnpackException

from server.errors import BadMessageError
from server.limits import (
    FRAME_BYTES_SENT,
    FRAME_MESSAGES_MAX,
    INTEGER_MAX,
    ITEMS_MAX,
    NESTING_MAX,
)

Json = None | bool | int | float | str | bytes | list["Json"] | dict[str, "Json"]
Message = dict[str, Json]

_packer = Packer(use_bin_type=True, autoreset=True)


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


def pack(message: Message) -> bytes:
    """One message as it stands inside a frame."""
    packed: bytes = _packer.pack(message)
    return packed


def join_messages(messages: Sequence[bytes]) -> list[Frame]:
    """Packed messages as frames, bounded in number and bytes; a larger one stands alone."""
    frames = []
    some: list[bytes] = []
    size = 0
    for message in messages:
        if some and (len(some) == FRAME_MESSAGES_MAX or size + len(message) > FRAME_BYTES_SENT):
            frames.append(Frame(_array_header(len(some)) + b"".join(some)))
            some, size = [], 0
        some.append(message)
        size += len(message)
    if some:
        frames.append(Frame(_array_header(len(some)) + b"".join(some)))
    return frames


def _array_header(count: int) -> bytes:
    """The msgpack header of an array of 1 to 64 elements."""
    return bytes((0x90 | count,)) if count < 16 else struct.pack("!BH", 0xDC, count)


def decode_frame(data: bytes) -> list[Message]:
    """The messages of a frame from a browser; BadMessageError `bad_frame` when it is malformed."""
    try:
        unpacker = Unpacker(
            raw=False,
            use_list=True,
            strict_map_key=True,
            object_pairs_hook=_unique_keys,
            max_buffer_size=max(len(data), 1),
            max_array_len=ITEMS_MAX,
            max_map_len=64,
            max_ext_len=0,
        )
        unpacker.feed(data)
        frame = unpacker.unpack()
        rest = unpacker.tell() != len(data)
    except (UnpackException, ValueError, TypeError, OverflowError, RecursionError) as error:
        _bad(f"not msgpack: {type(error).__name__}")
    if rest:
        _bad("bytes behind the array")
    if type(frame) is not list or not 1 <= len(frame) <= FRAME_MESSAGES_MAX:
        _bad(f"must be an array of 1 to {FRAME_MESSAGES_MAX} messages")
    for message in frame:
        if type(message) is not dict or type(message.get("t")) is not str:
            _bad("a message must be a map with its kind under t")
    check_values(frame)
    return frame


def check_values(root: object) -> None:
    """Nesting, integers and text of everything inside; BadMessageError `bad_frame`."""
    level: list[object] = [root]
    for _ in range(NESTING_MAX + 1):
        below: list[object] = []
        for value in level:
            below.extend(_check_value(value))
        if not below:
            return
        level = below
    _bad(f"nested deeper than {NESTING_MAX}")


def _check_value(value: object) -> Iterable[object]:
    """Check one value; what it contains."""
    if type(value) is list:
        return value
    if type(value) is dict:
        if not all(type(key) is str for key in value):
            _bad("a key is not a string")
        return value.values()
    if type(value) is int:
        if not -INTEGER_MAX <= value <= INTEGER_MAX:
            _bad("an integer is out of range")
    elif type(value) is str:
        if "\x00" in value:
            _bad("text holds U+0000")
    elif value is not None and type(value) is not bool:
        kind = "extension" if isinstance(value, ExtType) else type(value).__name__
        _bad(f"{kind} values are not part of this protocol")
    return ()


def _unique_keys(pairs: list[tuple[object, object]]) -> dict[object, object]:
    """A map whose keys come once each."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _bad(message: str) -> NoReturn:
    raise BadMessageError("bad_frame", message)
