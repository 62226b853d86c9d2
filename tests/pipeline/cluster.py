"""A cluster that keeps the order, in a few lines, and the trace that it writes.

Sequencers with streams of frames, contexts, hold-back by CT2 and T2 at each node for groups that
share a process there, groups that move, processes that join and leave, a node that fails. What may
happen in any order happens in one drawn from the seed; so runs of groups that share no process are
delivered in different orders at different nodes, which no rule forbids.
"""

from __future__ import annotations

import random
import zlib
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from groupcore.trace import CONTENT, FRAME_STAMPS, JOINED, LEFT, TABLES
from tests.pipeline.parts import Frame, Group, Node, Run

Row = dict[str, Any]
EPOCH = datetime(2026, 11, 22, tzinfo=UTC)


class Cluster:
    """Nodes, groups and their trace: `rows[kind]`, in log order for each node."""

    def __init__(
        self, seed: int, *, nodes: int = 3, groups: int = 6, processes: int = 9, strict: int = 3
    ) -> None:
        self.random = random.Random(seed)
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self.nodes = {name: Node(name) for name in (f"n{i}#1" for i in range(nodes))}
        self.streams: dict[str, list[Frame]] = {name: [] for name in self.nodes}
        self.now = 0
        self.view = 0
        names = list(self.nodes)
        self.processes = [f"{names[i % nodes]}/{i}" for i in range(processes)]
        self.groups: dict[int, Group] = {}
        self.install_view({})
        for gid in range(1, groups + 1):
            promise = "strict" if gid <= strict else "causal"
            # Strict groups may come to share processes: one sequencer has them all (S2).
            owner = names[0] if promise == "strict" else self.random.choice(names)
            self.groups[gid] = Group(gid, promise, owner)
            self.own(self.groups[gid], "created")
            for process in self.random.sample(self.processes, k=max(3, processes // 2)):
                self.enter(gid, process)

    # --- what happens -----------------------------------------------------------------------------

    def run(self, steps: int, *, changes: bool = True) -> None:
        """So many random steps, then everything that is left to deliver."""
        for _ in range(steps):
            draw = self.random.random()
            if draw < 0.3:
                self.send()
            elif draw < 0.32 and changes:
                self.change_membership()
            elif draw < 0.325 and changes:
                self.move()
            else:
                self.progress(self.random.choice(list(self.nodes)))
        self.settle()

    def settle(self) -> None:
        """Until nothing is left to deliver."""
        while any(self.progress(name) for name in self.nodes):
            pass
        assert not any(node.pending for node in self.nodes.values())

    def send(self) -> None:
        """Somebody sends a run or two to groups of one sequencer, in one frame."""
        living = [p for p in self.processes if p.partition("/")[0] in self.nodes]
        sender = self.random.choice(living)
        gids = sorted(self.groups)
        first = self.groups[self.random.choice(gids)]
        same = [g for g in gids if self.groups[g].owner == first.owner]
        chosen = [
            self.groups[g]
            for g in self.random.sample(same, k=min(len(same), self.random.choice((1, 1, 2))))
        ]
        context = dict(self.nodes[sender.partition("/")[0]].given)
        frame = self.begin_frame(first.owner, context, chosen)
        for group in chosen:
            count = self.random.choice((1, 1, 3))
            body = f"{group.gid} {group.epoch} {group.last} {sender}".encode()
            run = Run(
                group.gid,
                group.last + 1,
                count,
                sender,
                group.said[sender] + 1,
                zlib.crc32(body),
                CONTENT,
                frame.number * FRAME_STAMPS + len(frame.runs),
            )
            group.last += count
            group.said[sender] += count
            frame.runs.append(run)
            self.write_accept(group, run)
        self.write_frame(first.owner, frame)

    def change_membership(self) -> None:
        """A process joins a group or leaves it, at a place in its order."""
        group = self.groups[self.random.choice(list(self.groups))]
        process = self.random.choice(self.processes)
        name = process.partition("/")[0]
        if name not in self.nodes or self.changing(group.gid, process):
            return
        hosted = self.nodes[name].hosts[group.gid]
        inside = process in hosted
        if not hosted or hosted == {process}:
            return  # nodes take on no group here, and release none
        frame = self.begin_frame(group.owner, {}, [group])
        what, op = (LEFT, "leave") if inside else (JOINED, "join")
        stamp = frame.number * FRAME_STAMPS
        group.last += 1
        frame.runs.append(Run(group.gid, group.last, 1, process, None, None, what, stamp))
        self.write(
            *("membership", group.owner, op, group.gid, process, group.last, group.epoch, stamp),
            *(None, None),
        )
        self.write_frame(group.owner, frame)

    def changing(self, gid: int, process: str) -> bool:
        """Whether a change of the group or of the process is still on its way anywhere."""

        def concerned(runs: Iterable[Run]) -> bool:
            return any(run.what and (run.gid == gid or run.sender == process) for run in runs)

        return any(
            concerned(run for _, _, run in node.pending)
            or any(gid == g or process == p for g, p, _ in node.coming)
            or any(
                concerned(frame.runs)
                for stream, frames in self.streams.items()
                for frame in frames[node.recorded[stream] :]
            )
            for node in self.nodes.values()
        )

    def move(self) -> None:
        """A causal group, or all strict ones together, get another sequencer."""
        group = self.groups[self.random.choice(list(self.groups))]
        target = self.random.choice(list(self.nodes))
        source = group.owner
        if target == source:
            return
        unit = [
            g
            for g in self.groups.values()
            if g is group or (group.promise == g.promise == "strict")
        ]
        length = len(self.streams[source])
        while self.nodes[target].recorded[source] < length:
            assert self.progress(target)
        for one in unit:
            self.write(
                "group",
                source,
                "disowned",
                one.gid,
                None,
                one.promise,
                one.epoch,
                one.last,
                "moved",
            )
            one.owner, one.epoch = target, one.epoch + 1
            one.behind = {source: length} if one.promise == "strict" else {}
            self.own(one, "moved")
            self.write(
                "migration",
                target,
                1,
                one.gid,
                "moved",
                "plan",
                source,
                target,
                one.epoch,
                one.last,
            )

    def fail(self, name: str) -> None:
        """The node is gone; what no survivor has of its stream is as if it had never been said."""
        dead = self.nodes.pop(name)
        cut = max(node.recorded[name] for node in self.nodes.values())
        for node in self.nodes.values():
            while node.recorded[name] < cut:
                if not self.record(node, name):
                    assert self.progress(node.name)
        lost = self.streams[name][cut:]
        self.streams[name] = self.streams[name][:cut]
        self.install_view({name: cut})
        heir = next(iter(self.nodes))
        for group in self.groups.values():
            gone = [run for frame in lost for run in frame.runs if run.gid == group.gid]
            for run in gone:
                if run.first is not None:
                    group.said[run.sender] = min(group.said[run.sender], run.first - 1)
            if group.owner == name:
                group.last -= sum(run.count for run in gone)
                group.owner, group.epoch = heir, group.epoch + 1
                group.behind = {name: cut} if group.promise == "strict" else {}
                self.own(group, "inherited")
            else:
                assert not gone
        assert dead.name == name

    # --- how it is delivered ----------------------------------------------------------------------

    def progress(self, name: str) -> bool:
        """The node records a frame or delivers a run, if it can."""
        node = self.nodes[name]
        ready = [entry for entry in node.pending if self.may_deliver(node, entry)]
        streams = [s for s in self.streams if len(self.streams[s]) > node.recorded[s]]
        self.random.shuffle(streams)
        if ready and (not streams or self.random.random() < 0.6):
            self.deliver(node, self.random.choice(ready))
            return True
        if any(self.record(node, stream) for stream in streams):
            return True
        if ready:
            self.deliver(node, self.random.choice(ready))
        return bool(ready)

    def record(self, node: Node, stream: str) -> bool:
        """Take the next frame of a stream; False while one that it names is not here."""
        frame = self.streams[stream][node.recorded[stream]]
        if any(node.recorded[s] < f for s, f in frame.context.items() if s != stream):
            return False
        node.recorded[stream] += 1
        node.pending += [(stream, frame, run) for run in frame.runs if node.hosts[run.gid]]
        return True

    def may_deliver(self, node: Node, entry: tuple[str, Frame, Run]) -> bool:
        """CT1, CT2 and T2, as groupcore.trace says them."""
        stream, frame, run = entry
        if run.seq != node.place[run.gid] + 1:
            return False
        strict = self.groups[run.gid].promise == "strict"
        for other_stream, other_frame, other in node.pending:
            if other is run or not node.share(run.gid, other.gid):
                continue
            if other_frame.number <= frame.context.get(other_stream, 0):
                return False
            if other_stream == stream and other.lseq < run.lseq:
                both = strict and self.groups[other.gid].promise == "strict"
                if both or other_frame is frame:
                    return False
        return True

    def deliver(self, node: Node, entry: tuple[str, Frame, Run]) -> None:
        """Give a run to the node's processes."""
        stream, frame, run = entry
        node.pending.remove(entry)
        node.dno += 1
        node.place[run.gid] = run.seq + run.count - 1
        node.given[stream] = max(node.given[stream], frame.number)
        self.write(
            "delivery",
            node.name,
            node.dno,
            run.gid,
            run.seq,
            run.count,
            run.what,
            run.sender,
            run.first,
            stream,
            run.lseq,
            run.crc,
            None,
        )
        if run.what and run.sender.partition("/")[0] == node.name:
            if run.what == JOINED:
                node.coming.append((run.gid, run.sender, run.seq))
            else:
                self.host(node, "out", run.gid, run.sender, run.seq)
        # A process is in when all is delivered that it may have been given the consequences of.
        for gid, process, seq in list(node.coming):
            if all(other.gid != gid for _, _, other in node.pending):
                node.coming.remove((gid, process, seq))
                self.host(node, "in", gid, process, seq)

    # --- what is written --------------------------------------------------------------------------

    def begin_frame(self, owner: str, context: dict[str, int], groups: list[Group]) -> Frame:
        """The next frame of a sequencer, behind everything that its runs are to be behind."""
        merged = {s: f for s, f in context.items() if s != owner or f}
        for group in groups:
            for stream, number in group.behind.items():
                merged[stream] = max(merged.get(stream, 0), number)
        for stream in merged:
            while self.nodes[owner].recorded[stream] < merged[stream] and stream != owner:
                assert self.progress(owner)
        frame = Frame(len(self.streams[owner]) + 1, [], merged)
        self.streams[owner].append(frame)
        return frame

    def write_frame(self, owner: str, frame: Frame) -> None:
        """The row of a frame that is complete."""
        content = [run for run in frame.runs if run.what == CONTENT]
        self.write(
            "frame",
            owner,
            frame.number,
            self.view,
            len(content),
            sum(run.count for run in content),
            100,
            200,
            [{"sequencer": s, "frame": f} for s, f in frame.context.items()],
        )

    def write_accept(self, group: Group, run: Run) -> None:
        """The row of a run that has its numbers."""
        self.write(
            "accept",
            group.owner,
            run.lseq,
            group.gid,
            group.epoch,
            run.seq,
            run.count,
            run.sender,
            run.first,
            100 * run.count,
            run.crc,
        )

    def own(self, group: Group, cause: str) -> None:
        """The group's sequencer says that it is."""
        self.write(
            "group",
            group.owner,
            "owned",
            group.gid,
            None,
            group.promise,
            group.epoch,
            group.last,
            cause,
        )

    def enter(self, gid: int, process: str) -> None:
        """A process is in the group from its beginning."""
        node = self.nodes[process.partition("/")[0]]
        if not node.hosts[gid]:
            node.place[gid] = 0
            self.write("membership", node.name, "state", gid, None, 0, None, None, node.dno, None)
        self.host(node, "in", gid, process, 0)

    def host(self, node: Node, op: str, gid: int, process: str, seq: int) -> None:
        """The node gives a process the group from here on, or no more."""
        (node.hosts[gid].add if op == "in" else node.hosts[gid].discard)(process)
        self.write("membership", node.name, op, gid, process, seq, None, None, node.dno, None)

    def install_view(self, cut: dict[str, int]) -> None:
        """All nodes install the next view."""
        self.view += 1
        for name, node in self.nodes.items():
            self.write(
                "view",
                name,
                self.view,
                1,
                1,
                True,
                list(self.nodes),
                self.view - 1 or None,
                False,
                [{"sequencer": s, "frame": f} for s, f in cut.items()],
                node.dno,
            )

    def write(self, kind: str, node: str, *values: object) -> None:
        """A row of the trace: the values of the table's own columns."""
        self.now += 1
        t = EPOCH + timedelta(milliseconds=self.now)
        names = [column.name for column in TABLES[kind].own]
        own = dict(zip(names, values, strict=True))
        self.rows[kind].append({"node": node, "off": None, "t": t, **own})
