"""The rules of FRAG: bodies arrive whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.effects import Down, Effect
from groupcore.events import Connect
from groupcore.layers.fragmentation import (
    FRAGMENTS_MAX,
    MESSAGE_BYTES_MAX,
    Fragment,
    Fragmentation,
)
from groupcore.layers.sequencer import Ordered
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, bare, downs, installed, ups

ORDERED = Ordered(C, 9)


def whole(body: bytes, sender: Address = A, to: Address | None = None) -> Batch:
    return Batch(sender, to, (ORDERED,), body, 3)


def piece(
    index: int, total: int, body: bytes, sender: Address = A, to: Address | None = None
) -> Batch:
    count = 3 if index == total - 1 else 0
    return Batch(sender, to, (ORDERED, Fragment(index, total)), body, count)


def hear(layer: Fragmentation, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


def test_a_body_within_the_limit_passes_as_it_is() -> None:
    batch = whole(b"12345678")
    assert Fragmentation(8).on_down(batch, 0.0) == [Down(batch)]


def test_what_is_sent_unreliably_is_never_cut() -> None:
    batch = bare(A, ORDERED)
    batch.body = b"123456789"
    assert Fragmentation(8).on_down(batch, 0.0) == [Down(batch)]


def test_a_larger_body_is_cut_into_numbered_pieces_with_the_headers_of_the_whole() -> None:  # I1
    effects = Fragmentation(4).on_down(whole(b"123456789", to=B), 0.0)
    assert downs(effects) == [
        piece(0, 3, b"1234", to=B),
        piece(1, 3, b"5678", to=B),
        piece(2, 3, b"9", to=B),
    ]


@settings(max_examples=60)
@given(st.binary(max_size=60), st.integers(1, 20), st.none() | st.just(B))
def test_a_body_arrives_whole_with_the_headers_that_it_left_with(
    body: bytes, limit: int, to: Address | None
) -> None:  # I1
    pieces = downs(Fragmentation(limit).on_down(whole(body, to=to), 0.0))
    assert all(len(part.body) <= limit for part in pieces)
    receiver = Fragmentation(limit)
    if len(pieces) > 1:
        assert ups(hear(receiver, *pieces)) == [whole(body, to=to)]
    assert receiver.counters() == {"dropped": 0, "incomplete": 0}


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([A, B]),
            st.none() | st.just(C),
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        max_size=25,
    )
)
def test_whatever_pieces_come_only_whole_bodies_go_up(
    pieces: list[tuple[Address, Address | None, int, int]],
) -> None:  # I1, I2
    layer = Fragmentation(4)
    runs: dict[tuple[Address, bool], list[bytes]] = {}
    totals: dict[tuple[Address, bool], int] = {}
    expected: list[bytes] = []
    for number, (sender, to, index, total) in enumerate(pieces):
        body, key = b"%02d" % number, (sender, to is None)
        if index == 0 and total > 0:
            runs[key], totals[key] = [body], total
        elif key in runs and index == len(runs[key]) and total == totals[key]:
            runs[key].append(body)
        else:
            runs.pop(key, None)
        if key in runs and len(runs[key]) == totals[key]:
            expected.append(b"".join(runs.pop(key)))
        got = ups(hear(layer, piece(index, total, body, sender, to)))
        assert [batch.body for batch in got] == expected[len(expected) - len(got) :]
        assert layer.counters()["incomplete"] == len(runs)


def test_only_the_last_piece_counts_the_messages() -> None:  # I4
    pieces = downs(Fragmentation(4).on_down(whole(b"123456789"), 0.0))
    assert [part.count for part in pieces] == [0, 0, 3]
    assert [part.is_piece for part in pieces] == [True, True, False]


def test_the_whole_has_the_position_of_its_last_piece() -> None:  # I4
    layer = Fragmentation(4)
    first, last = piece(0, 2, b"1"), piece(1, 2, b"2")
    first.position, last.position = 5, 9  # others were ordered between them
    (joined,) = ups(hear(layer, first, last))
    assert (joined.position, joined.count) == (9, 3)


def test_bodies_of_two_senders_and_of_two_kinds_of_cast_do_not_mix() -> None:  # I1
    layer = Fragmentation(4)
    effects = hear(
        layer,
        *(piece(0, 2, b"a"), piece(0, 2, b"b", sender=B), piece(0, 2, b"c", to=C)),
        *(piece(1, 2, b"A"), piece(1, 2, b"B", sender=B), piece(1, 2, b"C", to=C)),
    )
    assert [batch.body for batch in ups(effects)] == [b"aA", b"bB", b"cC"]


@pytest.mark.parametrize(
    "wrong",
    [
        piece(1, 3, b"again"),
        piece(3, 3, b"one too far"),
        piece(2, 4, b"of another body"),
        piece(2, 0, b"of none"),
        piece(2, FRAGMENTS_MAX + 1, b"of too many"),
    ],
)
def test_a_piece_that_does_not_continue_what_is_here_drops_both(wrong: Batch) -> None:  # I2
    layer = Fragmentation(4)
    hear(layer, piece(0, 3, b"1"), piece(1, 3, b"2"))
    assert hear(layer, wrong) == []
    assert layer.counters() == {"dropped": 1, "incomplete": 0}
    assert hear(layer, piece(2, 3, b"3")) == []


@pytest.mark.parametrize("total", [0, FRAGMENTS_MAX + 1, 2**64 - 1])
def test_a_body_of_no_or_too_many_pieces_is_not_begun(total: int) -> None:  # I2
    layer = Fragmentation(4)
    assert hear(layer, piece(0, total, b"1")) == []
    assert layer.counters() == {"dropped": 1, "incomplete": 0}


def test_a_body_that_grows_too_large_is_dropped() -> None:  # I2
    layer = Fragmentation(4)
    large = bytes(MESSAGE_BYTES_MAX // 2 + 1)
    assert hear(layer, piece(0, 3, large), piece(1, 3, large), piece(2, 3, b"1")) == []
    assert layer.counters() == {"dropped": 2, "incomplete": 0}


def test_a_new_beginning_takes_the_place_of_what_was_incomplete() -> None:  # I2
    layer = Fragmentation(4)
    effects = hear(layer, piece(0, 3, b"1"), piece(0, 2, b"2"), piece(1, 2, b"3"))
    assert [batch.body for batch in ups(effects)] == [b"23"]


def test_it_says_how_large_a_body_may_be() -> None:
    assert Fragmentation(1).body_limit_bytes == FRAGMENTS_MAX
    assert len(Fragmentation(1).on_down(whole(bytes(FRAGMENTS_MAX)), 0.0)) == FRAGMENTS_MAX
    assert Fragmentation(1 << 20).body_limit_bytes == MESSAGE_BYTES_MAX


def test_nothing_incomplete_crosses_a_view() -> None:  # I3
    layer = Fragmentation(4)
    hear(layer, piece(0, 2, b"1"), piece(0, 2, b"2", sender=B))
    assert layer.on_event(installed(A, B, number=2), 0.0) == []
    assert layer.counters()["incomplete"] == 0
    assert hear(layer, piece(1, 2, b"rest")) == []


def test_unicasts_of_those_who_stay_go_on_over_a_view() -> None:  # I3
    layer = Fragmentation(4)
    hear(layer, piece(0, 2, b"1", to=C), piece(0, 2, b"2", sender=B, to=C))
    layer.on_event(installed(A, C, number=2), 0.0)
    assert hear(layer, piece(1, 2, b"4", sender=B, to=C)) == []
    assert [b.body for b in ups(hear(layer, piece(1, 2, b"3", to=C)))] == [b"13"]


def test_events_of_others_are_ignored() -> None:
    layer = Fragmentation(4)
    hear(layer, piece(0, 2, b"1"))
    assert layer.on_event(Connect(), 0.0) == []
    assert layer.counters()["incomplete"] == 1
