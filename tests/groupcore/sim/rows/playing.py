"""Scripted scenarios: a cluster, what happens to it and when, and figures of its trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from groupcore.layers.membership import Membership
from groupcore.sim.clock import SECOND
from groupcore.sim.cluster import Cluster, MakeStack
from groupcore.sim.fault import Fault, Send
from groupcore.sim.network import CALM, NetworkOptions, SocketAddress
from groupcore.sim.node import Node
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import Verdict, run_cluster
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace import Delivered, Lived, Mid, Took, Trace, Viewed

FORMED_S = 1.0
"""By then a cluster that nothing happens to has its first view."""
BYTES = 40

Seen = tuple[int, bytes, SocketAddress]
"""A datagram that has arrived: at which node, what, from where."""

Receive = Callable[[bytes, SocketAddress], None]
IsLost = Callable[[int, int, bytes], bool]
"""Whether this datagram from one node to another, by their numbers, vanishes."""


def _losing(
    numbers: dict[SocketAddress, int], target: int, receive: Receive, is_lost: IsLost
) -> Receive:
    def receiver(data: bytes, source: SocketAddress) -> None:
        if not is_lost(numbers[source], target, data):
            receive(data, source)

    return receiver


def membership(node: Node) -> Membership:
    """The layer that agrees on views in a node's life."""
    assert node.endpoint is not None
    (layer,) = (one for one in node.endpoint.stack.layers if isinstance(one, Membership))
    return layer


def fault(at_s: float, kind: str, *nodes: int, for_s: float = 0.0, factor: int = 1) -> Fault:
    """A fault, in seconds."""
    return Fault(round(at_s * SECOND), kind, nodes, round(for_s * SECOND), factor)


def sends(first_s: float, last_s: float, every_s: float, *nodes: int) -> list[Send]:
    """One message at a time, by turns from these nodes."""
    count = round((last_s - first_s) / every_s)
    return [
        Send(round((first_s + number * every_s) * SECOND), nodes[number % len(nodes)], (BYTES,))
        for number in range(count)
    ]


def scenario(
    *faults: Fault,
    nodes: int = 3,
    length_s: float = 6.0,
    traffic: list[Send] | None = None,
    network: NetworkOptions = CALM,
    starts_s: dict[int, float] | None = None,
) -> Scenario:
    """A cluster that starts at once, but for the nodes that start later, and sends all the time."""
    if traffic is None:
        traffic = sends(FORMED_S, length_s, 0.04, *range(nodes))
    starts = starts_s or {}
    return Scenario(
        seed=7,
        nodes=nodes,
        starts_ns=tuple(round(starts.get(node, 0.0) * SECOND) for node in range(nodes)),
        safety_ns=round(length_s * SECOND),
        network=network,
        faults=tuple(faults),
        sends=tuple(traffic),
    )


class Play:
    """One run. `cluster` is there from the beginning; figures are asked for afterwards."""

    def __init__(
        self, scenario: Scenario, profile: str = "stack", make_stack: MakeStack | None = None
    ) -> None:
        self.cluster = Cluster(scenario, make_stack or PROFILES[profile].make_stack)
        self.counters: dict[str, dict[str, int]] = {}

    def at(self, at_s: float, action: Callable[[], None]) -> Play:
        """Do something at that time."""
        self.cluster.clock.at(round(at_s * SECOND), action)
        return self

    def lose(self, is_lost: IsLost) -> None:
        """From now on datagrams vanish at the nodes that they are for, if it says so."""
        network, nodes = self.cluster.network, self.cluster.nodes
        numbers = {node.socket_address: index for index, node in enumerate(nodes)}
        for index, node in enumerate(nodes):
            network.attach(node.socket_address, _losing(numbers, index, node.receive, is_lost))

    def run(self) -> Verdict:
        """To the end; nothing that must never happen has happened."""
        self.cluster.clock.at(self.cluster.scenario.safety_ns, self._count)
        verdict = run_cluster(self.cluster)
        assert not verdict.violations, [str(violation) for violation in verdict.violations]
        return verdict

    def _count(self) -> None:
        for node in self.cluster.nodes:
            if node.endpoint is not None:
                self.counters[node.name] = node.endpoint.counters()

    def total(self, *names: str) -> int:
        """The sum of these counters over all nodes, when the faults end."""
        return sum(counters.get(name, 0) for counters in self.counters.values() for name in names)

    def drops(self) -> int:
        """Datagrams and batches that were dropped for a reason, over all nodes."""
        return sum(
            number
            for counters in self.counters.values()
            for name, number in counters.items()
            if "drop" in name or "duplicates" in name
        )


class Tap:
    """Between the network and the nodes: sees, changes and repeats datagrams on their way."""

    def __init__(self, play: Play, change: Callable[[bytes], bytes] = bytes) -> None:
        self.seen: list[Seen] = []
        self.change = change
        network = play.cluster.network
        for index, node in enumerate(play.cluster.nodes):
            network.attach(node.socket_address, self._receiver(index, node.receive))
        self.nodes = play.cluster.nodes

    def _receiver(
        self, index: int, receive: Callable[[bytes, SocketAddress], None]
    ) -> Callable[[bytes, SocketAddress], None]:
        def tapped(data: bytes, source: SocketAddress) -> None:
            self.seen.append((index, data, source))
            receive(self.change(data), source)

        return tapped

    def repeat(self, seen: list[Seen]) -> None:
        """Let these arrive once more."""
        for index, data, source in seen:
            self.nodes[index].receive(data, source)


def play(
    *faults: Fault,
    nodes: int = 3,
    length_s: float = 6.0,
    traffic: list[Send] | None = None,
    network: NetworkOptions = CALM,
    starts_s: dict[int, float] | None = None,
) -> Verdict:
    """Run a scenario of these faults."""
    given = scenario(
        *faults,
        nodes=nodes,
        length_s=length_s,
        traffic=traffic,
        network=network,
        starts_s=starts_s,
    )
    return Play(given).run()


# --- figures --------------------------------------------------------------------------------------


def taken_by(trace: Trace, name: str, since_s: float) -> list[Took]:
    """The states that a node took over from others after that time."""
    return [
        took
        for took in trace.of(Took)
        if took.n == name and took.source != name and took.t >= since_s * SECOND
    ]


def delays_s(trace: Trace) -> dict[Mid, float]:
    """For each multicast the seconds from its sending to its last delivery."""
    sent = {record.mid: record.t for record in trace.sent if record.to is None}
    last = {record.mid: record.t for record in trace.of(Delivered)}
    return {mid: (last[mid] - t) / SECOND for mid, t in sent.items() if mid in last}


def views_between(trace: Trace, first_s: float, last_s: float) -> list[Viewed]:
    """The first installation of each view in that time."""
    found: dict[int, Viewed] = {}
    for view in trace.views:
        found.setdefault(view.number, view)
    return [view for view in found.values() if first_s <= view.t / SECOND < last_s]


def names(view: Viewed) -> str:
    """The members' names in one word."""
    return "".join(member.name for member in view.members)


def excluded_after_s(trace: Trace, name: str, since_s: float) -> float:
    """Seconds from then until a view without this node's life of then is installed by somebody."""
    for view in trace.views:
        if view.t / SECOND >= since_s and not any(m.name == name for m in view.members):
            return view.t / SECOND - since_s
    raise AssertionError(f"{name} was never excluded after {since_s} s")


def installed_by_all_s(trace: Trace, number: int, wanted: int) -> float:
    """When the last of so many nodes had installed the view of that number, in seconds."""
    times = [view.t / SECOND for view in trace.views if view.number == number]
    assert len(times) >= wanted, f"only {len(times)} nodes installed view {number}"
    return max(times)


def lives(trace: Trace) -> dict[str, int]:
    """How many lives each node has begun."""
    return dict(Counter(record.n for record in lived(trace, "start")))


def lived(trace: Trace, what: str) -> list[Lived]:
    """The turns of this kind in all lives."""
    return [record for record in trace.lives if record.what == what]


def delivered_between(trace: Trace, name: str, first_s: float, last_s: float) -> int:
    """How many messages a node delivered in that time."""
    return sum(r.n == name and first_s <= r.t / SECOND < last_s for r in trace.of(Delivered))


def longest_silence_s(trace: Trace, name: str, first_s: float, last_s: float) -> float:
    """The longest time between two deliveries at a node in that time."""
    times = [first_s] + [
        record.t / SECOND
        for record in trace.of(Delivered)
        if record.n == name and first_s <= record.t / SECOND <= last_s
    ]
    return max(after - before for before, after in zip(times, [*times[1:], last_s], strict=True))


def primaries(play_: Play, every_s: float = 0.01) -> list[tuple[float, tuple[str, ...]]]:
    """While it runs: at each moment the names of the nodes that call themselves primary."""
    moments: list[tuple[float, tuple[str, ...]]] = []
    cluster = play_.cluster

    def look() -> None:
        found = tuple(node.name for node in cluster.nodes if node.alive and node.primary)
        moments.append((cluster.clock.now_ns / SECOND, found))
        cluster.clock.after(round(every_s * SECOND), look)

    cluster.clock.at(0, look)
    return moments
