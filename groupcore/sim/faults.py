"""How each kind of fault begins and ends in a running cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from groupcore.sim.clock import MILLISECOND
from groupcore.sim.fault import COORDINATOR, Fault
from groupcore.sim.partitions import directions
from groupcore.sim.quorums import could_begin_anew, has_voted, next_needs, suffices

if TYPE_CHECKING:
    from groupcore.sim.cluster import Cluster
    from groupcore.sim.node import Node

RESTART_SPREAD_NS = 400 * MILLISECOND
"""After a crash of all the nodes come back one after the other within this time."""
WAIVE_NS = 500 * MILLISECOND
"""How often an operator's word is repeated."""
KBIT_BYTES = 125
"""Bytes a second in a kbit/s."""


def inject(cluster: Cluster, fault: Fault) -> None:
    """Begin the fault now, and plan its end."""
    indices = [_resolve(cluster, node) for node in fault.nodes]
    cluster.happened("begin", str(fault))
    begin = _KINDS.get(fault.kind, _cut)
    begin(cluster, fault, indices)


def _resolve(cluster: Cluster, node: int) -> int:
    return cluster.coordinator_index() if node == COORDINATOR else node


# --- nodes --------------------------------------------------------------------------------------


def _crash(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    node = cluster.nodes[indices[0]]
    node.crash(keep_all=fault.kind == "crash-keep")
    cluster.clock.after(fault.duration_ns, node.start)


def _crash_all(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    for node in cluster.nodes:
        node.crash(keep_all=False)
    _start_all(cluster, fault)


def _leave_all(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    for node in cluster.nodes:
        node.leave()
    _start_all(cluster, fault)


def _start_all(cluster: Cluster, fault: Fault) -> None:
    for index, node in enumerate(cluster.nodes):
        spread = cluster.fault_random.randint(0, RESTART_SPREAD_NS) if index else 0
        cluster.clock.after(fault.duration_ns + spread, node.start)


def _pause(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.nodes[indices[0]].pause()
    cluster.clock.after(fault.duration_ns, cluster.nodes[indices[0]].resume)


def _leave(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.nodes[indices[0]].leave()
    cluster.clock.after(fault.duration_ns, cluster.nodes[indices[0]].start)


def _slow(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.nodes[indices[0]].slowness = fault.factor
    cluster.clock.after(fault.duration_ns, _quicken, cluster.nodes[indices[0]])


def _quicken(node: Node) -> None:
    node.slowness = 1


def _hang_up(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.hang_up(cluster.nodes[indices[0]])


def _clock_step(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    node = cluster.nodes[indices[0]]
    node.wall_clock.step(fault.factor)
    node.crash(keep_all=True)
    cluster.clock.after(fault.duration_ns, node.start)


def _clock_set(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.nodes[indices[0]].wall_clock.step(fault.factor)


# --- disks --------------------------------------------------------------------------------------


def _disk_full(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    disk = cluster.nodes[indices[0]].disk
    disk.full += 1

    def end() -> None:
        disk.full = max(0, disk.full - 1)

    cluster.clock.after(fault.duration_ns, end)


def _sync_hang(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    disk = cluster.nodes[indices[0]].disk
    disk.hung += 1

    def end() -> None:
        disk.hung = max(0, disk.hung - 1)

    cluster.clock.after(fault.duration_ns, end)


def _disk_slow(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    disk, amount = cluster.nodes[indices[0]].disk, fault.factor * MILLISECOND
    disk.slow_ns.append(amount)

    def end() -> None:
        if amount in disk.slow_ns:
            disk.slow_ns.remove(amount)

    cluster.clock.after(fault.duration_ns, end)


def _disk_error(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.nodes[indices[0]].disk.errors += 1


def _may_lose(cluster: Cluster, node: Node) -> bool:
    """Whether the others can go on without this disk; if not, no protocol could."""
    nodes = cluster.nodes
    others = [other for other in nodes if other is not node]
    needed = next_needs(nodes, node) or has_voted(nodes, node) or could_begin_anew(nodes, node)
    if suffices(nodes, others) and not needed:
        return True
    cluster.happened("spared", f"the disk of {node.name}")
    return False


def _wipe(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    node = cluster.nodes[indices[0]]
    if not _may_lose(cluster, node):
        return
    node.crash(keep_all=False)
    node.lose_disk()
    cluster.clock.after(fault.duration_ns, node.start)


def _damage(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    """The node refuses to start from a damaged record until somebody has moved it away.

    One with a log moves it away by itself.
    """
    node = cluster.nodes[indices[0]]
    if not _may_lose(cluster, node):
        return
    node.crash(keep_all=False)
    node.disk.spoil()
    first = node.start_empty if cluster.sets_aside else node.start
    cluster.clock.after(fault.duration_ns // 2, first)
    cluster.clock.after(fault.duration_ns, node.start_empty)


def _lose(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    """As `wipe`, whatever the others need: only an operator can help them then."""
    node = cluster.nodes[indices[0]]
    node.crash(keep_all=False)
    node.lose_disk()
    cluster.clock.after(fault.duration_ns, node.start)


def _put_back(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    """Nothing on a folder that goes back as a whole tells that it does."""
    node = cluster.nodes[indices[0]]
    copy = node.disk.copied()

    def end() -> None:
        node.crash(keep_all=True)
        node.disk.put_back(copy)
        cluster.clock.after(fault.factor * MILLISECOND, node.start)

    cluster.clock.after(fault.duration_ns, end)


def _waive(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    """An operator tells the first node again and again to go on without the others."""
    told, *gone = (cluster.nodes[index] for index in indices)
    names = tuple(node.name for node in gone)

    def tell(left: int) -> None:
        told.waive(names)
        if left:
            cluster.clock.after(WAIVE_NS, tell, left - 1)

    tell(fault.duration_ns // WAIVE_NS)


# --- the network --------------------------------------------------------------------------------


def _storm(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.network.storm(fault.factor / 100, True)
    cluster.clock.after(fault.duration_ns, cluster.network.storm, fault.factor / 100, False)


def _black_hole(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.network.black_hole(fault.factor, True)
    cluster.clock.after(fault.duration_ns, cluster.network.black_hole, fault.factor, False)


def _forger(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    cluster.forger.work(cluster.clock.now_ns + fault.duration_ns, fault.factor * MILLISECOND)


def _filter(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    """One node gets nobody's multicasts, or none of several gets those of the others named."""
    sources = range(len(cluster.nodes)) if len(indices) == 1 else indices
    for source in sources:
        for target in indices:
            ends = (cluster.nodes[source].socket_address, cluster.nodes[target].socket_address)
            cluster.network.filter(*ends, True)
            cluster.clock.after(fault.duration_ns, cluster.network.filter, *ends, False)


def _filter_direct(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    """One node gets nobody's unicasts, or the second of two none of the first's."""
    target = indices[-1]
    sources = range(len(cluster.nodes)) if len(indices) == 1 else indices[:1]
    for source in sources:
        ends = (cluster.nodes[source].socket_address, cluster.nodes[target].socket_address)
        cluster.network.filter_direct(*ends, True)
        cluster.clock.after(fault.duration_ns, cluster.network.filter_direct, *ends, False)


def _narrow(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    nodes, rate = cluster.nodes, fault.factor * KBIT_BYTES
    for other in nodes:
        if other is not nodes[indices[0]]:
            for pair in ((nodes[indices[0]], other), (other, nodes[indices[0]])):
                ends = (pair[0].socket_address, pair[1].socket_address)
                cluster.network.impede(*ends, "narrow", rate)
                cluster.clock.after(
                    fault.duration_ns, cluster.network.relieve, *ends, "narrow", rate
                )


def _cut(cluster: Cluster, fault: Fault, indices: list[int]) -> None:
    """A partition of some shape; a swizzle begins and ends one direction after the other."""
    network, clock, nodes = cluster.network, cluster.clock, cluster.nodes
    amount = fault.factor * MILLISECOND if fault.manner == "slow" else 0
    pairs = directions(fault.kind, indices, len(nodes))
    begins = ends = [0] * len(pairs)
    if fault.kind == "swizzle" and pairs:
        left_ns = (
            cluster.scenario.safety_ns - clock.now_ns
        )  # none begins when the faults have ended
        step_ns = min(fault.duration_ns // 2, left_ns) // len(pairs)
        order = cluster.fault_random.sample(range(len(pairs)), len(pairs))
        begins = [step_ns * number for number in range(len(pairs))]
        ends = [-step_ns * number for number in order]
    for (source, target), begin_ns, end_ns in zip(pairs, begins, ends, strict=True):
        link = (nodes[source].socket_address, nodes[target].socket_address)
        clock.after(begin_ns, network.impede, *link, fault.manner, amount)
        clock.after(fault.duration_ns + end_ns, network.relieve, *link, fault.manner, amount)


_KINDS: dict[str, Callable[[Cluster, Fault, list[int]], None]] = {
    "crash": _crash,
    "crash-keep": _crash,
    "crash-all": _crash_all,
    "pause": _pause,
    "leave": _leave,
    "leave-all": _leave_all,
    "slow": _slow,
    "hang-up": _hang_up,
    "clock-step": _clock_step,
    "clock-set": _clock_set,
    "disk-full": _disk_full,
    "disk-slow": _disk_slow,
    "sync-hang": _sync_hang,
    "disk-error": _disk_error,
    "wipe": _wipe,
    "damage": _damage,
    "lose": _lose,
    "put-back": _put_back,
    "waive": _waive,
    "storm": _storm,
    "black-hole": _black_hole,
    "forger": _forger,
    "filter": _filter,
    "filter-direct": _filter_direct,
    "narrow": _narrow,
}
"""What is not among these is a shape of a partition."""
