"""What the node and a worker say to each other: MessagePack behind four bytes with its length."""

from __future__ import annotations

from typing import IO

import msgpack

HEAD_BYTES = 4
FRAME_BYTES_MAX = 256 << 20
"""Longest frame; a worker that says more is ended."""

OK, REFUSED, FAILED = "ok", "refused", "failed"
"""The first word of an answer: the result, a code and a text, or a text for the log."""


def packed(value: object) -> bytes:
    """A frame."""
    body: bytes = msgpack.packb(value)
    return len(body).to_bytes(HEAD_BYTES, "big") + body


def unpacked(body: bytes) -> object:
    """What a frame without its length holds; arrays are tuples. ValueError."""
    try:
        return msgpack.unpackb(body, use_list=False, strict_map_key=False)
    except (msgpack.UnpackException, TypeError) as error:
        raise ValueError(f"not a frame: {error!r}") from None


def read_frame(file: IO[bytes]) -> bytes:
    """The next frame without its length; empty where there is none."""
    head = file.read(HEAD_BYTES)
    return file.read(int.from_bytes(head, "big")) if len(head) == HEAD_BYTES else b""
