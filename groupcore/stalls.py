"""Who has stalled: which reports of members that hold others up the group acts on.

A pure function, so that all members with the same reports leave the same ones behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from groupcore.membership.reachability import hearing_quorum
from groupcore.view import Address, View


def stalled_members(
    view: View,
    unheard: Mapping[Address, Set[Address]],
    me: Address,
    reports: Mapping[Address, Set[Address]],
    waiting: Set[Address] = frozenset(),
) -> frozenset[Address]:
    """The members that count as stalled, by the reports of those that `me` hears.

    `unheard[p]` are the members that p does not hear. Reports are taken from the oldest member on.
    A member that has been found stalled accuses nobody, so of two that accuse each other the older
    is believed. A report counts only while the others that are heard, and hear one another, are a
    quorum of the view: else nobody could go on. It outlives what it was made of, for in a view
    change nobody takes anything, so a member that has fallen silent since must not be counted.

    `waiting` are the members whose ordered messages do not come back. The coordinator that holds
    them up is judged first, so it accuses nobody if it has stalled.
    """
    deaf_to = unheard.get(me, frozenset())
    heard = [member for member in view.members if member not in deaf_to]
    out = stalled_coordinator(view, heard, unheard, waiting)
    for accuser in heard:
        accused = reports.get(accuser)
        if not accused or accuser in out:
            continue
        with_these = out | (accused & frozenset(view.members))
        if hearing_quorum(view, [m for m in heard if m not in with_these], unheard):
            out = with_these
    return out


def stalled_coordinator(
    view: View,
    heard: list[Address],
    unheard: Mapping[Address, Set[Address]],
    waiting: Set[Address],
) -> frozenset[Address]:
    """The coordinator, if it holds up the order of most others; else nobody.

    A member whose messages do not come back cannot tell whether the coordinator's link is narrow or
    its own. So more than half of the other members that are heard must say it, at least two of
    them, and those that are heard must be a quorum without the coordinator. Who waits for nothing
    does not say it. In a view of two, nobody but the other one can: it counts for nothing, and both
    wait until the link has healed or one of them falls silent.
    """
    others = [member for member in heard if member != view.coordinator]
    agreed = sum(member in waiting for member in others)
    if agreed < 2 or 2 * agreed <= len(others):
        return frozenset()
    return frozenset({view.coordinator}) if hearing_quorum(view, others, unheard) else frozenset()
