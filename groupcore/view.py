"""Views: the agreed list of members, and the quorums that let one view follow another.

Pure values, no time and no messages. The first member of a view is its coordinator. A set of
members is a **quorum** of a view when it holds a majority of it, or exactly half of it including
the lowest rank (design, section 2: primary view). Any two quorums of one view have a member in
common, which is what makes the chain of primary views one chain.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

MEMBERS_MAX = 128
"""Largest number of members in a view."""


class Address(NamedTuple):
    """One life of one node: the node's id and its incarnation, which grows at every start.

    Ordered by id, then incarnation. Two lives of one node are two members.
    """

    name: str
    incarnation: int

    def __str__(self) -> str:
        return f"{self.name}#{self.incarnation & 0xFFFF:x}"


@dataclass(frozen=True, slots=True)
class View:
    """The agreed members, oldest first, under a number that grows by one a view.

    `epoch` grows when a view was formed from what was on disk because the memory of a quorum was
    lost; it began at position `floor`, and positions are unique within it. `lineage` is drawn at
    random by the first view and carried on by its successors: two clusters never share one.
    `names` are the node ids of the members, in rank order.
    """

    number: int
    epoch: int
    floor: int
    lineage: int
    members: tuple[Address, ...]
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Put the names together once: they are asked for at every step of every protocol."""
        object.__setattr__(self, "names", tuple([member.name for member in self.members]))

    @property
    def coordinator(self) -> Address:
        """The member that proposes views and, in a SEQUENCER stack, numbers the messages."""
        return self.members[0]

    @property
    def primary(self) -> bool:
        """Whether the view is of a primary lineage, which is odd.

        Even ones are those of a component that went on without a quorum (merge policy
        `application`), and of merges without a primary side.
        """
        return self.lineage & 1 == 1

    def rank(self, member: Address) -> int:
        """Place of the member in the view, 0 for the coordinator; ValueError when not in it."""
        return self.members.index(member)

    def is_quorum(self, names: Iterable[str]) -> bool:
        """Whether these nodes may decide what follows this view.

        Counts node ids, not incarnations: a restarted node votes with what it has on disk.
        """
        return is_quorum(self.names, names)

    def __str__(self) -> str:
        return f"{self.epoch}.{self.number}[{' '.join(self.names)}]"


def is_quorum(members: tuple[str, ...], present: Iterable[str]) -> bool:
    """A majority of `members`, or half of them with the first of them."""
    inside = set(present).intersection(members)
    if 2 * len(inside) == len(members):
        return members[0] in inside
    return 2 * len(inside) > len(members)


def quorum_size(count: int, with_lowest_rank: bool) -> int:
    """How many of `count` members make a quorum, when the lowest rank is (not) among them."""
    if count % 2 == 0 and with_lowest_rank:
        return count // 2
    return count // 2 + 1
