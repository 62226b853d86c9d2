"""A few services joined by a network in memory and a control plane that orders at once.

Packets wait until they are let through; each test chooses in which order, and which are lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from random import Random

from groupcore.batch import Batch, Header
from groupcore.digest import Digest
from groupcore.events import Event, FetchCut, ViewInstalled
from groupcore.membership.succession import most_of
from groupcore.sequencing.events import (
    Created,
    Delivered,
    Departed,
    Joined,
    Released,
    ServiceEvent,
    StateInstalled,
    StateWanted,
)
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.output import ServiceOutput
from groupcore.sequencing.service import Service
from groupcore.view import Address, View
from groupcore.wire import decode_packet, encode_packet, unpack_packets

Packet = tuple[Address, Address, bytes]


class Host:
    """One node: its service, and what its application keeps of each group."""

    def __init__(self, address: Address, options: ServiceOptions) -> None:
        self.address = address
        self.service = self.make_service(address, options)
        self.events: list[ServiceEvent] = []
        self.state: dict[GroupId, list[bytes]] = {}
        self.given: dict[tuple[Process, GroupId], list[bytes]] = defaultdict(list)
        self.log: dict[Process, list[tuple[GroupId, bytes]]] = defaultdict(list)
        self.control: list[Event] = []
        self.members: dict[GroupId, list[Process]] = {}

    def make_service(self, address: Address, options: ServiceOptions) -> Service:
        """The service of this life."""
        return Service(address, options, Random(0))

    def handle(self, events: list[ServiceEvent]) -> None:
        """What an application does with its events."""
        self.events += events
        for event in events:
            match event:
                case Delivered():
                    self.state.setdefault(event.group, []).extend(event.payloads)
                    for process in self.members.get(event.group, []):
                        self.given[process, event.group] += event.payloads
                        self.log[process] += [(event.group, one) for one in event.payloads]
                case Joined(group, _, process) if process.node == self.address:
                    self.members.setdefault(group, []).append(process)
                case Departed(group, _, process, _):
                    if process in self.members.get(group, []):
                        self.members[group].remove(process)
                case StateInstalled(group, _, state):
                    self.state[group] = [] if not state else state.split(b"\0")
                case StateWanted(token, group):
                    self.service.give_state(token, b"\0".join(self.state.get(group, [])))
                case Released(group):
                    self.state.pop(group, None)


class World:
    """A cluster; `now` grows only when told to."""

    def __init__(self, names: str, seed: int = 0, options: ServiceOptions | None = None) -> None:
        self.options = options or ServiceOptions()
        self.random = Random(seed)
        self.now = 100.0
        self.hosts: dict[Address, Host] = {}
        self.packets: list[Packet] = []
        self.lost: Callable[[Packet], bool] = lambda _: False
        self.view: View | None = None
        self.cut_off: set[Address] = set()
        self.behind: dict[Address, list[tuple[Address, bytes, int]]] = {}
        self.position = 0
        self.install([Address(name, 1) for name in names])

    def __getitem__(self, name: str) -> Host:
        return next(host for address, host in self.hosts.items() if address.name == name)

    def install(self, members: list[Address], voters: list[Address] | None = None) -> None:
        """A new view of these members, at all that are in it; those who stay have its cut.

        `voters`: who has voted; those who stay, where it does not say otherwise.
        """
        former = self.view
        stay = [m for m in members if m in self.hosts]
        streams = {} if former is None else self.stop(stay, stay if voters is None else voters)
        number = 1 if former is None else former.number + 1
        epoch, floor = (1, 0) if former is None else (former.epoch, former.floor)
        self.view = View(number, epoch, floor, 1, tuple(members))
        holders = () if former is None else tuple(m for m in members if m in former.members)
        for address in members:
            fresh = address not in self.hosts
            if fresh:
                self.hosts[address] = self.make_host(address)
            self.hosts[address].service.on_event(
                ViewInstalled(
                    self.view,
                    None if fresh else former,
                    fresh,
                    holders,
                    self.position,
                    recovered=former is None,
                    streams=streams,
                ),
                self.now,
            )
        self.turn()

    def stop(self, stay: list[Address], voters: list[Address]) -> Digest:
        """The voters say how far they have the streams, and who stays gets the most of it."""
        assert self.view is not None
        number = self.view.number
        said = {one: self.hosts[one].service.stop_acknowledging(number) for one in voters}
        streams, holders = most_of(said)
        services = {one: self.hosts[one].service for one in stay}
        for service in services.values():
            service.on_event(FetchCut({}, {}, streams, holders), self.now)
        for _ in range(400):
            self.turn()
            if all(service.has_streams(streams) for service in services.values()):
                return streams
            self.run(1)
        raise AssertionError("the cut does not come")

    def make_host(self, address: Address) -> Host:
        """A new life of a node."""
        return Host(address, self.options)

    def crash(self, *names: str) -> None:
        """These nodes are no more; the others have another view."""
        assert self.view is not None
        gone = self._forget(names)
        self.install([m for m in self.view.members if m not in gone])

    def leave(self, *names: str) -> None:
        """These nodes have voted, and are not in the view that has come of it."""
        assert self.view is not None
        members = [m for m in self.view.members if m.name not in names]
        self.install(members, [m for m in self.view.members if m in self.hosts])
        self._forget(names)

    def _forget(self, names: tuple[str, ...]) -> list[Address]:
        gone = [address for address in self.hosts if address.name in names]
        for address in gone:
            del self.hosts[address]
        self.packets = [packet for packet in self.packets if packet[1] not in gone]
        return gone

    def add(self, *names: str) -> None:
        """New nodes are in the view."""
        assert self.view is not None
        self.install([*self.view.members, *(Address(name, 1) for name in names)])

    # --- time -----------------------------------------------------------------------------------

    def turn(self) -> None:
        """End the turn everywhere; commands are ordered at once, the same at all."""
        while True:
            commands: list[tuple[Address, bytes]] = []
            for host in self.hosts.values():
                host.service.end_turn(self.now)
                output = host.service.take()
                self.store(host, output)
                self._send(host.address, output.sends)
                host.handle(output.events)
                host.control += output.control
                commands += [(host.address, command) for command in output.commands]
            if not commands:
                return
            for by, command in commands:
                self.position += 1
                for host in self.hosts.values():
                    if host.address in self.behind:
                        self.behind[host.address].append((by, command, self.position))
                    elif host.address not in self.cut_off:
                        host.service.on_order(by, command, self.now, self.position)

    def fall_behind(self, *names: str) -> None:
        """What is ordered from now on these nodes hear when they `catch_up`."""
        self.behind.update({self[name].address: [] for name in names})

    def catch_up(self) -> None:
        """Everybody hears what has been ordered."""
        behind, self.behind = self.behind, {}
        for address, commands in behind.items():
            for by, command, position in commands:
                self.hosts[address].service.on_order(by, command, self.now, position)
        self.turn()

    def store(self, host: Host, output: ServiceOutput) -> None:
        """Nothing is stored here."""

    def _send(self, source: Address, batches: list[Batch]) -> None:
        for batch in batches:
            data = encode_packet(batch)
            for address in self.hosts:
                if address != source and batch.destination in (None, address):
                    self.packets.append((source, address, data))

    def deliver(self, packet: Packet) -> None:
        """One packet arrives."""
        source, destination, data = packet
        host = self.hosts.get(destination)
        if host is None or {source, destination} & self.cut_off:
            return
        (raw,) = unpack_packets(b"\x91" + data)
        host.service.receive(decode_packet(raw, source, None), self.now)

    def lose(self, *kinds: type[Header], to: str = "", of: str = "") -> None:
        """From now on packets of these kinds, from or to such a node, are lost, too."""
        before = self.lost

        def is_lost(packet: Packet) -> bool:
            source, destination, data = packet
            (raw,) = unpack_packets(b"\x91" + data)
            header = decode_packet(raw, source, None).headers[-1]
            ends = (of or source.name, to or destination.name)
            here = isinstance(header, kinds) and ends == (source.name, destination.name)
            return here or before(packet)

        self.lost = is_lost

    def lose_nothing(self) -> None:
        """From now on everything arrives."""
        self.lost = lambda _: False

    def run(self, rounds: int = 200) -> None:
        """Let packets through in a random order, and time pass when there are none."""
        for _ in range(rounds):
            packets, self.packets = self.packets, []
            self.random.shuffle(packets)
            for packet in packets:
                if not self.lost(packet):
                    self.deliver(packet)
            if not packets:
                self.now += 0.005
                for host in self.hosts.values():
                    host.service.wake(self.now)
            self.turn()

    # --- what tests do --------------------------------------------------------------------------

    def create(self, name: str, order: Order = Order.CAUSALLY_TOTAL, at: str = "a") -> GroupId:
        """A group that there is now."""
        request = self[at].service.create(name, order, self.now)
        self.turn()
        for event in self[at].events:
            if isinstance(event, Created) and event.request == request:
                return event.group
        raise AssertionError("not created")

    def open(self, at: str) -> Process:
        """A new process."""
        return self[at].service.open_process()

    def join(self, process: Process, group: GroupId, observes: bool = False) -> None:
        """The process is in the group now."""
        self.hosts[process.node].service.join(process, group, self.now, observes=observes)
        for _ in range(400):
            self.run(1)
            if process in self.hosts[process.node].members.get(group, []):
                return
        raise AssertionError(f"{process} has not joined {group}")

    def send(self, process: Process, group: GroupId, *payloads: bytes) -> None:
        """Send messages in a turn of their own."""
        self.hosts[process.node].service.send(process, group, list(payloads), self.now)
        self.turn()

    def own(self, group: GroupId) -> str:
        """The name of the group's sequencer."""
        owner = next(iter(self.hosts.values())).service.plane.owner(group)
        assert owner is not None
        return owner.name

    def move(self, group: GroupId, target: str) -> None:
        """Ask for a migration."""
        to = self[target].address
        next(iter(self.hosts.values())).service.move((group,), to, "plan", self.now)
        self.turn()
