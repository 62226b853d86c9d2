"""Invariant 6 of volatile messages: traces by hand that keep it, and that break each rule."""

from __future__ import annotations

import pytest

from groupcore.sim.trace_groups import GroupClosed, GroupProcess, GroupVolatile, GroupVolatileSent
from tests.groupcore.sim.group_stories import PA2, PB, A, B, G, GroupStory, begun


def sent(count: int = 3) -> GroupStory:
    story = begun()
    for number in range(1, count + 1):
        story.add(GroupVolatileSent(story.t, PB, G, number, 70 + number))
    return story


def give(story: GroupStory, number: int, h: int, *to: GroupProcess) -> GroupStory:
    return story.add(GroupVolatile(story.t, *A, G, PB, number, h, to))


def member() -> GroupStory:
    """`a`'s second process has joined."""
    return sent().join(PA2, G, 3, A, B)


def test_some_are_left_out_and_the_others_come_in_order() -> None:
    assert give(give(member(), 1, 71, PA2), 3, 73, PA2).breached() == []


@pytest.mark.parametrize(
    ("number", "h", "why"),
    [
        (4, 74, "which was not sent"),
        (3, 70, "which has another content than was sent"),
        (1, 71, "behind number 2"),
        (2, 72, "behind number 2"),
    ],
)
def test_what_was_not_sent_so_or_comes_late_breaks_it(number: int, h: int, why: str) -> None:
    story = give(give(member(), 2, 72, PA2), number, h, PA2)
    (violation,) = story.violations()
    assert (violation.number, violation.text) == (
        6,
        f"a#1 gives the volatile message {number} of b#1/1 to group 1, {why}",
    )


def test_who_is_not_in_the_group_is_given_none() -> None:
    assert give(sent(), 1, 71, PA2).breached() == [6]
    left = member().leave(PA2, G, 4, A, B)
    assert give(left, 1, 71, PA2).breached() == [6]
    elsewhere = member().leave(PA2, G, 4, B)
    assert give(elsewhere, 1, 71, PA2).breached() == []
    closed = member()
    closed.add(GroupClosed(closed.t, PA2))
    assert give(closed, 1, 71, PA2).breached() == [6]
