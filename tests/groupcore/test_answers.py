"""The rules of answering requests: what goes to one member, what to all, and how much of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.answers import REMEMBERED_MAX, Answers, held_in
from groupcore.batch import Batch
from groupcore.repairs import RepairOptions
from groupcore.view import Address
from groupcore.window import Window

A, B, C, D = (Address(name, 1) for name in "abcd")
PLACE = (1, A)


def window(*held: int, size_bytes: int = 1) -> Window:
    result = Window()
    for number in held:
        result.add(number, Batch(A, None, (), bytes(size_bytes), 1))
    return result


def sent(answers: Answers, now: float = 0.0) -> list[tuple[Address | None, int]]:
    return [(answer.destination, answer.seqno) for answer in answers.take(now)]


def test_what_one_member_lacks_goes_to_it_alone() -> None:
    answers, held = Answers(RepairOptions()), window(1, 2, 3)
    answers.note(B, PLACE, held, (1, 1), 0.0)
    answers.note(C, PLACE, held, (3, 9), 0.0)
    assert not answers.empty
    assert sent(answers) == [(B, 1), (C, 3)]
    assert answers.empty


def test_what_several_members_lack_goes_to_all_once() -> None:
    answers, held = Answers(RepairOptions()), window(1, 2)
    for member in (B, C, D):
        answers.note(member, PLACE, held, (1, 1), 0.0)
    answers.note(D, PLACE, held, (2, 2), 0.0)
    assert sent(answers) == [(None, 1), (D, 2)]
    assert answers.numbers["repairs_to_all"] == 1


def test_a_request_that_comes_twice_in_a_turn_is_of_one_member() -> None:
    answers, held = Answers(RepairOptions()), window(1)
    answers.note(B, PLACE, held, (1, 1), 0.0)
    answers.note(B, PLACE, held, (1, 1), 0.0)
    assert sent(answers) == [(B, 1)]


def test_a_request_that_crosses_an_answer_to_all_is_not_answered() -> None:
    answers, held = Answers(RepairOptions(quiet_s=0.01)), window(1)
    for member in (B, C):
        answers.note(member, PLACE, held, (1, 1), 5.0)
    assert sent(answers, 5.0) == [(None, 1)]
    answers.note(D, PLACE, held, (1, 1), 5.009)
    assert sent(answers, 5.009) == []
    assert answers.numbers["requests_suppressed"] == 1
    answers.note(D, PLACE, held, (1, 1), 5.011)
    assert sent(answers, 5.011) == [(D, 1)]


def test_the_requests_of_a_turn_are_bounded_and_the_rest_is_discarded_and_counted() -> None:
    answers, held = Answers(RepairOptions(requests_max=3)), window(*range(1, 9))
    answers.note(B, PLACE, held, (1, 2), 0.0)
    answers.note(C, PLACE, held, (7, 8), 0.0)
    assert sent(answers) == [(B, 1), (B, 2), (C, 7)]
    assert answers.numbers["requests_discarded"] == 1
    answers.note(C, PLACE, held, (8, 8), 0.0)
    assert sent(answers) == [(C, 8)]


def test_what_a_second_member_asks_for_soon_afterwards_goes_to_all() -> None:
    answers, held = Answers(RepairOptions(quiet_s=0.01)), window(1)
    answers.note(B, PLACE, held, (1, 1), 5.0)
    assert sent(answers, 5.0) == [(B, 1)]
    answers.note(C, PLACE, held, (1, 1), 5.004)
    assert sent(answers, 5.004) == [(None, 1)]
    answers.note(D, PLACE, held, (1, 1), 5.008)
    assert sent(answers, 5.008) == []


def test_who_asks_again_is_answered_again_alone() -> None:
    answers, held = Answers(RepairOptions(quiet_s=0.01)), window(1)
    for now in (5.0, 5.005):
        answers.note(B, PLACE, held, (1, 1), now)
        assert sent(answers, now) == [(B, 1)]
    answers.note(C, PLACE, held, (1, 1), 5.5)
    assert sent(answers, 5.5) == [(C, 1)]


def test_answers_are_remembered_up_to_a_bound() -> None:
    answers, held = Answers(RepairOptions()), window(*range(1, REMEMBERED_MAX + 3))
    for first in range(1, REMEMBERED_MAX + 3, 64):
        answers.note(B, PLACE, held, (first, first + 63), 0.0)
        sent(answers)
    assert len(answers.lately) == REMEMBERED_MAX


def test_what_is_no_longer_held_at_the_end_of_the_turn_is_passed_over() -> None:
    answers, held = Answers(RepairOptions()), window(1, 2)
    answers.note(B, PLACE, held, (1, 2), 0.0)
    list(held.deliverable())
    held.purge(1)
    assert sent(answers) == [(B, 2)]


@given(
    st.sets(st.integers(1, 30)),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2**64 - 1)), max_size=4),
)
def test_an_answer_holds_what_is_asked_for_and_held(
    held: set[int], asked: list[tuple[int, int]]
) -> None:
    mine = window(*held)
    ranges = tuple(number for pair in asked for number in pair)
    expected = [n for first, last in asked for n in sorted(held) if first <= n <= last]
    options = RepairOptions(answer_batches_max=1_000)
    assert list(held_in(mine, ranges, options)) == expected


def test_an_answer_is_bounded_in_batches_and_bytes() -> None:
    mine = window(*range(1, 20), size_bytes=10)
    assert list(held_in(mine, (1, 19), RepairOptions(answer_batches_max=3))) == [1, 2, 3]
    assert list(held_in(mine, (1, 19), RepairOptions(answer_bytes_max=20))) == [1, 2]


def test_a_request_with_too_many_ranges_is_not_answered() -> None:
    mine = window(1)
    assert list(held_in(mine, (1, 1) * 4, RepairOptions(ranges_max=3))) == []
    assert list(held_in(mine, (1, 1) * 3, RepairOptions(ranges_max=3))) == [1, 1, 1]


def test_half_a_range_is_not_answered() -> None:
    mine = window(1, 2)
    assert list(held_in(mine, (1, 1, 2), RepairOptions())) == [1]
