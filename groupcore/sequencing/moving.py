"""Moves in the directory: begun, finished by their source, called off, or lost with a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groupcore.sequencing.commands import CancelMove, Move, Moved
from groupcore.sequencing.directory_changes import Change, MoveBegan, MoveCancelled, OwnerMoved
from groupcore.sequencing.directory_state import DirectoryState, MoveState
from groupcore.sequencing.names import GroupId
from groupcore.view import Address


def request_move(state: DirectoryState, by: Address, command: Move) -> list[Change]:
    """Begin to move groups, by source; all of them or none."""
    groups = tuple(sorted(set(command.groups)))
    objection = _objection(state, groups, command.target)
    if objection is not None:
        return state.refuse(by, command.request, *objection)
    sources: dict[Address, list[GroupId]] = {}
    for group in groups:
        owner = state.entries[group].owner
        if owner != command.target:
            sources.setdefault(owner, []).append(group)
    if not sources:
        detail = f"{command.target} has all of them"
        return state.refuse(by, command.request, "already_there", detail)
    requested = (by, command.request)
    changes: list[Change] = []
    for source, theirs in sorted(sources.items()):
        move = MoveState(tuple(theirs), source, command.target, command.reason, requested)
        number = state.begin(move)
        changes.append(MoveBegan(number, move.groups, source, move.target, move.reason))
    return changes


def _objection(
    state: DirectoryState, groups: Sequence[GroupId], target: Address
) -> tuple[str, str] | None:
    """The code and text of what stands against the move."""
    if not groups:
        return "unknown_group", "the move names no group"
    if target not in state.members:
        return "unknown_node", f"{target} is not in the view"
    if target in state.arriving and target not in state.candidates():
        return "arriving", f"{target.name} has not got the state yet: ask again"
    if target.name in state.draining and target not in state.candidates():
        return "draining", f"{target.name} is being drained: end that first"
    for group in groups:
        entry = state.entries.get(group)
        if entry is None:
            return "unknown_group", f"group {group} does not exist"
        if entry.move:
            return "moving", f"group {group} is in move {entry.move}"
        if entry.owner not in state.members:
            return "moving", f"group {group} waits for the end of the stream of {entry.owner}"
    return _splits(state, groups, target)


def _splits(
    state: DirectoryState, groups: Sequence[GroupId], target: Address
) -> tuple[str, str] | None:
    """S2: what is in one component with a group of the move goes along or is there already."""
    named = set(groups)
    missing = sorted(
        {
            other
            for group in groups
            for other in state.unit_of(group)
            if other not in named and state.home_of(other) != target
        }
    )
    if not missing:
        return None
    return "breaks_s2", f"these groups must go along: {', '.join(map(str, missing))}"


def finish_move(state: DirectoryState, by: Address, command: Moved) -> list[Change]:
    """The source has stopped and its frames are held: the target is the owner from here on."""
    move = state.moves.get(command.move)
    if move is None:
        return state.ignore("unknown_move")
    if by != move.source:
        return state.ignore("moved_by_another")
    floors = [state.entries[group].floor for group in move.groups]
    if command.groups != move.groups or len(command.last) != len(floors):
        return state.ignore("bad_moved")
    if any(last < floor for last, floor in zip(command.last, floors, strict=True)):
        return state.ignore("bad_moved")
    state.end(command.move)
    epochs = []
    for group, last in zip(move.groups, command.last, strict=True):
        epochs.append(state.give(group, move.target, last))
        state.entries[group].floor = last
        state.loads.rest(group, move.reason)
    return [
        OwnerMoved(command.move, move.groups, move.source, move.target, tuple(epochs), command.last)
    ]


def cancel_move(state: DirectoryState, by: Address, command: CancelMove) -> list[Change]:
    """Call a move off, unless S2 needs it."""
    move = state.moves.get(command.move)
    if move is None:
        detail = f"no move {command.move} is under way"
        return state.refuse(by, command.request, "unknown_move", detail)
    if is_needed(state, move):
        detail = f"move {command.move} brings groups together that must have one sequencer"
        return state.refuse(by, command.request, "breaks_s2", detail)
    return [replace(cancelled(state, command.move), asked=True)]


def is_needed(state: DirectoryState, move: MoveState) -> bool:
    """Whether S2 wants this move: it brings groups together that must have one sequencer."""
    staying = set(move.groups)
    for group in move.groups:
        others = [other for other in state.unit_of(group) if other not in staying]
        if any(state.home_of(other) != move.source for other in others):
            return True
    return False


def cancelled(state: DirectoryState, number: int) -> MoveCancelled:
    """The move ends without effect."""
    move = state.end(number)
    return MoveCancelled(number, move.groups, move.source)


def cancel_lost(state: DirectoryState) -> list[Change]:
    """After a view: moves whose target is gone end, where their source can resume."""
    lost = [
        number
        for number, move in state.moves.items()
        if move.target not in state.members and move.source in state.members
    ]
    return [cancelled(state, number) for number in lost]
