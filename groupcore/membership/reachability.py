"""Who can reach whom: the oldest members that all hear each other, and who proposes for them.

Pure functions of the view and of what each member reports not to hear. Every member with the same
reports computes the same set, so that those who go on together agree on whom they leave behind.

A set that is no quorum can decide nothing. So where members that hear each other are a quorum, the
largest such quorum goes on, of several the oldest: a member that is heard and does not hear (or the
reverse) stands in nobody's way, whatever its rank, and takes no others with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from groupcore.view import Address, View

STEPS_MAX = 2_000
"""Steps of one search. A few broken links take one or two each; only links that are broken at
random among dozens of members take more, and then the best that was found until then is taken."""

NOBODY: frozenset[Address] = frozenset()
Unheard = Mapping[Address, Set[Address]]
"""Whom each member does not hear, as far as it has said so."""


def connected(
    view: View, me: Address, unheard: Unheard, restarted: Set[str] = frozenset()
) -> tuple[Address, ...]:
    """The members that `me` can go on with, in rank order, `me` among them.

    `unheard[p]` are the members that p does not hear. Whom I do not hear is out; of the others the
    largest quorum that hears one another goes on. If I am not in it, it goes on without me, and I
    am alone. Where there is no quorum, of any two that do not hear each other the younger is out.
    `restarted` are nodes of former members that have their disks and look for a view: they make up
    a quorum where those that live in the view are none.
    """
    members = view.members
    if not any(unheard.values()):  # nearly always: all hear all
        return tuple(members) if me in members else (me,)
    deaf_to = unheard.get(me, NOBODY)
    heard = [member for member in members if member == me or member not in deaf_to]
    group = deciding(view, heard, unheard, restarted) or oldest(heard, unheard)
    return group if me in group else (me,)


def proposer(
    view: View, me: Address, unheard: Unheard, restarted: Set[str] = frozenset()
) -> Address | None:
    """Who should propose the next view; None if that is an older member outside of any quorum.

    It is the first of the largest quorum that hears one another, of those that I hear, or that
    another hears whom I hear: then the link is broken, not the member (fault matrix, rows 10 and
    14). Where there is no such quorum it is `me` if every older member is heard by nobody I hear.
    """
    members = view.members
    if me in members and not any(unheard.values()):
        return members[0]
    deaf_to = unheard.get(me, NOBODY)
    # A member that has reported nothing in this view proves nothing by its silence.
    hearers = [p for p in members if p != me and p not in deaf_to and p in unheard]
    alive = [
        member
        for member in members
        if member == me
        or member not in deaf_to
        or any(member not in unheard[hearer] for hearer in hearers)
    ]
    group = deciding(view, alive, unheard, restarted)
    if group:
        return group[0]
    return me if alive and alive[0] == me else None


def deciding(
    view: View, candidates: Sequence[Address], unheard: Unheard, restarted: Set[str]
) -> tuple[Address, ...]:
    """Who of the candidates can go on by themselves, or else with the restarted; () if nobody."""
    group = hearing_quorum(view, candidates, unheard)
    if group or not restarted:
        return group
    return hearing_quorum(view, candidates, unheard, restarted)


def hearing_quorum(
    view: View, candidates: Sequence[Address], unheard: Unheard, also: Set[str] = frozenset()
) -> tuple[Address, ...]:
    """The most of the candidates that hear one another and, with `also`, are a quorum; () if none.

    `candidates` in rank order. Of as many the oldest: of two sets the one with the oldest member in
    which they differ. Who hears too few to be in any is left out first; who hears all that are left
    is in; the search branches at the others only. The most voters, that is: a learner comes in
    where it does not stand between voters, in rank order.
    """
    apart = broken(candidates, unheard)
    voting = [member for member in candidates if member.name in view.voters]
    group = hearing_voters(view, voting, apart, also)
    if not group or len(voting) == len(candidates):
        return tuple(group)
    kept = set(group)
    for member in candidates:
        if member.name not in view.voters and apart.get(member, NOBODY).isdisjoint(kept):
            kept.add(member)
    return tuple(member for member in candidates if member in kept)


def hearing_voters(
    view: View, voting: list[Address], apart: dict[Address, set[Address]], also: Set[str]
) -> list[Address]:
    """The same of voters alone, where it is known who does not hear whom (`apart`)."""
    left = list(voting)
    while lonely := {
        member
        for member in left
        if member in apart
        and not is_quorum(view, [m for m in left if m not in apart[member]], also)
    }:
        left = [member for member in left if member not in lonely]
    doubtful = [member for member in left if not apart.get(member, NOBODY).isdisjoint(left)]
    sure = [member for member in left if member not in doubtful]
    found = search(view, sure, doubtful, apart, also)
    return [member for member in left if member in found]


def search(
    view: View,
    sure: list[Address],
    doubtful: list[Address],
    apart: dict[Address, set[Address]],
    also: Set[str],
) -> list[Address]:
    """The `sure` and the most of the doubtful with whom they are a quorum; else nobody."""
    best: list[Address] = []
    branches: list[tuple[list[Address], list[Address]]] = [(sure, doubtful)]
    for _ in range(STEPS_MAX):
        if not branches:
            break
        chosen, rest = branches.pop()
        if len(chosen) + len(rest) <= len(best) or not is_quorum(view, chosen + rest, also):
            continue
        if not rest:
            best = chosen
            continue
        first, others = rest[0], rest[1:]
        hearing_first = [member for member in others if member not in apart[first]]
        if len(hearing_first) < len(others):
            branches.append((chosen, others))
        branches.append(([*chosen, first], hearing_first))  # looked at first: the older
    return best


def oldest(candidates: Sequence[Address], unheard: Unheard) -> tuple[Address, ...]:
    """Of these, in rank order, each that hears and is heard by all before it that are kept."""
    apart = broken(candidates, unheard)
    kept: list[Address] = []
    for candidate in candidates:
        if apart.get(candidate, NOBODY).isdisjoint(kept):
            kept.append(candidate)
    return tuple(kept)


def broken(candidates: Sequence[Address], unheard: Unheard) -> dict[Address, set[Address]]:
    """Whom of the others each candidate does not hear, or is not heard by, where there are any."""
    apart: dict[Address, set[Address]] = {}
    present = frozenset(candidates)
    for one in candidates:
        for other in unheard.get(one, NOBODY):
            if other in present and other != one:
                apart.setdefault(one, set()).add(other)
                apart.setdefault(other, set()).add(one)
    return apart


def is_quorum(view: View, members: Sequence[Address], also: Set[str]) -> bool:
    """Whether these members and nodes may decide what follows the view."""
    return view.is_quorum([*also, *(member.name for member in members)])
