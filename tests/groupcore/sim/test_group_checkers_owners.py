"""Invariants 10 and 11: one sequencer at a time, and nothing lost between two."""

from __future__ import annotations

from groupcore.sequencing.names import Order
from groupcore.sim.trace_groups import GroupDisowned, GroupPrimary
from tests.groupcore.sim.group_stories import PA, PB, A, B, C, G, GroupStory, H, begun


def moved() -> GroupStory:
    """One message in epoch 1; then `b` is the sequencer."""
    story = begun().post(PA, G, 1, 3, A, B)
    return story.add(GroupDisowned(story.t, *A, G, 1, 3)).own(B, G, 2, 3)


def failed(floor: int, numbered: int = 4) -> GroupStory:
    """`a` has given 3, which is delivered, and `numbered - 3` more; then it is gone."""
    story = begun().post(PA, G, 1, 3, A, B)
    for number in range(2, numbered - 1):
        story.send(PA, G, number).stamp(G, number + 2, PA, number)
    return story.live(A, "crash").view(B, 2, B).own(B, G, 2, floor)


# --- 10 one sequencer -----------------------------------------------------------------------------


def test_an_epoch_after_the_other_keeps_one_sequencer() -> None:
    assert moved().post(PB, G, 1, 4, A, B).breached() == []


def test_a_number_from_who_is_not_the_sequencer_breaks_one_sequencer() -> None:
    story = begun().send(PA, G, 1).stamp(G, 3, PA, 1, by=B)
    (violation,) = story.violations()
    assert violation.text == (
        "b#1 gives number 3 of group 1 in epoch 1, of which it is not the sequencer"
    )


def test_a_number_from_a_sequencer_that_has_handed_over_breaks_one_sequencer() -> None:
    assert 10 in moved().send(PA, G, 2).stamp(G, 4, PA, 2, by=A, epoch=1).breached()


def test_a_number_from_a_sequencer_that_was_followed_in_its_view_breaks_one_sequencer() -> None:
    story = begun().post(PA, G, 1, 3, A, B).own(B, G, 2, 3)
    assert 10 in story.send(PA, G, 2).stamp(G, 4, PA, 2, by=A, epoch=1).breached()


def test_one_that_is_in_nobodys_view_any_more_may_not_know() -> None:
    story = begun().post(PA, G, 1, 3, A, B).view(B, 2, B, C).own(B, G, 2, 3)
    story.send(PA, G, 2).stamp(G, 4, PA, 2, by=A, epoch=1).post(PB, G, 1, 4, B)
    assert story.breached() == []


def test_a_node_may_take_over_in_the_instant_of_its_view() -> None:
    """Whichever of the two it writes down first."""
    story = begun().send(PA, G, 1).stamp(G, 3, PA, 1).own(B, G, 2, 2)
    story.records.append(story.view(B, 2, B).records.pop()._replace(t=story.t - 1))
    assert story.breached() == []


def test_one_that_was_cut_off_may_take_over_what_another_has_taken_over_since() -> None:
    story = begun().post(PA, G, 1, 3, A, B).view(B, 2, B, C).own(B, G, 3, 3).own(C, G, 2, 3)
    assert story.breached() == [10]
    story = begun().post(PA, G, 1, 3, A, B).view(B, 2, B).own(B, G, 3, 3).own(C, G, 2, 3)
    assert story.breached() == []


def test_a_number_without_the_primary_view_breaks_one_sequencer() -> None:
    story = begun()
    story.add(GroupPrimary(story.t, *A, on=False)).send(PA, G, 1).stamp(G, 3, PA, 1)
    assert story.breached() == [10]
    story.add(GroupPrimary(story.t, *A, on=True)).send(PA, G, 2).stamp(G, 4, PA, 2)
    assert len(story.violations()) == 1


def test_two_owners_of_one_epoch_break_one_sequencer() -> None:
    story = begun().own(B, G, 1, 2)
    (violation,) = story.violations()
    assert violation.text == (
        "b#1 becomes the sequencer of group 1 in epoch 1, after a#1 in epoch 1"
    )


def test_an_epoch_may_be_left_out_only_where_a_node_is_gone() -> None:
    assert begun().own(B, G, 3, 2).breached() == [10]
    assert begun().live(C, "crash").own(B, G, 3, 2).breached() == []
    assert begun().view(B, 2, A, B).own(B, G, 3, 2).breached() == []


# --- 11 migration atomicity -----------------------------------------------------------------------


def test_a_new_owner_begins_where_the_former_one_has_stopped() -> None:
    story = begun().post(PA, G, 1, 3, A, B).send(PA, G, 2).stamp(G, 4, PA, 2).own(B, G, 2, 3)
    (violation,) = story.violations()
    assert violation.text == (
        "b#1 goes on behind number 3 of group 1 in epoch 2, but a#1, which is there, had got to 4"
    )


def test_what_only_a_dead_sequencer_knew_may_be_given_again() -> None:
    story = failed(floor=3).send(PB, G, 1).stamp(G, 4, PB, 1).deliver(B, G, 4, (PB, 1))
    assert story.breached() == []


def test_a_new_owner_that_begins_before_what_is_delivered_breaks_atomicity() -> None:
    _, violation = failed(floor=2).violations()
    assert violation.text == (
        "b#1 goes on behind number 2 of group 1 in epoch 2, but number 3 has been delivered"
    )


def test_a_new_owner_that_leaves_numbers_out_breaks_atomicity() -> None:
    assert failed(floor=5).breached() == [11]


def test_what_was_numbered_behind_the_floor_must_not_be_delivered() -> None:
    story = failed(floor=3).deliver(B, G, 4, (PA, 2))
    (violation,) = story.violations()
    assert violation.text == (
        "b#1 delivers a#1/1:1.2 at number 4 of group 1; "
        "in the epoch that stands there it was given by nobody"
    )


def test_a_message_in_two_epochs_breaks_atomicity() -> None:
    story = moved().stamp(G, 4, PA, 1)
    (violation,) = story.violations()
    assert violation.text == (
        "b#1 gives number 4 of group 1 in epoch 2 to a#1/1:1.1, "
        "a#1 gives number 3 of group 1 in epoch 1 to it"
    )


def test_groups_of_one_component_have_one_sequencer() -> None:
    story = begun(G, H, order=Order.STRICT).own(B, H, 2, 2).send(PA, G, 1).stamp(G, 3, PA, 1)
    (violation,) = story.violations()
    assert violation.text == (
        "a#1 gives number 3 of group 1 in epoch 1; "
        "group 2 of the same component is sequenced by b#1"
    )


def test_groups_with_one_common_process_may_have_two_sequencers() -> None:
    story = begun(G, H, order=Order.STRICT).leave(PB, H, 3, A, B).own(B, H, 2, 3)
    assert story.post(PA, G, 1, 3, A, B).breached() == []
