"""The rules of the primary view: lost when no quorum can be reached for long, and regained."""

from __future__ import annotations

from groupcore.events import PrimaryLost, PrimaryRegained
from groupcore.membership.primary import PrimaryWatch
from groupcore.membership.state import MembershipOptions
from tests.groupcore.layers.building import events
from tests.groupcore.membership.building import A, B, C, state_of, view_of

VIEW = view_of(A, B, C)


def watch() -> PrimaryWatch:
    mine = PrimaryWatch(state_of(C, VIEW, options=MembershipOptions(primary_lost_s=0.9)))
    assert mine.on_view(10.0) == []
    return mine


def test_while_a_quorum_is_reachable_the_view_is_primary() -> None:
    mine = watch()
    assert [mine.watch((B, C), now) for now in (10.0, 15.0, 20.0)] == [[], [], []]


def test_it_is_lost_once_when_no_quorum_was_reachable_for_long() -> None:
    mine = watch()
    assert mine.watch((C,), 10.89) == []
    assert events(mine.watch((C,), 10.91)) == [PrimaryLost()]
    assert mine.watch((C,), 12.0) == []


def test_a_short_loss_is_not_told() -> None:
    mine = watch()
    mine.watch((C,), 10.8)
    assert mine.watch((A, C), 10.9) == []
    assert mine.watch((C,), 11.7) == []


def test_it_is_regained_when_a_quorum_is_reachable_again() -> None:
    mine = watch()
    mine.watch((C,), 11.0)
    assert events(mine.watch((A, C), 11.1)) == [PrimaryRegained()]
    assert mine.watch((A, C), 11.2) == []


def test_a_view_change_that_does_not_end_is_a_loss() -> None:
    mine = watch()
    mine.state.blocked = True
    assert mine.watch((A, B, C), 10.5) == []
    assert events(mine.watch((A, B, C), 11.0)) == [PrimaryLost()]


def test_a_new_view_regains_it() -> None:
    mine = watch()
    mine.watch((C,), 11.0)
    assert events(mine.on_view(11.5)) == [PrimaryRegained()]
    assert mine.watch((C,), 12.0) == []
