"""The algebra of contexts (paper, section 4.1), and their bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgpack import packb

from groupcore.context import (
    ENTRIES_MAX,
    NAME_MAX,
    NUMBER_MAX,
    Numbers,
    component,
    decode_context,
    encode_context,
    merge,
    merge_into,
    precedes,
    precedes_or_equals,
    restrict,
)
from groupcore.errors import WireError
from groupcore.view import Address

STREAMS = [Address("a", 1), Address("a", 2), Address("b", 1), Address("c", 1)]
SMALL = st.dictionaries(st.sampled_from(STREAMS), st.integers(1, 4))
"""Contexts of few streams and numbers, so that all cases of an order come up."""
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=NAME_MAX)
NUMBER = st.integers(0, NUMBER_MAX)
ADDRESSES = st.builds(Address, NAMES, NUMBER)
NUMBERS = st.dictionaries(ADDRESSES, NUMBER, max_size=20)

A, B = STREAMS[0], STREAMS[2]


# --- C.S and C|S ----------------------------------------------------------------------------------


@given(SMALL)
def test_a_component_is_the_number_of_the_pair_or_less_than_every_number(context: Numbers) -> None:
    for stream in STREAMS:
        if stream in context:
            assert component(context, stream) == context[stream] > 0
        else:
            assert component(context, stream) == 0


@given(SMALL, st.sets(st.sampled_from(STREAMS)))
def test_a_restriction_selects_just_the_pairs_of_these_streams(
    context: Numbers, streams: set[Address]
) -> None:
    kept = restrict(context, streams)
    for stream in STREAMS:
        expected = component(context, stream) if stream in streams else 0
        assert component(kept, stream) == expected
    assert precedes_or_equals(kept, context)


@given(SMALL, st.sets(st.sampled_from(STREAMS)), st.sets(st.sampled_from(STREAMS)))
def test_restrictions_of_a_restriction_are_one_to_what_both_keep(
    context: Numbers, one: set[Address], other: set[Address]
) -> None:
    assert restrict(restrict(context, one), other) == restrict(context, one & other)


# --- merge: the least context that both precede ---------------------------------------------------


@given(SMALL, SMALL)
def test_a_merge_has_the_larger_number_of_each_stream(one: Numbers, other: Numbers) -> None:
    merged = merge(one, other)
    for stream in STREAMS:
        assert component(merged, stream) == max(component(one, stream), component(other, stream))


@given(SMALL, SMALL, SMALL)
def test_merging_is_commutative_associative_and_idempotent(
    one: Numbers, other: Numbers, third: Numbers
) -> None:
    assert merge(one, other) == merge(other, one)
    assert merge(merge(one, other), third) == merge(one, merge(other, third))
    assert merge(one, one) == one
    assert merge(one, {}) == one


@given(SMALL, SMALL, SMALL)
def test_a_merge_is_the_least_that_both_precede(
    one: Numbers, other: Numbers, bound: Numbers
) -> None:
    merged = merge(one, other)
    assert precedes_or_equals(one, merged)
    assert precedes_or_equals(other, merged)
    both_below = precedes_or_equals(one, bound) and precedes_or_equals(other, bound)
    assert precedes_or_equals(merged, bound) == both_below


@given(SMALL, SMALL, SMALL)
def test_merging_is_monotone(one: Numbers, other: Numbers, third: Numbers) -> None:
    if precedes_or_equals(one, other):
        assert precedes_or_equals(merge(one, third), merge(other, third))


@given(SMALL, SMALL, st.sets(st.sampled_from(STREAMS)))
def test_restricting_a_merge_is_merging_restrictions(
    one: Numbers, other: Numbers, streams: set[Address]
) -> None:
    parts = merge(restrict(one, streams), restrict(other, streams))
    assert restrict(merge(one, other), streams) == parts


@given(SMALL, SMALL)
def test_merging_into_a_context_is_merging_and_leaves_the_other_alone(
    one: Numbers, other: Numbers
) -> None:
    expected, kept, before = merge(one, other), dict(one), dict(other)
    merge_into(kept, other)
    assert kept == expected
    assert other == before
    assert merge(one, other) is not one


# --- <= and < -------------------------------------------------------------------------------------


@given(SMALL, SMALL, SMALL)
def test_precedes_or_equals_is_a_partial_order(
    one: Numbers, other: Numbers, third: Numbers
) -> None:
    assert precedes_or_equals(one, one)
    if precedes_or_equals(one, other) and precedes_or_equals(other, one):
        assert one == other
    if precedes_or_equals(one, other) and precedes_or_equals(other, third):
        assert precedes_or_equals(one, third)


@given(SMALL, SMALL)
def test_precedes_or_equals_compares_every_stream(one: Numbers, other: Numbers) -> None:
    each = all(component(one, stream) <= component(other, stream) for stream in STREAMS)
    assert precedes_or_equals(one, other) == each
    assert precedes_or_equals(one, other) == (merge(one, other) == other)


@given(SMALL, SMALL, SMALL)
def test_precedes_is_strict(one: Numbers, other: Numbers, third: Numbers) -> None:
    some = any(component(one, stream) < component(other, stream) for stream in STREAMS)
    assert precedes(one, other) == (precedes_or_equals(one, other) and some)
    assert not precedes(one, one)
    assert not (precedes(one, other) and precedes(other, one))
    if precedes(one, other) and precedes(other, third):
        assert precedes(one, third)


def test_contexts_need_not_be_comparable() -> None:
    one, other = {A: 2, B: 1}, {A: 1, B: 2}
    assert not precedes_or_equals(one, other)
    assert not precedes_or_equals(other, one)


def test_a_stream_without_a_pair_is_before_every_number() -> None:
    assert precedes({}, {A: 1})
    assert not precedes_or_equals({A: 1}, {B: 9})


# --- on the wire ----------------------------------------------------------------------------------


@given(NUMBERS)
def test_what_is_encoded_is_decoded(numbers: Numbers) -> None:
    assert decode_context(encode_context(numbers)) == numbers


def test_an_empty_context_has_no_bytes() -> None:
    assert encode_context({}) == b""
    assert decode_context(b"") == {}


def refusal_of(data: bytes) -> str:
    """Why these bytes are no context; empty where they are one, which goes back and forth."""
    try:
        numbers = decode_context(data)
    except WireError as error:
        return error.reason
    assert decode_context(encode_context(numbers)) == numbers
    return ""


@given(st.binary(max_size=60))
def test_garbage_raises_wire_errors_only(data: bytes) -> None:
    assert refusal_of(data) in ("", "bad_context")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 1 << 63) | st.floats() | st.text(max_size=3)
    | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)  # fmt: skip


@given(JUNK)
def test_well_formed_nonsense_raises_wire_errors_only(value: object) -> None:
    assert refusal_of(packb(value)) in ("", "bad_context")


@given(NUMBERS, st.data())
def test_a_context_that_is_cut_short_or_continued_is_refused(
    numbers: Numbers, data: st.DataObject
) -> None:
    whole = encode_context(numbers)
    if not whole:
        return
    cut = data.draw(st.integers(1, len(whole) - 1), label="length")
    for spoilt in (whole[:cut], whole + b"\x00"):
        with pytest.raises(WireError):
            decode_context(spoilt)


@pytest.mark.parametrize(
    "value",
    [
        {},
        1,
        [[]],
        [["a", 1]],
        [["a", 1, -1]],
        [["a", 1, 1.0]],
        [["a", 1, True]],
        [["", 1, 1]],
        [["a" * (NAME_MAX + 1), 1, 1]],
        [[b"a", 1, 1]],
        [["a", 1, n] for n in range(ENTRIES_MAX + 1)],
    ],
)
def test_fields_of_the_wrong_kind_and_too_many_entries_are_refused(value: object) -> None:
    with pytest.raises(WireError) as caught:
        decode_context(packb(value))
    assert caught.value.reason == "bad_context"


def test_a_map_or_an_extension_is_refused_before_it_is_built() -> None:
    for data in (b"\x81\x01\x02", b"\xc7\x08\x05" + b"x" * 8, b"\x92\x81\x01\x02\x90"):
        with pytest.raises(WireError):
            decode_context(data)


def test_a_length_that_is_claimed_and_not_there_allocates_nothing() -> None:
    with pytest.raises(WireError):
        decode_context(b"\x92\xdd\xff\xff\xff\xff")
