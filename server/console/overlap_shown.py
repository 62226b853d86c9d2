"""The overlap of the groups as the console shows it, and what a move or a split would cost.

A move costs what its unit carries, in the load of decision 0019: that much goes from one node to
another, and while it moves, for as long as moves have taken here, its messages wait. A split costs
people: whoever is in two groups that S2 binds has to leave one of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations
from statistics import median

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.ties import SCALE
from server.console.colleagues import Shown
from server.console.desk import Console
from server.console.gain import gain_of
from server.console.groups import PORTION, GroupRow, row_of
from server.console.overlap import Component, Overlap, overlap_of
from server.console.parting import partings
from server.errors import BadMessageError

PAGE = 24
"""Components of a page."""
ROWS = 50
DRAWN = 30
"""So many groups of a component are drawn, the busiest."""
NAMED = 3
OBSERVERS_SHOWN = 20
PARTINGS_SHOWN = 10
FACES_MAX = 100
"""Processes of one node that are asked for by name at a time."""


async def whole_overlap(console: Console) -> Overlap:
    """The overlap now, or in a large cluster of some seconds ago."""
    return await console.overlap.of(lambda: _found(console))


async def _found(console: Console) -> Overlap:
    """Without the processes of the nodes themselves, as far as these answer."""
    told = await console.colleagues.gather("own")
    view = console.node.view
    lives = {} if view is None else {one.name: one for one in view.members}
    own = {
        Process(lives[name], number)
        for name, one in told.items()
        if one is not None and name in lives
        for number in one["numbers"]
    }
    attending: dict[GroupId, set[Process]] = {}
    for name, one in told.items():
        if one is not None and name in lives:
            for group, numbers in one["attending"].items():
                who = {Process(lives[name], number) for number in numbers}
                attending.setdefault(int(group), set()).update(who)
    return await overlap_of(console.plane, own, attending)


async def faces(console: Console, processes: Iterable[Process]) -> dict[Process, Shown]:
    """Node, number and, for those of pages, who it is."""
    by_node: dict[str, list[int]] = {}
    listed = list(processes)
    for process in listed:
        by_node.setdefault(process.node.name, []).append(process.number)
    known: dict[str, Shown] = {}
    for node, numbers in by_node.items():
        with suppress(BadMessageError):  # it is silent, or has gone
            known[node] = await console.colleagues.ask(node, "faces", numbers=numbers[:FACES_MAX])
    accounts, found = console.node.files.accounts, {}
    for process in listed:
        principal = str(known.get(process.node.name, {}).get(str(process.number), ""))
        user = accounts.user(principal)
        found[process] = {
            "node": process.node.name,
            "process": process.number,
            "principal": principal,
            "name": "" if user is None else user.name,
        }
    return found


async def rows_of(plane: Plane, groups: Sequence[GroupId]) -> list[GroupRow]:
    """The groups that there still are, those with the most load first."""
    rows = []
    for at, group in enumerate(groups, 1):
        row = row_of(plane, group)
        if row is not None:
            rows.append(row)
        if at % PORTION == 0:
            await asyncio.sleep(0)
    return sorted(rows, key=lambda row: (-row.load_us, -row.members, row.group))


def component_shown(one: Component, rows: Sequence[GroupRow]) -> Shown:
    """A component in numbers; `homes` says how many of its groups each sequencer has, or awaits."""
    homes = Counter(row.moving_to or row.sequencer for row in rows)
    return {
        "component": one.groups[0],
        "groups": len(one.groups),
        "bound": one.bound,
        "units": len(one.units),
        "processes": one.processes,
        "homes": [{"node": node, "groups": count} for node, count in sorted(homes.items())],
        "load_us": sum(row.load_us for row in rows),
        "messages": sum(row.messages for row in rows),
        "names": [row.name for row in rows[:NAMED]],
    }


async def page_shown(plane: Plane, found: Overlap, page: int) -> Shown:
    """A page of components, the largest first, and how many groups are in none."""
    shown = found.components[(page - 1) * PAGE : page * PAGE]
    together = sum(len(one.groups) for one in found.components)
    return {
        "groups": len(plane.directory.entries),
        "alone": max(0, len(plane.directory.entries) - together),
        "count": len(found.components),
        "page": page,
        "pages": max(1, -(-len(found.components) // PAGE)),
        "components": [component_shown(one, await rows_of(plane, one.groups)) for one in shown],
        "nodes": sorted(member.name for member in plane.directory.state.members),
        "left_out": found.left_out,
        "halls": [
            {"group": group, "name": name_of(plane, group), "processes": count}
            for group, count in sorted(found.halls.items(), key=lambda one: (-one[1], one[0]))
        ][:OBSERVERS_SHOWN],
    }


def edges_of(
    plane: Plane, overlap: Overlap, one: Component, drawn: Sequence[GroupId]
) -> list[Shown]:
    """Between the groups that are drawn: `common` processes, whether S2 binds the two, and how
    often a second they are written to in turn.
    """
    unit_of = {group: unit for unit in one.units for group in unit}
    rates, state, edges = plane.directory.state.ties.rates(), plane.directory.state, []
    observers = overlap.observers.keys()
    for (at, group), (to, other) in combinations(enumerate(drawn), 2):
        bound = state.overlap.common(group, other) if group in unit_of else 0
        members = overlap.members
        both = members.get(group, frozenset()) & members.get(other, frozenset())
        common = max(bound, len(both - observers))
        rate = rates.get((min(group, other), max(group, other)), 0)
        if common > 1 or rate:
            edges.append(
                {
                    "from": at,
                    "to": to,
                    "common": common,
                    "bound": bound > 1,
                    "turns": round(rate / SCALE, 1),
                }
            )
    return edges


async def cost_of(console: Console, group: GroupId, pauses: Sequence[float]) -> Shown:
    """What a move of the group costs, with all that goes along, and what a split would."""
    plane = console.plane
    state = plane.directory.state
    unit = state.unit_of(group)
    told = await console.colleagues.gather("facts", groups=list(unit[:ROWS]))
    history = sum(
        max(
            (one[str(each)]["history_bytes"] for one in told.values() if one and str(each) in one),
            default=0,
        )
        for each in unit[:ROWS]
    )
    rates = [_sample(plane, each) for each in unit]
    home = state.home_of(group).name
    targets = []
    for node in state.candidates():
        if node.name != home:
            gain = gain_of(state, dict.fromkeys(unit, node.name))
            loads = next(row["load_us"] for row in gain["nodes"] if row["node"] == node.name)
            targets.append({"node": node.name, "load_us": loads, "imbalance": gain["imbalance"]})
    processes = {process for each in unit for process in _processes(plane, each)}
    return {
        "group": group,
        "name": name_of(plane, group),
        "from": home,
        "unit": [name_of(plane, each) for each in unit[:ROWS]],
        "count": len(unit),
        "processes": len(processes),
        "load_us": state.load_of(unit),
        "messages": sum(messages for messages, _ in rates),
        "size_bytes": sum(size for _, size in rates),
        "history_bytes": history,
        "pause_ms": round(median(pauses), 1) if pauses else None,
        "targets": targets,
        "ties": _ties(plane, group, unit),
        "split": await _split(console, unit),
    }


async def _split(console: Console, unit: Sequence[GroupId]) -> Shown | None:
    """Who would have to leave; None where nothing is bound. `who` null: too large to be said."""
    if len(unit) < 2:
        return None
    table = console.plane.directory.state.overlap
    members = {group: frozenset(table.members(group)) for group in unit}
    found = await asyncio.to_thread(partings, members)
    if found is None:
        return {"who": None, "count": 0}
    shown = found[:PARTINGS_SHOWN]
    named = await faces(console, [one.process for one in shown])
    who = [{**named[one.process], "parts": one.parts, "largest": one.largest} for one in shown]
    return {"who": who, "count": len(found)}


async def observers_shown(console: Console, overlap: Overlap) -> list[Shown]:
    """Those in the most groups first; `declared`: who has joined that many strict ones as one."""
    counts = {**overlap.observers, **overlap.declared}
    most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:OBSERVERS_SHOWN]
    named = await faces(console, [process for process, _ in most])
    return [
        {**named[process], "groups": count, "declared": process in overlap.declared}
        for process, count in most
    ]


def name_of(plane: Plane, group: GroupId) -> str:
    """Its name, or its number."""
    entry = plane.directory.entries.get(group)
    return str(group) if entry is None else entry.name or str(group)


def _ties(plane: Plane, group: GroupId, unit: Sequence[GroupId]) -> list[Shown]:
    """What else the unit is written to in turn with, most often first."""
    own, found = set(unit), Counter[GroupId]()
    for (one, other), rate in plane.directory.state.ties.rates().items():
        if (one in own) != (other in own):
            found[other if one in own else one] += rate
    return [
        {"group": other, "name": name_of(plane, other), "turns": round(rate / SCALE, 1)}
        for other, rate in found.most_common(NAMED)
    ]


def _processes(plane: Plane, group: GroupId) -> Iterable[Process]:
    record = plane.records.get(group)
    return () if record is None else record.members


def _sample(plane: Plane, group: GroupId) -> tuple[int, int]:
    """Messages and bytes a second, as its sequencer has reported last."""
    entry = plane.directory.entries.get(group)
    sample = None if entry is None else plane.watch.sample_of(group, entry.owner)
    return (0, 0) if sample is None else (sample.messages, sample.bytes)
