"""One schedule from beginning to end: safety under faults, then healing, then the verdict.

Phase 1 follows the scenario: safety. Phase 2, in a part of the schedules: the faults end for a
core of the nodes that suffices to go on, the others stay cut off, and the core must become well.
With a `latecomer` all but one are healed, that one comes, and half of the others are parted from
the rest in unicasts (`latecomer`); the rest must become well.
Phase 3: all faults end and every node starts. Well means that within ten simulated seconds there is
one primary view of all nodes in question with nothing outstanding; a few more messages are sent
then, and the run goes on until they too are everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from traceback import extract_tb

from groupcore.sequencing.trace_rows import Gathered
from groupcore.sim.checkers import CHECKERS, Checker, Violation, check_all
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.cluster import Cluster, MakeStack
from groupcore.sim.latecomer import newcomer, part
from groupcore.sim.node import Node
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import CORE, CORE_STUCK, HALVES, HEALED, UNWELL, Absent, Ended, Trace, Wire

HEALING_NS = 10 * SECOND
"""Time after healing within which everything must be well."""
POLL_NS = 100 * MILLISECOND
CALM_POLLS = 3
"""How many times in a row everything must be found well before the run ends."""


class Undecided(Exception):
    """What nobody promises anything about has happened: only what was before it is judged."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one schedule; `counters` are summed over all lives, and the network's.

    `records`: the trace that the nodes have written themselves, as they do outside (it is not the
    one that is judged here).
    """

    scenario: Scenario
    trace: Trace
    violations: list[Violation]
    simulated_s: float
    counters: Mapping[str, int] = field(default_factory=dict)
    records: tuple[Gathered, ...] = ()

    @property
    def deliveries(self) -> int:
        """Messages delivered, over all nodes."""
        return self.trace.deliveries()


def run_scenario(
    scenario: Scenario, make_stack: MakeStack, checkers: tuple[type[Checker], ...] = CHECKERS
) -> Verdict:
    """Run the schedule and judge its trace."""
    return run_cluster(Cluster(scenario, make_stack), checkers)


def run_cluster(cluster: Cluster, checkers: tuple[type[Checker], ...] = CHECKERS) -> Verdict:
    """Run the schedule of a cluster; an exception out of the code is a violation too."""
    scenario = cluster.scenario
    raised: list[Violation] = []
    try:
        cluster.clock.run_until(scenario.safety_ns)
        if scenario.core:
            _heal_core(cluster)
        cluster.happened(HEALED)
        cluster.heal()
        if not _converge(cluster, cluster.nodes):
            cluster.happened(UNWELL, "; ".join(_states(cluster.nodes)))
        _conclude(cluster)
    except Undecided as end:
        cluster.happened("undecided", str(end))
    except Exception as error:
        raised = [_raised(error, cluster.clock.now_ns)]
    violations = [*raised, *check_all(cluster.trace, checkers)]
    records = tuple(one for recorder in cluster.recorders for one in recorder.take())
    return Verdict(
        scenario, cluster.trace, violations, cluster.simulated_s, cluster.counters, records
    )


def _raised(error: Exception, t: int) -> Violation:
    """The violation that an exception is: which one, and from where."""
    frames = [
        f"{frame.name} ({frame.filename}:{frame.lineno})"
        for frame in extract_tb(error.__traceback__)
    ]
    text = f"{type(error).__name__}: {error}; in {' < '.join(frames[:-4:-1])}"
    return Violation(0, "exception", t, (), (), text)


def _heal_core(cluster: Cluster) -> None:
    """Phase 2, unless every node is needed to go on."""
    if cluster.scenario.latecomer and newcomer(cluster) is not None:
        _part(cluster)
        return
    core = cluster.choose_core()
    if len(core) == len(cluster.nodes):
        return
    cluster.happened(CORE, " ".join(node.name for node in core))
    cluster.heal_core(core)
    _must_go_on(cluster, core)


def _part(cluster: Cluster) -> None:
    """Phase 2 where a node was not there yet: all others are well, then a half of them apart."""
    others = cluster.nodes[:-1]
    cluster.heal_all_of(others)
    if _must_go_on(cluster, others):
        rest = part(cluster)
        if rest:
            cluster.happened(HALVES, " ".join(node.name for node in rest))
            _must_go_on(cluster, rest)


def _must_go_on(cluster: Cluster, core: list[Node]) -> bool:
    """Whether all becomes well with these; noted if not."""
    well = _converge(cluster, core)
    if not well:
        cluster.happened(CORE_STUCK, "; ".join(_states(core)))
    return well


def _states(nodes: list[Node]) -> list[str]:
    """What each of these has, for a person."""
    return [f"{node.address} {_end(node, 0)}" for node in nodes]


def _converge(cluster: Cluster, nodes: list[Node]) -> bool:
    """Until all is well with these nodes for a while, with the probes delivered; False: never."""
    deadline = cluster.clock.now_ns + HEALING_NS
    calm, probed = 0, False
    while cluster.clock.now_ns < deadline and calm < CALM_POLLS:
        cluster.clock.run_until(min(cluster.clock.now_ns + POLL_NS, deadline))
        for node in nodes:
            node.start()
        well = cluster.is_well(nodes)
        if well and not probed:
            cluster.probe(nodes)
            probed, well = True, False
        calm = calm + 1 if well else 0
    return calm >= CALM_POLLS


def _conclude(cluster: Cluster) -> None:
    """Write down what each node has at the end."""
    now = cluster.clock.now_ns
    for node in cluster.nodes:
        cluster.trace.add(_end(node, now))
        cluster.count(node)
    cluster.conclude()
    network = cluster.network
    cluster.counters.update({f"network.{name}": n for name, n in network.happened.items()})
    cluster.trace.add(Wire(now, network.datagrams, network.fingerprint))


def _end(node: Node, now: int) -> Ended | Absent:
    application, view = node.application, node.view
    if application is None or view is None:
        return Absent(now, *node.address, "connecting" if node.alive else "not alive")
    if not application.ready:
        return Absent(now, *node.address, "without the state")
    journal = application.journal
    return Ended(
        now,
        *node.address,
        view.number,
        view.lineage,
        view.members,
        node.primary,
        journal.epoch,
        journal.position,
        application.fingerprint(),
    )
