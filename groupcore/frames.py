"""Frames between browser and node: msgpack arrays of maps, decoded strictly.

A frame that is not of the documented form raises BadFrameError; nothing else leaves the decoder,
whatever the bytes are. Messages are packed once and joined into frames, so that one encoding
serves every session (hot path, rule 18).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from msgpack import ExtType, Packer, Unpacker
from msgpack.exceptions import UnpackException

from groupcore.errors import GroupcoreError

Json: TypeAlias = bool | int | float | str | bytes | list["Json"] | dict[str, "Json"] | None
Message: TypeAlias = dict[str, Json]

_packer = Packer(use_bin_type=True, autoreset=True)


class BadFrameError(GroupcoreError):
    """Bytes from outside are no frame of this protocol; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class FrameRules:
    """What a protocol lets into a frame: sizes, and `rich` for floats and bytes.

    `messages_max` in one frame, `items_max` in one array or map, `nesting_max` of arrays and maps,
    the frame itself included, `integer_max` the largest integer either way.
    """

    messages_max: int
    items_max: int
    nesting_max: int
    integer_max: int = 2**53 - 1
    rich: bool = False


def pack(message: Message) -> bytes:
    """One message as it stands inside a frame."""
    packed: bytes = _packer.pack(message)
    return packed


def joined(messages: Sequence[bytes], messages_max: int, bytes_max: int) -> Iterator[bytes]:
    """Packed messages as frames, bounded in number and bytes; a larger one stands alone."""
    some: list[bytes] = []
    size = 0
    for message in messages:
        if some and (len(some) == messages_max or size + len(message) > bytes_max):
            yield _array_header(len(some)) + b"".join(some)
            some, size = [], 0
        some.append(message)
        size += len(message)
    if some:
        yield _array_header(len(some)) + b"".join(some)


def _array_header(count: int) -> bytes:
    """The msgpack header of an array."""
    return bytes((0x90 | count,)) if count < 16 else struct.pack("!BH", 0xDC, count)


def decode(data: bytes, rules: FrameRules) -> list[Message]:
    """The messages of a frame; BadFrameError when it is malformed."""
    try:
        unpacker = Unpacker(
            raw=False,
            use_list=True,
            strict_map_key=True,
            object_pairs_hook=_unique_keys,
            max_buffer_size=max(len(data), 1),
            max_array_len=rules.items_max,
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
    if type(frame) is not list or not 1 <= len(frame) <= rules.messages_max:
        _bad(f"must be an array of 1 to {rules.messages_max} messages")
    for message in frame:
        if type(message) is not dict or type(message.get("t")) is not str:
            _bad("a message must be a map with its kind under t")
    check_values(frame, rules)
    return frame


def check_values(root: object, rules: FrameRules) -> None:
    """Nesting, integers and text of everything inside; BadFrameError."""
    level: list[object] = [root]
    for _ in range(rules.nesting_max + 1):
        below: list[object] = []
        for value in level:
            below.extend(_check_value(value, rules))
        if not below:
            return
        level = below
    _bad(f"nested deeper than {rules.nesting_max}")


def _check_value(value: object, rules: FrameRules) -> Iterable[object]:
    """Check one value; what it contains."""
    if type(value) is list:
        return value
    if type(value) is dict:
        if not all(type(key) is str for key in value):
            _bad("a key is not a string")
        return value.values()
    if type(value) is int:
        if not -rules.integer_max <= value <= rules.integer_max:
            _bad("an integer is out of range")
    elif type(value) is str:
        if "\x00" in value:
            _bad("text holds U+0000")
    elif rules.rich and type(value) in (float, bytes):
        if type(value) is float and not math.isfinite(value):
            _bad("a number is not finite")
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
    raise BadFrameError(message)
