"""Each invariant: a trace that keeps it, and traces that break it in each way."""

from __future__ import annotations

import pytest

from groupcore.sim.checkers import CHECKERS, AllIsWell, check_all
from groupcore.sim.messages import state_hash
from groupcore.sim.trace import HEALED, UNWELL, Absent, Accepted, Happened, Mid, Took, Trace
from groupcore.view import Address
from tests.groupcore.sim.stories import LINEAGE, A, B, C, Story, begun


def test_a_good_trace_breaks_nothing() -> None:
    story = begun().healed()
    for who in (A, B):
        story.deliver(who, 1, A, 1).deliver(who, 2, A, 2)
    story.send(A, 3, to=B).deliver(B, 0, A, 3)
    story.end(A, A, B, position=2).end(B, A, B, position=2)
    assert story.breached() == []


def test_every_checker_has_the_number_of_its_invariant_and_a_name_of_its_own() -> None:
    assert [checker.number for checker in CHECKERS] == [
        *(1, 2, 3, 4, 5, 6, 7, 12, 12, 13, 14, 15, 16, 17, 18, 23, 24, 25, 25)
    ]
    assert len({checker.name for checker in CHECKERS}) == len(CHECKERS)


def test_a_violation_names_invariant_nodes_messages_and_time() -> None:
    story = begun().deliver(B, 1, A, 9)
    (violation,) = check_all(Trace(story.records))
    assert (violation.number, violation.invariant) == (1, "integrity")
    assert (violation.nodes, violation.messages, violation.t) == (("b",), (Mid("a", 1, 9),), 4)
    assert str(violation).startswith("1 integrity at 0.000000 s: b#1 delivers a#1/9")


# --- 1 integrity ----------------------------------------------------------------------------------


def test_a_message_that_nobody_sent_breaks_integrity() -> None:
    assert begun().deliver(B, 1, A, 9).breached() == [1]


def test_a_message_delivered_before_it_was_sent_breaks_integrity() -> None:
    story = Story().view(A, 1, A, fresh=True).deliver(A, 1, A, 1).send(A, 1)
    assert story.breached() == [1]


def test_another_content_breaks_integrity() -> None:
    assert begun().deliver(B, 1, A, 1, h=5).breached() == [1]


def test_a_unicast_at_the_wrong_member_or_in_the_order_breaks_integrity() -> None:
    assert begun().send(A, 3, to=B).deliver(A, 0, A, 3).breached() == [1]
    assert begun().send(A, 3, to=B).deliver(B, 1, A, 3).breached() == [1]


# --- 2 no duplication -----------------------------------------------------------------------------


def test_a_message_delivered_twice_at_two_places_is_a_duplicate() -> None:
    assert begun().deliver(B, 1, A, 1).deliver(B, 2, A, 1).breached() == [2, 3]


def test_a_unicast_delivered_twice_is_a_duplicate() -> None:
    story = begun().send(A, 3, to=B).deliver(B, 0, A, 3).deliver(B, 0, A, 3)
    assert story.breached() == [2]


def test_a_message_that_the_state_already_held_is_a_duplicate() -> None:
    story = begun().deliver(A, 1, A, 1)
    story.view(C, 2, A, B, C, after=(1, (A, B)), fresh=True, position=1)
    assert 2 in story.deliver(C, 2, A, 1).breached()


# --- 3 slot agreement -----------------------------------------------------------------------------


def test_two_messages_at_one_place_break_slot_agreement() -> None:
    assert begun().deliver(A, 1, A, 1).deliver(B, 1, A, 2).breached() == [3]


def test_one_message_at_two_places_breaks_slot_agreement() -> None:
    assert begun().deliver(A, 1, A, 1).deliver(A, 2, A, 2).deliver(B, 1, A, 2).breached() == [3]


def test_the_same_position_in_another_epoch_is_another_place() -> None:
    story = begun().deliver(A, 1, A, 1).deliver(B, 1, A, 2, epoch=2)
    assert 3 not in story.breached()


def test_what_was_lost_behind_the_floor_of_an_epoch_may_get_another_place() -> None:
    again = Address("b", 2)
    story = begun().deliver(B, 1, A, 1).deliver(B, 2, A, 2)
    story.view(again, 2, again, A, after=(1, (A, B)), fresh=True, position=1, epoch=2, floor=1)
    assert story.deliver(again, 2, A, 2, epoch=2).breached() == []
    story.deliver(A, 1, A, 2, epoch=2)
    assert 3 in story.breached()


# --- 4 total order, 5 gap-freedom -----------------------------------------------------------------


def test_going_back_breaks_total_order() -> None:
    story = begun().deliver(B, 1, A, 1).deliver(B, 2, A, 2).send(A, 3).deliver(B, 1, A, 3)
    assert story.breached() == [3, 4, 6]


def test_places_out_of_order_break_total_order() -> None:
    story = begun().deliver(B, 2, A, 2).deliver(B, 1, A, 1)
    assert {4, 5, 6} <= set(story.breached())


def test_a_skipped_position_is_a_gap() -> None:
    assert begun().deliver(B, 2, A, 1).breached() == [5]
    assert begun().deliver(B, 1, A, 1).deliver(B, 3, A, 2).breached() == [5]


def test_a_fresh_member_starts_behind_its_state() -> None:
    story = begun().deliver(A, 1, A, 1).deliver(A, 2, A, 2)
    story.view(C, 2, A, B, C, after=(1, (A, B)), fresh=True, position=1)
    assert story.deliver(C, 2, A, 2).breached() == []


def test_a_journal_that_does_not_hold_what_it_is_said_to_hold_is_a_gap() -> None:
    story = begun().add(Took(9, "b", 1, 1, 5, "b", 1, 3, True))
    assert story.breached() == [5]


# --- 6 FIFO ---------------------------------------------------------------------------------------


def test_a_later_message_before_an_earlier_one_breaks_fifo() -> None:
    assert begun().deliver(B, 1, A, 2).deliver(B, 2, A, 1).breached() == [6]


def test_fifo_holds_across_members_that_started_at_different_places() -> None:
    story = begun().deliver(A, 1, A, 2)
    story.view(C, 2, A, B, C, after=(1, (A, B)), fresh=True, position=1)
    assert story.deliver(C, 2, A, 1).breached() == [6]


def test_unicasts_and_ordered_messages_may_overtake_each_other() -> None:
    story = begun().send(A, 3, to=B).deliver(B, 0, A, 3).deliver(B, 1, A, 1)
    assert story.breached() == []


# --- 12 view agreement ----------------------------------------------------------------------------


def test_two_memberships_under_one_number_break_view_agreement() -> None:
    assert begun().view(C, 1, C, fresh=True).breached() == [12]


def test_two_lineages_break_view_agreement() -> None:
    assert begun().view(C, 1, A, B, lineage=78).breached() == [12]


def test_a_view_without_its_own_member_breaks_view_agreement() -> None:
    assert begun().view(C, 1, A, B).breached() == [12]


def test_a_number_that_does_not_grow_at_a_node_breaks_view_agreement() -> None:
    again = Address("b", 2)
    assert begun().view(B, 1, A, B).breached() == [12]
    assert begun().view(again, 1, A, again).breached() == [12]


def test_a_view_that_a_minority_of_its_predecessor_accepted_breaks_the_chain() -> None:
    story = Story().view(A, 1, A, B, C, fresh=True)
    assert story.view(A, 2, A, after=(1, (A, B, C)), by=(A,)).breached() == [12]


def test_a_view_that_was_accepted_only_after_it_was_installed_breaks_the_chain() -> None:
    story = begun().view(A, 2, A, after=(1, (A, B)), by=(C,))
    assert story.add(Accepted(story.t, *A, 2, LINEAGE, (A,))).breached() == [12]


def test_half_of_a_view_with_its_first_member_may_decide_what_follows_it() -> None:
    assert begun().view(A, 2, A, after=(1, (A, B)), by=(A,)).breached() == []
    assert begun().view(B, 2, B, after=(1, (A, B)), by=(B,)).breached() == [12]


def test_a_restarted_node_votes_with_what_it_has_on_disk() -> None:
    again = Address("a", 2)
    assert begun().view(B, 2, B, after=(1, (A, B)), by=(again, B)).breached() == []


def test_a_predecessor_that_others_installed_differently_breaks_the_chain() -> None:
    assert begun().view(A, 2, A, after=(1, (A, C))).breached() == [12]


# --- 15 self-delivery -----------------------------------------------------------------------------


def test_a_member_that_stays_and_misses_its_own_message_breaks_self_delivery() -> None:
    story = begun().deliver(A, 1, A, 1).end(A, A, B)
    assert story.breached() == [15]


def test_a_member_that_does_not_stay_may_lose_its_messages() -> None:
    assert begun().end(B, A, B).breached() == []


# --- 25 liveness ----------------------------------------------------------------------------------


def healed() -> Story:
    return Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True).healed()


@pytest.mark.parametrize(
    "story",
    [
        healed().end(A, A, B).add(Absent(9, "b", 2, "connecting")),
        healed().end(A, A, B).end(B, B),
        healed().end(A, A, B).end(B, A, B, primary=False),
        healed().end(A, A, B, position=1).end(B, A, B),
        healed().end(A, A, B).end(B, A, B, sh=state_hash([])),
        healed().send(A, 1, to=B).end(A, A, B).end(B, A, B),
    ],
    ids=["absent", "other view", "not primary", "behind", "other state", "lost unicast"],
)
def test_what_is_not_well_after_healing_breaks_liveness(story: Story) -> None:
    assert story.breached() == [25]


def test_a_message_without_a_place_at_the_end_breaks_liveness_and_self_delivery() -> None:
    assert healed().send(A, 1).end(A, A, B).end(B, A, B).breached() == [15, 25]


def test_views_that_never_settle_break_liveness() -> None:
    story = healed()
    members = (A, B)
    for number in range(2, 6):
        story.view(A, number, *members, after=(number - 1, members), t=6_000_000_000 + number)
    assert story.end(A, A, B).end(B, A, B).breached() == [25]


def test_nothing_is_demanded_of_a_trace_that_did_not_heal() -> None:
    assert begun().deliver(A, 1, A, 1).deliver(A, 2, A, 2).end(A, A, B).breached() == []


# --- 25 all is well -------------------------------------------------------------------------------


def test_a_cluster_that_says_that_it_has_not_become_well_breaks_liveness() -> None:
    """Also where nothing is outstanding: who has nothing yet has asked for nothing."""
    story = Story()
    story.records.append(Happened(9, UNWELL, "b is without the state"))
    (violation,) = check_all(Trace(story.records), (AllIsWell,))
    assert (violation.number, violation.t) == (25, 9)
    assert "b is without the state" in violation.text
    story.records[-1] = Happened(9, HEALED, "")
    assert check_all(Trace(story.records), (AllIsWell,)) == []
