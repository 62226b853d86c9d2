"""Invariant 28, and what observers are not judged by: they bind no groups."""

from __future__ import annotations

from groupcore.sequencing.names import Order
from groupcore.sim.trace_groups import GroupAsked, GroupJoined, GroupProcess, GroupRefused
from groupcore.sim.trace_moves import MoveAsked, MoveStarted
from groupcore.view import Address
from tests.groupcore.sim.group_stories import PA, PA2, PB, PC, A, B, C, G, GroupStory, H


def ask(story: GroupStory, process: GroupProcess, what: str, *groups: int) -> GroupStory:
    for group in groups:
        story.add(GroupAsked(story.t, *process[:2], story.t, what, process, group))
    return story


def tell(story: GroupStory, process: GroupProcess, *groups: int) -> GroupStory:
    """The process hears that it is in."""
    for group in groups:
        story.add(GroupJoined(story.t, *process[:2], group, 1, process))
    return story


def bring(story: GroupStory, group: int, *at: Address, number: int = 1) -> GroupStory:
    """These nodes hear that a group is brought to another's sequencer."""
    for node in at:
        story.add(MoveStarted(story.t, *node, number, (group,), str(B), str(A), "strict"))
    return story


def numbers(story: GroupStory) -> list[int]:
    return [violation.number for violation in story.violations() if violation.number == 28]


def town() -> GroupStory:
    """G at `a` and H at `b`, both strict."""
    story = GroupStory()
    for node in (A, B, C):
        story.view(node, 1, A, B, C)
    return story.create(G, Order.STRICT).create(H, Order.STRICT).own(B, H, 2, 0)


def test_groups_with_two_members_in_common_are_brought_together() -> None:
    story = ask(ask(town(), PA, "join", G, H), PB, "join", G, H)
    assert numbers(bring(story, H, A, B, C)) == []


def test_groups_that_members_bind_through_a_third_are_brought_together() -> None:
    story = ask(ask(town().create(3, Order.STRICT), PA, "join", G, 3), PB, "join", G, 3)
    assert numbers(bring(ask(ask(story, PC, "join", 3, H), PA2, "join", 3, H), H, A)) == []


def test_groups_that_two_observe_are_not_brought_together() -> None:
    story = ask(ask(town(), PA, "observe", G, H), PB, "observe", G, H)
    (found,) = bring(story, H, A, B, C).violations()  # said once, though three nodes hear it
    assert (found.number, found.nodes) == (28, ("a",))
    assert found.text == (
        "move 1 brings groups 2 from b#1 to a#1 for strict order, and no members bind them to what "
        "is there"
    )


def test_a_member_and_an_observer_bind_nothing() -> None:
    story = ask(ask(town(), PA, "join", G, H), PB, "observe", G, H)
    assert numbers(bring(story, H, A)) == [28]


def test_who_becomes_an_observer_may_count_until_it_is_told() -> None:
    story = tell(ask(ask(town(), PA, "join", G, H), PB, "join", G, H), PB, G, H)
    ask(ask(story, PB, "leave", H), PB, "observe", H)
    assert numbers(bring(story, H, A)) == []
    assert numbers(bring(tell(story, PB, H), H, A, number=2)) == [28]
    # Who hears of the first one later says nothing new.
    assert numbers(bring(story, H, C)) == [28]


def test_a_move_for_another_reason_needs_no_members() -> None:
    story = town().add(MoveStarted(9, *A, 1, (H,), str(B), str(A), "load"))
    assert numbers(story) == []


def test_a_move_is_refused_for_what_members_bind_only() -> None:
    for role, expected in (("join", []), ("observe", [28])):
        story = ask(ask(town(), PA, role, G, H), PB, role, G, H)
        story.add(MoveAsked(story.t, *C, 7, (H,)))
        story.add(GroupRefused(story.t, *C, 7, "breaks_s2"))
        assert numbers(story) == expected
        story.add(MoveAsked(story.t, *C, 8, (G, H)))
        story.add(GroupRefused(story.t, *C, 8, "breaks_s2"))
        assert numbers(story) == [*expected, 28]  # all that is bound was named


def observed(second: str) -> GroupStory:
    """`a` counts in G and H, and `b` joins both in this role; one message to each is numbered."""
    story = ask(ask(town().own(A, H, 3, 0), PA, "join", G, H), PB, second, G, H)
    for group in (G, H):
        story.join(PA, group, 1, A).join(PB, group, 2, A).state(B, group, 2)
        story.add(GroupJoined(story.t, *B, group, 2, PB))
    story.send(PA, G, 1).send(PC, H, 1)
    return story.stamp(G, 3, PA, 1).stamp(H, 3, PC, 1)


def test_a_member_and_an_observer_need_not_be_given_two_groups_in_one_order() -> None:
    for role, expected in (("join", [8, 9]), ("observe", [])):
        story = observed(role).deliver(A, G, 3, (PA, 1)).deliver(A, H, 3, (PC, 1))
        story.deliver(B, H, 3, (PC, 1)).deliver(B, G, 3, (PA, 1))
        assert story.breached() == expected


def test_groups_that_a_member_and_an_observer_have_in_common_may_have_two_sequencers() -> None:
    for role, expected in (("join", [11]), ("observe", [])):
        story = observed(role).own(B, H, 4, 3)
        assert story.send(PA, G, 2).stamp(G, 4, PA, 2).breached() == expected


def asked_twice(first: str, second: str) -> GroupStory:
    """`b` asks to be in H, gives up, asks again in another role; the first request lets it in."""
    story = ask(ask(town().own(A, H, 3, 0), PA, "join", G, H), PB, "join", G)
    request = story.t
    ask(ask(ask(story, PB, first, H), PB, "leave", H), PB, second, H)
    for group, by in ((G, 0), (H, request)):
        story.join(PA, group, 1, A).join(PB, group, 2, A, request=by).state(B, group, 2)
        story.add(GroupJoined(story.t, *B, group, 2, PB))
    return story


def test_the_request_that_let_in_says_as_what() -> None:
    for roles, expected in ((("join", "observe"), [11]), (("observe", "join"), [])):
        story = asked_twice(*roles).own(B, H, 4, 2)
        assert story.send(PA, G, 1).stamp(G, 3, PA, 1).breached() == expected
    for roles, expected in ((("join", "observe"), [8, 9]), (("observe", "join"), [])):
        story = asked_twice(*roles).send(PA, G, 1).send(PC, H, 1)
        story.stamp(G, 3, PA, 1).stamp(H, 3, PC, 1)
        story.deliver(A, G, 3, (PA, 1)).deliver(A, H, 3, (PC, 1))
        story.deliver(B, H, 3, (PC, 1)).deliver(B, G, 3, (PA, 1))
        assert story.breached() == expected


def test_who_is_in_and_asks_to_observe_is_refused_and_stays_a_member() -> None:
    story = observed("join")
    request = story.t
    ask(story, PB, "observe", H).add(GroupRefused(story.t, *B, request, "already_a_member"))
    assert story.own(B, H, 4, 3).send(PA, G, 2).stamp(G, 4, PA, 2).breached() == [11]


def test_a_request_that_is_refused_at_once_binds_nothing() -> None:
    for code, expected in (("left", []), ("already_a_member", [28])):
        story = ask(ask(town(), PA, "join", G, H), PB, "observe", G, H)
        request = story.t
        ask(story, PB, "join", G).add(GroupRefused(story.t, *B, request, code))
        request = story.t
        ask(story, PB, "join", H).add(GroupRefused(story.t, *B, request, code))
        assert numbers(bring(story, H, A)) == expected


def test_an_observer_is_judged_like_everybody_within_a_group_and_by_causes() -> None:
    skipped = observed("observe").deliver(A, G, 3, (PA, 1)).send(PA, G, 2).stamp(G, 4, PA, 2)
    assert 5 in skipped.deliver(B, G, 4, (PA, 2)).breached()
    story = observed("observe").deliver(A, G, 3, (PA, 1)).send(PA, H, 1).stamp(H, 4, PA, 1)
    story.deliver(B, H, 3, (PC, 1)).deliver(B, H, 4, (PA, 1)).deliver(B, G, 3, (PA, 1))
    assert story.breached() == [7]
