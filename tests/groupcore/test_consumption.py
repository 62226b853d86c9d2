"""The rules of the ledger of what came up and what the application has consumed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.consumption import Consumption
from groupcore.view import Address

A, B = Address("a", 1), Address("b", 1)


def came(ledger: Consumption, sender: Address, cost_bytes: int, multicast: bool = True) -> None:
    ledger.add(ledger.stream(sender, multicast), cost_bytes)


def test_what_came_in_this_turn_is_not_consumed_before_the_next() -> None:
    ledger = Consumption()
    came(ledger, A, 10)
    assert ledger.settle(0) == []
    ledger.end_turn()
    assert ledger.settle(0) == [ledger.stream(A, True)]
    assert ledger.stream(A, True).consumed == 10


def test_the_newest_of_what_came_is_what_the_application_has_not_consumed() -> None:
    ledger = Consumption()
    for sender, cost_bytes in ((A, 10), (B, 10), (A, 10)):
        came(ledger, sender, cost_bytes)
    ledger.end_turn()
    ledger.settle(15)
    assert (ledger.stream(A, True).unread, ledger.stream(B, True).unread) == (10, 5)
    ledger.settle(0)
    assert (ledger.stream(A, True).unread, ledger.stream(B, True).unread) == (0, 0)


def test_news_is_what_the_sender_does_not_know_of() -> None:
    ledger = Consumption()
    came(ledger, A, 10)
    stream = ledger.stream(A, True)
    assert (stream.news, stream.news_to_be) == (0, 10)
    ledger.end_turn()
    ledger.settle(0)
    assert stream.news == 10
    assert stream.tell() == (10, 0)
    assert stream.news == 0


def test_multicasts_and_unicasts_of_a_sender_are_two_streams() -> None:
    ledger = Consumption()
    came(ledger, A, 10)
    came(ledger, A, 3, multicast=False)
    assert [(s.multicast, s.received) for s in ledger.streams] == [(True, 10), (False, 3)]


def test_a_view_counts_multicasts_anew_and_keeps_what_is_unread() -> None:
    ledger = Consumption()
    came(ledger, A, 10)
    came(ledger, A, 3, multicast=False)
    came(ledger, B, 7)
    ledger.stream(A, True).tell()
    ledger.begin_view([A])
    assert ledger.stream(A, True).tell() == (0, 10)
    assert ledger.stream(A, False).received == 3
    assert B not in ledger.multicasts
    ledger.end_turn()
    ledger.settle(0)
    assert ledger.stream(A, True).news == 10


@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from([A, B]), st.integers(1, 50)),
            st.floats(0, 1).map(lambda share: (None, share)),
        ),
        max_size=40,
    )
)
def test_what_is_unread_is_what_the_application_says(steps: list[tuple[object, float]]) -> None:
    ledger = Consumption()
    backlog = 0
    for sender, amount in steps:
        if isinstance(sender, Address):
            came(ledger, sender, int(amount))
            backlog += int(amount)
        else:
            ledger.end_turn()
            backlog = int(backlog * amount)
            ledger.settle(backlog)
            assert sum(stream.unread for stream in ledger.streams) == backlog
