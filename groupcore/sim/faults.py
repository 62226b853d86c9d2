"""How each kind of fault begins and ends in a running cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from groupcore.sim.clock import MILLISECOND
from groupcore.sim.scenario import COORDINATOR, Fault

if TYPE_CHECKING:
    from groupcore.sim.cluster import Cluster
    from groupcore.sim.node import Node

RESTART_SPREAD_NS = 400 * MILLISECOND
"""After a crash of all the nodes come back one after the other within this time."""


def inject(cluster: Cluster, fault: Fault) -> None:
    """Begin the fault now, and plan its end."""
    nodes = [cluster.nodes[_resolve(cluster, node)] for node in fault.nodes]
    cluster.happened("begin", str(fault))
    match fault.kind:
        case "crash" | "crash-keep":
            nodes[0].crash(keep_all=fault.kind == "crash-keep")
            cluster.clock.after(fault.duration_ns, nodes[0].start)
        case "crash-all":
            _crash_all(cluster, fault)
        case "pause":
            nodes[0].pause()
            cluster.clock.after(fault.duration_ns, nodes[0].resume)
        case "leave":
            nodes[0].leave()
            cluster.clock.after(fault.duration_ns, nodes[0].start)
        case "slow":
            nodes[0].slowness = fault.factor
            cluster.clock.after(fault.duration_ns, _quicken, nodes[0])
        case "storm":
            _storm(cluster, fault)
        case _:
            _cut(cluster, fault, nodes)


def _resolve(cluster: Cluster, node: int) -> int:
    return cluster.coordinator_index() if node == COORDINATOR else node


def _quicken(node: Node) -> None:
    node.slowness = 1


def _crash_all(cluster: Cluster, fault: Fault) -> None:
    for index, node in enumerate(cluster.nodes):
        node.crash(keep_all=False)
        spread = cluster.fault_random.randint(0, RESTART_SPREAD_NS) if index else 0
        cluster.clock.after(fault.duration_ns + spread, node.start)


def _storm(cluster: Cluster, fault: Fault) -> None:
    network = cluster.network
    storm = replace(network.options, loss=fault.factor / 100)
    network.options = storm

    def calm() -> None:
        if network.options is storm:  # neither another storm nor the healing has come since
            network.options = cluster.scenario.network

    cluster.clock.after(fault.duration_ns, calm)


def _cut(cluster: Cluster, fault: Fault, nodes: list[Node]) -> None:
    first = nodes[0]
    others = [node for node in cluster.nodes if node not in nodes]
    pairs: list[tuple[Node, Node]] = []
    match fault.kind:
        case "deaf":
            pairs = [(other, first) for other in others]
        case "mute":
            pairs = [(first, other) for other in others]
        case "one-way":
            pairs = [(first, nodes[1])]
        case "link":
            pairs = [(first, nodes[1]), (nodes[1], first)]
        case "isolate" | "split":
            for node in nodes:
                for other in others:
                    pairs += [(node, other), (other, node)]
        case _:
            raise AssertionError(f"no such fault: {fault.kind}")
    for source, target in pairs:
        cluster.network.cut(source.socket_address, target.socket_address)
        cluster.clock.after(
            fault.duration_ns, cluster.network.mend, source.socket_address, target.socket_address
        )
