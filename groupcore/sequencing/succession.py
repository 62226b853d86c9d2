"""Who sequences the groups of a node that is gone, once the end of its stream has been said.

What is busy, strict with members, or was about to move gets its new sequencer then, and others up
to `inherited_at_once`. The rest is left for `Inherit`, portion by portion.

Depends on nothing but the directory and the view, so all nodes come to the same owners. Groups go
where the rest of their component is; otherwise to the target of their move, if that is alive; and
otherwise to whom rendezvous gives them among those within the bound of load.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import islice

from groupcore.sequencing.choosing import Spread, dearest
from groupcore.sequencing.commands import EndStream, Inherit
from groupcore.sequencing.directory_changes import Change, Inherited, StreamEnded
from groupcore.sequencing.directory_state import DirectoryState, Ended
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
    left = {group: None for group, entry in state.entries.items() if entry.owner == stream}
    if left:
        state.ended[stream] = Ended(command.frame, left)
    given = _give(state, stream, _portion(state, left, wishes), wishes)
    changes.append(StreamEnded(stream, command.frame, holder, *given))
    return changes


def inherit(state: DirectoryState, command: Inherit) -> list[Change]:
    """Give those groups that wait for it to others, or the next portion of the first stream."""
    portions: dict[Address, list[GroupId]] = {}
    for group in command.groups:
        entry = state.entries.get(group)
        if entry is not None and entry.owner in state.ended:
            portions.setdefault(entry.owner, []).append(group)
    if not command.groups and state.ended:
        stream = min(state.ended)
        portions[stream] = _portion(state, state.ended[stream].groups, {})
    changes: list[Change] = []
    for stream, groups in sorted(portions.items()):
        frame = state.ended[stream].frame
        changes.append(Inherited(stream, frame, *_give(state, stream, groups, {})))
    return changes


def _portion(
    state: DirectoryState, left: dict[GroupId, None], first: Container[GroupId]
) -> list[GroupId]:
    """Of these groups those that cannot wait, and so many others as one portion may have."""
    if len(left) <= state.options.inherited_at_once:
        return list(left)
    busy, is_used = state.loads.busy, state.overlap.is_used
    urgent = [group for group in left if group in busy or group in first or is_used(group)]
    others = islice((group for group in left if group not in busy), state.options.inherited_at_once)
    return list(dict.fromkeys([*urgent, *others]))


def _give(
    state: DirectoryState,
    stream: Address,
    groups: Iterable[GroupId],
    wishes: dict[GroupId, Address],
) -> tuple[tuple[GroupId, ...], tuple[Address, ...], tuple[int, ...]]:
    """Give these groups of the stream, with their components; which they are, owners, epochs."""
    owners = _successors(state, stream, groups, wishes)
    given = tuple(sorted(owners))
    epochs = tuple(state.give(group, owners[group]) for group in given)
    return given, tuple(owners[group] for group in given), epochs


def _successors(
    state: DirectoryState,
    stream: Address,
    groups: Iterable[GroupId],
    wishes: dict[GroupId, Address],
) -> dict[GroupId, Address]:
    owners: dict[GroupId, Address] = {}
    free: list[tuple[int, list[GroupId]]] = []
    seen: set[GroupId] = set()
    for group in groups:
        if group in seen:
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
