"""What all nodes of a cluster have to be started alike in, and who says so first.

Idea. Each node declares in the order how it was started. A member whose declaration stands already
wins: who comes with another one is told its name, and ends. So of two that start at once one goes
on, and the same one is found everywhere. A declaration is of one life of a node; that of a former
life counts for nothing, so a cluster that is stopped as a whole may be started otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.shared.operations import operation
from groupcore.shared.types import Map

NAME = "charters"
"""The declarations are this object."""


@dataclass(frozen=True, slots=True)
class Charter:
    """How one life of a node was started: whether people sign in to it."""

    incarnation: int
    accounts: bool


class Charters(Map[str, Charter]):
    """What each node has declared, by its id."""

    for_nodes = frozenset(
        {"declare", "clear", "compare_and_set", "delete", "pop", "set", "setdefault", "update"}
    )

    @operation
    def declare(self, node: str, charter: Charter, members: dict[str, int]) -> str:
        """Say how this life of `node` was started, beside `members` (incarnation by id).

        Gives the id of a member that was started otherwise; then nothing is declared. Else "".
        """
        for name, incarnation in sorted(members.items()):
            other = self.get(name)
            if name == node or other is None or other.incarnation != incarnation:
                continue
            if other.accounts != charter.accounts:
                return name
        self._put(node, charter)
        return ""


def at_odds(other: str, accounts: bool) -> str:
    """What the person who started this node is told."""
    mine, theirs = ("on", "off") if accounts else ("off", "on")
    return (
        f"--accounts {mine}: node {other} of this cluster runs with --accounts {theirs}; "
        "start all nodes alike"
    )
