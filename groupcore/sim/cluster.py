"""A whole cluster on virtual time: nodes, network, disks and the trace of what they did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from groupcore.endpoint import Endpoint
from groupcore.events import ConnectionClosed, ViewInstalled
from groupcore.seal import Keyring
from groupcore.sequencing.service import Service
from groupcore.sequencing.tracing import Recorder
from groupcore.sim.certified import SimulatedOperator
from groupcore.sim.clock import MILLISECOND, SECOND, Clock
from groupcore.sim.disk import Disk
from groupcore.sim.fault import NAMES, Fault, Send
from groupcore.sim.faults import inject
from groupcore.sim.forger import Forger
from groupcore.sim.network import Network, SocketAddress
from groupcore.sim.node import Node
from groupcore.sim.notary import NotarisedTransport, Notary
from groupcore.sim.quorums import suffices, undecided
from groupcore.sim.randomness import stream
from groupcore.sim.samples import sample
from groupcore.sim.scenario import Scenario
from groupcore.sim.tightness import tighten_transport
from groupcore.sim.trace import Happened, Mid, Trace
from groupcore.stack import Stack
from groupcore.stacks import DataPlane
from groupcore.transport import TransportOptions
from groupcore.transport_options import CODES_RESERVE_BYTES
from groupcore.view import Address

CLUSTER = "simulated"
WATCHED = 3
"""So many members after it in the view a node watches over connections, as nodes do."""
APART = 1
"""Tells the cut around a core from those of faults, whose ends would relieve a link of it."""
SAMPLE_NS = 1 * SECOND
"""How often it is noted what the nodes keep in memory."""
KEY = bytes(range(32))
PROBE_BYTES = 32

MakeStack = Callable[
    [Scenario, Address, Random, TransportOptions, bytes | None, DataPlane | None], Stack
]
"""Composes the stack of one life, beside a data plane where there is one."""


class Cluster:
    """The world of one schedule. Chance comes from streams named after what it is for.

    `sets_aside`: nodes move what is damaged on their disks away by themselves.
    """

    sets_aside = False

    def __init__(self, scenario: Scenario, make_stack: MakeStack) -> None:
        seed = scenario.seed
        self.scenario = scenario
        self.trace = Trace()
        self.clock = Clock(stream(seed, "ties"))
        self.network = Network(self.clock, stream(seed, "network"), scenario.network)
        self.fault_random = stream(seed, "fault-details")
        self.forger = Forger(self.clock, stream(seed, "forger"), self.network)
        self.keys = Keyring(CLUSTER, {0: KEY}, 0)
        self.operator = SimulatedOperator(CLUSTER) if scenario.certificates else None
        self.notary = Notary(self.trace, self.clock)
        self.counters: Counter[str] = Counter()
        self.recorders: list[Recorder] = []
        self.outstanding: dict[Mid, Address | None] = {}
        self._make_stack = make_stack
        self._options = TransportOptions(
            datagram_bytes_max=scenario.datagram_bytes_max,
            multicast=scenario.multicast,
            initial_hosts=tuple(map(_socket_address, range(scenario.nodes))),
            codes_bytes=CODES_RESERVE_BYTES if scenario.certificates else 0,
        )
        self.nodes = [self._make_node(index) for index in range(scenario.nodes)]
        self._plan()

    def _make_node(self, index: int) -> Node:
        name = NAMES[index]
        node = Node(
            name,
            _socket_address(index),
            self.clock,
            self.network,
            self.trace,
            Disk(
                self.clock,
                stream(self.scenario.seed, "disk", name),
                self.scenario.disk,
                stream(self.scenario.seed, "torn", name),
            ),
            stream(self.scenario.seed, "node", name),
            self._make_endpoint,
            self._find_state,
            self.outstanding,
            self.scenario,
        )
        node.closed = self._on_closed
        return node

    def _on_closed(self, node: Node) -> None:
        self.count(node)
        self.hang_up(node)

    def count(self, node: Node) -> None:
        """Add what the node's life has counted to the counters of the schedule."""
        if node.endpoint is not None:
            self.counters.update(node.endpoint.counters())

    def hang_up(self, node: Node) -> None:
        """The connections over which others watch this node are closed, where they can tell."""
        if not self.scenario.connections or node.view is None:
            return
        for other in self.nodes:
            if other is node or other.view is None or node.address not in other.view.members:
                continue
            members = other.view.members
            distance = (members.index(node.address) - members.index(other.address)) % len(members)
            cut = self.network.is_cut(node.socket_address, other.socket_address)
            if distance <= WATCHED and not cut:
                delay_ns = self.fault_random.randint(1, 5) * MILLISECOND
                closed = ConnectionClosed(node.address)
                self.clock.after(delay_ns, other.tell, closed, other.address)

    def _make_endpoint(
        self, address: Address, boot: bytes, random: Random, lineage: bytes | None
    ) -> Endpoint:
        scenario = self.scenario
        options = tighten_transport(self._options, scenario.tight, scenario.nodes, random)
        shown = None if self.operator is None else self.operator.credentials(address.name)
        transport = NotarisedTransport(
            address, self.keys, boot, options, random, self.notary, shown
        )
        stack_random = Random(random.getrandbits(64))
        service = self.make_service(address, random)
        plane = None
        if service is not None:
            plane = DataPlane(
                service.stop_acknowledging,
                service.has_streams,
                service.stored_streams,
                service.is_logged,
                service.stored_view,
                service.disk_mark,
                service.known_streams,
            )
        options = self._options
        stack = self._make_stack(scenario, address, stack_random, options, lineage, plane)
        return Endpoint(address, stack, transport, service)

    def make_service(self, address: Address, random: Random) -> Service | None:
        """The data plane of a life, where there is one."""
        return None

    def _plan(self) -> None:
        """Everything that the scenario says goes into the clock.

        No fault begins when all have ended: it could take one of those that suffice to go on.
        """
        for node, start_ns in zip(self.nodes, self.scenario.starts_ns, strict=True):
            self.clock.at(start_ns, node.start)
        for fault in self.scenario.faults:
            if fault.at_ns > self.scenario.safety_ns:
                continue
            self.clock.at(fault.at_ns, self._inject, fault)
            if fault.kind == "forger":
                self.forger.listen()
        for send in self.scenario.sends:
            self.clock.at(send.at_ns, self._send, send)
        self.clock.at(SAMPLE_NS, self._sample)

    def _sample(self) -> None:
        """Note what every live node keeps, and do so again."""
        now = self.clock.now_ns
        for node in self.nodes:
            if node.endpoint is not None:
                self.trace.add(sample(node.endpoint.stack, node.address, now))
        self.clock.after(SAMPLE_NS, self._sample)

    def _inject(self, fault: Fault) -> None:
        inject(self, fault)

    def _send(self, send: Send) -> None:
        to: Address | None = None
        if send.to is not None:
            target = self.nodes[send.to]
            view = self.nodes[send.node].view
            if view is None or send.to == send.node or target.address not in view.members:
                return
            to = target.address
        self.nodes[send.node].send(list(send.sizes), to)

    # --- what the schedule asks -------------------------------------------------------------------

    def happened(self, what: str, detail: str = "") -> None:
        """Note in the trace that the schedule did something."""
        self.trace.add(Happened(self.clock.now_ns, what, detail))

    def coordinator_index(self) -> int:
        """Which node is coordinator of the newest view that a live node is in; else the first."""
        views = [node.view for node in self.nodes if node.view is not None]
        if not views:
            return 0
        newest = max(views, key=lambda view: view.number)
        return NAMES.index(newest.coordinator.name)

    def heal(self) -> None:
        """End every fault: links, storms, pauses, slowness, disks; dead nodes start."""
        self.heal_all_of(self.nodes)

    def heal_all_of(self, nodes: list[Node]) -> None:
        """The same, but only these start."""
        self.network.heal()
        self.forger.stop()
        for node in nodes:
            self._heal(node)

    def _heal(self, node: Node) -> None:
        node.slowness = 1
        node.disk.heal()
        node.resume()
        node.start_empty()

    def choose_core(self) -> list[Node]:
        """Some nodes, in their order, that suffice to go on; all where only all of them do.

        A leaver may be among them and does not count. It hands its vote over to the others, and
        while it does, neither it nor they can go on alone: a leaver that was the quorum by itself
        and has proposed a view without it cannot know whether the others have decided that. While
        somebody is about to propose a view it is not known who will suffice: all do.
        """
        if any(undecided(node) for node in self.nodes):
            return list(self.nodes)
        random = stream(self.scenario.seed, "core")
        order = random.sample(self.nodes, len(self.nodes))
        core = order[:1]
        counting = [node for node in core if not node.leaving]
        while len(core) < len(order) and not suffices(self.nodes, counting):
            core.append(order[len(core)])
            counting = [node for node in core if not node.leaving]
        return sorted(core, key=lambda node: node.name)

    def heal_core(self, core: list[Node]) -> None:
        """End every fault among these nodes; the others are cut off from them, or crash.

        Some are cut off in one direction only: they are heard and hear nobody, or the reverse; or
        they are half deaf, and hear multicasts of all and unicasts of nobody. That
        holds among the others, too: else who hears the core could tell it through who is heard by
        it, and where members vouch for each other all would be connected.
        """
        random, shapes = stream(self.scenario.seed, "rest"), stream(self.scenario.seed, "gray")
        self.network.heal({node.socket_address for node in core})
        self.forger.stop()
        for other in self.nodes:
            if other in core:
                self._heal(other)
                continue
            shape = shapes.choice(self.scenario.rest)
            for node in core if shape == "isolate" else self.nodes:
                if node is other:
                    continue
                if shape == "half-deaf":
                    self.stop_unicasts(node, other)
                    continue
                if shape != "mute":
                    self.network.impede(node.socket_address, other.socket_address, "stop", APART)
                if shape != "deaf":
                    self.network.impede(other.socket_address, node.socket_address, "stop", APART)
            if random.random() < 0.3:
                other.crash(keep_all=False)

    def stop_unicasts(self, source: Node, target: Node) -> None:
        """Let none through in this direction until all is healed, whatever faults end meanwhile."""
        for _ in range(1 + sum(fault.kind == "filter-direct" for fault in self.scenario.faults)):
            self.network.filter_direct(source.socket_address, target.socket_address, True)

    def is_well(self, nodes: list[Node]) -> bool:
        """One primary view of these nodes, all at one position, nothing outstanding."""
        first = nodes[0]
        if first.view is None or first.application is None:
            return False
        live = sorted(node.address for node in nodes)
        if sorted(first.view.members) != live:
            return False
        place = (first.application.journal.epoch, first.application.journal.position)
        for node in nodes:
            application = node.application
            if application is None or not application.ready or not node.primary:
                return False
            journal = application.journal
            if node.view != first.view or (journal.epoch, journal.position) != place:
                return False
        names = {node.name for node in nodes}
        if any(
            mid.origin in names and (to is None or to in live)
            for mid, to in self.outstanding.items()
        ):
            return False
        return self._has_spread(nodes)

    def probe(self, nodes: list[Node]) -> None:
        """These nodes send a few messages more, now that all is well."""
        for node in nodes:
            node.send([PROBE_BYTES], None)

    def conclude(self) -> None:
        """The run is over: write down what else there is."""

    def _has_spread(self, nodes: list[Node]) -> bool:
        """Whether each multicast that one node has delivered without a place, all have."""
        multicasts = set[Mid]().union(*(node.multicasts for node in self.nodes))
        loose = [node.unplaced & multicasts for node in nodes]
        return all(delivered == loose[0] for delivered in loose)

    # --- state transfer ---------------------------------------------------------------------------

    def _find_state(self, node: Node, wanted: ViewInstalled) -> bool:
        """Hand over the state of the first holder, or other member, that has it and is reachable.

        It stands for the bulk connection between servers, which needs both directions.
        """
        assert node.application is not None
        holders = [holder for holder in wanted.holders if holder.name != node.name]
        others = [member for member in wanted.view.members if member not in holders]
        for address in (*holders, *others):
            source = self.nodes[NAMES.index(address.name)]
            if source is node or source.address != address or not self._reachable(node, source):
                continue
            if source.application is not None and not source.paused:
                entries = source.application.state(wanted.view.epoch, wanted.position)
                if entries is not None:
                    node.application.take(source.name, entries, self.clock.now_ns)
                    return True
        return False

    def _reachable(self, one: Node, other: Node) -> bool:
        return not (
            self.network.is_cut(one.socket_address, other.socket_address)
            or self.network.is_cut(other.socket_address, one.socket_address)
        )

    @property
    def simulated_s(self) -> float:
        """Virtual seconds that have passed."""
        return self.clock.now_ns / SECOND


def _socket_address(index: int) -> SocketAddress:
    return (f"10.0.0.{index + 1}", 7600)
