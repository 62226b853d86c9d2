"""Who can be in a view, so that those whose vote counts decide in it."""

from __future__ import annotations

from groupcore.view import Address, is_quorum


def can_decide(members: list[Address], complete: set[Address]) -> bool:
    """Whether the members whose vote counts are a quorum of a view of these members."""
    names = tuple(member.name for member in members)
    return bool(members) and is_quorum(names, [m.name for m in members if m in complete])


def admit(
    members: list[Address], complete: set[Address], joiners: list[Address], stateful: bool
) -> list[Address]:
    """The members, and as many joiners as leave the decision with those who have the state.

    A joiner without the state has no vote; more of them than this would block the view if one
    of the others died before they have got it.
    """
    admitted = unique_names(members)
    for joiner in joiners:
        more = unique_names([*admitted, joiner])
        if len(more) > len(admitted) and (not stateful or can_decide(more, complete)):
            admitted = more
    return admitted


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
