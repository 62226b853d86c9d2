"""How long a group's messages stand still when it migrates, and whether one is lost or doubled.

Three nodes have a process in one group; one of them sends 1,000 messages a second, of 100 bytes,
while the group goes from node to node. The pause of a migration is the longest time between two
deliveries at a member, from when the migration was asked for until SETTLED_S behind the place where
the new sequencer is known, less the send interval; the member where it is longest counts. `still_`
is the same without a migration, in spans as long as the median migration's: what the machine does
by itself. A message counts as lost when a later one of its sender comes before it, or when it has
not come to a member at the end; as doubled when it comes again.
"""

from __future__ import annotations

import asyncio
import statistics
import struct
import time
from dataclasses import dataclass, field

from bench.hosting import node_of, together, until
from bench.measuring import load_average, longest_gap_ms, quantile
from bench.processes import Cluster, Pipe, Processes
from groupcore.aio import GroupNode
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Process

NODES = 3
RATE_PER_S = 1_000
SIZE_BYTES = 100
SETTLED_S = 0.02
STILL_S = 2.0
LAST_S = 10.0
"""How long the last messages may take before they count as lost."""
STAMP = struct.Struct("!Q")

Span = tuple[int, int]


@dataclass(slots=True)
class Seen:
    """What a member was given: when (monotonic nanoseconds), and what was wrong with the order."""

    at: list[int] = field(default_factory=list)
    last: int = 0
    lost: int = 0
    doubled: int = 0

    def __call__(self, events: list[ServiceEvent]) -> None:
        now = time.monotonic_ns()
        for event in events:
            if type(event) is Delivered:
                for payload in event.payloads:
                    self.note(STAMP.unpack_from(payload)[0], now)

    def note(self, number: int, now: int) -> None:
        """One message of the sender."""
        self.at.append(now)
        if number <= self.last:
            self.doubled += 1
            return
        self.lost += number - self.last - 1
        self.last = number


class Sender:
    """Sends numbered messages at an even rate."""

    def __init__(self, node: GroupNode, process: Process, group: GroupId) -> None:
        self.sent = 0
        self._to = (node, process, group)
        self._task = asyncio.create_task(self._send())

    async def _send(self) -> None:
        node, process, group = self._to
        rest = bytes(SIZE_BYTES - STAMP.size)
        began = time.perf_counter()
        while True:
            due = int((time.perf_counter() - began) * RATE_PER_S)
            payloads = [STAMP.pack(number) + rest for number in range(self.sent + 1, due + 1)]
            if payloads:
                node.send(process, group, payloads)
                self.sent = due
            await asyncio.sleep(1 / RATE_PER_S)

    def stop(self) -> int:
        """Send nothing more; how many there were."""
        self._task.cancel()
        return self.sent


async def migrate(node: GroupNode, group: GroupId, migrations: int) -> list[Span]:
    """Send the group round the nodes; from when to when each migration counts."""
    view = node.channel.view
    assert view is not None, "the node is in a view"
    members = sorted(view.members)
    plane = node.service.plane
    spans = []
    for _ in range(migrations):
        owner = plane.owner(group)
        assert owner in members, "a member of the view sequences the group"
        target = members[(members.index(owner) + 1) % len(members)]
        began = time.monotonic_ns()
        await node.move([group], target)
        await until(lambda target=target: plane.owner(group) == target)  # type: ignore[misc]
        await asyncio.sleep(SETTLED_S)
        spans.append((began, time.monotonic_ns()))
    return spans


async def drive(
    node: GroupNode, process: Process, group: GroupId, migrations: int
) -> tuple[int, Span, list[Span]]:
    """Send, a while without migrations, then with them: messages, the still span, the others."""
    sender = Sender(node, process, group)
    await asyncio.sleep(0.5)
    still = time.monotonic_ns()
    await asyncio.sleep(STILL_S)
    still_span = (still, time.monotonic_ns())
    spans = await migrate(node, group, migrations)
    return sender.stop(), still_span, spans


async def member(index: int, cluster: Cluster, migrations: int, pipe: Pipe) -> None:
    """One node; the first one sends and asks for the migrations."""
    seen = Seen()
    async with node_of(index, cluster, seen) as node:
        await together(node, NODES)
        pipe.tell("together")
        await pipe.ask()
        group = await node.create("migrates")
        pipe.tell("created")
        await pipe.ask()
        process = node.open_process()
        await node.join(process, group)
        pipe.tell("joined")
        await pipe.ask()
        driven = await drive(node, process, group, migrations) if index == 0 else None
        pipe.tell(driven)
        sent = await pipe.ask()
        assert isinstance(sent, int)
        try:
            async with asyncio.timeout(LAST_S):
                await until(lambda: seen.last >= sent)
        except TimeoutError:
            seen.lost += sent - seen.last
        pipe.tell(seen)
        await pipe.ask()


def pause_ms(at: list[int], span: Span) -> float:
    """The longest time between two deliveries that touches the span, less the send interval."""
    return max(0.0, longest_gap_ms(at, *span) - 1e3 / RATE_PER_S)


def cut(span: Span, length: int) -> list[Span]:
    """A long span in spans of this length."""
    return [(start, start + length) for start in range(span[0], span[1] - length, length)]


def measure(migrations: int) -> dict[str, object]:
    """Run the nodes through so many migrations."""
    with Processes(member, migrations, NODES) as processes:
        processes.answers()
        for _ in range(2):
            processes.ask_all("go on")
        driven = processes.ask_all("send")[0]
        assert isinstance(driven, tuple)
        sent, still, spans = driven
        seen = [one for one in processes.ask_all(sent) if isinstance(one, Seen)]
    length = int(statistics.median(end - start for start, end in spans))
    pauses = [max(pause_ms(one.at, span) for one in seen) for span in spans]
    stills = [max(pause_ms(one.at, span) for one in seen) for span in cut(still, length)]
    return {
        "migrations": len(spans),
        "pause_p50_ms": round(quantile(pauses, 0.5), 2),
        "pause_p99_ms": round(quantile(pauses, 0.99), 2),
        "pause_max_ms": round(max(pauses), 2),
        "lost": sum(one.lost for one in seen),
        "doubled": sum(one.doubled for one in seen),
        "messages": sent,
        "messages_per_s": RATE_PER_S,
        "migration_p50_ms": round(length / 1e6 - 1e3 * SETTLED_S, 2),
        "still_p50_ms": round(quantile(stills, 0.5), 2),
        "still_p99_ms": round(quantile(stills, 0.99), 2),
    }


def run(quick: bool) -> dict[str, object]:
    """A thousand migrations; a hundred when it is to be quick."""
    return {**measure(100 if quick else 1_000), "load_average": load_average()}
