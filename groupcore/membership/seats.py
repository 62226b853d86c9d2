"""Who is in a view and who votes in it, so that those who hold the state decide in it.

A member that has not got the state is a learner: it takes part, and nobody waits for its vote. Of
the voters there are to be three at least (`VOTERS_MIN`), so that what two have agreed to survives
the third, and no view is decided by one node alone: where fewer have the state, former voters that
are away or have not got it yet stay voters. Never so many that those who hold the state are no
quorum without them: what the view begins with is then known to every quorum of it. The same holds
of joiners where there is no state to get: whether they begin the view is not known yet.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from groupcore.view import Address, is_quorum

VOTERS_MIN = 3
"""So many vote at least, where there have been so many."""


def can_decide(members: list[Address], complete: set[Address]) -> bool:
    """Whether the members that have the state are a quorum of a view in which all members vote."""
    names = tuple(member.name for member in members)
    return bool(members) and is_quorum(names, [m.name for m in members if m in complete])


def electors(
    members: Sequence[Address], having: Set[Address], former: Sequence[str]
) -> tuple[str, ...]:
    """Who votes on what follows a view of these members, by name.

    The members of `having` the state; where those are fewer than `VOTERS_MIN`, of the `former`
    voters (without those that have left) first the other members, then those that are away.
    """
    names = [member.name for member in members]
    with_state = [member.name for member in members if member in having]
    if not with_state:
        return tuple(names)
    kept = [name for name in names if name in former and name not in with_state]
    kept += [name for name in former if name not in names]
    voters = with_state
    for name in kept:
        more = [*voters, name]
        if len(voters) >= VOTERS_MIN or not is_quorum(tuple(more), with_state):
            break
        voters = more
    return tuple(voters)


def decidable(voters: tuple[str, ...], complete: Set[Address]) -> tuple[str, ...]:
    """The first of these voters, no more than leave the `complete`, who decide this, a quorum.

    Joiners vote at once where there is no state to get. But nobody knows yet whether they begin the
    view: a quorum that rests on them may never come about. Who is left out of the voters is a
    learner until it has said that it is there.
    """
    deciding = {member.name for member in complete} & {*voters}
    while deciding and not is_quorum(voters, deciding):
        voters = voters[:-1]
    return voters


def seniority(ranks: dict[str, int], member: Address) -> tuple[int, Address]:
    """Nodes keep their former ranks, as far as they had any, and others come behind them.

    So who could decide what follows the former view by having its first member can decide what
    follows the next, too, where both have the same nodes.
    """
    return ranks.get(member.name, len(ranks)), member


def unique_names(members: list[Address]) -> list[Address]:
    """The members, a node's first entry only: two lives of one node are never in one view."""
    seen: set[str] = set()
    result = []
    for member in members:
        if member.name not in seen:
            seen.add(member.name)
            result.append(member)
    return result
