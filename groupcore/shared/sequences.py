"""What the test kit's order keeps: sequences of groups, contexts, and who sits where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId, Order, Process


@dataclass(eq=False, slots=True)
class Context:
    """What must be delivered before: a number of each group, and messages that have none yet.

    Only a sender's own context has messages without a number, and what it has sent and is not
    numbered itself.
    """

    numbers: dict[GroupId, int] = field(default_factory=dict)
    unnumbered: list[Slot] = field(default_factory=list)

    def merge(self, other: Context) -> None:
        """Take the other's entries in, and numbers for messages that have got one."""
        numbers = self.numbers
        for group, number in other.numbers.items():
            if number > numbers.get(group, 0):
                numbers[group] = number
        if not self.unnumbered and not other.unnumbered:
            return
        waiting = {id(slot): slot for slot in (*self.unnumbered, *other.unnumbered)}
        self.unnumbered = []
        for slot in waiting.values():
            if slot.seqno:
                numbers[slot.group] = max(numbers.get(slot.group, 0), slot.seqno)
            elif not slot.lost:
                self.unnumbered.append(slot)

    def copy(self) -> Context:
        """The same entries."""
        return Context(dict(self.numbers), list(self.unnumbered))


@dataclass(eq=False, slots=True)
class Slot:
    """One number of a group: a message, or (`payload` None) a process come or gone."""

    group: GroupId
    process: Process
    number: int
    payload: bytes | None
    context: Context
    seqno: int = 0
    joined: bool = False
    gone: bool = False
    lost: bool = False


@dataclass(eq=False, slots=True)
class Sequence:
    """One group: its order, its members, and its slots behind the number `first`.

    `stored`: the state as of that number, for who begins when nobody has it.
    """

    id: GroupId
    order: Order
    members: list[Process] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    first: int = 0
    stored: bytes | None = None

    def between(self, number: int, last: int) -> list[Slot]:
        """The slots behind a number, up to another one."""
        return self.slots[number - self.first : last - self.first]


@dataclass(eq=False, slots=True)
class Seat:
    """One process's place in a group. `delivered` is None while it has no state.

    `promised`: a state is on its way, so others may wait for it here.
    """

    sequence: Sequence
    process: Process
    feed: Callable[[ServiceEvent], None]
    joined_at: int = 0
    arrived: int = 0
    delivered: int | None = None
    sent: int = 0
    promised: bool = False
    latest: dict[Process, int] = field(default_factory=dict)

    @property
    def node(self) -> str:
        """The node of the process."""
        return self.process.node.name
