"""When the next view is proposed, and by whom."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.effects import StartTimer
from groupcore.events import ViewInstalled
from groupcore.membership.admission import Admission
from groupcore.membership.company import Company
from groupcore.membership.convener import FRUITLESS_MOST_S, Convener
from groupcore.membership.learners import Learners
from groupcore.membership.leaver import Leaver
from groupcore.membership.primary import PrimaryWatch
from groupcore.membership.proposer import Proposer
from groupcore.membership.state import MembershipOptions, MergePolicy
from groupcore.membership.voter import Voter
from groupcore.view import Address
from tests.groupcore.layers.building import timers
from tests.groupcore.membership.building import A, B, C, World, state_of, view_of

VIEW = view_of(A, B, C)
BULK_S, STUCK_S = 0.05, 0.7


def convener(
    me: Address = A, world: World | None = None, policy: MergePolicy = "primary"
) -> Convener:
    options = MembershipOptions(merge_policy=policy, bulk_s=BULK_S, stuck_s=STUCK_S)
    state, ask = state_of(me, VIEW, options=options), (world or World()).questions()
    leaver = Leaver(state)
    proposer = Proposer(state, Voter(state, ask), Random(1))
    company = Company(state, Admission(), leaver, ask)
    primary = PrimaryWatch(state)
    return Convener(state, proposer, company, leaver, Learners(state), primary, ask, Random(1))


def proposes(mine: Convener, now: float = 1.0) -> bool:
    mine.consider(now)
    return mine.proposer.attempt is not None


def test_without_a_reason_nothing_is_proposed() -> None:
    assert not proposes(convener())


def test_the_oldest_that_is_left_proposes_when_somebody_is_lost() -> None:
    def lost(who: Address) -> World:
        return World(unheard={me: frozenset({who}) for me in (A, B, C) if me != who})

    assert proposes(convener(A, lost(C)))
    assert not proposes(convener(B, lost(C)))
    assert proposes(convener(B, lost(A)))


def test_joins_and_leaves_that_come_together_wait_for_each_other_once() -> None:
    mine = convener()
    mine.leaver.note(B)
    assert mine.gather() == [StartTimer("gather", BULK_S)]
    mine.leaver.note(C)
    assert mine.gather() == []
    mine.on_gathered(1.0)
    assert mine.proposer.attempt is not None
    assert mine.gather() == [StartTimer("gather", BULK_S)]


def test_after_a_view_that_changed_nothing_the_next_waits_longer_each_time() -> None:
    mine = convener()
    mine.leaver.note(B)
    same = ViewInstalled(VIEW, view_of(A, B, C, number=2))
    waits_s = []
    for _ in range(6):
        mine.on_view(same, 1.0)
        waits_s.append(mine.not_before - 1.0)
    assert waits_s[:3] == pytest.approx([0.2, 0.4, 0.8])
    assert waits_s[-1] == FRUITLESS_MOST_S
    assert not proposes(mine, 2.9)
    assert proposes(mine, 3.1)


def test_a_view_that_changed_something_lets_the_next_be_proposed_at_once() -> None:
    mine = convener()
    mine.on_view(ViewInstalled(VIEW, view_of(A, B, C, number=2)), 1.0)
    mine.on_view(ViewInstalled(VIEW, view_of(A, B, number=2)), 1.0)
    mine.leaver.note(B)
    assert proposes(mine, 1.0)


def test_who_has_promised_leaves_the_word_to_the_proposer_for_a_while() -> None:
    mine = convener()
    mine.leaver.note(B)
    mine.proposer.quiet_until = 2.0
    assert not proposes(mine, 1.9)
    assert proposes(mine, 2.0)


def test_without_a_quorum_only_a_component_that_may_go_on_alone_proposes_and_late() -> None:
    alone = World(unheard={A: frozenset({B, C})})
    assert not proposes(convener(A, alone))
    mine = convener(A, alone, "application")
    assert not proposes(mine)
    mine.primary.is_primary = False
    assert proposes(mine)


def test_those_who_look_for_a_view_can_make_up_the_quorum() -> None:
    again = Address("b", 2)
    world = World(unheard={A: frozenset({B, C})}, seeking={again: VIEW})
    assert proposes(convener(A, world))


def test_who_was_stopped_looks_again_the_later_the_younger_it_is() -> None:
    assert convener().watch() == []
    delays_s = []
    for me in (A, B, C):
        mine = convener(me)
        mine.state.blocked = True
        (effect,) = mine.watch()
        assert isinstance(effect, StartTimer)
        delays_s.append(effect.delay_s)
    assert delays_s == sorted(delays_s)
    assert delays_s[0] == STUCK_S


def test_who_was_stopped_and_hears_no_more_proposes_itself_or_tries_later() -> None:
    mine = convener(C)
    mine.state.blocked = True
    mine.on_stuck(1.0)
    assert mine.proposer.attempt is not None
    alone = convener(C, World(unheard={C: frozenset({A, B})}))
    alone.state.blocked = True
    assert list(timers(alone.on_stuck(1.0))) == ["stuck"]
