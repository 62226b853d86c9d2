"""What is judged in stacks without a total order: traces by hand that keep it and that break it."""

from __future__ import annotations

from groupcore.sim.checkers import UNORDERED, check_all
from groupcore.sim.trace import Trace
from tests.groupcore.sim.stories import A, B, C, Story


def breached(story: Story) -> list[int]:
    return sorted({found.number for found in check_all(Trace(story.records), UNORDERED)})


def pair() -> Story:
    """A and B in a view; A has sent two messages and delivered them itself."""
    story = Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True)
    return story.send(A, 1).send(A, 2).deliver(A, 0, A, 1).deliver(A, 0, A, 2)


def ended(story: Story) -> Story:
    """The network heals, and both are there at the end."""
    return story.healed().end(A, A, B).end(B, A, B)


def test_messages_without_places_may_come_in_any_order_of_senders() -> None:
    story = pair().send(B, 1).deliver(B, 0, B, 1).deliver(B, 0, A, 1)
    story.deliver(A, 0, B, 1).deliver(B, 0, A, 2)
    assert breached(ended(story)) == []


def test_each_senders_messages_come_in_the_order_of_sending() -> None:
    story = pair().deliver(B, 0, A, 2).deliver(B, 0, A, 1)
    assert breached(ended(story)) == [6]


def test_unicasts_and_multicasts_are_two_streams() -> None:
    story = pair().send(A, 3, to=B).deliver(B, 0, A, 3).deliver(B, 0, A, 1).deliver(B, 0, A, 2)
    assert breached(ended(story)) == []


def test_what_one_has_delivered_in_the_last_view_everybody_delivers() -> None:
    assert breached(ended(pair().deliver(B, 0, A, 1))) == [25]


def test_a_unicast_between_those_who_stay_arrives() -> None:
    story = pair().deliver(B, 0, A, 1).deliver(B, 0, A, 2).send(A, 3, to=B)
    assert breached(ended(story)) == [25]


def test_who_stays_delivers_what_it_sent() -> None:
    story = Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True).send(A, 1)
    assert breached(ended(story)) == [15]


def test_those_who_go_on_together_have_delivered_the_same() -> None:
    story = pair().deliver(B, 0, A, 1)
    for who in (A, B):
        story.view(who, 2, A, B, after=(1, (A, B)))
    assert breached(story) == [13]


def test_a_view_formed_from_disk_agrees_on_nothing_of_the_former() -> None:
    story = pair().deliver(B, 0, A, 1)
    for who in (A, B):
        story.view(who, 2, A, B, after=(1, (A, B)), epoch=2)
    assert 13 not in breached(story)
    assert 13 in story.breached()


def test_who_was_cut_off_may_deliver_its_own_until_it_knows() -> None:
    story = Story()
    for who in (A, B, C):
        story.view(who, 1, A, B, C, fresh=True)
    for who in (A, B):
        story.view(who, 2, A, B, after=(1, (A, B, C)))
    assert breached(story.send(C, 1).deliver(C, 0, C, 1)) == []
    assert 16 in story.breached()
