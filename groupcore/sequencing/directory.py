"""The directory: which groups exist and who sequences each, agreed by one total order of commands.

A deterministic state machine. Every node applies the same commands and views at the same places of
the control plane's order and has the same directory, so nothing here asks anybody. A command that
does not apply any more when its turn comes changes nothing: it is refused where somebody waits for
the answer, and ignored otherwise; both are counted.

Invariants.
  I1  A group has one owner. Its epoch grows by one whenever the owner is given anew, and only then.
  I2  A group that moves is its source's until `Moved`, which counts from nobody but the source.
  I3  A move whose target is gone is off; one whose source is gone ends with that node's stream.
  I4  What a node that is gone owned stays its own until its stream has ended, which counts once;
      quiet groups, where they are many, until their portion is inherited.
  I5  S2: a component of strict groups has one owner, but for those with a pending entry.
  I6  The same commands make the same directory, whatever the hash seed; a snapshot is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from groupcore.sequencing import directory_snapshot, moving, resolving
from groupcore.sequencing.choosing import is_overload, new_owner
from groupcore.sequencing.commands import (
    Arrived,
    CancelMove,
    Command,
    CreateGroup,
    DeleteGroup,
    Drain,
    EndStream,
    EnterStrict,
    ExitStrict,
    Inherit,
    Move,
    Moved,
    ObserveStrict,
    ReportLoad,
    ReportTies,
    Tell,
)
from groupcore.sequencing.directory_changes import Change, GroupCreated, GroupDeleted
from groupcore.sequencing.directory_state import DirectoryState, Entry, MoveState
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.sequencing.succession import end_stream, inherit
from groupcore.view import Address, View

DEFAULT_OPTIONS = PlacementOptions()
ORDERS = frozenset(int(order) for order in Order)


class Directory:
    """One node's copy of the directory; `state` has the tables, which only `apply` changes.

    `k` (resilience) and `options` are those of the cluster's first node: a node that takes a
    snapshot takes them over with it.
    """

    __slots__ = ("state",)

    def __init__(self, k: int = 1, options: PlacementOptions = DEFAULT_OPTIONS) -> None:
        self.state = DirectoryState(k, options)

    @property
    def view(self) -> View | None:
        """The present view; None before the first."""
        return self.state.view

    @property
    def entries(self) -> dict[GroupId, Entry]:
        """All groups."""
        return self.state.entries

    @property
    def names(self) -> dict[str, GroupId]:
        """The groups that have a name, by name."""
        return self.state.names

    @property
    def moves(self) -> dict[int, MoveState]:
        """The moves under way, by number."""
        return self.state.moves

    @property
    def newest_group(self) -> GroupId:
        """The number of the group that was created last; higher ones are not known here yet."""
        return self.state.groups_given

    def owner_of(self, group: GroupId) -> Address | None:
        """Who sequences the group; None for one that is unknown.

        The owner may be gone: then its stream has not ended yet.
        """
        return self.state.owner_of(group)

    def component(self, group: GroupId) -> tuple[GroupId, ...]:
        """The strict groups that share a sequencer with this one, itself included (S2)."""
        return self.state.overlap.component(group)

    def has_entered(self, process: Process, group: GroupId, request: int) -> bool:
        """Whether S2 holds with the process in the strict group by this request of its node.

        As far as this node has heard. An entry is named by the request that has made it: an earlier
        one of the same process, or as an observer, lets nobody in.
        """
        state = self.state
        if state.observers.entry(process, group) == request:
            return True
        return state.overlap.entry(process, group) == request and not any(
            (entry.process, entry.group, entry.request) == (process, group, request)
            for entry in state.pending
        )

    def ending_streams(self) -> list[Address]:
        """The nodes that are gone and whose streams have not ended: `EndStream` is due for each."""
        return [stream for stream in self.state.streams if stream not in self.state.members]

    @property
    def heirless(self) -> int:
        """How many groups wait for a sequencer, as the stream of theirs has ended (`Inherit`)."""
        return sum(len(ended.groups) for ended in self.state.ended.values())

    def counters(self) -> dict[str, int]:
        """How many commands were refused or ignored at this node, by reason."""
        return dict(self.state.counters)

    def apply(self, command: Command, by: Address) -> list[Change]:
        """What one command changes, in the total order; `by` has sent it."""
        if by not in self.state.members:
            return self.state.ignore("sender_not_in_view")
        changes = self._apply(command, by)
        return changes + resolving.settle(self.state)

    def on_view(
        self, view: View, gone: Sequence[Address], lacking: Sequence[Address] = ()
    ) -> list[Change]:
        """What a view changes; `gone` are the members of the former one that are not in it.

        `lacking`: its members without the state. Those of them that are new are given no groups
        before they have said that they have it (`Arrived`).

        The processes of gone nodes leave everything, and moves to them are off. What they owned
        stays theirs until their streams end. Nothing changes where the view is known already.
        """
        state = self.state
        assert not set(gone) & set(view.members), "a node is a member or gone"
        former = state.members
        state.install(view)
        for member in lacking:
            if member not in former:
                state.arriving[member] = None
        state.overlap.keep_nodes(state.members)
        state.observers.keep_nodes(state.members)
        state.loads.keep_nodes(state.members)
        state.ties.keep_nodes(state.members)
        changes = resolving.withdraw(state, lambda entry: entry.process.node not in state.members)
        changes += moving.cancel_lost(state)
        return changes + resolving.settle(state)

    def end_streams(self, ends: Mapping[Address, int], holder: Address) -> list[Change]:
        """What it changes that the streams of gone nodes end where the present view's cut says."""
        state = self.state
        assert state.view is not None
        changes: list[Change] = []
        for stream in sorted(self.ending_streams()):
            command = EndStream(stream, ends.get(stream, 0), holder, state.view.number)
            changes += end_stream(state, command)
        return changes + resolving.settle(state) if changes else changes

    def snapshot(self) -> bytes:
        """All of it; equal bytes at nodes that have applied the same."""
        return directory_snapshot.pack(self.state)

    def restore(self, data: bytes) -> None:
        """Be what the snapshot says; WireError `bad_snapshot` leaves everything as it was."""
        self.become(directory_snapshot.unpack(data))

    def become(self, restored: DirectoryState) -> None:
        """Be what was read of a snapshot."""
        restored.counters = self.state.counters
        self.state = restored

    def fingerprint(self) -> str:
        """A hash of all of it, to compare nodes by."""
        return blake2b(self.snapshot(), digest_size=16).hexdigest()

    def _apply(self, command: Command, by: Address) -> list[Change]:
        state = self.state
        match command:
            case CreateGroup():
                return self._create(command, by)
            case DeleteGroup():
                return self._delete(command, by)
            case EnterStrict():
                return resolving.enter(state, by, command)
            case ObserveStrict():
                return resolving.observe(state, by, command)
            case ExitStrict():
                return resolving.leave(state, command)
            case Move():
                return moving.request_move(state, by, command)
            case Moved():
                return moving.finish_move(state, by, command)
            case CancelMove():
                return moving.cancel_move(state, by, command)
            case EndStream():
                return end_stream(state, command)
            case ReportLoad():
                return self._report(command, by)
            case Inherit():
                return inherit(state, command)
            case ReportTies():
                state.ties.report(by, command.ties, state.entries)
                return []
            case Drain():
                return self._drain(command, by)
            case Tell():
                return []  # for the nodes' programs
            case Arrived():
                state.arriving.pop(by, None)
                return []
            case _:
                return state.ignore("unknown_command")

    def _create(self, command: CreateGroup, by: Address) -> list[Change]:
        state, name = self.state, command.name
        if command.order not in ORDERS:
            detail = f"there is no order {command.order}"
            return state.refuse(by, command.request, "bad_order", detail)
        order = Order(command.order)
        known = state.names.get(name) if name else None
        if known is None:
            state.groups_given += 1
            group = state.groups_given
            owner = new_owner(state, group, by)
            state.add(group, Entry(name, order, owner))
            return [GroupCreated(group, name, order, owner, by, command.request, False)]
        entry = state.entries[known]
        if entry.order is not order:
            detail = f"group {name!r} is {entry.order.name.lower()}, not {order.name.lower()}"
            return state.refuse(by, command.request, "bad_order", detail)
        return [GroupCreated(known, name, order, entry.owner, by, command.request, True)]

    def _delete(self, command: DeleteGroup, by: Address) -> list[Change]:
        state, group = self.state, command.group
        entry = state.entries.get(group)
        if entry is None:
            detail = f"group {group} does not exist"
            return state.refuse(by, command.request, "unknown_group", detail)
        if entry.move:
            detail = f"group {group} is in move {entry.move}: delete it when that has ended"
            return state.refuse(by, command.request, "moving", detail)
        state.overlap.delete(group)
        state.observers.delete(group)
        changes = resolving.withdraw(state, lambda pending: pending.group == group)
        state.remove(group)
        return [*changes, GroupDeleted(group, by, command.request)]

    def _report(self, command: ReportLoad, by: Address) -> list[Change]:
        state = self.state

        def home_of(group: GroupId) -> Address | None:
            return state.home_of(group) if state.owner_of(group) == by else None

        load = state.loads.report(by, command, home_of)
        state.loads.note_weight(by, is_overload(state, by, load))
        return []

    def _drain(self, command: Drain, by: Address) -> list[Change]:
        state, name = self.state, command.name
        if not command.on:
            state.draining.pop(name, None)
            return []
        if all(member.name != name for member in state.members):
            detail = f"no node {name!r} is in the view"
            return state.refuse(by, command.request, "unknown_node", detail)
        state.draining[name] = None
        return []
