"""Invariants 15, 16, 17, 20 and 25 of groups: traces by hand that keep and that break them."""

from __future__ import annotations

from groupcore.sim.checkers.group_members import GroupStateTransfer
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupAsked,
    GroupClosed,
    GroupJoined,
    GroupRefused,
    GroupState,
    group_state_hash,
)
from tests.groupcore.sim.group_stories import PA, PA2, PB, PC, A, B, C, G, GroupStory, begun


def done() -> GroupStory:
    """One message, sent, delivered, accepted; both nodes are there at the end."""
    return begun().post(PA, G, 1, 3, A, B).accept(PA, G, 1, 3).healed()


def ended(story: GroupStory, a: int = 3, b: int = 3) -> GroupStory:
    return story.end(A, [(G, a)]).end(B, [(G, b)])


# --- 15 self-delivery -----------------------------------------------------------------------------


def test_a_member_that_is_not_given_its_own_message_breaks_self_delivery() -> None:
    story = begun().post(PA, G, 1, 3, B)
    assert 15 in ended(story).breached()
    assert 15 not in ended(begun().post(PA, G, 1, 3, A, B)).breached()


def test_who_is_no_member_is_not_given_what_it_sends() -> None:
    story = begun().send(PC, G, 1).stamp(G, 3, PC, 1).deliver(A, G, 3, (PC, 1))
    story.deliver(B, G, 3, (PC, 1)).end(C)
    assert ended(story).breached() == []


def test_what_was_refused_need_not_be_given() -> None:
    story = begun().post(PA, G, 1, 3, B)
    story.add(GroupRefused(story.t, *A, 9, "too_large", PA, G, 1))
    assert 15 not in ended(story).breached()


# --- 16 no zombies --------------------------------------------------------------------------------


def test_nothing_from_a_life_that_is_over() -> None:
    story = begun().post(PA, G, 1, 3, B).live(A, "excluded")
    assert story.deliver(A, G, 3, (PA, 1)).breached() == [16]
    assert 16 in begun().live(A, "crash").send(PA, G, 1).breached()
    assert 16 in begun().live(A, "crash").stamp(G, 3, PB, 1).breached()


def test_nothing_for_a_process_that_has_left() -> None:
    story = begun().join(PA2, G, 3, A, B).leave(PA2, G, 4, A, B)
    story.post(PB, G, 1, 5, B).deliver(A, G, 5, (PB, 1), PA, PA2)
    (violation,) = story.violations()
    assert violation.text == (
        "a#1 delivers b#1/1:1.1 at number 5 of group 1 to a#1/2, which has not joined here"
    )


def test_nothing_for_a_process_that_is_closed_or_of_another_node() -> None:
    story = begun()
    story.add(GroupClosed(story.t, PA)).post(PB, G, 1, 3, A)
    assert 16 in story.breached()
    story = begun().send(PB, G, 1).stamp(G, 3, PB, 1).deliver(A, G, 3, (PB, 1), PA, PB)
    assert 16 in story.breached()


def test_nothing_from_a_process_behind_its_leave_when_its_node_is_gone() -> None:
    story = begun().leave(PB, G, 3, A, gone=True).send(PB, G, 1).stamp(G, 4, PB, 1)
    assert story.deliver(A, G, 4, (PB, 1)).breached() == [16]
    story = begun().leave(PB, G, 3, A, B).send(PB, G, 1).stamp(G, 4, PB, 1)
    assert story.deliver(A, G, 4, (PB, 1)).breached() == []


# --- 17 state transfer ----------------------------------------------------------------------------


def test_a_state_that_is_what_the_messages_lead_to_keeps_state_transfer() -> None:
    first, second = (PA, 1, 0), (PA, 2, 0)
    story = begun().post(PA, G, 1, 3, A, B).join(PC, G, 4, A, B).post(PA, G, 2, 5, A, B)
    story.state(C, G, 5, group_state_hash([first, second]))
    story.add(GroupJoined(story.t, *C, G, 4, PC))
    assert story.breached() == []
    assert story.state(C, G, 5, group_state_hash([second, first])).breached() == [17]


def test_a_state_with_a_message_less_or_more_breaks_state_transfer() -> None:
    first, second = (PA, 1, 0), (PA, 2, 0)
    story = begun().post(PA, G, 1, 3, A, B).post(PA, G, 2, 4, A, B)
    assert story.end(A, [(G, 4)], group_state_hash([first])).breached() == [17]
    story = begun().post(PA, G, 1, 3, A, B).post(PA, G, 2, 4, A, B)
    assert story.end(A, [(G, 3)], group_state_hash([first, second])).breached() == [17]


# --- 20 exactly once ------------------------------------------------------------------------------


def test_a_sender_is_told_the_number_that_its_message_has() -> None:
    assert begun().post(PA, G, 1, 3, A, B).accept(PA, G, 1, 3).breached() == []
    assert begun().post(PA, G, 1, 3, A, B).accept(PA, G, 1, 4).breached() == [20]
    assert begun().send(PA, G, 1).accept(PA, G, 1, 3).breached() == [20]


def test_a_sequencer_that_numbers_a_message_twice_breaks_exactly_once() -> None:
    story = begun().post(PA, G, 1, 3, A, B).stamp(G, 4, PA, 1)
    (violation,) = story.violations()
    assert violation.text == "a#1 gives a#1/1:1.1 number 4 of group 1, after 3, in epoch 1"


def test_a_process_that_uses_its_number_again_breaks_exactly_once() -> None:
    assert begun().post(PA, G, 1, 3, A, B).send(PA, G, 1, h=1).breached() == [20]


# --- 25 liveness ----------------------------------------------------------------------------------


def test_nothing_outstanding_at_the_end_keeps_liveness() -> None:
    assert ended(done()).breached() == []


def test_a_message_without_a_number_or_whose_sender_does_not_know_it_breaks_liveness() -> None:
    assert ended(done().send(PA, G, 2)).breached() == [25]
    assert ended(done().post(PB, G, 1, 4, A, B), 4, 4).breached() == [25]


def test_what_a_process_sent_that_is_not_there_any_more_may_be_lost() -> None:
    story = done().send(PC, G, 1).send(PA2, G, 1)
    assert ended(story.add(GroupClosed(story.t, PA2))).breached() == []


def test_a_node_that_lacks_the_end_of_a_group_breaks_liveness() -> None:
    assert ended(done(), b=2).breached() == [25]


def test_a_request_without_an_answer_breaks_liveness() -> None:
    story = done()
    story.add(GroupAsked(story.t, *A, 5, "join", PA2, G))
    assert ended(story).breached() == [25]
    story = done()
    story.add(GroupAsked(story.t, *A, 5, "leave", PA, G))
    assert ended(story).breached() == [25]


def test_a_request_that_was_refused_has_had_its_answer() -> None:
    story = done()
    story.add(GroupAsked(story.t, *A, 5, "join", PA2, G))
    story.add(GroupRefused(story.t, *A, 5, "unknown_group"))
    assert ended(story).breached() == []


def test_a_group_without_a_sequencer_breaks_liveness() -> None:
    assert ended(done().own(C, G, 2, 3)).breached() == [25]


def test_without_healing_nothing_is_judged() -> None:
    assert ended(begun().send(PA, G, 1)).breached() == []


def test_17_who_hears_late_of_a_beginning_that_is_past_takes_nothing_from_others() -> None:
    """a has joined and left before it hears of either; b has begun behind that meanwhile."""
    story = GroupStory().create(G)
    story.view(A, 1, A, B).view(B, 1, A, B)
    story.stamp(G, 1, PA, JOIN).stamp(G, 2, PA, LEAVE).stamp(G, 3, PB, JOIN)
    empty = group_state_hash(())
    story.add(GroupState(story.t, *B, G, 2, empty, True))
    story.add(GroupState(story.t, *A, G, 0, empty, True))
    assert GroupStateTransfer().check(Trace(story.records)) == []
    story.add(GroupState(story.t, *A, G, 3, empty, True))
    assert [one.number for one in GroupStateTransfer().check(Trace(story.records))] == [17]


def test_17_who_is_cut_off_is_judged_by_the_group_as_it_was_before_others_began_it_anew() -> None:
    story = GroupStory().create(G)
    story.view(A, 1, A, B).view(B, 1, A, B)
    story.stamp(G, 1, PB, JOIN).send(PB, G, 1).stamp(G, 2, PB, 1)
    story.add(GroupState(story.t, *B, G, 0, group_state_hash(()), True))
    story.view(A, 2, A)
    story.add(GroupState(story.t, *A, G, 2, group_state_hash(()), True))
    story.add(GroupState(story.t, *B, G, 3, "of numbers that the others gave otherwise"))
    assert GroupStateTransfer().check(Trace(story.records)) == []
    story.add(GroupState(story.t, *B, G, 2, group_state_hash(())))  # lacks the message
    assert [one.number for one in GroupStateTransfer().check(Trace(story.records))] == [17]
