"""The rules of the small parts that TOTAL and SEQUENCER share: tables, holders, wakefulness."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.assigning import Assigning
from groupcore.batch import Batch
from groupcore.events import Congested
from groupcore.forward_table import ForwardTable
from groupcore.holders import held_by_quorum
from groupcore.order_progress import OrderProgress
from groupcore.order_state import OrderState
from groupcore.view import Address, View
from groupcore.wakefulness import Wakefulness
from groupcore.window import Window

A, B, C, D, E = (Address(name, 1) for name in "abcde")


def batch(size_bytes: int = 10, count: int = 1) -> Batch:
    return Batch(A, None, (), bytes(size_bytes), count)


# --- the forward-table ----------------------------------------------------------------------------


def test_what_comes_back_takes_everything_before_it_off_the_table() -> None:
    table = ForwardTable(100)
    assert [table.add(batch()) for _ in range(3)] == [1, 2, 3]
    assert table.take_back(2)
    assert (list(table.batches), table.size_bytes) == ([3], 10)
    assert not table.take_back(2)


def test_an_epoch_that_knows_nothing_of_the_table_numbers_it_from_1() -> None:
    table = ForwardTable(100)
    for size_bytes in (1, 2, 3):
        table.add(batch(size_bytes))
    table.take_back(1)
    table.renumber()
    assert [(seqno, kept.size_bytes) for seqno, kept in table.batches.items()] == [(1, 2), (2, 3)]
    assert table.add(batch()) == 3


def test_a_full_table_is_told_once_and_again_when_half_of_it_has_come_back() -> None:
    table = ForwardTable(20)
    table.add(batch())
    assert table.congestion("X") is None
    table.add(batch())
    assert table.congestion("X") == Congested(True, "X")
    assert table.congestion("X") is None
    table.take_back(1)
    assert table.congestion("X") == Congested(False, "X")


# --- holders --------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(
    st.integers(1, 5),
    st.integers(0, 4),
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.integers(0, 6),
)
def test_held_is_the_highest_number_that_a_quorum_with_the_sender_holds(
    size: int, sender_rank: int, received: list[int], sent: int
) -> None:
    members = (A, B, C, D, E)[:size]
    sender = members[sender_rank % size]
    view = View(1, 1, 0, 7, members)
    others = [member for member in members if member != sender]
    acknowledged = {m: min(n, sent) for m, n in zip(others, received, strict=False)}
    expected = max(
        n
        for n in range(sent + 1)
        if n == 0
        or view.is_quorum([sender.name, *(m.name for m in others if acknowledged[m] >= n)])
    )
    assert held_by_quorum(view, sender, sent, acknowledged, 0) == expected
    assert held_by_quorum(view, sender, sent, acknowledged, expected) == expected


# --- the book of a sequencer ----------------------------------------------------------------------


def test_a_request_is_accepted_once_and_in_the_order_of_its_origin() -> None:
    book = Assigning(Window(), [B], {B: 4})
    assert not book.accept(B, 4, batch())
    assert not book.accept(B, 6, batch())
    assert book.accept(B, 5, batch())
    assert not book.accept(B, 5, batch())
    assert book.accept(C, 1, batch())
    assert [(origin, seqno) for origin, seqno, _ in book.waiting] == [(B, 5), (C, 1)]


def test_what_has_no_room_in_the_window_gets_no_id() -> None:
    book = Assigning(Window(), [B], {})
    for seqno in (1, 2, 3):
        book.accept(B, seqno, batch(10))
    taken = []
    for _, seqno, asked in book.assignable(20):
        book.out.add(asked)
        taken += [(seqno, sent) for sent, _ in book.out.sendable(20)]
    assert taken == [(1, 1), (2, 2)]
    assert len(book.waiting) == 1


# --- how far the order is -------------------------------------------------------------------------


def test_the_pieces_of_an_incomplete_body_do_not_count_when_a_view_ends() -> None:
    progress = OrderProgress()
    assert progress.take(batch(), B, 1) is not None
    for seqno in (2, 3):
        piece = progress.take(batch(count=0), B, seqno)
        assert piece is not None
        assert piece.position == 2
    assert progress.take(batch(count=0), C, 1) is not None
    assert progress.state() == OrderState(1, {B: 1})
    progress.close_bodies()
    assert progress.received == {B: 1}
    assert progress.take(batch(count=0), B, 3) is None
    assert progress.take(batch(count=0), B, 2) is not None


def test_the_last_piece_makes_a_body_count() -> None:
    progress = OrderProgress()
    progress.take(batch(count=0), B, 1)
    last = progress.take(batch(count=5), B, 2)
    assert last is not None
    assert (last.sender, last.position) == (B, 1)
    assert progress.state() == OrderState(5, {B: 2})


def test_a_batch_without_a_body_is_no_piece() -> None:
    progress = OrderProgress()
    progress.take(batch(0, count=0), B, 1)
    progress.close_bodies()
    assert progress.received == {B: 1}


def test_a_batch_of_no_messages_has_the_position_of_the_next_message() -> None:
    progress = OrderProgress()
    between = [progress.take(batch(0, count=0), B, 1), progress.take(batch(count=2), C, 1),
               progress.take(batch(0, count=0), B, 2), progress.take(batch(), C, 2)]  # fmt: skip
    assert [taken.position for taken in between if taken is not None] == [1, 1, 3, 3]


def test_who_has_left_is_forgotten_and_what_is_told_is_a_copy() -> None:
    progress, told = OrderProgress(), OrderState(9, {A: 1, B: 2})
    progress.begin(9, told)
    progress.keep((B, C))
    assert progress.state() == OrderState(9, {B: 2})
    assert told.received == {A: 1, B: 2}


# --- wakefulness ----------------------------------------------------------------------------------


def test_a_late_tick_shows_a_sleep_and_wariness_passes() -> None:
    mine = Wakefulness(0.6)
    assert not mine.is_wary(100.0)  # nobody ticks yet
    mine.tick(100.0)
    assert not mine.is_wary(100.3)
    assert mine.is_wary(100.31)
    for tick in range(1, 8):
        mine.tick(100.31 + tick / 10)
    assert mine.is_wary(100.9)
    assert not mine.is_wary(101.0)
    mine.begin()
    assert not mine.is_wary(200.0)
