"""Objects with an access list on simulated nodes, and the checker of invariant 22."""

from __future__ import annotations

import pytest

from groupcore.sim.checkers import Violation
from groupcore.sim.checkers.group_access import MANAGE, READ, WRITE, AccessInOrder
from groupcore.sim.groups.guarded import draw_access
from groupcore.sim.plants import PLANTS
from groupcore.sim.profiles import PROFILES
from groupcore.sim.trace import Record, Trace
from groupcore.sim.trace_groups import (
    GroupCalled,
    GroupDelivered,
    GroupJudged,
    GroupMid,
    GroupShown,
    GroupState,
)

A, B = ("a", 1), ("b", 1)
PA = ("a", 1, 1)
G = 7

Call = tuple[str, str, str, int]
"""Principal, operation, whose entry, which right."""


def judged(*records: Record, calls: dict[int, Call]) -> list[Violation]:
    """The checker's word when these calls stand at these places."""
    told: list[Record] = []
    for seqno, call in calls.items():
        told.append(GroupCalled(seqno, PA, G, seqno, *call))
        told.append(GroupDelivered(seqno, *A, G, seqno, PA, seqno, 0, ()))
    return AccessInOrder().check(Trace([*told, *records]))


def verdict(seqno: int, principal: str, allowed: bool, node: tuple[str, int] = B) -> GroupJudged:
    return GroupJudged(seqno, *node, G, seqno, principal, "note", allowed)


NOTE_OF_B: Call = ("b", "note", "", 0)


def test_a_verdict_is_that_of_the_list_behind_the_former_number() -> None:
    calls: dict[int, Call] = {3: NOTE_OF_B, 4: ("a", "revoke", "b", 0), 5: NOTE_OF_B}
    assert judged(verdict(3, "b", True), verdict(5, "b", False), calls=calls) == []
    (late,) = judged(verdict(5, "b", True), calls=calls)
    assert (late.number, late.nodes) == (22, ("b",))
    assert "allows note of b at number 5" in late.text
    (early,) = judged(verdict(3, "b", False), calls=calls)
    assert "refuses" in early.text


@pytest.mark.parametrize(
    ("call", "then"),
    [
        (("b", "grant", "b", MANAGE), True),  # refused: it stays WRITE
        (("b", "revoke", "b", 0), True),
        (("a", "grant", "b", READ), False),
        (("a", "grant", "b", WRITE), True),
        (("a", "revoke", "c", 0), True),
    ],
)
def test_only_who_manages_changes_the_list(call: Call, then: bool) -> None:
    assert judged(verdict(9, "b", then), calls={8: call, 9: NOTE_OF_B}) == []
    assert judged(verdict(9, "b", not then), calls={8: call, 9: NOTE_OF_B})


def test_the_last_manager_stays() -> None:
    calls: dict[int, Call] = {3: ("a", "revoke", "a", 0), 4: ("a", "revoke", "b", 0), 5: NOTE_OF_B}
    assert judged(verdict(5, "b", False), calls=calls) == []


def test_an_object_that_begins_anew_has_its_first_list() -> None:
    calls: dict[int, Call] = {3: ("a", "revoke", "b", 0), 6: NOTE_OF_B}
    anew = GroupState(5, *B, G, 5, "", True)
    assert judged(anew, verdict(6, "b", True), calls=calls) == []
    last = {5: NOTE_OF_B, 6: NOTE_OF_B}  # the number as of which it begins anew was judged before
    assert judged(anew, verdict(5, "b", True), verdict(6, "b", True), calls=last) == []
    assert judged(verdict(6, "b", True), calls=calls)


def test_who_has_judged_before_the_state_was_lost_has_done_so_by_the_former_list() -> None:
    """Somebody had come behind number 4 and waited for the state; all who had it are gone at 9."""
    calls: dict[int, Call] = {3: ("a", "revoke", "b", 0), 6: NOTE_OF_B}
    anew = GroupState(9, *A, G, 4, "", True)
    late = GroupJudged(9, *A, G, 6, "b", "note", True)
    assert judged(verdict(6, "b", False), anew, late, calls=calls) == []
    assert judged(verdict(6, "b", True), anew, late, calls=calls)
    assert judged(anew, late._replace(allowed=False), calls=calls)


def test_what_is_shown_ends_with_the_place_where_the_right_to_read_does() -> None:
    calls: dict[int, Call] = {3: NOTE_OF_B, 4: ("a", "revoke", "b", 0), 5: ("a", "note", "", 0)}
    shown = [GroupShown(9, *B, G, seqno, "b") for seqno in (3, 4, 5)]
    (behind,) = judged(*shown, calls=calls)
    assert "shows b number 5" in behind.text
    assert judged(GroupShown(9, *B, G, 5, "a"), calls=calls) == []


def test_a_call_that_nobody_has_made_is_not_judged() -> None:
    assert judged(verdict(3, "b", False), calls={4: NOTE_OF_B})


def test_replicas_on_simulated_nodes_judge_alike_and_as_the_order_says() -> None:
    profile = PROFILES["access"]
    allowed = denied = shown = 0
    for seed in (5, 7_924, 15_846):
        played = profile.play(draw_access(seed))
        assert played.violations == []
        verdicts = played.trace.of(GroupJudged)
        assert len({one.n for one in verdicts}) > 1
        allowed += sum(one.allowed for one in verdicts)
        denied += sum(not one.allowed for one in verdicts)
        shown += len(played.trace.of(GroupShown))
        mids = {call.mid for call in played.trace.of(GroupCalled)}
        assert all(isinstance(mid, GroupMid) for mid in mids)
    assert min(allowed, denied, shown) > 20


@pytest.mark.parametrize("name", ["not-judged-in-order", "shown-after-revocation"])
def test_a_planted_bug_of_access_lists_is_found(name: str) -> None:
    plant = PLANTS[name]
    profile = PROFILES[plant.profile]
    with plant.planted():
        for index in range(20):
            violations = profile.play(draw_access(7_919 * index + 5)).violations
            if violations:
                break
    assert {violation.number for violation in violations} == {22}
