"""Who can reach whom: the largest-lived set of members that all hear each other.

A pure function of the members in rank order and of what each reports not to hear. Every member
with the same reports computes the same set, so that those who go on together agree on whom they
leave behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from groupcore.view import Address


def connected(
    members: Sequence[Address],
    me: Address,
    unheard: Mapping[Address, Set[Address]],
) -> tuple[Address, ...]:
    """The members that `me` can go on with, in rank order, `me` among them.

    `unheard[p]` are the members that p does not hear. Whom I do not hear is out. Of any two of the
    others that do not hear each other both ways the younger is out; when that is me, an older
    member goes on without me, and I am alone.
    """
    if not any(unheard.values()):  # nearly always: all hear all
        return tuple(members) if me in members else (me,)
    heard = [p for p in members if p == me or p not in unheard.get(me, frozenset())]
    kept: list[Address] = []
    for candidate in heard:
        deaf_to = unheard.get(candidate, frozenset())
        mutual = all(
            other not in deaf_to and candidate not in unheard.get(other, frozenset())
            for other in kept
        )
        if mutual:
            kept.append(candidate)
    return tuple(kept) if me in kept else (me,)


def is_lowest(
    members: Sequence[Address],
    me: Address,
    unheard: Mapping[Address, Set[Address]],
) -> bool:
    """Whether `me` should propose the next view: every older member is heard by nobody I hear.

    An older member that I do not hear but another does is alive: the link is broken, not the
    member, and the older of the two sides decides (fault matrix, rows 10 and 14).
    """
    mine = unheard.get(me, frozenset())
    # A member that has reported nothing in this view proves nothing by its silence.
    hearers = [p for p in members if p != me and p not in mine and p in unheard]
    for older in members[: members.index(me)]:
        if older not in mine:
            return False
        if any(older not in unheard[hearer] for hearer in hearers):
            return False
    return True
