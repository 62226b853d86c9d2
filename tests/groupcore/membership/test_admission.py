"""The rules of who may be taken into a view."""

from __future__ import annotations

from groupcore.membership.admission import JOINERS_MAX, Admission
from groupcore.view import Address
from tests.groupcore.membership.building import A, B, C, D, view_of

VIEW = view_of(A, B)
NOBODY: frozenset[Address] = frozenset()


def ready(admission: Admission, unheard: frozenset[Address] = NOBODY, now: float = 0.0) -> object:
    return admission.ready(VIEW, VIEW.members, unheard, now)


def test_a_node_that_hears_everybody_who_stays_is_ready() -> None:
    admission = Admission()
    admission.ask(C, (A, B), 0.0)
    assert ready(admission) == (C,)


def test_a_node_that_misses_somebody_waits() -> None:  # fault matrix, row 10
    admission = Admission()
    admission.ask(C, (A,), 0.0)
    assert ready(admission) == ()
    assert admission.ready(VIEW, (A,), frozenset({B}), 0.0) == (C,)
    admission.ask(C, (A, B), 0.1)
    assert ready(admission, now=0.1) == (C,)


def test_several_are_ready_in_the_order_of_their_addresses() -> None:
    admission = Admission()
    for joiner in (D, C):
        admission.ask(joiner, (A, B), 0.0)
    assert ready(admission) == (C, D)


def test_who_asks_no_more_is_not_taken_in() -> None:
    admission = Admission(lapse_s=0.6)
    admission.ask(C, (A, B), 0.0)
    assert ready(admission, now=0.6) == (C,)
    assert ready(admission, now=0.61) == ()


def test_a_node_has_been_asking_since_its_first_request_without_a_pause() -> None:
    admission = Admission(lapse_s=0.6)
    assert admission.ask(C, (), 1.0) == 1.0
    assert admission.ask(C, (), 1.5) == 1.0
    assert admission.ask(C, (), 2.0) == 1.0
    assert admission.ask(C, (), 2.7) == 2.7


def test_a_new_life_is_taken_in_only_when_the_former_is_not_heard() -> None:  # row 19
    admission = Admission()
    again = Address("b", 2)
    admission.ask(again, (A,), 0.0)
    assert ready(admission) == ()
    assert ready(admission, unheard=frozenset({B})) == (again,)


def test_a_member_is_not_taken_in_again() -> None:
    admission = Admission()
    admission.ask(B, (A, B), 0.0)
    assert ready(admission, unheard=frozenset({B})) == ()


def test_a_life_that_has_left_a_view_never_comes_back() -> None:
    admission = Admission()
    assert not admission.has_left(C)
    admission.left_view(Address("c", 2))
    admission.left_view(C)
    assert admission.has_left(C)
    assert admission.has_left(Address("c", 2))
    assert not admission.has_left(Address("c", 3))


def test_who_is_in_or_was_refused_asks_no_more() -> None:
    admission = Admission()
    admission.ask(C, (A, B), 0.0)
    admission.withdraw(C)
    admission.withdraw(D)
    assert ready(admission) == ()


def test_another_life_that_has_been_heard_of_late_is_alive() -> None:
    admission, again = Admission(), Address("b", 2)
    assert admission.live_namesake(again, VIEW, (A, B, again)) == B
    assert admission.live_namesake(again, VIEW, (A, again)) is None
    assert admission.live_namesake(again, VIEW, (Address("b", 3),)) is None
    assert admission.live_namesake(B, VIEW, (B,)) is None


def test_only_so_many_may_ask_at_once() -> None:
    admission = Admission()
    for number in range(JOINERS_MAX + 3):
        admission.ask(Address(f"n{number}", 1), (), 0.0)
    assert len(admission.applicants) == JOINERS_MAX
    admission.ask(Address("n0", 1), (A, B), 0.1)
    assert ready(admission, now=0.1) == (Address("n0", 1),)
