"""Real services on a bus in memory with a virtual clock, driven by the commands of a trace.

A packet takes a millisecond; what is ordered in the control plane all nodes that are not late apply
at once. What a node has to store is on its disk at the end of its turn. Digests and what only
counts are left out; losses are as ordered.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.batch import Batch
from groupcore.digest import Digest
from groupcore.events import PrimaryLost
from groupcore.sequencing import events as e
from groupcore.sequencing import headers as h
from groupcore.sequencing.commands import ReportLoad, ReportTies, decode_command
from groupcore.sequencing.names import Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.view import Address
from groupcore.wire import decode_packet, encode_packet, unpack_packets
from tests.groupcore.sequencing.durable_world import DurableHost, DurableWorld
from tests.groupcore.sequencing.golden.telling import Teller
from tests.groupcore.sequencing.world import Host, Packet, World

STEP_S = 0.001
HIDDEN_PACKETS = (h.Digest,)
HIDDEN_COMMANDS = (ReportLoad, ReportTies)


@dataclass
class Loss:
    """Packets of one kind, from one node to another, that are still to be lost."""

    kind: str
    sender: str
    receiver: str
    left: int


class Bus(DurableWorld):
    """A cluster that writes down what happens. Without `durable` its nodes have no logs."""

    def __init__(self, names: str, *, durable: bool) -> None:
        self.teller = Teller()
        self.lines: list[str] = []
        self.losses: list[Loss] = []
        self.begun = 100.0
        self._next: list[Address] = []
        super().__init__(names, options=ServiceOptions(durable=durable))

    # --- what is written down ---------------------------------------------------------------------

    def note(self, line: str) -> None:
        """A line of the trace."""
        self.lines.append(f"{round((self.now - self.begun) * 1000):>5}  {line}")

    def tell(self, host: Host, events: list[e.ServiceEvent]) -> None:
        """What a node's programs are told."""
        for event in events:
            if line := self.teller.event(event):
                self.note(f"{self.teller.node(host.address)} {line}")

    def _send(self, source: Address, batches: list[Batch]) -> None:
        for batch in batches:
            data = encode_packet(batch)
            lost = []
            for address in self.hosts:
                if address == source or batch.destination not in (None, address):
                    continue
                if self._is_lost(source.name, address.name, batch):
                    lost.append(address.name)
                else:
                    self.packets.append((source, address, data))
            header = batch.headers[-1]
            if isinstance(header, HIDDEN_PACKETS):
                continue
            to = "*" if batch.destination is None else self.teller.node(batch.destination)
            fate = f"  (lost: {' '.join(lost)})" if lost else ""
            self.note(f"{self.teller.node(source)} -> {to}  {self.teller.packet(batch)}{fate}")

    def _is_lost(self, sender: str, receiver: str, batch: Batch) -> bool:
        kind = batch.headers[-1].kind.removeprefix("sequencing.")
        for loss in self.losses:
            if loss.left and (loss.kind, loss.sender, loss.receiver) == (kind, sender, receiver):
                loss.left -= 1
                return True
        return False

    # --- time -------------------------------------------------------------------------------------

    def turn(self) -> None:
        """End the turn everywhere; commands are ordered at once, the same at all."""
        while True:
            commands: list[tuple[Address, bytes]] = []
            for host in self.hosts.values():
                host.service.end_turn(self.now)
                output = host.service.take()
                self.store(host, output)
                self.tell(host, output.events)
                self._send(host.address, output.sends)
                host.handle(output.events)
                host.control += output.control
                commands += [(host.address, command) for command in output.commands]
            self.commit()
            if not commands:
                return
            for by, payload in commands:
                self.order(by, payload)

    def commit(self) -> None:
        """What is not stuck is on the disks."""
        for host in self.hosts.values():
            if isinstance(host, DurableHost) and not host.disk.is_stuck:
                mark = host.disk.commit()
                if mark is not None:
                    host.service.stored(mark, self.now)

    def order(self, by: Address, payload: bytes) -> None:
        """A command has its place; who is late hears of it later."""
        self.position += 1
        command = decode_command(payload)
        if not isinstance(command, HIDDEN_COMMANDS):
            self.note(f"order {self.position}: {self.teller.command(by, command)}")
        for host in self.hosts.values():
            if host.address in self.behind:
                self.behind[host.address].append((by, payload, self.position))
            elif host.address not in self.cut_off:
                host.service.on_order(by, payload, self.now, self.position)

    def deliver(self, packet: Packet) -> None:
        """One packet arrives."""
        source, destination, data = packet
        host = self.hosts.get(destination)
        if host is None or {source, destination} & self.cut_off:
            return
        (raw,) = unpack_packets(b"\x91" + data)
        host.service.receive(decode_packet(raw, source, None), self.now)

    def run(self, rounds: int = 200) -> None:
        """So many milliseconds pass."""
        for _ in range(rounds):
            self.now = round(self.now + STEP_S, 6)
            packets, self.packets = self.packets, []
            for packet in packets:
                self.deliver(packet)
            for host in self.hosts.values():
                wake = host.service.next_wake()
                if wake is not None and wake <= self.now:
                    host.service.wake(self.now)
            self.turn()

    # --- the commands of a trace ------------------------------------------------------------------

    def run_command(self, command: str) -> list[str]:
        """Do what a line of a trace says; what it has caused, line by line."""
        self.lines, self.begun = [], self.now
        verb, *words = command.split()
        act = getattr(self, f"do_{verb.replace('-', '_')}", None)
        if act is None:
            raise ValueError(f"no such command: {command}")
        act(*words)
        return self.lines

    def do_run(self, milliseconds: str) -> None:
        """Let time pass."""
        self.run(int(milliseconds))

    def do_create(self, name: str, order: str, at: str, owner: str = "") -> None:
        """A group, which `owner` sequences if it is named."""
        group = self.create(name, Order[order.upper().replace("-", "_")], at)
        self.teller.groups[group] = name
        if owner and self.own(group) != owner:
            self.run(50)
            self.move(group, owner)
            self.run(100)
        self.lines = [line for line in self.lines if "CreateGroup" in line]
        self.note(f"{self.own(group)} sequences {name}")

    def do_process(self, name: str, at: str) -> None:
        """A process of this name at a node."""
        self.teller.processes[self.open(at)] = name

    def do_member(self, name: str, *groups: str) -> None:
        """A process is in these groups: how it got there is not told."""
        for group in groups:
            self.join(self._process(name), self._group(group))
        self.run(50)
        self.lines = []

    def do_join(self, name: str, group: str) -> None:
        """JOIN-GROUP."""
        process = self._process(name)
        self.hosts[process.node].service.join(process, self._group(group), self.now)
        self.turn()

    def do_observe(self, name: str, group: str) -> None:
        """JOIN-GROUP, as an observer."""
        process = self._process(name)
        service = self.hosts[process.node].service
        service.join(process, self._group(group), self.now, observes=True)
        self.turn()

    def do_leave(self, name: str, group: str) -> None:
        """LEAVE-GROUP."""
        process = self._process(name)
        self.hosts[process.node].service.leave(process, self._group(group), self.now)
        self.turn()

    def do_close(self, name: str) -> None:
        """The process ends."""
        process = self._process(name)
        self.hosts[process.node].service.close_process(process, self.now)
        self.turn()

    def do_send(self, name: str, group: str, *texts: str) -> None:
        """DO-MULTICAST."""
        self.send(self._process(name), self._group(group), *(text.encode() for text in texts))

    def do_show(self, name: str, group: str, text: str) -> None:
        """A volatile message."""
        process = self._process(name)
        service = self.hosts[process.node].service
        service.send_volatile(process, self._group(group), text.encode(), self.now)
        self.turn()

    def do_move(self, group: str, target: str) -> None:
        """Ask for a migration."""
        self.move(self._group(group), target)

    def do_delete(self, group: str) -> None:
        """Delete a group."""
        next(iter(self.hosts.values())).service.delete(self._group(group), self.now)
        self.turn()

    def do_drain(self, name: str) -> None:
        """A node is to sequence nothing."""
        self[name].service.drain(name, True, self.now)
        self.turn()

    def do_lose(self, kind: str, sender: str, receiver: str, times: str) -> None:
        """The next packets of this kind are lost."""
        self.losses.append(Loss(kind, sender, receiver, int(times)))

    def do_late(self, *names: str) -> None:
        """These nodes hear late of what is ordered."""
        self.fall_behind(*names)

    def do_heard(self) -> None:
        """Everybody has heard what is ordered."""
        self.catch_up()

    def do_crash(self, *names: str) -> None:
        """These nodes are no more, and the others have a view without them."""
        self.crash(*names)

    def do_cut(self, name: str) -> None:
        """A node hears nobody and is heard by nobody; the others have a view without it."""
        assert self.view is not None
        address = self[name].address
        host = self.hosts.pop(address)
        host.service.on_event(PrimaryLost(), self.now)
        host.service.end_turn(self.now)
        self.tell(host, host.service.take().events)
        self.packets = [one for one in self.packets if address not in one[:2]]
        self.install([one for one in self.view.members if one != address])

    def do_add(self, *names: str) -> None:
        """New nodes are in the view, or nodes that were away, in their next life."""
        self.add(*names)

    def do_power_cut(self) -> None:
        """All nodes end at once; what is on their disks is left."""
        self.power_cut()

    def do_start(self, *names: str) -> None:
        """These nodes form the next view from what is on their disks."""
        assert self.restart("".join(names)), "they are no quorum"
        assert self.view is not None
        self.lines.insert(0, f"{0:>5}  view {self.teller.view(self.view)}")

    # --- help -------------------------------------------------------------------------------------

    def install(self, members: list[Address], voters: list[Address] | None = None) -> None:
        """As in every world; those who stay have the cut before the view is told."""
        self._next = members
        super().install(members, voters)

    def stop(self, stay: list[Address], voters: list[Address]) -> Digest:
        """As where nothing is stored: here each turn stores what it has."""
        streams = World.stop(self, stay, voters)
        assert self.view is not None
        members = " ".join(map(self.teller.node, self._next))
        self.note(f"view {self.view.number + 1}[{members}] with {self.teller.numbers(streams)}")
        return streams

    def _group(self, name: str) -> int:
        return next(group for group, called in self.teller.groups.items() if called == name)

    def _process(self, name: str) -> Process:
        return next(one for one, called in self.teller.processes.items() if called == name)
