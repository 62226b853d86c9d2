"""What the directory holds, and the questions that may be asked of it.

A group's **home** is where it is or will be: the target of its move, otherwise its owner. Loads
are counted by home, so that what has been decided is not decided again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from groupcore.sequencing.directory_changes import Change, CommandRefused
from groupcore.sequencing.load import LoadBook
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.observers import Observers
from groupcore.sequencing.overlap import Overlap
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.sequencing.ties import TieBook
from groupcore.view import Address, View


@dataclass(slots=True)
class Entry:
    """One group: who sequences it, in which epoch, and the move that it is in (0: none).

    `floor` is the last number of the former epoch as far as the order has told it: after a
    failover, which tells a frame instead, it is a lower bound.
    """

    name: str
    order: Order
    owner: Address
    epoch: int = 1
    floor: int = 0
    move: int = 0


@dataclass(frozen=True, slots=True)
class Tenure:
    """A former epoch of a group: who sequenced it, and its `last` number.

    `last` is None after a failover: then whatever stands in the stream of `owner`, which has ended,
    and behind the last number of its tenure before, is of this epoch.
    """

    epoch: int
    owner: Address
    last: int | None


TENURES_MAX = 64
"""Former epochs that are kept of a group: the archive's runs are of the last ones."""


@dataclass(frozen=True, slots=True)
class MoveState:
    """A move under way; `requested`: whose request it was, None where the directory made it."""

    groups: tuple[GroupId, ...]
    source: Address
    target: Address
    reason: str
    requested: tuple[Address, int] | None


@dataclass(slots=True)
class Ended:
    """A stream that has ended with `frame`, and the `groups` that are still its node's."""

    frame: int
    groups: dict[GroupId, None]


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """A process that counts in a strict group and waits for S2 before it may join it."""

    group: GroupId
    process: Process
    by: Address
    request: int


class DirectoryState:
    """The tables of the directory; equal at all nodes at the same place of the order."""

    def __init__(self, k: int, options: PlacementOptions) -> None:
        self.k = k
        self.options = options
        self.view: View | None = None
        self.entries: dict[GroupId, Entry] = {}
        self.names: dict[str, GroupId] = {}
        self.tenures: dict[GroupId, tuple[Tenure, ...]] = {}
        self.moves: dict[int, MoveState] = {}
        self.streams: dict[Address, None] = {}  # of all nodes that were in a view, and not ended
        self.ended: dict[Address, Ended] = {}
        self.draining: dict[str, None] = {}
        self.arriving: dict[Address, None] = {}  # members that have to take the state first
        self.pending: list[PendingEntry] = []
        self.overlap = Overlap()
        self.observers = Observers()
        self.loads = LoadBook(options)
        self.ties = TieBook(options.smoothing)
        self.groups_given = 0
        self.moves_given = 0
        self.members: frozenset[Address] = frozenset()
        self.counters: dict[str, int] = {}  # this node's own, in no snapshot

    def install(self, view: View) -> None:
        """The nodes are these from here on."""
        self.view = view
        self.members = frozenset(view.members)
        for member in view.members:
            self.streams.setdefault(member)
        self.arriving = {node: None for node in self.arriving if node in self.members}

    def owner_of(self, group: GroupId) -> Address | None:
        """Who sequences the group; None for one that is unknown. The owner may be gone."""
        entry = self.entries.get(group)
        return None if entry is None else entry.owner

    def home_of(self, group: GroupId) -> Address:
        """Where the group is or goes; KeyError when it is unknown."""
        entry = self.entries[group]
        return self.moves[entry.move].target if entry.move else entry.owner

    def unit_of(self, group: GroupId) -> tuple[GroupId, ...]:
        """The groups that must go where this one goes (S2), itself included."""
        if self.entries[group].order is not Order.STRICT:
            return (group,)
        return self.overlap.component(group)

    def settled_at(self, groups: Iterable[GroupId]) -> Address | None:
        """The live owner that all these groups have, none of them moving; None otherwise."""
        entries = [self.entries[group] for group in groups]
        owner = entries[0].owner
        if owner not in self.members:
            return None
        if any(entry.move or entry.owner != owner for entry in entries):
            return None
        return owner

    def candidates(self) -> list[Address]:
        """The nodes that may be given groups: those that do not drain, or all if all do.

        A node that has yet to take the state numbers nothing before: as long as there is another
        one, it is given nothing that people would wait for.
        """
        assert self.view is not None
        all_members = sorted(self.view.members)
        members = [one for one in all_members if one not in self.arriving] or all_members
        return [member for member in members if member.name not in self.draining] or members

    def load_of(self, groups: Iterable[GroupId]) -> int:
        """The load of these groups together."""
        return sum(self.loads.group(group) for group in groups)

    def add(self, group: GroupId, entry: Entry) -> None:
        """A new group."""
        self.entries[group] = entry
        if entry.name:
            self.names[entry.name] = group
        self.loads.add(group, self.home_of(group))

    def remove(self, group: GroupId) -> None:
        """Forget a group that is in no move."""
        entry = self.entries.pop(group)
        if entry.name:
            del self.names[entry.name]
        self.tenures.pop(group, None)
        self.loads.remove(group, entry.owner)
        self.ties.forget(group)
        self._inherited(group, entry.owner)

    def begin(self, move: MoveState) -> int:
        """A move of groups that are all `source`'s, from here on under way; returns its number."""
        self.moves_given += 1
        self.moves[self.moves_given] = move
        for group in move.groups:
            self.entries[group].move = self.moves_given
            self.loads.rehome(group, move.source, move.target)
        return self.moves_given

    def end(self, number: int) -> MoveState:
        """The move is over without effect: its groups are their owner's alone."""
        move = self.moves.pop(number)
        for group in move.groups:
            self.entries[group].move = 0
            self.loads.rehome(group, move.target, move.source)
        return move

    def give(self, group: GroupId, owner: Address, last: int | None = None) -> int:
        """The group, which is in no move, has this owner from here on; returns its epoch.

        `last`: the last number of the former epoch, where the order tells it.
        """
        entry = self.entries[group]
        tenure = Tenure(entry.epoch, entry.owner, last)
        self.tenures[group] = (*self.tenures.get(group, ()), tenure)[-TENURES_MAX:]
        self.loads.rehome(group, entry.owner, owner)
        self._inherited(group, entry.owner)
        entry.owner = owner
        entry.epoch += 1
        return entry.epoch

    def epoch_of(self, group: GroupId, stream: Address, number: int) -> int | None:
        """In which epoch the number was given that stands in the stream of a sequencer.

        The same at all nodes, whenever they ask. None: it is of before what is known.
        """
        for one in self.tenures.get(group, ()):
            if one.owner == stream and (one.last is None or number <= one.last):
                return one.epoch
        entry = self.entries.get(group)
        return entry.epoch if entry is not None and entry.owner == stream else None

    def _inherited(self, group: GroupId, owner: Address) -> None:
        """The group is no more one of a node whose stream has ended."""
        ended = self.ended.get(owner)
        if ended is not None:
            ended.groups.pop(group, None)
            if not ended.groups:
                del self.ended[owner]

    def refuse(self, by: Address, request: int, code: str, detail: str) -> list[Change]:
        """The command changes nothing, and whoever asked is told why."""
        self.ignore(f"refused_{code}")
        return [CommandRefused(by, request, code, detail)]

    def ignore(self, reason: str) -> list[Change]:
        """The command changes nothing."""
        self.counters[reason] = self.counters.get(reason, 0) + 1
        return []
