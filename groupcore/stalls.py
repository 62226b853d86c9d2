"""Who has stalled: which reports of members that hold others up the group acts on.

A pure function, so that all members with the same reports leave the same ones behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from groupcore.view import Address, View


def stalled_members(
    view: View,
    unheard: Set[Address],
    reports: Mapping[Address, Set[Address]],
    waiting: Set[Address] = frozenset(),
) -> frozenset[Address]:
    """The members that count as stalled, by the reports of those that are heard.

    Reports are taken from the oldest member on. A member that has been found stalled accuses
    nobody, so of two that accuse each other the older is believed; and a report that would leave
    less than a quorum of the view counts for nothing, because then nobody could go on.

    `waiting` are the members whose ordered messages do not come back. The coordinator that holds
    them up is judged first, so it accuses nobody if it has stalled.
    """
    out = stalled_coordinator(view, unheard, waiting)
    for accuser in view.members:
        accused = reports.get(accuser)
        if not accused or accuser in unheard or accuser in out:
            continue
        with_these = out | (accused & frozenset(view.members))
        if view.is_quorum(member.name for member in view.members if member not in with_these):
            out = with_these
    return out


def stalled_coordinator(
    view: View, unheard: Set[Address], waiting: Set[Address]
) -> frozenset[Address]:
    """The coordinator, if it holds up the order of most others; else nobody.

    A member whose messages do not come back cannot tell whether the coordinator's link is narrow or
    its own. So more than half of the other members that are heard must say it, at least two of
    them, and all those that are heard must be a quorum without the coordinator. Who waits for
    nothing does not say it. In a view of two, nobody but the other one can: it counts for nothing,
    and both wait until the link has healed or one of them falls silent.
    """
    others = [m for m in view.members if m != view.coordinator and m not in unheard]
    agreed = sum(member in waiting for member in others)
    if agreed < 2 or 2 * agreed <= len(others):
        return frozenset()
    if not view.is_quorum(member.name for member in others):
        return frozenset()
    return frozenset({view.coordinator})
