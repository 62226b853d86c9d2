"""What checkers say of groups that are deleted."""

from __future__ import annotations

import pytest

from groupcore.sequencing.names import Order
from groupcore.sim.checkers.group_strict import Overlaps
from groupcore.sim.groups.drawing import (
    DELETED,
    draw_durable,
    draw_groups,
    draw_sequencing,
    with_deletions,
)
from groupcore.sim.groups.scenario import DELETE
from groupcore.sim.trace_deletions import DeletionAsked, GroupDeleted
from groupcore.sim.trace_groups import JOIN, GroupReleased, GroupSaved, GroupVolatile
from groupcore.view import Address
from tests.groupcore.sim.group_stories import PA, PB, A, B, G, GroupStory, H, begun


def delete(story: GroupStory, *at: Address, group: int = G, request: int = 0) -> GroupStory:
    """These nodes say that the group is no more, and let its state go."""
    for who in at:
        story.add(GroupDeleted(story.t, *who, group, request))
        story.add(GroupReleased(story.t, *who, group))
    return story


def test_what_was_sent_to_a_deleted_group_need_not_come() -> None:
    story = begun().send(PA, G, 1).stamp(G, 3, PA, 1).deliver(A, G, 3, (PA, 1))
    story.send(PB, G, 1)  # nobody has numbered it
    delete(story, A, B)  # b has not been given what a was
    assert story.healed().end(A).end(B).breached() == []
    assert begun().send(PB, G, 1).healed().end(A, [(G, 2)]).end(B, [(G, 2)]).breached() == [25]


@pytest.mark.parametrize(
    "more",
    [
        lambda story: story.deliver(B, G, 3, (PA, 1)),
        lambda story: story.stamp(G, 3, PA, 2),
        lambda story: story.accept(PA, G, 1, 3),
        lambda story: story.own(A, G, 2, 3),
        lambda story: story.state(B, G, 3),
        lambda story: story.add(GroupSaved(story.t, PA, G, 1)),
        lambda story: story.add(GroupVolatile(story.t, *B, G, PA, 1, 0, ())),
        lambda story: story.add(GroupDeleted(story.t, *B, G, 0)),
    ],
)
def test_nothing_comes_of_a_group_where_it_is_deleted(more: object) -> None:
    assert callable(more)
    story = begun().send(PA, G, 1).stamp(G, 3, PA, 1).deliver(A, G, 3, (PA, 1))
    assert delete(story, A, B).breached() == []
    more(story)
    assert 16 in story.breached()


def test_a_node_that_has_not_heard_of_the_deletion_goes_on_until_it_does() -> None:
    story = begun().send(PA, G, 1).stamp(G, 3, PA, 1).deliver(A, G, 3, (PA, 1))
    delete(story, A).deliver(B, G, 3, (PA, 1))
    assert delete(story, B).healed().end(A).end(B).breached() == []


def test_all_who_were_in_a_deleted_group_know_in_the_end_and_keep_nothing_of_it() -> None:
    story = delete(begun(), A).healed().end(A)
    assert story.end(B).breached() == [25]
    kept = begun()
    kept.add(GroupDeleted(kept.t, *A, G, 0)).add(GroupDeleted(kept.t, *B, G, 0))
    assert kept.healed().end(A, [(G, 2)]).end(B).breached() == [25]


def test_who_asks_for_a_deletion_is_answered() -> None:
    asked = begun()
    asked.add(DeletionAsked(asked.t, *A, 7, G))
    assert asked.healed().end(A, [(G, 2)]).end(B, [(G, 2)]).breached() == [25]
    answered = begun()
    answered.add(DeletionAsked(answered.t, *A, 7, G)).add(GroupDeleted(answered.t, *A, G, 7))
    answered.add(GroupReleased(answered.t, *A, G))
    assert delete(answered, B).healed().end(A).end(B).breached() == []


def test_strict_groups_that_a_deleted_one_had_linked_come_apart() -> None:
    overlaps = Overlaps({H: 50})
    for group in (G, H):
        for process in (PA, PB):
            overlaps.change(group, process, JOIN)
    assert overlaps.components[G] == {G, H}
    overlaps.advance(49)
    assert overlaps.components[G] == {G, H}
    overlaps.advance(50)
    assert overlaps.components[G] == {G}
    overlaps.change(H, PA, JOIN)  # numbered where the deletion is not known yet
    overlaps.change(H, PB, JOIN)
    assert overlaps.components[G] == {G}


def test_a_sequencer_may_let_go_what_a_deleted_group_had_tied_to_it() -> None:
    def story() -> GroupStory:
        told = begun(G, H, order=Order.STRICT)
        return told

    apart = story().own(B, H, 2, 2).send(PA, G, 1).stamp(G, 3, PA, 1)
    assert 11 in apart.breached()
    gone = delete(story(), A, B, group=H).send(PA, G, 1).stamp(G, 3, PA, 1)
    assert gone.breached() == []


def test_some_schedules_delete_groups_that_exist_and_are_otherwise_as_they_were() -> None:
    drawn = [with_deletions(draw_groups(seed)) for seed in range(200)]
    deleting = [one for one in drawn if any(act.kind == DELETE for act in one.acts)]
    assert 0.5 * DELETED < len(deleting) / len(drawn) < 1.5 * DELETED
    for one in deleting:
        acts = [act for act in one.acts if act.kind == DELETE]
        assert all(act.groups[0] < len(one.orders) for act in acts)
        assert tuple(act for act in one.acts if act.kind != DELETE) == draw_groups(one.seed).acts
    for draw in (draw_sequencing, draw_durable):
        assert any(act.kind == DELETE for seed in range(20) for act in draw(seed).acts)
