"""Frames: the decoder takes what is documented and refuses everything else with one error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode

from server.errors import BadMessageError
from server.frames import Frame, close_frame, decode_frame, join_messages, pack
from server.limits import FRAME_BYTES_SENT, FRAME_MESSAGES_MAX
from server.operations import (
    Create,
    Operation,
    Submit,
    Void,
    decode_operation,
    encode_operation,
)
from server.peers import decode_peer

T = TypeVar("T")

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
names = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
lines = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r\n"))
numbers = st.integers(0, 2**53 - 1)


def try_decode(data: bytes) -> list[Any] | None:
    """The frame, or None when it is refused as it should be."""
    return refused_or(decode_frame, data, "bad_frame")


def refused_or(decode: Callable[[bytes], T], data: bytes, code: str) -> T | None:
    """What the decoder makes of the bytes; None when it refuses them with this code."""
    try:
        return decode(data)
    except BadMessageError as error:
        if error.code != code:
            raise
        return None


@given(st.binary(max_size=300))
def test_no_bytes_make_the_decoder_raise_anything_else(data: bytes) -> None:
    try_decode(data)


@given(values)
def test_no_value_makes_the_decoder_raise_anything_else(value: object) -> None:
    try:
        data = msgpack.packb(value)
    except (OverflowError, ValueError):
        return
    try_decode(data)


@given(
    st.lists(
        st.fixed_dictionaries({"t": lines.filter(bool)}, optional={"n": numbers, "s": lines}),
        min_size=1,
        max_size=FRAME_MESSAGES_MAX,
    )
)
def test_a_documented_frame_is_read_as_it_was_written(messages: list[dict[str, Any]]) -> None:
    assert decode_frame(msgpack.packb(messages)) == messages


@given(st.binary(max_size=64), st.integers(0, 63))
def test_a_truncated_frame_is_refused(tail: bytes, cut: int) -> None:
    whole = msgpack.packb([{"t": "submit", "changes": [["text", "b1", [5, "abc"]]], "op": 7}])
    assert try_decode(whole[: min(cut, len(whole) - 1)]) is None
    if tail:
        assert try_decode(whole + tail) is None


@pytest.mark.parametrize("value", [1.5, float("nan"), b"x", "a\x00b", 2**53, -(2**53)])
def test_values_outside_the_protocol_are_refused(value: object) -> None:
    assert try_decode(msgpack.packb([{"t": "pong", "x": value}])) is None


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 100_000])
def test_a_frame_on_the_wire_is_what_websockets_would_write(size: int) -> None:
    payload = bytes(size)
    assert Frame(payload).wire == WireFrame(Opcode.BINARY, payload).serialize(mask=False)


def test_a_close_frame_is_what_websockets_would_write() -> None:
    expected = WireFrame(Opcode.CLOSE, b"\x0f\xa2fell behind").serialize(mask=False)
    assert close_frame(4002, "fell behind") == expected


def test_messages_are_joined_up_to_the_bounds_in_their_order() -> None:
    messages = [pack({"t": "m", "n": number}) for number in range(150)]
    frames = join_messages(messages)
    assert [len(msgpack.unpackb(frame.payload)) for frame in frames] == [64, 64, 22]
    read = [m["n"] for frame in frames for m in msgpack.unpackb(frame.payload)]
    assert read == list(range(150))
    large = pack({"t": "m", "s": "x" * (FRAME_BYTES_SENT // 2)})
    assert len(join_messages([large, large, large])) == 3


operations: st.SearchStrategy[Operation] = st.one_of(
    st.builds(
        Submit,
        names,
        names,
        st.integers(1, 2**53 - 1),
        numbers,
        numbers,
        st.just([["text", "b1", [1, "x"]]]),
        lines.filter(lambda text: 1 <= len(text) <= 80),
    ),
    st.builds(
        Create,
        names,
        lines.filter(lambda text: 1 <= len(text) <= 200),
        st.lists(st.tuples(names, st.just({"kind": "paragraph"}), lines), max_size=3),
        st.just("key"),
    ),
    st.builds(Void, names, names, st.integers(1, 99), st.just("bad_change"), st.just("why")),
)


@given(operations)
def test_an_operation_survives_the_order(operation: Operation) -> None:
    assert decode_operation(encode_operation(operation)) == operation


@given(st.binary(max_size=200) | values.map(lambda value: repr(value).encode()))
def test_bytes_that_are_no_operation_raise_bad_change_and_nothing_else(data: bytes) -> None:
    refused_or(decode_operation, data, "bad_change")


@given(values)
def test_values_that_are_no_operation_raise_bad_change_and_nothing_else(value: object) -> None:
    try:
        data = msgpack.packb(["submit", value, "c", 1, 0, 0, [value], value])
    except (OverflowError, ValueError):
        return
    refused_or(decode_operation, data, "bad_change")
    decode_peer(data)


@given(st.binary(max_size=200))
def test_no_bytes_from_a_peer_raise(data: bytes) -> None:
    decode_peer(data)
