"""The rules of credit, of what waits for it, and of who is too slow."""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.layers.fragmentation import Fragment
from groupcore.outflow import Account, Outflow, Pace, continues
from groupcore.view import Address

A, B, C = (Address(name, 1) for name in "abc")


def piece(index: int) -> Batch:
    return Batch(A, None, (Fragment(index, 3),), b"x", 1)


def whole(text: bytes) -> Batch:
    return Batch(A, None, (), text, 1)


def flow(**consumed: int) -> Outflow:
    accounts = {Address(name, 1): Account(number) for name, number in consumed.items()}
    return Outflow(accounts=accounts)


def test_the_slowest_receiver_says_how_far_a_stream_may_go() -> None:
    assert flow(a=50, b=20).limit(100) == 120
    assert Outflow().limit(100) == 100


def test_what_waits_is_taken_in_order_while_there_is_credit() -> None:
    stream = flow(a=0)
    for text in (b"1", b"2", b"3"):
        stream.hold(whole(text), 60)
    assert [batch.body for batch in stream.take(100)] == [b"1", b"2"]
    assert (stream.sent, stream.waiting_bytes, stream.open) == (120, 60, 0)
    assert stream.take(100) == []


def test_a_stream_opens_when_nothing_waits_any_more() -> None:
    stream = flow(a=0)
    stream.hold(whole(b"1"), 60)
    stream.take(100)
    assert stream.open == 0  # nothing may overtake what is on its way down
    assert stream.take(100) == []
    assert stream.open == 100


def test_the_rest_of_a_body_goes_with_its_beginning() -> None:
    stream = flow(a=0)
    for index in range(3):
        stream.hold(piece(index), 60)
    stream.hold(whole(b"next"), 10)
    assert stream.take(50) == [piece(0), piece(1), piece(2)]
    assert continues(piece(1))
    assert not continues(piece(0))


def test_an_account_takes_no_older_word_than_it_has() -> None:
    account = Account(10, 4)
    assert not account.update(9, 0)
    assert not account.update(10, 5)
    assert account.update(10, 3)
    assert account.update(12, 9)
    assert account.consumed == 3


def test_held_up_is_a_stream_by_who_has_no_credit_while_something_waits() -> None:
    stream = flow(a=0, b=90)
    stream.accounts[A].received = stream.accounts[B].received = 100
    stream.accounts[A].unread = 100
    stream.sent = 100
    assert list(stream.held_up_by(100, 100)) == []
    stream.hold(whole(b"1"), 10)
    assert list(stream.held_up_by(100, 100)) == [A]


def test_not_reached_is_to_whom_much_of_what_was_sent_has_not_come() -> None:
    stream = flow(a=75, b=76)
    stream.sent = 100
    assert list(stream.held_up_by(100, 25)) == [A]


def test_a_view_counts_anew_and_new_members_have_full_credit() -> None:
    stream = flow(a=0, b=0)
    stream.sent = 300
    stream.accounts[B] = Account(300, 80)
    stream.begin_view([B, C])
    assert stream.accounts == {B: Account(0, 80), C: Account()}
    assert (stream.sent, stream.limit(100)) == (0, 20)


def test_late_is_who_takes_less_than_the_pace_for_the_whole_time() -> None:
    pace = Pace(timeout_s=2.0, bytes_s=10)
    assert pace.look({A: 0, B: 0}, 0.0) == frozenset()
    assert pace.look({A: 5, B: 15}, 1.9) == frozenset()
    assert pace.look({A: 19, B: 20}, 2.0) == {A}
    assert pace.look({A: 25, B: 30}, 3.0) == {A}
    assert pace.look({A: 60, B: 60}, 4.0) == frozenset()


def test_who_is_not_waited_for_any_more_is_not_late() -> None:
    pace = Pace(timeout_s=2.0, bytes_s=10)
    pace.look({A: 0}, 0.0)
    assert pace.look({}, 1.0) == frozenset()
    assert pace.look({A: 0}, 2.5) == frozenset()
    assert pace.look({A: 0}, 4.5) == {A}
    pace.begin_view()
    assert pace.look({A: 0}, 5.0) == frozenset()
