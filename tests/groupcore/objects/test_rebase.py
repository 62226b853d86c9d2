"""Concurrent changes meet as the table says, and lead to one document from both sides."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from groupcore.objects import (
    Change,
    DeleteChange,
    JoinChange,
    MoveChange,
    SetChange,
    SplitChange,
    TextChange,
    Transaction,
)
from groupcore.objects.rebase import rebase_both, rebase_change, rebase_transaction
from groupcore.objects.refusal import BlockDeletedError, BlockExistsError, OutOfRangeError
from tests.groupcore.objects.plays import (
    State,
    after,
    content_of,
    joins_meet,
    some_state,
    some_transaction,
)
from tests.groupcore.objects.rebase_table import (
    BULLET,
    DELETE,
    JOIN,
    REFUSED,
    SPLIT,
    TABLE,
    TEXT,
)

seeds = st.integers(0, 2**32)


def converge(state: State, first: Transaction, later: Transaction) -> None:
    """Both orders of doing lead to the same document, or the later one is refused."""
    try:
        first_over, later_over = rebase_both(first, later)
    except BlockDeletedError:
        return
    one = after(after(state, first), later_over)
    other = after(after(state, later), first_over)
    assert one == other, (state, first, later, first_over, later_over)
    # The fields that a replica fills in are exact already, so that the next rebase can trust them.
    content = content_of(after(state, first))
    assert content.apply(later_over) == tuple(later_over)


@settings(max_examples=1500)
@given(seeds)
def test_two_changes_converge(seed: int) -> None:
    draw = random.Random(seed)
    state = some_state(draw, blocks_max=4)
    first = some_transaction(draw, state, "f", 1)
    later = some_transaction(draw, state, "l", 1)
    assume(not joins_meet(first, later))
    converge(state, first, later)


@settings(max_examples=600)
@given(seeds)
def test_two_transactions_converge(seed: int) -> None:
    draw = random.Random(seed)
    state = some_state(draw)
    first = some_transaction(draw, state, "f")
    later = some_transaction(draw, state, "l")
    assume(not joins_meet(first, later))
    converge(state, first, later)


@settings(max_examples=300)
@given(seeds)
def test_where_joins_meet_a_rebased_transaction_applies_or_is_refused_whole(seed: int) -> None:
    draw = random.Random(seed)
    state = some_state(draw)
    first = some_transaction(draw, state, "f")
    later = some_transaction(draw, state, "l")
    try:
        moved = rebase_transaction(later, first)
        after(after(state, first), moved)
    except BlockDeletedError:
        return
    except OutOfRangeError:
        assert joins_meet(first, later)


def test_a_place_in_text_that_two_joins_have_mixed_may_be_out_of_range() -> None:
    """Where both join into one block, one side has the text in another order than the other."""
    kinds = (("kind", "quote"),)
    first = (JoinChange("b0", "b3", 1, None), SplitChange("b4", 0, "f2", kinds))
    later = (
        JoinChange("b1", "b0", 3, "b0"),
        JoinChange("b4", "b3", 1, "b3"),
        SplitChange("b0", 7, "l2", kinds),
    )
    texts = {"b0": "abc", "b1": "defg", "b2": "", "b3": "h", "b4": "i"}
    state: State = (
        "title",
        [(block, {"kind": "paragraph"}, text) for block, text in texts.items()],
    )
    with pytest.raises(OutOfRangeError):
        after(after(state, first), rebase_transaction(later, first))


@pytest.mark.parametrize(
    ("mine", "other", "expected"),
    [pytest.param(mine, other, expected, id=name) for name, mine, other, expected in TABLE],
)
def test_a_later_change_becomes_what_the_table_says(
    mine: Change, other: Change, expected: Transaction
) -> None:
    assert rebase_change(mine, other, mine_first=False) == expected


def test_text_written_into_a_deleted_block_is_refused() -> None:
    with pytest.raises(BlockDeletedError):
        rebase_change(TEXT, DELETE, mine_first=False)
    assert rebase_change(TEXT, DELETE, mine_first=True) == ()


def test_text_written_into_the_new_half_of_a_deleted_block_is_refused() -> None:
    split_and_type = (SPLIT, TextChange("n", ("x",)))
    with pytest.raises(BlockDeletedError):
        rebase_transaction(split_and_type, (DELETE,))
    assert rebase_transaction((SPLIT, SetChange("n", BULLET)), (DELETE,)) == ()


@pytest.mark.parametrize(
    ("mine", "other"),
    [pytest.param(mine, other, id=name) for name, mine, other in REFUSED],
)
def test_what_the_table_refuses_is_refused(mine: Change, other: Change) -> None:
    with pytest.raises((BlockDeletedError, BlockExistsError)):
        rebase_change(mine, other, mine_first=False)


def test_later_changes_are_rebased_over_what_the_earlier_ones_left_of_the_other() -> None:
    later = (JoinChange("b", "a", 3, "a"), TextChange("a", (4, "x")))
    first = (TextChange("b", (2, "y")),)
    assert rebase_both(first, later) == (
        (TextChange("a", (6, "y")),),
        (JoinChange("b", "a", 3, "a"), TextChange("a", (4, "x"))),
    )


PART = SplitChange("c", 5, "b", ())


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (DELETE, (PART, DeleteChange("b", "c"))),
        (DeleteChange("c", "k"), (PART, DeleteChange("c", "k"), MoveChange("b", "a", "k"))),
        (DeleteChange("c", "b"), (PART, DeleteChange("c", "a"))),
        (JoinChange("b", "d", 1, "a"), (PART, JoinChange("b", "d", 1, "c"))),
        (JoinChange("c", "b", 3, "k"), (PART, JoinChange("c", "b", 3, "k"))),
        (JoinChange("b", "c", 5, "a"), ()),
    ],
)
def test_a_later_join_is_parted_again_for_what_was_first(
    first: Change, expected: Transaction
) -> None:
    assert rebase_change(first, JOIN, mine_first=True) == expected
    assert rebase_change(JOIN, first, mine_first=False) == ()


def test_typing_at_the_joint_of_a_deleted_block_stays_there() -> None:
    later = (JOIN, TextChange("c", (5, "x")))
    assert rebase_transaction(later, (DELETE,)) == (TextChange("c", (5, "x")),)
    with pytest.raises(BlockDeletedError):
        rebase_transaction((JOIN, TextChange("c", (6, "x"))), (DELETE,))


@pytest.mark.parametrize(
    "idle", [MoveChange("b", "a", "a"), TextChange("b", ()), SetChange("b", ())]
)
def test_a_change_that_does_nothing_meets_nothing(idle: Change) -> None:
    assert rebase_change(idle, DELETE, mine_first=False) == ()
    assert rebase_change(TEXT, idle, mine_first=False) == (TEXT,)
