"""A tie of the voters: when the first one's half leaves the next view to the other half.

Idea. Exactly half of the voters with the first of them are a quorum, so the first of two may go on
alone. It does so also where it is the one that is apart: it gets the multicasts of all others and
no unicasts, or they get its multicasts and no unicasts, while the others, the other half of the
voters and the learners, hear one another. They are more, and have as much of the state. They
cannot decide without a vote of the first half, but that can be had: what a ballot is made of goes
by multicast where unicasts do not arrive (`FailureDetection.way_to`). So the other half proposes,
and the first half votes and stays behind, as who leaves in an orderly way does.

Place. Pure functions of the view and of the reports, beside `reachability`, which has the rule for
all other cases. Who leaves the word to the others, for how long, says `company`.

Source. Decision 162; no rule of the ballots depends on who proposes ("Paxos Made Simple", 2.4).

Invariants.
  I1  All members with the same reports find the same half.
  I2  The other half goes on only if it is larger, hears one another, and lacks of the first half
      nothing but unicasts in one direction or both. So where a member of it is the one that is
      apart, it is in no such half, and the first goes on.
  I3  The other half and the first half's votes are a quorum, and all voters with the state that are
      not of the first half are in the other one: no fewer have the state than otherwise.
"""

from __future__ import annotations

from groupcore.membership.reachability import NOBODY, Unheard, broken, hearing_quorum
from groupcore.view import Address, View


def first_half(view: View, unheard: Unheard) -> tuple[Address, ...]:
    """The largest quorum that hears one another, if it is one by the first voter alone; else ()."""
    if not any(unheard.values()):  # nearly always: all hear all
        return ()
    group = hearing_quorum(view, view.members, unheard)
    voting = [member for member in group if member.name in view.voters]
    return group if 2 * len(voting) == len(view.voters) else ()


def other_half(view: View, unheard: Unheard, indirect: Unheard) -> tuple[Address, ...]:
    """Who goes on instead of the first half, in rank order; () where there are no such others.

    `indirect[p]` are those of `unheard[p]` whose multicasts p gets. A member that has reported
    nothing in this view is in no half.
    """
    first = first_half(view, unheard)
    if not first:
        return ()
    told = [m for m in view.members if m not in first and m in unheard]
    near = [m for m in told if all(multicasts_come(m, one, unheard, indirect) for one in first)]
    voting = [member for member in near if member.name in view.voters]
    apart = broken(near, unheard)
    kept = set(voting)
    if 2 * len(kept) != len(view.voters) or any(apart.get(m, NOBODY) & kept for m in voting):
        return ()
    for member in near:
        if apart.get(member, NOBODY).isdisjoint(kept):
            kept.add(member)
    return tuple(m for m in near if m in kept) if len(kept) > len(first) else ()


def multicasts_come(one: Address, other: Address, unheard: Unheard, indirect: Unheard) -> bool:
    """Whether of these two each gets the other's multicasts."""
    pairs = ((one, other), (other, one))
    return all(
        far not in unheard.get(near, NOBODY) or far in indirect.get(near, NOBODY)
        for near, far in pairs
    )
