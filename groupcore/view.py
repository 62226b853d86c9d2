"""Views: the agreed list of members, and the quorums that let one view follow another.

Pure values, no time and no messages. The first member of a view is its coordinator. A view names
its **voters** apart from its members: a member that has not got the state yet is a learner and no
voter, and a node that is away may stay a voter. A set of nodes is a **quorum** of a view when it
holds a majority of the voters, or exactly half of them including the first (design, section 2:
primary view). Any two quorums of one view have a voter in common, which is what makes the chain of
primary views one chain.
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
    `voters` are the node ids of those who decide what follows, at first those of the members that
    have the state, in rank order, then those that are kept without it or away (all members, where
    nothing else is said); the first of them tips the scales. `names` are the node ids of the
    members, in rank order; `voting` are the members among the voters, in the voters' order.
    """

    number: int
    epoch: int
    floor: int
    lineage: int
    members: tuple[Address, ...]
    voters: tuple[str, ...] = ()
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    voting: tuple[Address, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Put the names together once: they are asked for at every step of every protocol."""
        names = tuple([member.name for member in self.members])
        object.__setattr__(self, "names", names)
        if not self.voters or self.voters == names:
            object.__setattr__(self, "voters", names)
            object.__setattr__(self, "voting", self.members)
            return
        lives = dict(zip(names, self.members, strict=True))
        voting = tuple([lives[name] for name in self.voters if name in lives])
        object.__setattr__(self, "voting", voting)

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

    @property
    def learners(self) -> tuple[Address, ...]:
        """The members that have no vote, as they have not got the state."""
        return tuple(member for member in self.members if member not in self.voting)

    @property
    def absent(self) -> tuple[str, ...]:
        """The voters that are no members."""
        return tuple(name for name in self.voters if name not in self.names)

    def is_quorum(self, names: Iterable[str]) -> bool:
        """Whether these nodes may decide what follows this view.

        Counts node ids, not incarnations: a restarted node votes with what it has on disk.
        """
        return is_quorum(self.voters, names)

    def __str__(self) -> str:
        members = f"{self.epoch}.{self.number}[{' '.join(self.names)}]"
        return members if self.voters == self.names else f"{members}{{{' '.join(self.voters)}}}"


def is_quorum(voters: tuple[str, ...], present: Iterable[str]) -> bool:
    """A majority of `voters`, or half of them with the first of them."""
    inside = set(present).intersection(voters)
    if 2 * len(inside) == len(voters):
        return voters[0] in inside
    return 2 * len(inside) > len(voters)


def quorum_size(count: int, with_lowest_rank: bool) -> int:
    """How many of `count` voters make a quorum, when the first is (not) among them."""
    if count % 2 == 0 and with_lowest_rank:
        return count // 2
    return count // 2 + 1
