"""Invariants 7, 13, 14 and 16: traces by hand that keep them, and that break each rule."""

from __future__ import annotations

import pytest

from groupcore.sim.checkers import UNORDERED, check_all
from groupcore.sim.trace import Lived, Mid, Trace
from tests.groupcore.sim.stories import A, B, C, Story


def trio() -> Story:
    """A, B and C in view 1; A has sent two messages, which are delivered by A and B."""
    story = Story()
    for who in (A, B, C):
        story.view(who, 1, A, B, C, fresh=True)
    story.send(A, 1).send(A, 2)
    for who in (A, B):
        story.deliver(who, 1, A, 1).deliver(who, 2, A, 2)
    return story


def go_on(story: Story, *members: object) -> Story:
    """A and B install view 2 without C."""
    for who in (A, B):
        story.view(who, 2, A, B, after=(1, (A, B, C)))
    return story


# --- 13 virtual synchrony -------------------------------------------------------------------------


def test_those_who_go_on_together_with_the_same_deliveries_keep_virtual_synchrony() -> None:
    assert go_on(trio()).breached() == []


def test_a_member_that_goes_on_without_a_message_breaks_virtual_synchrony() -> None:
    story = trio().deliver(C, 1, A, 1)
    for who in (A, B, C):
        story.view(who, 2, A, B, C, after=(1, (A, B, C)))
    assert story.breached() == [13]


def test_a_member_that_restarted_is_not_judged_by_what_it_delivered_before() -> None:
    story = go_on(trio().deliver(C, 1, A, 1).live(C, "crash"))
    story.view(C._replace(incarnation=2), 3, A, B, after=(2, (A, B)), fresh=True, position=2)
    assert 13 not in story.breached()


def test_unicasts_do_not_count_for_virtual_synchrony() -> None:
    assert go_on(trio().send(A, 3, to=B).deliver(B, 0, A, 3)).breached() == []


# --- 14 same-view delivery ------------------------------------------------------------------------


def test_a_message_delivered_in_two_views_breaks_same_view_delivery() -> None:
    story = trio()
    for who in (A, B, C):
        story.view(who, 2, A, B, C, after=(1, (A, B, C)))
    story.deliver(C, 1, A, 1, view=2).deliver(C, 2, A, 2, view=2)
    assert story.breached() == [13, 14]


def test_what_an_epoch_has_lost_may_come_again_in_another_view() -> None:
    again = B._replace(incarnation=2)
    story = Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True).send(A, 1)
    story.deliver(B, 1, A, 1).live(B, "crash")
    story.view(again, 2, again, A, after=(1, (A, B)), fresh=True, epoch=2, floor=0)
    assert story.deliver(again, 1, A, 1, epoch=2, view=2).breached() == []


# --- 16 no zombies --------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["crash", "left", "excluded", "refused", "stranded"])
def test_a_life_that_is_over_delivers_nothing(end: str) -> None:
    assert trio().live(C, end).deliver(C, 1, A, 1).breached() == [16]


def test_a_life_that_is_over_sends_and_installs_nothing() -> None:
    assert trio().live(C, "left").send(C, 1).breached() == [16]
    story = trio().live(C, "left").view(C, 2, A, B, C, after=(1, (A, B, C)))
    assert 16 in story.breached()


def test_a_member_that_only_wants_to_leave_still_delivers() -> None:
    assert trio().live(C, "leave").deliver(C, 1, A, 1).breached() == []


def test_a_member_left_behind_may_deliver_late_what_was_agreed_in_its_view() -> None:
    assert go_on(trio()).deliver(C, 1, A, 1).deliver(C, 2, A, 2).breached() == []


def test_a_member_left_behind_delivers_nothing_that_was_not_agreed_in_its_view() -> None:
    story = go_on(trio().send(A, 3).deliver(C, 1, A, 1).deliver(C, 2, A, 2))
    assert story.deliver(C, 3, A, 3).breached() == [16]


def test_what_a_recovered_view_has_lost_a_member_left_behind_may_deliver_as_before() -> None:
    again = A._replace(incarnation=2)
    story = trio().send(A, 3).live(A, "crash").live(B, "crash")
    story.view(again, 2, again, after=(1, (A, B, C)), fresh=True, position=2, epoch=2, floor=2)
    story.deliver(C, 1, A, 1).deliver(C, 2, A, 2)
    assert story.deliver(C, 3, A, 3).breached() == []


def test_nobody_delivers_a_multicast_of_a_process_that_is_not_in_its_view() -> None:
    story = go_on(trio().send(C, 1))
    assert story.deliver(A, 3, C, 1, view=2).breached() == [16]


# --- 7 causal order -------------------------------------------------------------------------------


def test_an_effect_before_its_cause_breaks_causal_order() -> None:
    story = trio().send(B, 1)  # after it has delivered A's
    story.deliver(C, 1, B, 1).deliver(C, 2, A, 1)
    assert 7 in story.breached()


def test_messages_that_know_nothing_of_each_other_may_come_in_any_order() -> None:
    story = Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True).send(A, 1).send(B, 1)
    assert story.deliver(A, 1, B, 1).deliver(A, 2, A, 1).breached() == []


def test_causes_are_handed_on_by_a_process_that_sends_after_what_it_delivered() -> None:
    """A's first -> B's first -> C's first, while the last member has only C's and then A's."""
    story = Story()
    for who in (A, B, C):
        story.view(who, 1, A, B, C, fresh=True)
    story.send(A, 1).deliver(B, 1, A, 1).send(B, 1).deliver(C, 2, B, 1).send(C, 1)
    story.deliver(A, 3, C, 1).deliver(A, 4, A, 1)
    assert 7 in story.breached()


def test_a_state_that_was_taken_counts_as_delivered() -> None:
    story = trio()
    story.view(C._replace(incarnation=2), 2, A, B, fresh=True, position=2)
    new = C._replace(incarnation=2)
    story.send(new, 1).deliver(C, 3, new, 1).deliver(C, 4, A, 1)
    assert 7 in story.breached()


# --- stacks without a total order -----------------------------------------------------------------


def test_a_multicast_without_a_place_is_right_only_where_nobody_orders() -> None:
    story = Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True).send(A, 1)
    story.deliver(B, 0, A, 1).deliver(A, 0, A, 1)
    assert story.breached() == [4]
    assert check_all(Trace(story.records), UNORDERED) == []


def test_virtual_synchrony_and_fifo_are_demanded_without_a_total_order_too() -> None:
    story = Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True).send(A, 1).send(A, 2)
    story.deliver(A, 0, A, 1).deliver(A, 0, A, 2).deliver(B, 0, A, 2).deliver(B, 0, A, 1)
    assert [violation.number for violation in check_all(Trace(story.records), UNORDERED)] == [6]
    story.send(A, 3).deliver(A, 0, A, 3)
    for who in (A, B):
        story.view(who, 2, A, B, after=(1, (A, B)))
    numbers = {violation.number for violation in check_all(Trace(story.records), UNORDERED)}
    assert numbers == {6, 13}


def test_a_violation_names_what_each_of_both_sides_lacks() -> None:
    story = trio().deliver(C, 1, A, 1)
    for who in (A, B, C):
        story.view(who, 2, A, B, C, after=(1, (A, B, C)))
    (violation,) = check_all(Trace(story.records))
    assert violation.messages == (Mid("a", 1, 2),)
    assert "c#1 goes from view 1 to 2 without a#1/2 and with nothing" in violation.text
    assert not any(isinstance(record, Lived) for record in story.records)
