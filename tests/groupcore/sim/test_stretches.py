"""The rules of groups between power cuts: each epoch of the views is a history by itself."""

from __future__ import annotations

from groupcore.sequencing.names import Order
from groupcore.sim.checkers import GROUP_CHECKERS, Violation, check_all
from groupcore.sim.checkers.group_index import index_groups
from groupcore.sim.checkers.stretches import BETWEEN_POWER_CUTS, stretches
from groupcore.sim.profiles import DURABLE
from groupcore.sim.trace import Trace, Viewed
from groupcore.sim.trace_groups import (
    GroupAsked,
    GroupDelivered,
    GroupJoined,
    GroupLeft,
    GroupReleased,
    GroupSaved,
)
from groupcore.sim.trace_moves import MoveStarted
from groupcore.view import Address
from tests.groupcore.sim.group_stories import PA, PB, A, B, G, GroupStory, H, begun

A2, B2 = Address("a", 2), Address("b", 2)
PA2, PB2 = (*A2, 1), (*B2, 1)


def breached(story: GroupStory) -> list[int]:
    found: list[Violation] = check_all(Trace(story.records), BETWEEN_POWER_CUTS)
    return sorted({violation.number for violation in found})


def view(story: GroupStory, who: Address, epoch: int, *members: Address) -> GroupStory:
    return story.add(
        Viewed(story.t, *who, epoch, epoch, 7, members, None, 0, True, 0, 0, epoch > 1, ())
    )


def cut(story: GroupStory) -> GroupStory:
    """The power is cut; both live again in the next epoch, and have number 3 on their disks."""
    for who in (A, B):
        story.live(who, "crash")
    for who in (A2, B2):
        view(story, who, 2, A2, B2).state(who, G, 2)
        story.add(GroupDelivered(story.t, *who, G, 3, PA, 1, 0, ()))
    return story.own(A2, G, 2, 3)


def sent() -> GroupStory:
    return begun().post(PA, G, 1, 3, A, B)


def test_all_rules_but_the_one_that_holds_throughout_are_judged_between_power_cuts() -> None:
    assert len(BETWEEN_POWER_CUTS) == len(GROUP_CHECKERS) - 1
    assert set(BETWEEN_POWER_CUTS) < set(DURABLE)
    numbers = {checker.number for checker in DURABLE}
    assert numbers == {*range(1, 13), *range(15, 21), 23, 25, 26, 28, 29}


def test_a_number_that_was_lost_with_the_power_is_given_anew() -> None:
    story = cut(sent().post(PB, G, 1, 4, A, B))
    story.join(PA2, G, 4, A2, B2).join(PB2, G, 5, A2, B2)
    assert breached(story) == []
    assert {3, 5} <= set(story.breached())  # as one history it would be wrong


def test_in_one_epoch_a_number_is_one_message() -> None:
    story = sent().send(PA, G, 2).send(PB, G, 1)
    story.stamp(G, 4, PA, 2).deliver(A, G, 4, (PA, 2)).deliver(B, G, 4, (PB, 1))
    assert 3 in breached(story)


def test_a_gap_behind_a_power_cut_is_a_gap() -> None:
    story = cut(sent())
    story.send(PA2, G, 1).stamp(G, 5, PA2, 1).deliver(B2, G, 5, (PA2, 1), PB2)
    assert 5 in breached(story)


def test_what_an_archive_tells_again_is_no_second_delivery() -> None:
    story = sent().leave(PB, G, 4, A, B)
    story.add(GroupReleased(story.t, *B, G)).state(B, G, 2)
    story.deliver(B, G, 3, (PA, 1), PB)
    story.add(GroupJoined(story.t, *B, G, 5, PB)).stamp(G, 5, PB, 0)
    assert 2 not in breached(story)
    again = sent().deliver(B, G, 3, (PA, 1))
    assert {2, 4} <= set(breached(again))


def test_an_answer_to_a_leave_comes_again_in_its_place_from_the_archive() -> None:
    story = sent().leave(PB, G, 4, A, B)
    story.add(GroupReleased(story.t, *B, G)).join(PB, G, 5, A).leave(PB, G, 6, A, B)
    story.state(B, G, 2).deliver(B, G, 3, (PA, 1), PB)
    for seqno, said in ((4, GroupLeft), (5, GroupJoined), (6, GroupLeft)):
        gone = [False] if said is GroupLeft else []
        story.add(said(story.t, *B, G, seqno, PB, *gone))
    assert 4 not in breached(story)


def test_who_parts_while_an_archive_tells_its_history_again_has_parted() -> None:
    """That has no number: it is no repetition of anything."""
    story = sent().leave(PB, G, 4, A, B)
    story.add(GroupReleased(story.t, *B, G)).state(B, G, 2)
    attending = (*B, 9)
    story.add(GroupJoined(story.t, *B, G, 3, attending))
    story.add(GroupLeft(story.t, *B, G, 0, attending, False))
    (part,) = stretches(Trace(story.records))
    assert any(type(one) is GroupLeft and one.process == attending for one in part.records)


def test_who_lives_through_two_epochs_is_in_both_histories() -> None:
    story = sent()
    view(story, A, 2, A, B2)
    view(story, B2, 2, A, B2)
    former, later = stretches(Trace(story.records))
    assert {(view.n, view.inc) for view in former.views} == {A, B}
    assert {(view.n, view.inc) for view in later.views} == {A, B2}
    assert later.deliveries() == 1  # what a was given in the former one stands


def outlived(story: GroupStory) -> list[int]:
    """`b` goes on after a power cut with a new life of `a`, and is told nothing of the group."""
    story.live(A, "crash")
    view(story, A2, 2, A2, B)
    view(story, B, 2, A2, B)
    return breached(story)


def test_a_saved_message_has_its_number_though_nobody_says_so_behind_the_power_cut() -> None:
    story = begun().post(PB, G, 1, 3, A).accept(PB, G, 1, 3)
    assert outlived(story.add(GroupSaved(story.t, PB, G, 1))) == []
    assert outlived(begun().post(PB, G, 1, 3, A).accept(PB, G, 1, 3)) == [20]


def test_what_a_life_was_told_before_the_power_cut_is_no_gap_in_what_it_was_told() -> None:
    story = begun().join((*B, 2), G, 3, A).post(PA, G, 1, 4, A)
    assert outlived(story.deliver(B, G, 4, (PA, 1), PB)) == []
    skipped = begun().post(PA, G, 1, 3, A).post(PA, G, 2, 4, A)
    assert 5 in outlived(skipped.deliver(B, G, 4, (PA, 2), PB))


def test_what_only_a_node_that_was_cut_off_has_numbered_is_not_the_number_that_is_saved() -> None:
    """`b` numbers a message of `a` alone; `a` goes on without it, numbers it anew and saves it."""
    story = begun().own(B, G, 2, 2).send(PA, G, 1).stamp(G, 3, PA, 1)
    view(story, A, 2, A)
    story.own(A, G, 3, 2).leave(PB, G, 3, A, gone=True)
    story.stamp(G, 4, PA, 1).deliver(A, G, 4, (PA, 1)).accept(PA, G, 1, 4)
    assert breached(story.add(GroupSaved(story.t, PA, G, 1))) == []
    assert breached(story.accept(PA, G, 1, 3)) == [20]


def test_what_a_life_was_told_is_what_stands_not_what_was_numbered_before_at_the_same_place() -> (
    None
):
    c, c2 = Address("c", 1), Address("c", 2)
    story = begun()
    view(story, c, 1, A, B, c)
    story.own(B, G, 2, 2).send(PB, G, 1).stamp(G, 3, PB, 1)
    story.own(c, G, 3, 2).post(PA, G, 1, 3, A)
    for node, what in ((B, "crash"), (c, "crash")):
        story.live(node, what)
    for node in (A, c2):
        view(story, node, 2, A, c2)
    *_, later = stretches(Trace(story.records))
    assert index_groups(later).contents[G, 3] == (PA, 1)


def bound(role: str) -> GroupStory:
    """In the first epoch `a` and `b` come into G and H in this role; H is brought to G's place."""
    story = view(view(GroupStory(), A, 1, A, B), B, 1, A, B)
    story.create(G, Order.STRICT).create(H, Order.STRICT)
    for process in (PA, PB):
        for group in (G, H):
            story.add(GroupAsked(story.t, *process[:2], story.t, role, process, group))
    return bring(story, A, 1)


def bring(story: GroupStory, node: Address, move: int) -> GroupStory:
    return story.add(MoveStarted(story.t, *node, move, (H,), str(B), str(A), "strict"))


def test_who_binds_groups_is_known_where_only_others_live_on() -> None:
    for role, expected in (("join", []), ("observe", [28])):
        story = bound(role).live(B, "crash")
        view(story, A, 2, A, B2)
        view(story, B2, 2, A, B2)
        assert breached(story) == expected


def test_who_was_a_member_before_a_power_cut_may_bind_groups_behind_it() -> None:
    """The directory that was on the disks has them still."""
    story = bound("join").live(A, "crash").live(B, "crash")
    view(story, A2, 2, A2, B2)
    view(story, B2, 2, A2, B2)
    assert breached(bring(story, A2, 2)) == []
    watching = bound("observe").live(A, "crash").live(B, "crash")
    view(watching, A2, 2, A2, B2)
    assert len(check_all(Trace(watching.records), BETWEEN_POWER_CUTS)) == 1
    bring(watching, A2, 2)
    assert len(check_all(Trace(watching.records), BETWEEN_POWER_CUTS)) == 2
