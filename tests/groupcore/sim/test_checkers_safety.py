"""Invariants 17, 18 and 24: traces by hand that keep them, and that break each rule."""

from __future__ import annotations

from groupcore.sim.messages import state_hash
from groupcore.sim.trace import DISK_LOST, Acked, Mid, Sampled, Secured, Took
from groupcore.view import Address
from tests.groupcore.sim.stories import A, B, C, Story, begun

FIRST, SECOND = (Mid(*A, 1), 0), (Mid(*A, 2), 0)


def delivered() -> Story:
    """A has delivered both of its messages, B the first."""
    return begun().deliver(A, 1, A, 1).deliver(A, 2, A, 2).deliver(B, 1, A, 1)


def take(story: Story, who: Address, position: int, sh: str, epoch: int = 1) -> Story:
    return story.add(Took(story.t, *who, epoch, position, "a", 0, 0, False, sh))


# --- 17 state transfer ----------------------------------------------------------------------------


def test_a_state_that_is_the_prefix_of_the_history_keeps_state_transfer() -> None:
    story = take(delivered(), C, 2, state_hash([FIRST, SECOND]))
    assert take(take(story, C, 1, state_hash([FIRST])), C, 0, state_hash([])).breached() == []


def test_a_state_with_a_message_less_or_more_breaks_state_transfer() -> None:
    assert take(delivered(), C, 2, state_hash([FIRST])).breached() == [17]
    assert take(delivered(), C, 1, state_hash([FIRST, SECOND])).breached() == [17]
    assert take(delivered(), C, 0, state_hash([FIRST])).breached() == [17]


def test_a_state_in_another_order_breaks_state_transfer() -> None:
    assert take(delivered(), C, 2, state_hash([SECOND, FIRST])).breached() == [17]


def test_a_state_at_the_end_is_judged_by_the_same_replay() -> None:
    story = delivered().end(A, A, B, position=2, sh=state_hash([FIRST]))
    assert story.breached() == [17]


def test_a_state_behind_the_floor_of_a_later_epoch_is_not_judged() -> None:
    again = Address("b", 2)
    story = take(delivered(), C, 2, state_hash([SECOND]))
    story.view(again, 2, again, A, after=(1, (A, B)), fresh=True, position=1, epoch=2, floor=1)
    assert 17 not in story.breached()


# --- 18 what is saved -----------------------------------------------------------------------------


def secured(story: Story, *nodes: tuple[str, int], epoch: int = 1) -> Story:
    for name, position in nodes:
        story.add(Secured(story.t, name, 1, epoch, position))
    return story


def ack(story: Story, position: int, *members: Address, epoch: int = 1) -> Story:
    return story.add(Acked(story.t, *A, epoch, position, members))


def test_what_two_disks_of_three_hold_may_be_told_as_saved() -> None:
    assert ack(secured(delivered(), ("a", 2), ("b", 2)), 2, A, B, C).breached() == []


def test_what_only_the_own_disk_holds_is_not_saved() -> None:
    assert ack(secured(delivered(), ("a", 2), ("b", 1)), 2, A, B, C).breached() == [18]


def test_k_plus_one_disks_are_too_few_when_they_are_no_quorum() -> None:
    members = tuple(Address(name, 1) for name in "abcde")
    story = secured(delivered(), ("d", 2), ("e", 2))
    assert ack(story, 2, *members).breached() == [18]
    assert ack(secured(delivered(), ("c", 2), ("d", 2), ("e", 2)), 2, *members).breached() == []


def test_half_of_a_view_of_two_is_a_quorum_but_not_k_plus_one_disks() -> None:
    assert ack(secured(delivered(), ("a", 2)), 2, A, B).breached() == [18]
    assert ack(secured(delivered(), ("a", 2)), 2, A).breached() == []


def test_a_disk_that_went_back_holds_no_more_than_it_has_now() -> None:
    story = secured(delivered(), ("a", 2), ("b", 2), ("b", 1))
    assert ack(story, 2, A, B, C).breached() == [18]


def test_a_disk_of_an_earlier_epoch_holds_what_both_have_in_common() -> None:
    again = Address("a", 2)
    story = secured(delivered(), ("b", 2))
    story.view(again, 2, again, B, after=(1, (A, B)), fresh=True, position=1, epoch=2, floor=1)
    secured(story, ("a", 2), epoch=2)
    assert ack(story, 1, A, B, C, epoch=2).breached() == []
    assert ack(story, 2, A, B, C, epoch=2).breached() == [18]


def test_what_was_saved_must_not_be_behind_the_floor_of_a_later_epoch() -> None:
    again = Address("a", 2)
    story = ack(secured(delivered(), ("a", 2), ("b", 2)), 2, A, B)
    story.view(again, 2, again, B, after=(1, (A, B)), fresh=True, position=1, epoch=2, floor=1)
    assert story.breached() == [18]
    story.live(A, DISK_LOST).live(B, DISK_LOST)
    assert story.breached() == []


# --- 24 bounded memory ----------------------------------------------------------------------------


def sampled(story: Story, who: Address, received: int, dropped: int, view: int = 1) -> Story:
    windows = ((A, received, dropped),)
    return story.add(Sampled(99, *who, view, (("kept", 10, 10),), windows))


def test_what_every_member_holds_may_be_dropped() -> None:
    assert sampled(sampled(begun(), A, 2, 2), B, 2, 0).breached() == []


def test_what_a_member_of_the_view_lacks_must_not_be_dropped() -> None:
    assert sampled(sampled(begun(), A, 2, 2), B, 1, 0).breached() == [24]


def test_a_member_that_is_still_in_the_former_view_lacks_everything() -> None:
    story = begun().view(A, 2, A, B, after=(1, (A, B)))
    assert sampled(sampled(story, A, 2, 2, view=2), B, 5, 0).breached() == [24]


def test_a_member_that_is_no_more_or_already_further_lacks_nothing() -> None:
    assert sampled(begun(), A, 2, 2).breached() == []
    story = begun().view(B, 2, A, B, after=(1, (A, B)))
    assert sampled(sampled(story, A, 2, 2), B, 0, 0, view=2).breached() == []


def test_a_buffer_above_its_bound_breaks_bounded_memory() -> None:
    story = begun().add(Sampled(99, *A, 1, (("kept", 11, 10),), ()))
    assert story.breached() == [24]
