"""A node that comes for the first time, and the half of the others that is apart meanwhile.

As long as the newcomer has no state, an even number of others decides alone. Then the half with the
first voter gets multicasts of the rest and no unicasts, or its own unicasts do not arrive, or both:
it could go on by itself. The rest, which is larger, must go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from groupcore.sim.clock import MILLISECOND
from groupcore.sim.randomness import stream

if TYPE_CHECKING:
    from groupcore.sim.cluster import Cluster
    from groupcore.sim.node import Node

LOOK_NS = MILLISECOND // 5
"""How often it is looked whether the newcomer is a learner: it is one for some milliseconds."""
WAITS_NS = 3_000 * MILLISECOND
"""Until then it is one, or has been."""
PATHS = ("in", "out", "both")
"""Which unicasts of the half do not arrive: those to it, those of it, all."""


def newcomer(cluster: Cluster) -> Node | None:
    """The last node, if it has never been there."""
    last = cluster.nodes[-1]
    return None if last.alive or last.disk.incarnation else last


def part(cluster: Cluster) -> list[Node]:
    """Start the newcomer, part the half from the rest when it learns; who must go on then.

    Nobody where there is no such half: the others are no view of an even number of voters, or it
    was a voter before anybody has seen it learn.
    """
    *others, last = cluster.nodes
    view = others[0].view
    if view is None or len(view.voters) != len(others) or len(others) % 2:
        return []
    random = stream(cluster.scenario.seed, "latecomer")
    rest = random.sample(view.voters[1:], len(others) // 2)
    apart = [node for node in others if node.name not in rest]
    stays = [node for node in cluster.nodes if node not in apart]
    path = random.choice(PATHS)
    last.start()
    deadline = cluster.clock.now_ns + WAITS_NS
    while cluster.clock.now_ns < deadline:
        cluster.clock.run_until(cluster.clock.now_ns + LOOK_NS)
        views = [node.view for node in others if node.view is not None]
        if any(view.learners for view in views):
            _filter(cluster, apart, stays, path)
            return stays
        if any(last.name in view.names for view in views):
            return []
    return []


def _filter(cluster: Cluster, apart: list[Node], stays: list[Node], path: str) -> None:
    for one in apart:
        for other in stays:
            if path != "in":
                cluster.stop_unicasts(one, other)
            if path != "out":
                cluster.stop_unicasts(other, one)
