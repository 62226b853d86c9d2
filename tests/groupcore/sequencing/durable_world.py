"""A world whose nodes have disks: logs are stored when the test lets them, power is cut for all.

Stands in for the driver, which stores logs and records of membership in one order, and for
membership where a view is formed from what is on disk.
"""

from __future__ import annotations

from random import Random

from groupcore.digest import Digest
from groupcore.events import FetchCut, Synced, ViewInstalled
from groupcore.events import Saved as OrderSaved
from groupcore.membership.succession import most_of
from groupcore.sequencing.events import Saved
from groupcore.sequencing.log import LogPart, Position
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.output import ServiceOutput
from groupcore.sequencing.service import Service
from groupcore.view import Address, View
from tests.groupcore.sequencing.world import Host, World


class Record:
    """What membership stores: the last view, and whether the node has still to get its state."""

    def __init__(self, view: View, rebuilding: bool) -> None:
        self.view = view
        self.rebuilding = rebuilding


class Disk:
    """What a node has stored, and what is on its way there, in one order."""

    def __init__(self) -> None:
        self.stored: list[bytes] = []
        self.record: Record | None = None
        self.coming: list[LogPart | Record] = []
        self.is_stuck = False
        self.checkpoint = 0

    def commit(self) -> int | None:
        """Store what has come; the last mark."""
        mark = None
        for item in self.coming:
            if isinstance(item, Record):
                self.record = item
                continue
            if item.fresh:
                self.stored.clear()
            if item.checkpoint:
                self.checkpoint = len(self.stored)
            if item.dropping:
                del self.stored[: self.checkpoint]
            self.stored.append(item.data)
            mark = item.mark
        self.coming.clear()
        return mark


class DurableHost(Host):
    """A node that begins with what is on its disk."""

    def __init__(self, address: Address, options: ServiceOptions, disk: Disk) -> None:
        self.disk = disk
        self.rebuilding = False
        self.synced: Position = (0, 0)
        self.saved: dict[tuple[Process, GroupId], int] = {}
        disk.coming.clear()
        super().__init__(address, options)

    def make_service(self, address: Address, options: ServiceOptions) -> Service:
        return Service(address, options, Random(0), list(self.disk.stored))

    def note_saved(self) -> None:
        """What its processes have been told to be saved."""
        for event in self.events:
            if isinstance(event, Saved):
                key = event.message.process, event.group
                assert event.message.number > self.saved.get(key, 0)
                self.saved[key] = event.message.number
        self.events.clear()


class DurableWorld(World):
    """A cluster with disks; each turn stores what is not stuck."""

    def __init__(self, names: str, seed: int = 0, options: ServiceOptions | None = None) -> None:
        self.disks = {name: Disk() for name in names}
        self.incarnation = 1
        super().__init__(names, seed, options or ServiceOptions(durable=True))

    def make_host(self, address: Address) -> Host:
        disk = self.disks.setdefault(address.name, Disk())
        return DurableHost(address, self.options, disk)

    def host(self, name: str) -> DurableHost:
        """A node by its name."""
        host = self[name]
        assert isinstance(host, DurableHost)
        return host

    def lives(self) -> list[DurableHost]:
        """All nodes."""
        return [host for host in self.hosts.values() if isinstance(host, DurableHost)]

    def store(self, host: Host, output: ServiceOutput) -> None:
        assert isinstance(host, DurableHost)
        host.disk.coming += output.log
        for event in output.control:
            if isinstance(event, Synced):
                self._on_synced(host, (event.epoch, event.position))

    def _on_synced(self, host: DurableHost, place: Position) -> None:
        """What membership and DURABILITY make of it."""
        assert self.view is not None
        host.synced = max(place, host.synced)
        if host.rebuilding and place[0] == self.view.epoch:
            host.rebuilding = False
            host.disk.coming.append(Record(self.view, False))
        lives = self.lives()
        for saved in sorted({one.synced for one in lives}, reverse=True):
            names = [one.address.name for one in lives if one.synced >= saved]
            enough = len(names) > min(1, len(lives) - 1)
            if saved[0] == self.view.epoch and enough and self.view.is_quorum(names):
                for one in lives:
                    one.service.on_event(OrderSaved(*saved), self.now)
                return

    def turn(self) -> None:
        super().turn()
        for host in self.lives():
            if not host.disk.is_stuck and (mark := host.disk.commit()) is not None:
                host.service.stored(mark, self.now)

    def stop(self, stay: list[Address], voters: list[Address]) -> Digest:
        """Who accepts has the cut on disk: a view is decided only where disks work."""
        streams = super().stop(stay, voters)
        super().turn()
        for voter in stay:
            host = self.host(voter.name)
            if (mark := host.disk.commit()) is not None:
                host.service.stored(mark, self.now)
        return streams

    def install(self, members: list[Address], voters: list[Address] | None = None) -> None:
        known = set(self.hosts)
        super().install(members, voters)
        assert self.view is not None
        for host in self.lives():
            host.rebuilding = host.rebuilding or (bool(known) and host.address not in known)
            host.disk.coming.append(Record(self.view, host.rebuilding))
            if host.address in known:
                host.disk.record = Record(self.view, host.rebuilding)  # it has accepted it

    def add(self, *names: str) -> None:
        """Nodes that were away join, with what is on their disks."""
        assert self.view is not None
        self.incarnation += 1
        joiners = [Address(name, self.incarnation) for name in names]
        self.install([*self.view.members, *joiners])

    # --- power ----------------------------------------------------------------------------------

    def power_cut(self) -> None:
        """All nodes at once: what is not stored is gone."""
        self.hosts.clear()
        self.packets.clear()
        for disk in self.disks.values():
            disk.coming.clear()
            disk.is_stuck = False

    def restart(self, names: str, out: str = "") -> bool:
        """These nodes form the next view from what is on their disks, if they are enough.

        Those that are `out` vote and are not in it, unless the others need what they hold.
        """
        records = {name: record for name in names if (record := self.disks[name].record)}
        counting = [name for name, record in records.items() if not record.rebuilding]
        former = max((one.view for one in records.values()), key=lambda view: view.number)
        if not former.is_quorum(counting):
            return False
        self.incarnation += 1
        lives = {name: self.host_from_disk(name) for name in names}
        services = {name: lives[name].service for name in counting}
        ends = {name: (one.held, one.stored_view()) for name, one in services.items()}
        newest, _ = latest = max(ends.values())
        holders = [name for name in counting if ends[name] == latest]
        others = [name for name in names if name not in holders and name not in out]
        members = tuple(lives[name].address for name in [*holders, *others])
        held_by = members[: len(holders)]
        streams = self.agree(lives, counting, holders)
        self.view = View(former.number + 1, newest[0] + 1, newest[1], 1, members)
        self.position = newest[1]
        self._forget(tuple(set(names) - set(self.view.names)))
        for host in self.lives():
            event = ViewInstalled(
                self.view, None, True, held_by, self.position, recovered=True, streams=streams
            )
            host.service.on_event(event, self.now)
            host.rebuilding = host.address not in held_by
        self.turn()
        for host in self.lives():
            host.disk.coming.append(Record(self.view, host.rebuilding))
        return True

    def host_from_disk(self, name: str) -> DurableHost:
        """A node's next life."""
        return DurableHost(Address(name, self.incarnation), self.options, self.disks[name])

    def agree(self, lives: dict[str, DurableHost], voters: list[str], holders: list[str]) -> Digest:
        """Where the streams end: the most that a voter has on disk; the holders get it there."""
        held = {lives[name].address: lives[name].service.stored_streams() for name in voters}
        said = {one: {s: n for s, n in has.items() if n} for one, has in held.items()}
        streams, held_by = most_of(said)
        self.hosts = {host.address: host for host in lives.values()}
        for name in holders:
            lives[name].service.on_event(FetchCut({}, {}, streams, held_by), self.now)
        for _ in range(400):
            self.turn()
            if all(lives[name].service.has_streams(streams) for name in holders):
                return streams
            self.run(1)
        raise AssertionError("the cut does not come")
