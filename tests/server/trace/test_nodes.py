"""Three nodes on real sockets write their trace: what it says is what has happened."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from groupcore.aio import GroupNode
from groupcore.sequencing.events import Accepted, Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.trace_rows import life
from server.trace.writer import TraceWriter
from tests.groupcore.sequencing.trace_audit import by_kind, violations
from tests.server.support import free_udp_port
from tests.server.trace.support import all_rows

MESSAGES = 40


class Traced:
    """A node that notes what it was told, beside the trace that it writes."""

    def __init__(self, name: str, folder: Path, multicast: str) -> None:
        self.accepted: dict[tuple[Process, GroupId], int] = {}
        self.delivered: list[Delivered] = []
        self.changed = asyncio.Event()
        self.writer = TraceWriter(folder, name)
        self.node = GroupNode(
            "trace-test",
            node_id=name,
            receiver=self.receive,
            multicast=multicast,
            recorder=self.writer.recorder,
        )

    def receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            match event:
                case Accepted(group, message, _):
                    self.accepted[message.process, group] = message.number
                case Delivered():
                    self.delivered.append(event)
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    async def __aenter__(self) -> Traced:
        await self.writer.start()
        await self.node.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.node.close()
        await self.writer.stop()


async def work(folder: Path) -> list[Traced]:
    """Three processes talk in three groups, one of which moves; everybody leaves."""
    multicast = f"228.8.8.23:{free_udp_port()}"
    nodes = [Traced(name, folder, multicast) for name in "abc"]
    async with nodes[0], nodes[1], nodes[2]:
        orders = (Order.CAUSALLY_TOTAL, Order.STRICT, Order.FIFO)
        groups = [await nodes[0].node.create(f"g{order}", order) for order in orders]
        processes = [one.node.open_process() for one in nodes]
        for group in groups:
            for one, process in zip(nodes, processes, strict=True):
                await one.node.join(process, group)
        for number in range(MESSAGES):
            for one, process in zip(nodes, processes, strict=True):
                one.node.send(process, groups[number % 3], [b"%d" % number] * (1 + number % 2))
            if number == MESSAGES // 2:
                target = nodes[1].node.channel.address
                await nodes[0].node.move([groups[0]], target)
            await asyncio.sleep(0)
        sent = 3 * sum(1 + number % 2 for number in range(MESSAGES))
        for one, process in zip(nodes, processes, strict=True):
            await one.until(
                lambda one=one: sum(len(run.payloads) for run in one.delivered) == sent  # type: ignore[misc]
            )
            await one.until(lambda one=one, p=process: len(one.accepted) == 3)  # type: ignore[misc]
    return nodes


async def test_each_message_is_accepted_once_and_deliveries_have_no_gaps(tmp_path: Path) -> None:
    nodes = await work(tmp_path)
    rows = all_rows(tmp_path)
    assert violations(rows) == []
    kinds = by_kind(rows)
    assert kinds["log_gap"] == []
    stamped = Counter(
        (row["sender"], row["gid"], row["first"] + at)
        for row in kinds["accept"]
        for at in range(row["count"])
    )
    said = {
        (f"{life(process.node)}/{process.number}", group, number)
        for one in nodes
        for (process, group), last in one.accepted.items()
        for number in range(1, last + 1)
    }
    assert len(said) == 3 * sum(1 + number % 2 for number in range(MESSAGES))
    assert {key: stamped[key] for key in said} == dict.fromkeys(said, 1)
    for one in nodes:
        name = one.node.channel.node_id
        told = [(run.group, run.seqno, len(run.payloads)) for run in one.delivered]
        written = [
            (row["gid"], row["seq"], row["count"])
            for row in kinds["delivery"]
            if row["what"] == 0 and row["node"].startswith(f"{name}#")
        ]
        assert written == told
    phases = [row["phase"] for row in kinds["migration"] if row["cause"] == "plan"]
    assert sorted(phases) == ["began", "moved", "resumed", "stopped"]
