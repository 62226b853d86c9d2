"""The rules of a sender's own multicasts: numbered at once, sent as the window lets."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.outgoing import Outgoing
from groupcore.view import Address
from groupcore.window import Window

A, B, C = (Address(name, 1) for name in "abc")


def batch(size_bytes: int = 10) -> Batch:
    return Batch(A, None, (), bytes(size_bytes), 1)


def outgoing(*others: Address) -> Outgoing:
    return Outgoing(Window(), others)


def sent(mine: Outgoing, window_bytes: int = 1_000) -> list[int]:
    return [seqno for seqno, _ in mine.sendable(window_bytes)]


def test_a_batch_has_its_number_when_it_is_added_and_is_held_here_at_once() -> None:
    mine = outgoing(B)
    assert [mine.add(batch()), mine.add(batch())] == [1, 2]
    assert mine.window.received == 2
    assert mine.window.delivered == 0  # delivery is its owner's to decide
    assert not mine.all_hold


def test_what_does_not_fit_the_window_waits_until_others_hold_the_former() -> None:
    mine = outgoing(B, C)
    for _ in range(4):
        mine.add(batch(10))
    assert sent(mine, 20) == [1, 2]
    assert sent(mine, 20) == []
    assert mine.waits
    assert mine.acknowledge(B, 2)
    assert not mine.settle()  # C does not hold them
    assert mine.acknowledge(C, 1)
    assert mine.settle()
    assert sent(mine, 20) == [3]
    assert mine.waits
    assert sent(mine, 99) == [4]
    assert not mine.waits


def test_a_batch_larger_than_the_window_is_sent_when_nothing_is_in_flight() -> None:
    mine = outgoing(B)
    mine.add(batch(99))
    assert sent(mine, 20) == [1]


def test_who_is_alone_sends_everything_and_keeps_nothing_that_it_has_delivered() -> None:
    mine = outgoing()
    assert mine.alone
    for _ in range(9):
        mine.window.delivered = mine.add(batch(99))
    assert sent(mine, 20) == list(range(1, 10))
    assert mine.all_hold
    assert mine.in_flight_bytes == 0
    assert mine.window.batches == {}


def test_an_acknowledgement_that_is_no_news_changes_nothing() -> None:
    mine = outgoing(B)
    mine.add(batch())
    assert sent(mine) == [1]
    assert mine.acknowledge(B, 1)
    assert not mine.acknowledge(B, 1)
    assert not mine.acknowledge(B, 0)
    assert not mine.acknowledge(C, 5)  # not a member of the view
    assert mine.settle()
    assert not mine.settle()


def test_nobody_can_acknowledge_what_was_not_sent() -> None:
    mine = outgoing(B)
    mine.add(batch())
    mine.add(batch())
    assert next(mine.sendable(1_000))[0] == 1
    assert mine.acknowledge(B, 99)
    assert mine.settle()
    assert mine.stable == 1
    assert mine.window.get(2) is not None


def test_what_everybody_holds_beyond_a_gap_is_not_in_flight_but_kept() -> None:
    mine = outgoing(B, C)
    for _ in range(3):
        mine.window.delivered = mine.add(batch(10))
    assert sent(mine) == [1, 2, 3]
    assert mine.acknowledge_one(B, 3)
    assert mine.in_flight_bytes == 30
    assert mine.acknowledge_one(C, 3)
    assert mine.in_flight_bytes == 20
    assert mine.holds(B, 3)
    assert not mine.holds(B, 2)
    assert not mine.settle()
    assert mine.acknowledge(B, 3)
    assert mine.acknowledge(C, 3)
    assert mine.settle()
    assert mine.in_flight_bytes == 0
    assert mine.window.batches == {}


def test_a_single_acknowledgement_that_is_no_news_changes_nothing() -> None:
    mine = outgoing(B, C)
    for _ in range(3):
        mine.window.delivered = mine.add(batch())
    assert sent(mine) == [1, 2, 3]
    assert mine.acknowledge(B, 1)
    assert mine.acknowledge_one(B, 3)
    assert not mine.acknowledge_one(B, 3)
    assert not mine.acknowledge_one(B, 1)
    assert not mine.acknowledge_one(B, 4)  # not sent
    assert not mine.acknowledge_one(Address("z", 1), 3)


def test_numbers_may_begin_anywhere() -> None:
    mine = Outgoing(Window(41), (B,))
    assert mine.all_hold
    assert mine.add(batch()) == 41
    assert sent(mine) == [41]
    assert not mine.holds(B, 41)
    assert mine.acknowledge(B, 41)
    assert mine.settle()
    assert mine.all_hold


acts = st.one_of(
    st.tuples(st.just("add"), st.integers(0, 30)),
    st.tuples(st.just("send"), st.integers(1, 60)),
    st.tuples(st.sampled_from("bc"), st.integers(0, 12)),
    st.tuples(st.sampled_from("BC"), st.integers(1, 12)),
)


@settings(max_examples=60)
@given(st.lists(acts, max_size=40))
def test_in_flight_is_at_most_what_was_sent_and_somebody_may_lack(
    story: list[tuple[str, int]],
) -> None:
    mine = outgoing(B, C)
    sizes: list[int] = []
    held = {"b": 0, "c": 0}
    single: dict[str, set[int]] = {"b": set(), "c": set()}
    next_sent = 1
    for act, number in story:
        if act == "add":
            sizes.append(number)
            mine.window.delivered = mine.add(batch(number))
        elif act == "send":
            numbers = sent(mine, number)
            assert numbers == list(range(next_sent, next_sent + len(numbers)))
            next_sent += len(numbers)
        elif act.isupper():
            if mine.acknowledge_one(Address(act.lower(), 1), number):
                single[act.lower()].add(number)
        else:
            mine.acknowledge(Address(act, 1), number)
            held[act] = max(held[act], min(number, next_sent - 1))
        mine.settle()
        stable = min(held.values())
        assert mine.stable == stable
        lacked = [
            sizes[n - 1]
            for n in range(stable + 1, next_sent)
            if any(n > held[m] and n not in single[m] for m in held)
        ]
        assert sum(lacked) <= mine.in_flight_bytes <= sum(sizes[stable : next_sent - 1])
        assert mine.all_hold == (stable == len(sizes))
