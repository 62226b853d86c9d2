"""The rules of batches: shallow copies over a closed body."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgpack import packb

from groupcore.batch import Batch, pack_messages, unpack_messages
from groupcore.errors import WireError
from groupcore.layers.sequencer import Forward, Ordered
from groupcore.view import Address

A, B = Address("a", 1), Address("b", 1)

messages = st.lists(st.binary(max_size=50), max_size=20)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(0, 9), inner),
    max_leaves=8,
)


@given(messages)
def test_messages_come_out_of_a_body_as_they_went_in(payloads: list[bytes]) -> None:
    assert unpack_messages(pack_messages(payloads)) == payloads


def test_an_empty_body_holds_no_message() -> None:
    assert unpack_messages(b"") == []


def refusal(body: bytes) -> str | None:
    """Why the body is refused; None when it opens."""
    try:
        unpack_messages(body)
    except WireError as error:
        return error.reason
    return None


@given(st.binary())
def test_arbitrary_bytes_as_a_body_raise_only_wire_error(body: bytes) -> None:
    assert refusal(body) in (None, "bad_body")


@given(values)
@settings(max_examples=40)
def test_arbitrary_values_as_a_body_raise_only_wire_error(value: object) -> None:
    good = isinstance(value, list) and all(isinstance(item, bytes) for item in value)
    if good:
        assert unpack_messages(packb(value)) == value
    else:
        with pytest.raises(WireError, match="bad_body"):
            unpack_messages(packb(value))


@given(messages, st.data())
def test_a_truncated_body_is_a_bad_body(payloads: list[bytes], data: st.DataObject) -> None:
    body = pack_messages(payloads)
    cut = data.draw(st.integers(1, len(body)))
    if cut < len(body):
        with pytest.raises(WireError, match="bad_body"):
            unpack_messages(body[:cut])


def original() -> Batch:
    return Batch(A, None, (Forward(1, 1),), b"body", 3)


def test_a_header_goes_outermost_on_a_copy() -> None:
    batch = original()
    assert batch.with_header(Ordered(B, 2)).headers == (Forward(1, 1), Ordered(B, 2))
    assert batch == original()


def test_the_outermost_header_comes_off_on_a_copy() -> None:
    batch = original()
    assert batch.with_header(Ordered(B, 2)).without_header() == batch
    assert batch.without_header() == Batch(A, None, (), b"body", 3)
    assert batch == original()


def test_the_original_sender_is_put_back_on_a_copy() -> None:
    batch = original()
    assert batch.ordered(B, 9) == Batch(B, None, (), b"body", 3, position=9)
    assert batch == original()


def test_a_copy_for_another_destination_leaves_the_first_as_it_was() -> None:
    batch = original()
    assert batch.to(B) == Batch(A, B, (Forward(1, 1),), b"body", 3)
    assert batch == original()


@pytest.mark.parametrize(
    "other",
    [
        Batch(B, None, (Forward(1, 1),), b"body", 3),
        Batch(A, B, (Forward(1, 1),), b"body", 3),
        Batch(A, None, (Forward(1, 2),), b"body", 3),
        Batch(A, None, (Forward(1, 1),), b"bodi", 3),
        Batch(A, None, (Forward(1, 1),), b"body", 2),
        Batch(A, None, (Forward(1, 1),), b"body", 3, reliable=False),
        Batch(A, None, (Forward(1, 1),), b"body", 3, position=1),
        "not a batch",
    ],
)
def test_batches_are_equal_when_every_part_is(other: object) -> None:
    assert original() == original()
    assert original() != other


def test_a_batch_says_who_sent_what_to_whom() -> None:
    assert repr(Batch(A, None, (), b"body", 3)) == "Batch(a#1->group 3x 4B [])"
    assert repr(Batch(A, B)) == "Batch(a#1->b#1 0x 0B [])"
