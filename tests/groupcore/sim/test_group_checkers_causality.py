"""Invariant 7 across groups: traces by hand that keep it, and that break it."""

from __future__ import annotations

from groupcore.sequencing.names import Order
from groupcore.sim.trace_groups import GroupCreated, GroupJoined, GroupState
from tests.groupcore.sim.group_stories import PA, PA2, PB, PC, A, B, C, G, GroupStory, H, begun


def three() -> GroupStory:
    """`a`, `b` and `c` in both groups; their next number is 4."""
    story = begun(G, H).view(C, 1, A, B, C)
    for group in (G, H):
        story.join(PC, group, 3, A, B).state(C, group, 3)
        story.add(GroupJoined(story.t, *C, group, 3, PC))
    return story


def test_a_cause_before_its_effect_keeps_causal_order() -> None:
    assert three().post(PA, G, 1, 4, A, B, C).post(PB, H, 1, 4, A, B, C).breached() == []


def test_an_effect_before_its_cause_in_another_group_breaks_causal_order() -> None:
    story = three().post(PA, G, 1, 4, A, B).post(PB, H, 1, 4, B, C)
    (violation,) = story.deliver(C, G, 4, (PA, 1)).violations()
    assert (violation.number, violation.nodes) == (7, ("c",))
    assert violation.text == (
        "c#1/1 is given a#1/1:1.1 behind a message whose sender knew of a#1/1:1.1"
    )


def test_what_the_sender_had_not_been_given_is_no_cause() -> None:
    story = three().post(PA, G, 1, 4, A).post(PB, H, 1, 4, B, C)
    assert story.deliver(C, G, 4, (PA, 1)).breached() == []


def test_two_messages_of_one_sender_to_two_groups_are_cause_and_effect() -> None:
    story = three().post(PA, G, 1, 4).post(PA, H, 1, 4, B)
    assert story.deliver(B, G, 4, (PA, 1)).breached() == [7]


def test_a_sender_too_is_given_its_own_messages_in_order() -> None:
    story = three().post(PA, G, 1, 4).post(PA, H, 1, 4, A)
    assert story.deliver(A, G, 4, (PA, 1)).breached() == [7]


def test_who_is_not_in_the_group_of_the_cause_waits_for_nothing() -> None:
    story = begun(G, H).join(PC, H, 3, A, B).state(C, H, 3)
    story.add(GroupJoined(story.t, *C, H, 3, PC))
    assert story.post(PA, G, 1, 3, A, B).post(PB, H, 1, 4, A, B, C).breached() == []


def test_causes_reach_through_groups_that_a_process_is_not_in() -> None:
    """`c` is not in H: cause in G, carried by H to `b`, whose effect in G is behind it."""
    story = begun(G, H).join(PC, G, 3, A, B).state(C, G, 3)
    story.add(GroupJoined(story.t, *C, G, 3, PC)).create(5).join(PB, 5, 1, B).join(PC, 5, 2, B)
    story.state(C, 5, 2).add(GroupJoined(story.t, *C, 5, 2, PC))
    story.post(PA, G, 1, 4).post(PA, H, 1, 3, B)  # b is given the second only
    story.post(PB, 5, 1, 3, C).deliver(C, G, 4, (PA, 1))
    assert story.breached() == [7]


def test_a_process_that_starts_from_a_state_knows_what_it_holds() -> None:
    story = begun(G, H).post(PA, H, 1, 3, A).post(PA, G, 1, 3, A, B)
    story.join(PC, H, 4, A).state(C, H, 4)
    story.add(GroupJoined(story.t, *C, H, 4, PC)).join(PC, G, 4, A, B).state(C, G, 4)
    story.add(GroupJoined(story.t, *C, G, 4, PC))
    assert story.breached() == []
    story.post(PA, G, 2, 5).post(PA, H, 2, 5, A).state(C, H, 5)  # which holds an effect of G's
    assert story.deliver(C, G, 5, (PA, 2)).breached() == [7]


def test_a_state_that_does_not_hold_what_its_taker_was_told_of_breaks_causal_order() -> None:
    story = begun(G, H).join(PC, H, 3, A, B).state(C, H, 3)
    story.add(GroupJoined(story.t, *C, H, 3, PC)).join(PC, G, 3, A, B)
    story.post(PA, G, 1, 4, A, B).post(PA, H, 1, 4, A, B, C)
    story.state(C, G, 3).add(GroupJoined(story.t, *C, G, 3, PC))
    assert story.breached() == []
    assert story.deliver(C, G, 4, (PA, 1)).breached() == [7]


def test_processes_of_one_node_are_judged_each_by_itself() -> None:
    """The node's first process is in G, its second in H: neither is in both."""
    story = begun(G).create(H).join(PA2, H, 1, A).join(PB, H, 2, A).state(B, H, 2)
    story.add(GroupJoined(story.t, *B, H, 2, PB))
    story.post(PB, G, 1, 3, B).post(PB, H, 1, 3, B).deliver(A, H, 3, (PB, 1), PA2)
    assert story.deliver(A, G, 3, (PB, 1), PA).breached() == []


def test_a_fifo_group_promises_no_order_with_others() -> None:
    story = three()
    at = next(i for i, r in enumerate(story.records) if isinstance(r, GroupCreated))
    story.records[at] = GroupCreated(0, *A, G, Order.FIFO)
    story.post(PA, G, 1, 4, A, B).post(PB, H, 1, 4, B, C)
    assert story.deliver(C, G, 4, (PA, 1)).breached() == []


def test_a_process_that_is_told_early_that_it_is_in_begins_with_what_its_node_has() -> None:
    """The node has the group: its process is in before its JOIN has a number."""
    story = begun(G, H).join(PA2, H, 3, B).post(PB, H, 1, 4, B)
    story.add(GroupJoined(story.t, *A, H, 3, PA2)).send(PB, G, 1).stamp(G, 3, PB, 1)
    story.add(GroupJoined(story.t, *A, G, 4, PA2)).stamp(G, 4, PA2, 0)
    story.deliver(A, H, 4, (PB, 1), PA, PA2).deliver(A, G, 3, (PB, 1), PA, PA2)
    assert story.breached() == []


def test_who_begins_a_group_anew_knows_nothing_of_what_is_before() -> None:
    """The last message of G depends on one of H that `c` is given later, as a new one."""
    story = begun(G, H).post(PA, H, 1, 3, A).post(PA, G, 1, 3, A, B)
    story.leave(PA, G, 4, A, B).leave(PB, G, 5, B).join(PC, H, 4, A, B)
    story.state(C, H, 2).add(GroupJoined(story.t, *C, H, 4, PC)).join(PC, G, 6)
    taken = GroupStory()
    taken.records, taken.owners = list(story.records), dict(story.owners)
    for one, anew in ((story, True), (taken, False)):
        one.add(GroupState(one.t, *C, G, 5, "", anew)).add(GroupJoined(one.t, *C, G, 6, PC))
        one.deliver(C, H, 3, (PA, 1))
    assert 7 not in story.breached()
    assert 7 in taken.breached()
