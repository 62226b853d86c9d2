"""All groups as a table: looked through here, as every node knows them, and shown a page at a time.

Idea. The directory and the records are at every node, so who is asked sorts and cuts by itself, in
portions between which others have their turn. Only of the groups on the page the other nodes are
asked for what they alone know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.plane import Plane
from groupcore.web import SharedObjects
from server.console.colleagues import Shown

PAGE = 50
"""Rows of a page."""
PORTION = 100
"""So many groups are looked at before others have their turn: 0.6 ms."""
ORDERS = {order: order.name.lower() for order in Order}


class GroupRow(NamedTuple):
    """A group as every node knows it; `messages` and `size_bytes` are a second, `load_us` its load
    in µs of processor time a second.
    """

    group: GroupId
    name: str
    sequencer: str
    epoch: int
    order: str
    head: int
    members: int
    messages: int
    size_bytes: int
    load_us: int
    moving_to: str


SORTS: dict[str, Callable[[GroupRow], tuple[object, ...]]] = {
    "name": lambda row: (row.name.casefold(), row.group),
    "sequencer": lambda row: (row.sequencer, row.name.casefold(), row.group),
    "head": lambda row: (-row.head, row.group),
    "members": lambda row: (-row.members, row.group),
    "messages": lambda row: (-row.messages, -row.load_us, -row.head, row.group),
    "epoch": lambda row: (-row.epoch, row.group),
}
"""Numbers: the largest first."""


def row_of(plane: Plane, group: GroupId) -> GroupRow | None:
    """One group; None for an unknown one."""
    state, record = plane.directory.state, plane.records.get(group)
    entry = state.entries.get(group)
    if entry is None:
        return None
    sample = plane.watch.sample_of(group, entry.owner)
    return GroupRow(
        group,
        entry.name or str(group),
        entry.owner.name,
        entry.epoch,
        ORDERS[entry.order],
        0 if record is None else record.seqno,
        0 if record is None else len(record.members),
        0 if sample is None else sample.messages,
        0 if sample is None else sample.bytes,
        state.loads.group(group),
        state.moves[entry.move].target.name if entry.move else "",
    )


async def all_rows(
    plane: Plane,
    search: str = "",
    sequencer: str = "",
    title_of: Callable[[str], str] = lambda name: "",
) -> list[GroupRow]:
    """The groups whose name, title or number has `search` in it, of one sequencer if named."""
    state, wanted = plane.directory.state, search.casefold()
    rows: list[GroupRow] = []
    for at, group in enumerate(list(state.entries), 1):
        entry = state.entries.get(group)
        if entry is not None and (not sequencer or entry.owner.name == sequencer):
            named = not wanted or wanted in entry.name.casefold() or wanted == str(group)
            named = named or wanted in title_of(entry.name).casefold()
            row = row_of(plane, group) if named else None
            if row is not None:
                rows.append(row)
        if at % PORTION == 0:
            await asyncio.sleep(0)
    return rows


def page_of(rows: Sequence[GroupRow], sort: str, page: int) -> list[GroupRow]:
    """The rows of a page, from 1, in this order."""
    ordered = sorted(rows, key=SORTS[sort])
    return ordered[(page - 1) * PAGE : page * PAGE]


def facts_of(plane: Plane, pages: SharedObjects, groups: Iterable[GroupId]) -> Shown:
    """What this node alone knows of groups, by number: how far it is, what it keeps, how slow."""
    latencies = pages.gateway.latencies()
    found: Shown = {}
    for group in groups:
        record, entry = plane.records.get(group), plane.directory.entries.get(group)
        if record is None or entry is None:
            continue
        kept = None if plane.archive is None else plane.archive.groups.get(group)
        found[str(group)] = {
            "head": record.seqno,
            "position": None if record.hold is None else record.hold.seqno,
            "history_bytes": 0 if kept is None else kept.state_bytes + kept.cost_bytes,
            "latency_ms": latencies.get(entry.name),
        }
    return found


def with_facts(row: GroupRow, told: Iterable[Shown | None]) -> Shown:
    """A row with what the nodes have said of it."""
    facts = [one[str(row.group)] for one in told if one is not None and str(row.group) in one]
    latencies = [one["latency_ms"] for one in facts if one["latency_ms"] is not None]
    head = max((one["head"] for one in facts), default=row.head)
    positions = [one["position"] for one in facts if one["position"] is not None]
    return {
        **row._asdict(),
        "head": max(head, row.head),
        "history_bytes": max((one["history_bytes"] for one in facts), default=0),
        "latency_ms": round(sum(latencies) / len(latencies), 1) if latencies else None,
        "behind": max(0, head - min(positions)) if positions else 0,
    }


def members_of(plane: Plane, group: GroupId) -> list[Shown]:
    """Who is in the group, by node; `since` is the number of the JOIN, and who `observes` binds the
    group to no other.
    """
    record, observers = plane.records.get(group), plane.directory.state.observers
    members = {} if record is None else record.members
    return [
        {
            "node": process.node.name,
            "process": process.number,
            "since": since,
            "observes": observers.is_in(process, group),
        }
        for process, since in sorted(members.items(), key=lambda one: one[1])
    ]
