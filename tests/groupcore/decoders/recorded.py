"""What a cluster in memory has sent, logged and packed while all kinds of things happened to it."""

from __future__ import annotations

from functools import cache

from groupcore.batch import Batch
from groupcore.sequencing.archive import Archive
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.node_packing import pack_whole
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.record_table import pack_records
from groupcore.sequencing.stream import Stream
from groupcore.wire import encode_packet
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.world import Host


class RecordedWorld(DurableWorld):
    """Keeps the packets and commands that went through it."""

    def __init__(self, names: str) -> None:
        self.sent: dict[str, list[bytes]] = {}
        super().__init__(names, 0, ServiceOptions(durable=True, archive_bytes=200))

    def _send(self, source: object, batches: list[Batch]) -> None:
        for batch in batches:
            kept = self.sent.setdefault(batch.headers[-1].kind, [])
            if len(kept) < 12:
                kept.append(encode_packet(batch))
        super()._send(source, batches)  # type: ignore[arg-type]


def busy_world(names: str = "abc") -> tuple[RecordedWorld, list[GroupId], list[Process]]:
    """A cluster with groups of all orders that were moved, joined, left, deleted and observed."""
    world = RecordedWorld(names)
    orders = (Order.CAUSALLY_TOTAL, Order.STRICT, Order.STRICT, Order.FIFO, Order.VOLATILE)
    groups = [world.create(f"g{at}", order) for at, order in enumerate(orders)]
    processes = [world.open(name) for name in names]
    for process in processes:
        for group in groups:
            world.join(process, group)
    for at in range(4):
        for process in processes:
            for group in groups[:4]:
                world.send(process, group, b"m%d" % at, b"n" * 30)
    world.move(groups[0], names[1])
    world.run(20)
    world.send(processes[0], groups[0], b"behind the move")
    observer = world.open(names[0])
    world.join(observer, groups[1], observes=True)
    gone = world.create("gone")
    world.join(processes[1], gone)
    world.hosts[processes[0].node].service.delete(gone, world.now)
    world.hosts[processes[2].node].service.leave(processes[2], groups[3], world.now)
    world.run(60)
    return world, groups, processes


@cache
def recording() -> RecordedWorld:
    """One busy cluster, into which a node has come and of which one has gone."""
    world, groups, processes = busy_world()
    world.add("d")
    world.run(200)
    world.join(world.open("d"), groups[0])
    world.crash("c")
    world.run(100)
    world.send(processes[0], groups[0], b"after")
    world.run(40)
    return world


def host() -> Host:
    return recording()["a"]


def packets() -> list[bytes]:
    """Of each kind that was sent."""
    return [packet for kept in recording().sent.values() for packet in kept]


def node_states() -> list[bytes]:
    plane = host().service.plane
    return [
        pack_whole(plane, plane.ordered),
        pack_whole(recording()["b"].service.plane, plane.ordered),
    ]


def snapshots() -> list[bytes]:
    return [host().service.plane.directory.snapshot()]


def records() -> list[bytes]:
    plane = host().service.plane
    return [pack_records(plane, list(plane.records.values()))]


def archives() -> list[bytes]:
    archive = host().service.plane.archive
    assert isinstance(archive, Archive)
    return [archive.pack([group]) for group in archive.groups] + [archive.pack(archive.groups)]


def log_parts() -> list[bytes]:
    return list(recording().disks["a"].stored)


def frames() -> list[bytes]:
    """Frames of the streams that are still kept, and those that were sent."""
    found = [
        packet for kind in ("accept", "change") for packet in recording().sent[f"sequencing.{kind}"]
    ]
    streams: list[Stream] = list(host().service.plane.streams.values())
    kept = [
        encode_packet(batch) for stream in streams for _, batch in stream.kept(0, stream.received)
    ]
    return found + kept
