"""Who has stalled: which reports of members that hold others up the group acts on.

A pure function, so that all members with the same reports leave the same ones behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from groupcore.view import Address, View


def stalled_members(
    view: View, unheard: Set[Address], reports: Mapping[Address, Set[Address]]
) -> frozenset[Address]:
    """The members that count as stalled, by the reports of those that are heard.

    Reports are taken from the oldest member on. A member that has been found stalled accuses
    nobody, so of two that accuse each other the older is believed; and a report that would leave
    less than a quorum of the view counts for nothing, because then nobody could go on.
    """
    out: frozenset[Address] = frozenset()
    for accuser in view.members:
        accused = reports.get(accuser)
        if not accused or accuser in unheard or accuser in out:
            continue
        with_these = out | (accused & frozenset(view.members))
        if view.is_quorum(member.name for member in view.members if member not in with_these):
            out = with_these
    return out
