"""Invariants 1 to 6 of groups: traces by hand that keep them, and that break each rule."""

from __future__ import annotations

from groupcore.sim.checkers.group_order import GroupSlotAgreement
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    GroupClosed,
    GroupCreated,
    GroupJoined,
    GroupLeft,
    GroupProcess,
    GroupReleased,
)
from groupcore.view import Address
from tests.groupcore.sim.group_stories import PA, PA2, PB, PC, A, B, C, G, GroupStory, H, begun


def two_messages() -> GroupStory:
    """Two of `a`'s are numbered 3 and 4; `a` has delivered both, `b` the first."""
    return begun().post(PA, G, 1, 3, A, B).post(PA, G, 2, 4, A)


def test_a_trace_in_which_all_goes_well_breaks_nothing() -> None:
    assert two_messages().deliver(B, G, 4, (PA, 2)).breached() == []


# --- 1 integrity ----------------------------------------------------------------------------------


def test_what_nobody_sent_breaks_integrity() -> None:
    story = begun().stamp(G, 3, PA, 1).deliver(A, G, 3, (PA, 1))
    assert story.breached() == [1]


def test_what_is_sent_only_later_breaks_integrity() -> None:
    story = begun().stamp(G, 3, PA, 1).deliver(A, G, 3, (PA, 1)).send(PA, G, 1)
    assert story.breached() == [1]


def test_another_content_than_was_sent_breaks_integrity() -> None:
    story = begun().send(PA, G, 1, h=7).stamp(G, 3, PA, 1).deliver(A, G, 3, (PA, 1), h=8)
    (violation,) = story.violations()
    assert str(violation).endswith(
        "a#1 delivers a#1/1:1.1, which has another content than was sent"
    )


def test_the_same_number_in_another_group_is_another_message() -> None:
    story = begun(G, H).send(PA, H, 1).stamp(G, 3, PA, 1).deliver(A, G, 3, (PA, 1))
    assert story.breached() == [1]


# --- 2 no duplication -----------------------------------------------------------------------------


def test_a_second_delivery_breaks_no_duplication() -> None:
    story = two_messages().deliver(B, G, 4, (PA, 2)).stamp(G, 5, PA, 2)
    assert 2 in story.deliver(B, G, 5, (PA, 2)).breached()


def test_what_the_state_holds_must_not_be_delivered_again() -> None:
    story = two_messages().join(PC, G, 5, A, B).state(C, G, 5)
    story.add(GroupJoined(story.t, *C, G, 5, PC))
    story.post(PA, G, 3, 6, A)
    assert story.breached() == [5]  # b has not delivered number 4
    assert 2 in story.deliver(C, G, 6, (PA, 1)).breached()


# --- 3 slot agreement -----------------------------------------------------------------------------


def test_3_who_leaves_before_its_join_has_a_number_has_none() -> None:
    def told(*said: GroupLeft) -> list[int]:
        found = GroupSlotAgreement().check(Trace([GroupCreated(0, *A, G, 0), *said]))
        return [violation.number for violation in found]

    def left(t: int, node: Address, seqno: int, process: GroupProcess) -> GroupLeft:
        return GroupLeft(t, *node, G, seqno, process, False)

    assert told(left(1, A, 0, PA), left(2, B, 0, PB)) == []
    assert told(left(1, A, 3, PA), left(2, B, 3, PB)) == [3]
    assert told(left(1, A, 0, PB), left(2, B, 0, PA)) == [3]  # of others: a place


def test_two_messages_at_one_number_break_slot_agreement() -> None:
    story = begun().send(PA, G, 1).send(PB, G, 1).stamp(G, 3, PA, 1)
    story.deliver(A, G, 3, (PA, 1)).deliver(B, G, 3, (PB, 1))
    found = [v for v in story.violations() if v.number == 3]
    assert found[0].text == ("number 3 of group 1 is a#1/1:1.1 at a and b#1/1:1.1 at b#1")
    assert found[0].nodes == ("a", "b")


def test_two_numbers_of_one_message_break_slot_agreement() -> None:
    story = begun().send(PA, G, 1).stamp(G, 3, PA, 1).stamp(G, 4, PA, 1)
    assert 3 in story.deliver(A, G, 3, (PA, 1)).deliver(B, G, 4, (PA, 1)).breached()


def test_a_message_where_another_has_a_join_breaks_slot_agreement() -> None:
    story = begun().join(PC, G, 3, A).send(PA, G, 1).deliver(B, G, 3, (PA, 1))
    assert 3 in story.breached()


# --- 4 total order, 5 gap freedom -----------------------------------------------------------------


def test_an_earlier_number_after_a_later_one_breaks_total_order() -> None:
    story = two_messages().deliver(B, G, 4, (PA, 2)).deliver(B, G, 3, (PA, 1))
    assert story.breached() == [2, 4, 6]


def test_a_state_that_goes_back_breaks_total_order() -> None:
    assert two_messages().deliver(B, G, 4, (PA, 2)).state(B, G, 3).breached() == [4]


def test_a_left_out_number_breaks_gap_freedom() -> None:
    story = begun().send(PA, G, 1).send(PA, G, 2).stamp(G, 3, PA, 1).stamp(G, 4, PA, 2)
    (violation,) = story.deliver(B, G, 4, (PA, 2)).violations()
    assert violation.text == ("b#1 delivers a#1/1:1.2 at number 4 of group 1 after number 2")


def test_a_delivery_without_a_state_breaks_gap_freedom() -> None:
    assert 5 in begun().send(PA, G, 1).stamp(G, 3, PA, 1).deliver(C, G, 3, (PA, 1)).breached()


def test_a_delivery_after_the_copy_was_dropped_breaks_gap_freedom() -> None:
    story = two_messages()
    story.add(GroupReleased(story.t, *B, G)).deliver(B, G, 4, (PA, 2))
    assert story.breached() == [5]


def test_a_first_number_that_does_not_follow_the_state_breaks_gap_freedom() -> None:
    story = two_messages().join(PC, G, 5, A).state(C, G, 5)
    story.add(GroupJoined(story.t, *C, G, 5, PC)).send(PA, G, 3).send(PA, G, 4)
    story.stamp(G, 6, PA, 3).stamp(G, 7, PA, 4).deliver(C, G, 7, (PA, 4))
    assert story.breached() == [5]


def test_a_join_of_an_own_process_may_be_said_late() -> None:
    story = begun().stamp(G, 3, PA2, 0).send(PA, G, 1).stamp(G, 4, PA, 1)
    story.deliver(A, G, 4, (PA, 1))
    story.add(GroupJoined(story.t, *A, G, 3, PA2))
    story.send(PA, G, 2).stamp(G, 5, PA, 2).deliver(A, G, 5, (PA, 2), PA, PA2)
    assert story.breached() == []


def test_a_member_that_is_left_out_breaks_gap_freedom() -> None:
    story = begun().join(PA2, G, 3, A, B).post(PA, G, 1, 4, B).deliver(A, G, 4, (PA, 1), PA)
    (violation,) = story.violations()
    assert (violation.number, violation.text) == (
        5,
        "a#1 delivers a#1/1:1.1 at number 4 of group 1, but not to its a#1/2",
    )


def test_a_closed_process_may_be_left_out() -> None:
    story = begun().join(PA2, G, 3, A, B)
    story.add(GroupClosed(story.t, PA2)).post(PA, G, 1, 4, B).deliver(A, G, 4, (PA, 1), PA)
    assert story.breached() == []


# --- 6 FIFO ---------------------------------------------------------------------------------------


def test_a_sender_that_overtakes_itself_breaks_fifo() -> None:
    story = begun().send(PA, G, 1).send(PA, G, 2).stamp(G, 3, PA, 2).stamp(G, 4, PA, 1)
    story.deliver(B, G, 3, (PA, 2)).deliver(B, G, 4, (PA, 1))
    assert 6 in story.breached()


def test_messages_to_different_groups_have_numbers_of_their_own() -> None:
    story = begun(G, H).post(PA, H, 1, 3, A, B).post(PA, H, 2, 4, A, B).post(PA, G, 1, 3, A, B)
    assert story.breached() == []
