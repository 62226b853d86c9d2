"""What a node without a primary view waits for: who is there, who is not, and why that is too few.

A pure value, for people. It says what `seeker` and `convener` go by, and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from groupcore.membership.ballots import Proposal
from groupcore.membership.state import MembershipState, Questions
from groupcore.view import Address, View, quorum_size

Reason = Literal["first", "quorum", "bound", "forming", "joining", "foreign"]


@dataclass(frozen=True, slots=True)
class Awaiting:
    """Why there is no primary view here.

    `reason`: `first` (a majority of the configured cluster has to be there before the first view),
    `quorum` (too few voters of the last view are there with whole disks), `bound` (enough are, and
    some have accepted a next view, which may have been decided and needs one that is not there;
    then the voters told apart are those of that view), `forming` (enough are there, and decide the
    next view), `joining` (there is a view, which takes this node in),
    `foreign` (there is a view of another lineage only).
    `view`: the last view that anybody here knows of. Of its voters `here` are there with disks
    that count, `empty` are there without, `missing` are not heard. `others` are there and have no
    vote. `needed`: so many of the voters (or of the cluster) suffice; `first`: or half of them
    with this one, where they are even in number.
    """

    reason: Reason
    view: View | None
    here: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    needed: int = 0
    first: str = ""


def awaiting_of_member(
    view: View,
    together: tuple[Address, ...],
    accepted: Proposal | None = None,
    seeking: frozenset[str] = frozenset(),
    lost: frozenset[str] = frozenset(),
) -> Awaiting:
    """For a member that reaches too few of its view; `together` are those it could go on with.

    `accepted`: what it has accepted as the next view. `seeking`: nodes that are there and look for
    a view, of which the disks of the `lost` do not count: voters that were away may be among them,
    and next lives of members.
    """
    living = tuple(member.name for member in together)
    back = tuple(sorted(seeking - {*living}))
    there = (*living, *(name for name in back if name not in view.names or name in lost))
    found = of_view("quorum", view, there, lost - {*living}, ())
    return bound_by(accepted, found) if view.is_quorum(found.here) else found


def bound_by(accepted: Proposal | None, found: Awaiting) -> Awaiting:
    """The same, where enough are there, and this node has accepted a next view that needs more."""
    if accepted is None or accepted.forked:
        return found
    view, there = accepted.view, (*found.here, *found.others)
    if view.is_quorum(there):
        return found
    bound = of_view("bound", view, there, frozenset(found.empty), ())
    others = tuple(name for name in there if name not in view.voters)
    return replace(bound, view=found.view, others=others)


def awaiting_of_seeker(
    state: MembershipState, ask: Questions, cluster_size: int, now: float
) -> Awaiting:
    """For a node that is in no view."""
    mine = state.record.view
    present = ask.present(now)
    primary = [view for view, is_primary in present.values() if is_primary]
    if primary:
        own = [view for view in primary if mine is None or view.lineage == mine.lineage]
        newest = max(own or primary, key=lambda view: view.number)
        return Awaiting("joining" if own else "foreign", newest)
    seekers = {**ask.seeking(now), state.me: mine}
    living = {member: view for member, (view, _) in present.items()}
    known = [view for view in [*seekers.values(), *living.values()] if view is not None]
    basis = max(known, key=lambda view: view.number, default=None)
    names = tuple(sorted({member.name for member in (*seekers, *living)}))
    if basis is None:
        needed = cluster_size // 2 + 1
        reason: Reason = "first" if len(names) < needed else "forming"
        return Awaiting(reason, None, here=names, needed=needed)
    lost = ask.empty(now) | (frozenset({state.me.name}) if state.is_blank else frozenset())
    found = of_view("quorum", basis, names, lost, names)
    follows = basis == mine and found.reason == "forming"
    return bound_by(state.record.accepted, found) if follows else found


def of_view(
    reason: Reason,
    view: View,
    present: tuple[str, ...],
    lost: frozenset[str],
    all_: tuple[str, ...],
) -> Awaiting:
    """Sorted by what each voter can do for the next view."""
    voters = view.voters
    here = tuple(name for name in voters if name in present and name not in lost)
    even = len(voters) % 2 == 0
    return Awaiting(
        "forming" if all_ and view.is_quorum(here) else reason,
        view,
        here,
        tuple(name for name in voters if name in present and name in lost),
        tuple(name for name in voters if name not in present),
        tuple(name for name in all_ if name not in voters),
        quorum_size(len(voters), with_lowest_rank=False),
        voters[0] if even else "",
    )
