"""One schedule from beginning to end: safety under faults, then healing, then the verdict.

Phase 1 follows the scenario. Then all faults end and every node starts. Within ten simulated
seconds there must be one primary view of all nodes with nothing outstanding; a few more messages
are sent then, and the run goes on until they too are everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from traceback import extract_tb

from groupcore.sim.checkers import CHECKERS, Checker, Violation, check_all
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.cluster import Cluster, MakeStack
from groupcore.sim.node import Node
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import HEALED, Absent, Ended, Trace, Wire

HEALING_NS = 10 * SECOND
"""Time after healing within which everything must be well."""
POLL_NS = 100 * MILLISECOND
CALM_POLLS = 3
"""How many times in a row everything must be found well before the run ends."""
PROBE_BYTES = 32


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one schedule."""

    scenario: Scenario
    trace: Trace
    violations: list[Violation]
    simulated_s: float

    @property
    def deliveries(self) -> int:
        """Messages delivered, over all nodes."""
        return self.trace.deliveries()


def run_scenario(
    scenario: Scenario, make_stack: MakeStack, checkers: tuple[type[Checker], ...] = CHECKERS
) -> Verdict:
    """Run the schedule and judge its trace; an exception out of the code is a violation too."""
    cluster = Cluster(scenario, make_stack)
    raised: list[Violation] = []
    try:
        cluster.clock.run_until(scenario.safety_ns)
        cluster.happened(HEALED)
        cluster.heal()
        _converge(cluster)
        _conclude(cluster)
    except Exception as error:
        raised = [_raised(error, cluster.clock.now_ns)]
    violations = [*raised, *check_all(cluster.trace, checkers)]
    return Verdict(scenario, cluster.trace, violations, cluster.simulated_s)


def _raised(error: Exception, t: int) -> Violation:
    """The violation that an exception is: which one, and from where."""
    frames = [
        f"{frame.name} ({frame.filename}:{frame.lineno})"
        for frame in extract_tb(error.__traceback__)
    ]
    text = f"{type(error).__name__}: {error}; in {' < '.join(frames[:-4:-1])}"
    return Violation(0, "exception", t, (), (), text)


def _converge(cluster: Cluster) -> None:
    """Until all is well for a while, with the probes delivered, or the time is over."""
    deadline = cluster.clock.now_ns + HEALING_NS
    calm, probed = 0, False
    while cluster.clock.now_ns < deadline and calm < CALM_POLLS:
        cluster.clock.run_until(min(cluster.clock.now_ns + POLL_NS, deadline))
        for node in cluster.nodes:
            node.start()
        well = cluster.is_well()
        if well and not probed:
            for node in cluster.nodes:
                node.send([PROBE_BYTES], None)
            probed, well = True, False
        calm = calm + 1 if well else 0


def _conclude(cluster: Cluster) -> None:
    """Write down what each node has at the end."""
    now = cluster.clock.now_ns
    for node in cluster.nodes:
        cluster.trace.add(_end(node, now))
    network = cluster.network
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
