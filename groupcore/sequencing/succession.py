"""Who sequences the groups of a node that is gone, once the end of its stream has been said.

Depends on nothing but the directory and the view, so all nodes come to the same owners. Groups go
where the rest of their component is; otherwise to the target of their move, if that is alive; and
otherwise to whom rendezvous gives them among those within the bound of load.
"""

from __future__ import annotations

from groupcore.sequencing.choosing import Spread, dearest
from groupcore.sequencing.commands import EndStream
from groupcore.sequencing.directory_changes import Change, StreamEnded
from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.moving import cancelled
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.resolving import sides_of
from groupcore.view import Address


def end_stream(state: DirectoryState, command: EndStream) -> list[Change]:
    """The first one for a stream counts, if its node is gone and the holder is not."""
    stream, holder = command.stream, command.holder
    assert state.view is not None
    if stream not in state.streams:
        return state.ignore("stream_not_open")
    if stream in state.members:
        return state.ignore("stream_of_a_member")
    if holder not in state.members or command.view > state.view.number:
        return state.ignore("bad_stream_end")
    del state.streams[stream]
    wishes = {
        group: move.target
        for move in state.moves.values()
        if move.source == stream and move.target in state.members
        for group in move.groups
    }
    changes: list[Change] = [
        cancelled(state, number)
        for number in [n for n, move in state.moves.items() if move.source == stream]
    ]
    owners = _successors(state, stream, wishes)
    groups = tuple(sorted(owners))
    epochs = tuple(state.give(group, owners[group]) for group in groups)
    new_owners = tuple(owners[group] for group in groups)
    changes.append(StreamEnded(stream, command.frame, holder, groups, new_owners, epochs))
    return changes


def _successors(
    state: DirectoryState, stream: Address, wishes: dict[GroupId, Address]
) -> dict[GroupId, Address]:
    owners: dict[GroupId, Address] = {}
    free: list[tuple[int, list[GroupId]]] = []
    seen: set[GroupId] = set()
    for group, entry in state.entries.items():
        if entry.owner != stream or group in seen:
            continue
        component = state.unit_of(group)
        seen.update(component)
        unit = [g for g in component if state.entries[g].owner == stream]
        wished = [wishes[g] for g in unit if g in wishes]
        sides = sides_of(state, component)
        if sides or wished:
            owner = dearest(state, sides) if sides else wished[0]
            owners.update(dict.fromkeys(unit, owner))
        else:
            free.append((state.load_of(unit), unit))
    spread = Spread(state, sum(load for load, _ in free))
    for load, unit in sorted(free, key=lambda one: -one[0]):  # the heaviest while there is room
        owners.update(dict.fromkeys(unit, spread.place(unit, load)))
    return owners
