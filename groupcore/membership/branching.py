"""Views that begin another lineage: of a component that goes on alone, and of a merge.

Pure rules. In both the former view ends at what anybody of the component has delivered: a quorum
of that view held it, so whoever goes on elsewhere has it too, or has begun an epoch without it.
What was not delivered is sent again by the ordering layer in the new epoch. So the position at
which each side ends is known before it has delivered its cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from groupcore.events import Flushed
from groupcore.membership.ballots import Proposal, Vote
from groupcore.membership.succession import most_of
from groupcore.view import Address, View

LEAP_BITS = 32
"""By so many random bits number and epoch leap where a lineage begins: no other has them."""


def end_position(stopped: Iterable[Flushed]) -> int:
    """The place in the order at which a side ends: the highest that one of it has delivered."""
    return max((answer.position for answer in stopped), default=0)


def fork(basis: View, votes: list[Vote], stopped: dict[Address, Flushed], chance: Random) -> View:
    """The view of a component without a quorum: all who have stopped, in rank order."""
    members = tuple(member for member in basis.members if member in stopped)
    number = basis.number + 1 + chance.getrandbits(LEAP_BITS)
    lineage = new_lineage(chance, primary=False)
    known = max([basis.epoch, *(vote.epoch for vote in votes)])
    epoch = known + 1 + chance.getrandbits(LEAP_BITS)
    return View(number, epoch, end_position(stopped.values()), lineage, members)


def unite(sides: Sequence[tuple[View, tuple[Address, ...], int]], chance: Random) -> View:
    """The merged view of these sides, each with those who come from it and its end position.

    MERGE2: the highest of all numbers and one more, the members sorted, the first coordinates.
    """
    views = [view for view, _, _ in sides]
    number = max(view.number for view in views) + 1 + chance.getrandbits(LEAP_BITS)
    epoch = max(view.epoch for view in views) + 1
    floor = max(position for _, _, position in sides)
    lineage = new_lineage(chance, any(view.primary for view in views))
    names: dict[str, Address] = {}
    for member in sorted(member for _, members, _ in sides for member in members):
        names[member.name] = member  # of two lives of a node the later one
    return View(number, epoch, floor, lineage, tuple(sorted(names.values())))


def new_lineage(chance: Random, primary: bool) -> int:
    """A lineage that nobody has: odd for a primary one."""
    return (chance.getrandbits(62) | 1) << 1 | primary


def into(
    basis: View,
    votes: list[Vote],
    stopped: dict[Address, Flushed],
    view: View,
    merged: tuple[View, ...] = (),
) -> Proposal:
    """The proposal that takes a side from its former view into one of another lineage."""
    live = {vote.voter: stopped[vote.voter].delivered for vote in votes if vote.live}
    cut, holders = most_of(live)
    complete = tuple(sorted(vote.voter for vote in votes if vote.counts))
    state_holders = () if merged else tuple(m for m in view.members if m in complete)
    return Proposal(
        basis.number,
        view,
        False,
        view.floor,
        cut,
        holders,
        state_holders,
        complete,
        basis.lineage,
        merged,
    )
