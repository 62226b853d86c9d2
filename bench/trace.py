"""What the trace costs: processor time for each row, to note it and to bring it to the disk.

Four services joined in memory on virtual time, each with a process in all of 20 groups; they send
single messages, or runs of ten, of 100 bytes. What one of them tells its recorder is kept and told
again to fresh ones, which is timed by itself: `note_us` for a row of `accept` or `delivery`.
`write_us` is to encode these rows as Arrow batches, in portions of 4,000, as the writer's thread
gets them, and to write them to files; `write_sync_us` with each batch on disk before the next.
`whole_off_us` and `whole_on_us` are all that the services do for each such row, without and with.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench.measuring import load_average
from bench.services import Services
from groupcore.sequencing.events import Created, Joined, ServiceEvent, StateWanted
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.trace_keeping import ROWS_AT_ONCE
from groupcore.sequencing.trace_rows import Gathered
from groupcore.sequencing.tracing import Recorder
from groupcore.view import Address
from server.trace.disk import Disk
from server.trace.options import TraceOptions

NODES = 4
GROUPS = 20
SIZE_BYTES = 100
SEGMENT_ROWS = 60_000
"""A node that numbers and delivers 500 runs a second has so many in a minute."""
TIMES = 3
"""How often each is measured; the least counts."""
TOLD = ("at", "stamped", "enrolled", "delivered", "run", "told", "left", "viewed", "owns", "sample")

Call = tuple[str, tuple[object, ...]]


class Tape(Recorder):
    """A recorder that keeps what it is told, and notes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.plane: Plane | None = None
        for name in TOLD:
            setattr(self, name, self._keeper(name))

    def begin(self, plane: Plane) -> None:
        """See `Recorder`."""
        super().begin(plane)
        self.plane = plane

    def _keeper(self, name: str) -> Callable[..., None]:
        return lambda *arguments: self.calls.append((name, arguments))


class World:
    """Services, their processes, and a load."""

    def __init__(self, run: int, rounds: int) -> None:
        self.random = Random(1)
        self.groups: list[GroupId] = []
        self.joined = 0
        self.services = Services(NODES, self.random, lambda batch: None, self._on_event)
        self.run = run
        self.rounds = rounds
        first = self.services.nodes[0]
        for _ in range(GROUPS):
            self.services.services[first].create("", Order.CAUSALLY_TOTAL, self.services.now)
        self.services.end_turn(first)
        self.processes: list[Process] = []
        for node in self.services.nodes:
            self._settle(node)

    def _on_event(self, node: Address, event: ServiceEvent) -> None:
        if isinstance(event, Created):
            self.groups.append(event.group)
        elif isinstance(event, Joined) and event.process.node == node:
            self.joined += 1
        elif isinstance(event, StateWanted):
            self.services.services[node].give_state(event.token, b"")

    def _settle(self, node: Address) -> None:
        service = self.services.services[node]
        process = service.open_process()
        self.processes.append(process)
        for group in self.groups:
            service.join(process, group, self.services.now)
        self.services.end_turn(node)
        while self.joined < len(self.processes) * len(self.groups):
            self.services.run_until(self.services.now + 0.01)

    def trace(self, node: int, recorder: Recorder | None) -> None:
        """Have one of the services tell a recorder, or nobody."""
        service = self.services.services[self.services.nodes[node]]
        if recorder is None:
            service.plane.trace = None
        else:
            service.trace(recorder)

    def work(self) -> None:
        """Everybody sends, some messages a turn, for so many rounds."""
        payloads = [bytes(SIZE_BYTES)] * self.run
        now = self.services.now
        for _ in range(self.rounds):
            for process in self.processes:
                service = self.services.services[process.node]
                for group in self.random.sample(self.groups, 10):
                    service.send(process, group, payloads, now)
                self.services.end_turn(process.node)
            now = self.services.now + 0.005
            self.services.run_until(now)


def least(measure: Callable[[], float]) -> float:
    """The least of some measurements, in seconds of processor time."""
    return min(measure() for _ in range(TIMES))


def play(tape: Tape) -> Recorder:
    """Tell all of it to a recorder."""
    assert tape.plane is not None
    recorder = Recorder()
    recorder.begin(tape.plane)
    for name, arguments in tape.calls:
        getattr(recorder, name)(*arguments)
    return recorder


def portions(tape: Tape) -> list[list[Gathered]]:
    """The rows as the writer's thread gets them."""
    assert tape.plane is not None
    recorder, taken = Recorder(), []
    recorder.begin(tape.plane)
    for name, arguments in tape.calls:
        getattr(recorder, name)(*arguments)
        if recorder.gathered >= ROWS_AT_ONCE:
            taken.append(recorder.take())
    return [*taken, recorder.take()]


def write(parts: list[list[Gathered]], options: TraceOptions) -> tuple[float, int]:
    """Bring them to the disk: seconds of processor time, bytes."""
    with TemporaryDirectory() as folder:
        disk = Disk(Path(folder), "bench", options)
        disk.begin()
        offs: dict[str, int] = {}
        begin = time.process_time()
        for part in parts:
            for gathered in part:
                off = offs.get(gathered.kind, 0)
                disk.write(gathered, off)
                offs[gathered.kind] = off + gathered.rows
        disk.close()
        spent = time.process_time() - begin
        return spent, sum(path.stat().st_size for path in Path(folder).rglob("*.arrows"))


def timed(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def whole(world: World, traced: bool) -> float:
    """All services, with a recorder each or without."""
    for node in range(NODES):
        world.trace(node, Recorder() if traced else None)
    return timed(world.work)


def case(run: int, rounds: int) -> dict[str, object]:
    """One way of sending; the sequencer of most groups is the node that is looked at."""
    world, tape = World(run, rounds), Tape()
    world.trace(0, tape)
    world.work()
    parts = portions(tape)
    kinds: dict[str, int] = {}
    for gathered in (one for part in parts for one in part):
        kinds[gathered.kind] = kinds.get(gathered.kind, 0) + gathered.rows
    rows = kinds.get("accept", 0) + kinds.get("delivery", 0)
    note_s = least(lambda: timed(lambda: play(tape)))
    # As often as makes a segment: to begin and to end one takes as long as thousands of rows.
    parts *= 1 + SEGMENT_ROWS // rows
    written = rows * (1 + SEGMENT_ROWS // rows)
    write_s = least(lambda: write(parts, TraceOptions())[0])
    sync_s = least(lambda: write(parts, TraceOptions(syncs=True))[0])
    size_bytes = write(parts, TraceOptions())[1]
    # By turns, so that what else the machine does falls on both alike.
    pairs = [(whole(world, False), whole(world, True)) for _ in range(TIMES)]
    off_s, on_s = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    every = NODES * kinds["delivery"] + kinds["accept"]
    return {
        "messages_a_run": run,
        "rows": kinds,
        "note_us": round(note_s / rows * 1e6, 2),
        "write_us": round(write_s / written * 1e6, 2),
        "write_sync_us": round(sync_s / written * 1e6, 2),
        "bytes_a_row": round(size_bytes / written, 1),
        "whole_off_us": round(off_s / every * 1e6, 2),
        "whole_on_us": round(on_s / every * 1e6, 2),
    }


def run(quick: bool) -> dict[str, object]:
    """Single messages, and runs of ten."""
    rounds = 40 if quick else 200
    return {
        "nodes": NODES,
        "groups": GROUPS,
        "cases": [case(1, rounds), case(10, rounds)],
        "load_average": load_average(),
    }
