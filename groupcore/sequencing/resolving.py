"""RESOLVE: strict groups that have become strongly intersecting are brought to one sequencer.

A process counts in a strict group from its `EnterStrict` on, and may join it when the group's
whole component is at one owner with nothing moving. Until then its entry is pending. The paper
assumes that one join makes at most one pair intersect (its footnote 2), and that no two do at once
(its race): here a component with any number of sides goes to the dearest of them, and any number of
entries may be pending, since all are decided again, in their order, after every change. Who
observes never counts, and so waits for nothing here.

Invariants. I1: after `settle` a component is at one owner, or one of its groups is moving, or an
owner is gone whose stream has not ended; each of these leads to another change. I2: a pending entry
whose component is at one owner, unmoved, is allowed at once.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.sequencing.choosing import dearest
from groupcore.sequencing.commands import EnterStrict, ExitStrict, ObserveStrict
from groupcore.sequencing.directory_changes import Change, EntryAllowed, MoveBegan
from groupcore.sequencing.directory_state import DirectoryState, MoveState, PendingEntry
from groupcore.sequencing.names import GroupId, Order
from groupcore.view import Address


def enter(state: DirectoryState, by: Address, command: EnterStrict) -> list[Change]:
    """The process counts in the group from here on; `settle` says when it may join."""
    group, process = command.group, command.process
    refused = _refused(state, by, command)
    if refused:
        return refused
    groups_max = state.options.strict_groups_max
    is_new = not state.overlap.is_in(process, group)
    if is_new and len(state.overlap.groups_of(process)) >= groups_max:
        detail = (
            f"{process} is in {groups_max} strict groups: leave one, or use causally-total ones"
        )
        return state.refuse(by, command.request, "too_many_strict_groups", detail)
    state.overlap.enter(process, group, command.request)
    state.observers.exit(process, group)  # who counts observes no more
    state.pending.append(PendingEntry(group, process, by, command.request))
    return []


def observe(state: DirectoryState, by: Address, command: ObserveStrict) -> list[Change]:
    """The process may join the group, where nothing becomes of it: S2 holds as it did before.

    Who counts in the group already goes on doing so: that promises more.
    """
    group, process = command.group, command.process
    refused = _refused(state, by, command)
    if refused:
        return refused
    if state.overlap.is_in(process, group):
        state.overlap.enter(process, group, command.request)
        state.pending.append(PendingEntry(group, process, by, command.request))
        return []
    state.observers.enter(process, group, command.request)
    return [EntryAllowed(group, process, by, command.request)]


def _refused(
    state: DirectoryState, by: Address, command: EnterStrict | ObserveStrict
) -> list[Change]:
    """Why nobody may enter like this; empty where somebody may."""
    group, process = command.group, command.process
    entry = state.entries.get(group)
    if entry is None:
        return state.refuse(by, command.request, "unknown_group", f"group {group} does not exist")
    if entry.order is not Order.STRICT:
        return state.refuse(by, command.request, "bad_order", f"group {group} is not strict")
    if process.node not in state.members:
        return state.refuse(
            by, command.request, "unknown_node", f"{process.node} is not in the view"
        )
    return []


def leave(state: DirectoryState, command: ExitStrict) -> list[Change]:
    """The process does not count in the group any more: its component may split."""
    group, process = command.group, command.process
    if state.observers.exit(process, group):
        return []
    if not state.overlap.exit(process, group):
        return state.ignore("not_in_strict_group")
    return withdraw(state, lambda entry: (entry.process, entry.group) == (process, group))


def withdraw(state: DirectoryState, gone: Callable[[PendingEntry], bool]) -> list[Change]:
    """Pending entries that come to nothing are refused as `left`."""
    lost = [entry for entry in state.pending if gone(entry)]
    state.pending = [entry for entry in state.pending if not gone(entry)]
    changes: list[Change] = []
    for entry in lost:
        detail = f"{entry.process} is not in group {entry.group} any more"
        changes += state.refuse(entry.by, entry.request, "left", detail)
    return changes


def settle(state: DirectoryState) -> list[Change]:
    """Allow the pending entries that S2 holds for, and begin the moves that the others need."""
    changes: list[Change] = []
    seen: set[GroupId] = set()
    for entry in state.pending:
        if entry.group not in seen:
            component = state.unit_of(entry.group)
            seen.update(component)
            changes += _bring_together(state, component)
    waiting = []
    for entry in state.pending:
        if state.settled_at(state.unit_of(entry.group)) is None:
            waiting.append(entry)
        else:
            changes.append(EntryAllowed(entry.group, entry.process, entry.by, entry.request))
    state.pending = waiting
    return changes


def sides_of(state: DirectoryState, groups: tuple[GroupId, ...]) -> dict[Address, list[GroupId]]:
    """Groups by home, without those whose home is gone."""
    sides: dict[Address, list[GroupId]] = {}
    for group in groups:
        home = state.home_of(group)
        if home in state.members:
            sides.setdefault(home, []).append(group)
    return sides


def _bring_together(state: DirectoryState, component: tuple[GroupId, ...]) -> list[Change]:
    sides = sides_of(state, component)
    if len(sides) < 2:
        return []
    target = dearest(state, sides)
    changes: list[Change] = []
    for source in sorted(sides):
        # Groups that are on their way to this side arrive first and go on from there then.
        groups = tuple(group for group in sides[source] if not state.entries[group].move)
        if source != target and groups:
            number = state.begin(MoveState(groups, source, target, "strict", None))
            changes.append(MoveBegan(number, groups, source, target, "strict"))
    return changes
