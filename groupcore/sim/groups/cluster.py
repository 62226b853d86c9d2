"""A cluster whose nodes host processes in overlapping groups."""

from __future__ import annotations

from random import Random

from groupcore.events import ViewInstalled
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.tracing import Recorder
from groupcore.sim.clock import MILLISECOND
from groupcore.sim.cluster import Cluster, MakeStack
from groupcore.sim.fault import NAMES, Fault
from groupcore.sim.faults import inject
from groupcore.sim.groups.host import Host, Seat
from groupcore.sim.groups.insider import INSIDER, Insider
from groupcore.sim.groups.kept_log import deleted_in
from groupcore.sim.groups.lateness import LATE_ORDER, Lateness, LateService
from groupcore.sim.groups.memory import is_missed, remembers
from groupcore.sim.groups.observer import ObservedService, Watcher
from groupcore.sim.groups.promises import Promises
from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.groups.tightness import tighten_service
from groupcore.sim.node import Node
from groupcore.sim.quorums import suffices, undecided
from groupcore.sim.randomness import stream
from groupcore.sim.run import Undecided
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace_deletions import GroupLogged
from groupcore.sim.trace_groups import GroupCreated
from groupcore.view import Address

FORGETS = frozenset({"crash", "crash-keep", "leave", "clock-step"})
"""Faults that take a node's memory."""
RETRY_NS = 50 * MILLISECOND
BEGUN_US = 1_767_225_600_000_000
"""When every schedule begins, for the trace that its nodes write: 2026-01-01."""


class GroupCluster(Cluster):
    """The world of a schedule for the data plane; a `World` for its hosts."""

    def __init__(self, scenario: GroupScenario, make_stack: MakeStack) -> None:
        self.groups = scenario
        self.sets_aside = scenario.durable
        self.wanted: dict[Seat, set[int]] = {
            (node, slot): set() for node in range(scenario.nodes) for slot in range(scenario.slots)
        }
        self.watched: dict[Seat, set[int]] = {seat: set() for seat in self.wanted}
        self.ids: dict[int, GroupId] = {}
        self.watchers: list[Watcher] = []
        self.promises = Promises()
        self.lateness = {name: Lateness() for name in NAMES[: scenario.nodes]}
        self._waiting: set[str] = set()
        self._insiders: dict[int, Insider] = {}
        super().__init__(scenario, make_stack)
        self.hosts = self.make_hosts(scenario)

    def make_hosts(self, scenario: GroupScenario) -> list[Host]:
        """What runs on the nodes."""
        hosts = [Host(self, node, index, scenario) for index, node in enumerate(self.nodes)]
        for node, host in zip(self.nodes, hosts, strict=True):
            node.guest = host
        for act in scenario.acts:
            self.clock.at(act.at_ns, hosts[act.node].act, act)
        return hosts

    def make_service(self, address: Address, random: Random) -> ObservedService:
        """The service of a life."""
        durable = self.groups.durable
        options = ServiceOptions(
            k=self.groups.k,
            durable=durable,
            archive_bytes=1_000,
            archive_total_bytes=4_000,
            checkpoint_bytes=20_000,
            erase_after_s=0.2,
            erase_pause_s=0.3,
        )
        options = tighten_service(options, self.groups.points)
        chance = Random(random.getrandbits(64))
        disk = self.nodes[NAMES.index(address.name)].disk
        promise = self.promises.of(address.name, disk.wiped) if durable else None
        log = disk.log if durable else []
        told = (self.clock, self.trace, self.watchers)
        lateness = self.lateness[address.name]
        service = LateService(address, options, chance, *told, log, promise, lateness)
        if any(fault.kind == INSIDER for fault in self.groups.faults):
            service.note_order()
        recorder = Recorder(offset_us=BEGUN_US)
        service.trace(recorder)
        self.recorders.append(recorder)
        return service

    def _find_state(self, node: Node, wanted: ViewInstalled) -> bool:
        """The application of the channel keeps nothing: the service takes its state by itself."""
        assert node.application is not None
        node.application.take(node.name, (), self.clock.now_ns)
        return True

    # --- what may be taken ----------------------------------------------------------------------

    def may_start(self, node: Node) -> bool:
        """Whether no view counts on the node's former life any more; else it starts later.

        A view can be decided whose member was dead already, so that the others are no quorum of
        it. What they remember is lost then, by no fault of the data plane: `Undecided`.
        """
        if self.groups.durable or not is_missed(self.nodes, node):
            return True
        if not remembers(self.nodes, self.nodes):
            if self.trace.of(GroupCreated):
                raise Undecided("the newest view is no quorum without a life that was over")
            return True
        if node.name not in self._waiting:
            self._waiting.add(node.name)
            self.clock.after(RETRY_NS, self._start, node)
        return False

    def _start(self, node: Node) -> None:
        self._waiting.discard(node.name)
        node.start()

    def _inject(self, fault: Fault) -> None:
        if fault.kind == LATE_ORDER:
            self.happened("begin", str(fault))
            self.lateness[NAMES[fault.nodes[0]]].begin(fault, self.clock)
            return
        if fault.kind == INSIDER:
            self.happened("begin", str(fault))
            self._insider(fault.nodes[0]).begin(fault)
            return
        if fault.kind in FORGETS and not self.groups.durable:
            index = fault.nodes[0] if fault.nodes[0] >= 0 else self.coordinator_index()
            others = [node for number, node in enumerate(self.nodes) if number != index]
            if not remembers(self.nodes, others):
                self.happened("spared", f"the memory of {self.nodes[index].name}")
                return
        inject(self, fault)

    def _insider(self, index: int) -> Insider:
        if index < 0:
            index = self.coordinator_index()
        if index not in self._insiders:
            chance = stream(self.scenario.seed, "insider", index)
            self._insiders[index] = Insider(self.clock, chance, self.hosts[index], self.trace)
        return self._insiders[index]

    def _heal(self, node: Node) -> None:
        for insider in self._insiders.values():
            insider.heal()
        self.lateness[node.name].heal()
        super()._heal(node)

    def choose_core(self) -> list[Node]:
        """Some nodes, in their order, that remember everything; all where only all of them do."""
        if self.groups.durable:
            return super().choose_core()
        if any(undecided(node) for node in self.nodes):
            return list(self.nodes)
        order = stream(self.scenario.seed, "core").sample(self.nodes, len(self.nodes))
        core = order[:1]
        while len(core) < len(order) and not (
            remembers(self.nodes, core) and suffices(self.nodes, core)
        ):
            core.append(order[len(core)])
        return sorted(core, key=lambda node: node.name)

    # --- the verdict ----------------------------------------------------------------------------

    def probe(self, nodes: list[Node]) -> None:
        """Every process sends."""
        for node in nodes:
            self._host(node).probe()

    def _host(self, node: Node) -> Host:
        return self.hosts[self.nodes.index(node)]

    def conclude(self) -> None:
        """Write down what each node has of each group."""
        for host in self.hosts:
            if host.life is not None:
                host.life.conclude(self.groups.durable)
        if self.groups.durable:
            for node in self.nodes:
                deleted = deleted_in(node.disk.log, node.address)
                self.trace.add(GroupLogged(self.clock.now_ns, *node.address, deleted))

    def is_well(self, nodes: list[Node]) -> bool:
        """One primary view of these nodes; all that was wanted is there, and alike everywhere."""
        live = sorted(node.address for node in nodes)
        for node in nodes:
            if node.view is None or not node.primary or sorted(node.view.members) != live:
                return False
            if node.view != nodes[0].view or not self._host(node).is_content():
                return False
            if node.application is None or not node.application.ready:
                return False
            if not self._host(node).has_erased():
                return False
        return self._agree(nodes)

    def _agree(self, nodes: list[Node]) -> bool:
        """Whether all have of each group the same, and all of it."""
        lives = [life for node in nodes if (life := self._host(node).life) is not None]
        for life in lives:
            for group, replica in life.replicas.items():
                for other in lives:
                    if replica.seqno < other.numbered.get(group, 0):
                        return False
                    others = other.replicas.get(group)
                    if others is not None and others.messages != replica.messages:
                        return False
        return True


def group_cluster(scenario: Scenario, make_stack: MakeStack) -> GroupCluster:
    """The world of a schedule, which has to be one for the data plane."""
    assert isinstance(scenario, GroupScenario), "the schedule has no groups"
    return GroupCluster(scenario, make_stack)
