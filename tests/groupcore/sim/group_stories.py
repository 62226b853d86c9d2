"""Traces of groups written by hand, for the tests of their checkers."""

from __future__ import annotations

from collections.abc import Iterable

from groupcore.sequencing.names import Order
from groupcore.sim.checkers import GROUP_CHECKERS, Violation, check_all
from groupcore.sim.trace import Ended, Happened, Lived, Record, Trace, Viewed
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupAccepted,
    GroupCreated,
    GroupDelivered,
    GroupEnd,
    GroupJoined,
    GroupLeft,
    GroupOwned,
    GroupProcess,
    GroupSent,
    GroupStamped,
    GroupState,
)
from groupcore.view import Address

A, B, C = Address("a", 1), Address("b", 1), Address("c", 1)
PA, PB, PC = (*A, 1), (*B, 1), (*C, 1)
PA2 = (*A, 2)
G, H = 1, 2

Message = tuple[GroupProcess, int]
"""A sender, and its own number of a message."""


class GroupStory:
    """A trace of groups written by hand; time goes on by one with every record.

    `a` sequences everything in epoch 1 unless something else is said.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.owners: dict[int, tuple[Address, int]] = {}

    def add(self, record: Record) -> GroupStory:
        self.records.append(record)
        return self

    @property
    def t(self) -> int:
        return len(self.records)

    def view(self, who: Address, number: int, *members: Address) -> GroupStory:
        return self.add(
            Viewed(self.t, *who, number, 1, 7, members, None, 0, number == 1, 0, 0, False, ())
        )

    def create(self, group: int, order: Order = Order.CAUSALLY_TOTAL) -> GroupStory:
        return self.add(GroupCreated(self.t, *A, group, order)).own(A, group, 1, 0)

    def own(self, who: Address, group: int, epoch: int, floor: int) -> GroupStory:
        self.owners[group] = (who, epoch)
        return self.add(GroupOwned(self.t, *who, group, epoch, floor))

    def send(self, process: GroupProcess, group: int, number: int, h: int = 0) -> GroupStory:
        return self.add(GroupSent(self.t, process, group, number, h))

    def stamp(
        self,
        group: int,
        seqno: int,
        process: GroupProcess,
        number: int,
        by: Address | None = None,
        epoch: int | None = None,
        request: int = 0,
    ) -> GroupStory:
        """A number is given, by the group's sequencer in its epoch."""
        owner, now = self.owners.get(group, (A, 1))
        node, in_epoch = owner if by is None else by, now if epoch is None else epoch
        place = (group, in_epoch, seqno)
        return self.add(GroupStamped(self.t, *node, *place, process, number, request))

    def deliver(
        self,
        who: Address,
        group: int,
        seqno: int,
        message: Message,
        *to: GroupProcess,
        h: int = 0,
    ) -> GroupStory:
        """A node delivers; to its first process unless something else is said."""
        given = to or ((*who, 1),)
        return self.add(GroupDelivered(self.t, *who, group, seqno, *message, h, given))

    def join(
        self, process: GroupProcess, group: int, seqno: int, *at: Address, request: int = 0
    ) -> GroupStory:
        """A JOIN is numbered, and said by these nodes."""
        self.stamp(group, seqno, process, JOIN, request=request)
        for who in at:
            self.add(GroupJoined(self.t, *who, group, seqno, process))
        return self

    def leave(
        self, process: GroupProcess, group: int, seqno: int, *at: Address, gone: bool = False
    ) -> GroupStory:
        """A LEAVE is numbered, and said by these nodes."""
        self.stamp(group, seqno, process, LEAVE)
        for who in at:
            self.add(GroupLeft(self.t, *who, group, seqno, process, gone))
        return self

    def state(self, who: Address, group: int, seqno: int, sh: str = "") -> GroupStory:
        return self.add(GroupState(self.t, *who, group, seqno, sh))

    def post(
        self, process: GroupProcess, group: int, number: int, seqno: int, *at: Address
    ) -> GroupStory:
        """A message is sent, numbered, and delivered at these nodes to their first process."""
        self.send(process, group, number).stamp(group, seqno, process, number)
        for who in at:
            self.deliver(who, group, seqno, (process, number))
        return self

    def accept(self, process: GroupProcess, group: int, number: int, seqno: int) -> GroupStory:
        return self.add(GroupAccepted(self.t, process, group, number, seqno))

    def live(self, who: Address, what: str) -> GroupStory:
        return self.add(Lived(self.t, *who, what, ""))

    def end(self, who: Address, places: Iterable[tuple[int, int]] = (), sh: str = "") -> GroupStory:
        """A node is there at the end, with these groups up to these numbers."""
        for group, seqno in places:
            self.add(GroupEnd(self.t, *who, group, seqno, sh))
        return self.add(Ended(self.t, *who, 1, 7, (who,), True, 1, 0, ""))

    def healed(self) -> GroupStory:
        return self.add(Happened(self.t, "healed", ""))

    def violations(self) -> list[Violation]:
        return check_all(Trace(self.records), GROUP_CHECKERS)

    def breached(self) -> list[int]:
        """The numbers of the invariants that do not hold, each once."""
        return sorted({violation.number for violation in self.violations()})


def begun(*groups: int, order: Order = Order.CAUSALLY_TOTAL) -> GroupStory:
    """`a` and `b` in a view, the first process of each in each of the groups (default: 1).

    The groups' next number is 3.
    """
    story = GroupStory().view(A, 1, A, B).view(B, 1, A, B)
    for group in groups or (G,):
        story.create(group, order).join(PA, group, 1, A)
        story.join(PB, group, 2, A).state(B, group, 2)
        story.add(GroupJoined(story.t, *B, group, 2, PB))
    return story
