"""Values that travel: what does, what does not, and what a type accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgpack import ExtType, Timestamp, packb

from groupcore.blocks.errors import RegistrationError, ValueRefusedError
from groupcore.blocks.values import (
    DEPTH_MAX,
    check_annotation,
    conforms,
    pack_value,
    unpack_value,
)

PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_what_travels_arrives_as_it_was(value: object) -> None:
    assert unpack_value(pack_value(value)) == value


def test_a_tuple_arrives_as_a_list() -> None:
    assert unpack_value(pack_value((1, (2,)))) == [1, [2]]


@pytest.mark.parametrize(
    "value",
    [{1, 2}, object(), {1: "a"}, {b"k": 1}, 1 << 64, -(1 << 63) - 1, "\ud800", {"\ud800": 1}, 1j],
)
def test_what_does_not_travel_is_refused_by_name(value: object) -> None:
    with pytest.raises(ValueRefusedError):
        pack_value(value)


def test_nesting_has_a_limit() -> None:
    value: object = 1
    for _ in range(DEPTH_MAX):
        value = [value]
    pack_value(value)
    with pytest.raises(ValueRefusedError, match="flatten"):
        pack_value([value])


def test_size_has_a_limit() -> None:
    with pytest.raises(ValueRefusedError, match="at most 100"):
        pack_value(bytes(200), bytes_max=100)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"\xc1",
        b"\x01\x01",
        b"\x92\x01",
        b"\x91" * 5000 + b"\x01",
        packb({1: 2}),
        packb({b"a": 2}),
        packb(ExtType(5, b"x")),
        packb(Timestamp(1)),
        b"\xa1\xff",
        b"\xdf\xff\xff\xff\xff",
    ],
)
def test_bytes_that_are_no_value_are_refused(packed: bytes) -> None:
    with pytest.raises(ValueRefusedError):
        unpack_value(packed)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_refused(packed: bytes) -> None:
    try:
        unpack_value(packed)
    except ValueRefusedError:
        return


@pytest.mark.parametrize(
    ("value", "annotation", "fits"),
    [
        (1, int, True),
        (True, int, False),
        (1, float, True),
        (True, float, False),
        ("a", int, False),
        (None, None, True),
        (None, int | None, True),
        ([1, 2], list[int], True),
        ([1, "2"], list[int], False),
        ({"a": [1]}, dict[str, list[int]], True),
        ({"a": 1}, dict[str, str], False),
        (1, dict[str, int], False),
        ([1], list, True),
        (b"x", object, True),
        (0, None, False),
    ],
)
def test_a_value_conforms_to_a_type_or_not(value: object, annotation: object, fits: bool) -> None:
    check_annotation(annotation)
    assert conforms(value, annotation) is fits


@pytest.mark.parametrize("annotation", [set[int], dict[int, str], complex, "int", list[complex]])
def test_a_type_that_cannot_be_checked_is_refused(annotation: object) -> None:
    with pytest.raises(RegistrationError):
        check_annotation(annotation)
