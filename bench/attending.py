"""Sessions that come and go in objects that many read: as members, and as those that attend.

One node, without others and without a disk. A visit opens a text, a map and a presence in a session
of its own, as a page does, and ends it. `entries` are the numbers that a visit takes of the order
of these groups. With so many `readers` of the text there already, `opening_us` and `ending_us` are
the processor time of this process for one more that opens it, and for one that ends.
"""

from __future__ import annotations

import asyncio
import time

from bench.measuring import load_average
from groupcore.aio import Node
from groupcore.shared.session import Session
from groupcore.shared.types import Map, Presence, Text

AT_ONCE = 100
MODES = {"members": False, "attending": True}


async def visit(session: Session) -> None:
    """What a page opens."""
    await session.open(Text, "text")
    await session.open(Map[str, int], "map")
    await session.open(Presence[str], "presence")


def numbers(node: Node) -> int:
    """How many numbers the groups have given."""
    return sum(record.seqno for record in node.groups.service.plane.records.values())


async def in_portions(node: Node, count: int, attends: bool) -> list[Session]:
    """So many sessions that read the text."""
    sessions = [node.session(attends=attends) for _ in range(count)]
    for at in range(0, count, AT_ONCE):
        await asyncio.gather(*(one.open(Text, "text") for one in sessions[at : at + AT_ONCE]))
    return sessions


async def measure(attends: bool, visits: int, readers: int) -> dict[str, float]:
    """The figures of one mode."""
    async with Node("bench", node_id="a", multicast=None) as node:
        keeper = node.session()
        await visit(keeper)
        before = numbers(node)
        for _ in range(visits):
            session = node.session(attends=attends)
            await visit(session)
            await session.close()
        entries = (numbers(node) - before) / visits
        sessions = await in_portions(node, readers, attends)
        began_s = time.process_time()
        more = await in_portions(node, AT_ONCE, attends)
        opened_s = time.process_time()
        await asyncio.gather(*(one.close() for one in more))
        ended_s = time.process_time()
        for at in range(0, readers, AT_ONCE):
            await asyncio.gather(*(one.close() for one in sessions[at : at + AT_ONCE]))
    return {
        "entries": round(entries, 2),
        "opening_us": round(1e6 * (opened_s - began_s) / AT_ONCE, 1),
        "ending_us": round(1e6 * (ended_s - opened_s) / AT_ONCE, 1),
    }


def run(quick: bool) -> dict[str, object]:
    """100 visits and 3,000 readers; 10 and 200 when it is to be quick."""
    visits, readers = (10, 200) if quick else (100, 3_000)
    found: dict[str, object] = {"visits": visits, "readers": readers}
    for mode, attends in MODES.items():
        found[mode] = asyncio.run(measure(attends, visits, readers))
    return {**found, "load_average": load_average()}
