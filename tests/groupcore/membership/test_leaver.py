"""The rules of leaving: ask until a view comes without oneself."""

from __future__ import annotations

from groupcore.events import Left
from groupcore.membership.headers import Dissolved, LeaveRequest
from groupcore.membership.leaver import DISSOLVED_TIMES, Leaver
from groupcore.membership.state import MembershipOptions
from tests.groupcore.layers.building import events, timers, told
from tests.groupcore.membership.building import A, B, D, state_of, view_of

VIEW = view_of(A, B)


def test_a_leaver_asks_until_it_is_out() -> None:
    leaver = Leaver(state_of(A, VIEW))
    effects = leaver.ask(0.0)
    assert told(effects) == [LeaveRequest()]
    assert timers(effects) == {"leave": 0.1}
    assert list(leaver.leaving) == [A]
    leaver.on_view(view_of(B, number=4))
    assert list(leaver.leaving) == []


def test_a_leaver_that_nobody_answers_goes_when_its_time_is_over() -> None:
    leaver = Leaver(state_of(A, VIEW))
    leave_s = MembershipOptions().leave_s
    assert told(leaver.ask(7.0)) == [LeaveRequest()]
    assert told(leaver.ask(7.0 + leave_s - 0.1)) == [LeaveRequest()]
    assert events(leaver.ask(7.0 + leave_s)) == [Left()]
    assert leaver.state.gone


def test_the_leave_of_a_member_is_noted_and_that_of_a_stranger_is_not() -> None:
    leaver = Leaver(state_of(A, VIEW))
    leaver.note(B)
    leaver.note(D)
    assert list(leaver.leaving) == [B]


def test_with_an_ordering_layer_it_begins_when_nothing_is_in_flight() -> None:
    leaver = Leaver(state_of(A, VIEW))
    assert leaver.begin() == []
    assert leaver.state.leaving
    alone = Leaver(state_of(A, VIEW, options=MembershipOptions(drains=False)))
    assert timers(alone.begin()) == {"leave": 0}


def test_who_is_in_no_view_or_alone_in_one_just_goes() -> None:
    assert events(Leaver(state_of(A)).begin()) == [Left()]
    assert events(Leaver(state_of(A, view_of(A))).ask(0.0)) == [Left()]


def test_when_all_leave_it_is_told_several_times_and_nobody_else_goes_with_them() -> None:
    leaver = Leaver(state_of(A, VIEW))
    assert leaver.on_dissolved() == []
    assert told(leaver.dissolve()) == [Dissolved()] * DISSOLVED_TIMES
    assert leaver.state.gone
