"""The rules of repair: what is asked for, of whom, and how often."""

from __future__ import annotations

from random import Random

from groupcore.batch import Batch
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer
from groupcore.events import CutHeld, FetchCut
from groupcore.repairs import (
    ASK_SENDER_TIMES,
    Holdings,
    Repairing,
    RepairOptions,
    Repairs,
    Wanted,
)
from groupcore.view import Address
from groupcore.window import Window

A, B, C, D = (Address(name, 1) for name in "abcd")
NOBODY: frozenset[Address] = frozenset()


def repairs(options: RepairOptions | None = None) -> Repairs:
    mine = Repairs(A, Random(1), options or RepairOptions())
    mine.begin_view((A, B, C, D))
    return mine


def windows(*held: int, of: Address = B, size_bytes: int = 1) -> dict[Address, Window]:
    """Four windows; that of one member holds some numbers."""
    result = {member: Window() for member in (A, B, C, D)}
    for number in held:
        result[of].add(number, Batch(of, None, (), bytes(size_bytes), 1))
    return result


def test_a_gap_is_asked_for_of_its_sender_first() -> None:
    asked = list(repairs().wanted(windows(1, 4, 6), NOBODY, None, only_new=True))
    assert asked == [Wanted(B, B, (2, 3, 5, 5))]


def test_a_gap_is_asked_for_once_until_it_is_time_to_ask_again() -> None:
    mine, held = repairs(), windows(3)
    assert list(mine.wanted(held, NOBODY, None, only_new=True))
    assert list(mine.wanted(held, NOBODY, None, only_new=True)) == []
    held[B].announce(5)
    assert list(mine.wanted(held, NOBODY, None, only_new=True)) == [Wanted(B, B, (4, 5))]
    assert list(mine.wanted(held, NOBODY, None, only_new=False)) == [Wanted(B, B, (1, 2, 4, 5))]


def test_a_sender_that_does_not_answer_is_not_asked_alone_for_ever() -> None:
    mine, held = repairs(), windows(2)
    holders = set()
    for attempt in range(40):
        (ask,) = mine.wanted(held, NOBODY, None, only_new=False)
        assert attempt >= ASK_SENDER_TIMES or ask.holder == B
        holders.add(ask.holder)
        mine.next_retry_s()
    assert holders == {B, C, D}


def test_a_sender_that_is_not_heard_is_not_asked() -> None:
    held = windows(2)
    (ask,) = repairs().wanted(held, frozenset({B, C}), None, only_new=True)
    assert ask.holder == D


def test_when_nobody_can_be_asked_the_gap_stays_new() -> None:
    mine, held = repairs(), windows(2)
    assert list(mine.wanted(held, frozenset({B, C, D}), None, only_new=True)) == []
    assert list(mine.wanted(held, NOBODY, None, only_new=True)) == [Wanted(B, B, (1, 1))]


def test_in_a_flush_only_what_the_cut_contains_is_asked_for_of_those_who_hold_it() -> None:
    held = windows(2, 9)
    fetch = FetchCut({B: 4}, {B: (A, C)})
    assert list(repairs().wanted(held, NOBODY, fetch, only_new=True)) == [
        Wanted(C, B, (1, 1, 3, 4))
    ]


def test_in_a_flush_others_are_asked_when_those_who_held_it_are_gone() -> None:
    # they have fetched it from the holder before it died
    held, fetch = windows(2, 9), FetchCut({B: 4}, {B: (A, C)})
    (ask,) = repairs().wanted(held, frozenset({B, C}), fetch, only_new=True)
    assert ask == Wanted(D, B, (1, 1, 3, 4))
    unanswered = repairs()
    for _ in range(ASK_SENDER_TIMES):
        unanswered.next_retry_s()
    asked = {ask.holder for _ in range(50) for ask in unanswered.wanted(held, NOBODY, fetch, False)}
    assert asked == {B, C, D}


def test_tries_come_less_and_less_often_up_to_a_limit() -> None:
    options = RepairOptions(retry_min_s=0.02, retry_max_s=0.1)
    mine = repairs(options)
    for expected_s in (0.02, 0.04, 0.08, 0.1, 0.1):
        assert 0.75 * expected_s <= mine.next_retry_s() <= 1.25 * expected_s
    mine.progress()
    assert mine.next_retry_s() <= 1.25 * 0.02
    assert mine.tries == 1


def test_a_new_view_or_cut_forgets_what_was_asked_for() -> None:
    mine, held = repairs(), windows(2)
    list(mine.wanted(held, NOBODY, None, only_new=True))
    mine.next_retry_s()
    mine.begin()
    assert mine.tries == 0
    assert list(mine.wanted(held, NOBODY, None, only_new=True))


def test_one_request_names_a_bounded_number_of_gaps() -> None:
    held = windows(*range(2, 40, 2))
    (ask,) = repairs(RepairOptions(ranges_max=3)).wanted(held, NOBODY, None, only_new=True)
    assert ask.ranges == (1, 1, 3, 3, 5, 5)


def test_what_a_member_is_known_to_hold_is_asked_of_that_member() -> None:
    mine, held = repairs(), windows(2)
    mine.offer(C, {B: 2})
    (ask,) = mine.wanted(held, NOBODY, None, only_new=True)
    assert ask == Wanted(C, B, (1, 1))


def test_an_offer_is_taken_up_once() -> None:
    mine, held = repairs(), windows(2)
    mine.offer(C, {B: 2})
    asked = [ask.holder for _ in range(2) for ask in mine.wanted(held, NOBODY, None, False)]
    assert asked == [C, B]


def test_an_offer_of_less_than_is_missing_or_of_an_unheard_member_is_not_taken_up() -> None:
    mine, held = repairs(), windows(1, 4)
    mine.offer(C, {B: 1})
    (ask,) = mine.wanted(held, NOBODY, None, only_new=False)
    assert ask.holder == B
    mine.offer(C, {B: 4})
    (ask,) = mine.wanted(held, frozenset({C}), None, only_new=False)
    assert ask.holder == B


# --- when to ask ----------------------------------------------------------------------------------


def ask(wanted: Wanted) -> Effect:
    return Down(Batch(A, wanted.holder, (), b"", 0))


def repairing(held: dict[Address, Window]) -> Repairing:
    def digest() -> Digest:
        return {origin: window.received for origin, window in held.items()}

    made = Repairing(
        Repairs(A, Random(1), RepairOptions()),
        Holdings(digest, lambda: held, lambda: NOBODY, ask),
    )
    made.begin_view((A, B, C, D))
    return made


def asked(effects: list[Effect]) -> list[Address | None]:
    return [effect.batch.destination for effect in effects if isinstance(effect, Down)]


def timers(effects: list[Effect]) -> list[str]:
    return [effect.name for effect in effects if isinstance(effect, StartTimer)]


def test_a_gap_starts_the_timer_that_asks_again_once_and_asks_until_it_is_closed() -> None:
    held = windows(2)
    made = repairing(held)
    first = made.repair()
    assert (asked(first), timers(first)) == ([B], ["retry"])
    assert made.repair() == []
    again = made.retry()
    assert (asked(again), timers(again)) == ([B], ["retry"])
    held[B].add(1, Batch(B, None, (), b"x", 1))
    assert made.retry() == []
    assert made.numbers == {"requests_sent": 2}


def test_in_a_view_change_nothing_is_asked_for_before_its_cut_is_known() -> None:
    made = repairing(windows(2))
    made.freeze()
    assert made.repair() == made.retry() == []
    assert not made.unheld()


def test_of_a_cut_only_what_it_contains_is_asked_for_and_its_end_is_told_once() -> None:
    held = windows(2, 4)
    made = repairing(held)
    made.freeze()
    assert asked(made.fetch_cut(FetchCut({B: 2}, {B: (C,)}))) == [C]
    assert made.unheld()
    held[B].add(1, Batch(B, None, (), b"x", 1))
    assert made.cut_held() == [StopTimer("retry"), Notify(CutHeld())]
    assert made.cut_held() == []
    assert not made.unheld()


def test_a_cut_that_is_held_already_is_told_at_once() -> None:
    made = repairing(windows(1))
    made.freeze()
    assert made.fetch_cut(FetchCut({B: 1}, {})) == [StopTimer("retry"), Notify(CutHeld())]


def test_a_view_begins_with_nothing_to_fetch() -> None:
    made = repairing(windows(2))
    made.repair()
    made.freeze()
    made.fetch_cut(FetchCut({B: 5}, {}))
    made.begin_view((A, B, C, D))
    assert (made.frozen, made.fetch, made.retrying) == (False, None, False)
