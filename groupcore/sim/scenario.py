"""A schedule as data: cluster, network, faults, sends. Drawn from a seed, dropped from by hand.

Each schedule switches every kind of fault on or off by itself and draws its intensity (swarm): a
run in which everything always happens hides what needs a quiet network, and the reverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from json import dumps
from random import Random
from typing import ClassVar, Self

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.disk import HEALTHY, DiskOptions
from groupcore.sim.fault import Fault, Send
from groupcore.sim.menu import draw_faults
from groupcore.sim.network import CALM, NetworkOptions
from groupcore.sim.randomness import stream
from groupcore.sim.tightness import draw_tight

LENGTHS_S = ((2, 4), (3, 6), (7, 14))
"""Shortest and longest first phase; most are short, so that faults meet and little time is idle."""
LENGTH_WEIGHTS = (55, 35, 10)
NODE_WEIGHTS = {1: 1, 2: 2, 3: 8, 4: 3, 5: 4}
"""How often a schedule has so many nodes, in proportion."""
PARTITION_WEIGHTS = {2: 2, 3: 4, 4: 3, 5: 6}
LATECOMERS = 0.25
"""In what share of the schedules of an odd number of nodes the last is a latecomer."""
NEVER_NS = 3_600 * SECOND
LARGE_WEIGHTS = {2: 2, 3: 8, 5: 8, 8: 3, 12: 1}
"""The same for stacks that are made for large groups."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One schedule. `starts_ns` says when each node starts for the first time.

    `turn_us`: how long a turn takes a healthy node; what comes meanwhile is handled together.
    `connections`: members watch each other over connections, too. `core`: a part of the nodes is
    healed before the others are, and `rest` is drawn from for what becomes of each of these (the
    cluster's `heal_core`). `latecomer`: the last node is not there before that, and half of the
    others are parted from the rest while it learns (`latecomer`). `tight`: which limits are made
    tiny (`tightness`). `state_chunk_bytes`: fresh members take their state through the group in
    such chunks, and `state_copies` make a copy; 0: beside the group. `state_trouble`: in what share
    of transfers something happens to one of the two in the midst of it. `certificates`: nodes have
    identities, and the network sees the handshake and the group keys of these.
    """

    seed: int
    nodes: int
    starts_ns: tuple[int, ...]
    safety_ns: int
    network: NetworkOptions = CALM
    disk: DiskOptions = HEALTHY
    multicast: bool = True
    datagram_bytes_max: int = 60_000
    turn_us: int = 20
    connections: bool = False
    core: bool = False
    rest: tuple[str, ...] = ("isolate", "deaf", "mute")
    latecomer: bool = False
    tight: tuple[str, ...] = ()
    state_chunk_bytes: int = 0
    state_copies: int = 1
    state_trouble: float = 0.0
    certificates: bool = False
    faults: tuple[Fault, ...] = ()
    sends: tuple[Send, ...] = ()
    pieces: ClassVar[tuple[str, ...]] = ("faults", "sends")
    """The fields that are lists, of which minimising may leave out any part, in its order."""

    def describe(self) -> list[str]:
        """The options that were drawn, and the faults, one a line."""
        options = {name: value for name, value in asdict(self).items() if name not in self.pieces}
        return [dumps(options), *(str(fault) for fault in self.faults), *self.describe_traffic()]

    def describe_traffic(self) -> list[str]:
        """What the applications do, in a line or more."""
        messages = sum(len(send.sizes) for send in self.sends)
        return [f"{messages} messages in {len(self.sends)} sends"]

    def without_last_node(self) -> Self:
        """The same with a node less."""
        last = self.nodes - 1
        return replace(
            self,
            nodes=last,
            starts_ns=self.starts_ns[:last],
            faults=tuple(
                fault
                for fault in self.faults
                # Cuts between two sides need somebody on the other side.
                if last not in fault.nodes and (fault.kind != "split" or len(fault.nodes) < last)
            ),
            sends=tuple(send for send in self.sends if last not in (send.node, send.to)),
        )


def draw_large_scenario(seed: int) -> Scenario:
    """The schedule of a seed for a larger group."""
    return draw_scenario(seed, LARGE_WEIGHTS)


def draw_partitions(seed: int) -> Scenario:
    """The schedule of a seed in which components are cut off long enough to go on alone."""
    scenario = draw_scenario(seed, PARTITION_WEIGHTS)
    random = stream(seed, "partitions")
    splits = []
    for _ in range(random.randint(1, 3)):
        cut_off = random.sample(range(scenario.nodes), random.randint(1, scenario.nodes - 1))
        at_ns = random.randint(SECOND, scenario.safety_ns)
        duration_ns = random.randint(1_500, 4_000) * MILLISECOND
        splits.append(Fault(at_ns, "split", tuple(sorted(cut_off)), duration_ns))
    faults = sorted([*scenario.faults, *splits], key=lambda fault: fault.at_ns)
    safety_ns = max(scenario.safety_ns, 6 * SECOND)
    # Without one state there is no core that could be well before the others are back.
    return replace(scenario, safety_ns=safety_ns, faults=tuple(faults), core=False)


def draw_paths(seed: int) -> Scenario:
    """The schedule of a seed in which some nodes, or pairs, get multicasts and no unicasts."""
    scenario = draw_scenario(seed, PARTITION_WEIGHTS)
    random = stream(seed, "paths")
    deaf = []
    for _ in range(random.randint(1, 3)):
        nodes = random.sample(range(scenario.nodes), random.choice((1, 1, 2)))
        at_ns = random.randint(SECOND // 2, scenario.safety_ns)
        duration_ns = random.randint(300, 5_000) * MILLISECOND
        deaf.append(Fault(at_ns, "filter-direct", tuple(nodes), duration_ns))
    faults = sorted([*scenario.faults, *deaf], key=lambda fault: fault.at_ns)
    drawn = replace(
        scenario,
        faults=tuple(faults),
        multicast=random.random() < 0.9,
        core=random.random() < 0.6,
        rest=("isolate", "half-deaf", "half-deaf"),
    )
    late = scenario.nodes % 2 and stream(seed, "latecomer-drawn").random() < LATECOMERS
    return with_latecomer(drawn) if late else drawn


def with_latecomer(scenario: Scenario) -> Scenario:
    """The same where the last node comes for the first time when the faults have ended.

    So nothing may start it before, and unicasts have to be told from multicasts.
    """
    last = scenario.nodes - 1
    return replace(
        scenario,
        core=True,
        latecomer=True,
        multicast=True,
        starts_ns=(*scenario.starts_ns[:last], NEVER_NS),
        faults=tuple(
            fault
            for fault in scenario.faults
            if last not in fault.nodes and not fault.kind.endswith("-all")
        ),
        sends=tuple(send for send in scenario.sends if last not in (send.node, send.to)),
    )


def draw_scenario(seed: int, node_weights: Mapping[int, int] = NODE_WEIGHTS) -> Scenario:
    """The schedule of a seed, with one of these numbers of nodes."""
    random = stream(seed, "scenario")
    nodes = random.choices(list(node_weights), list(node_weights.values()))[0]
    shortest_s, longest_s = random.choices(LENGTHS_S, LENGTH_WEIGHTS)[0]
    safety_ns = random.randint(shortest_s * SECOND, longest_s * SECOND)
    faults = draw_faults(stream(seed, "faults"), nodes, safety_ns)
    tight = draw_tight(stream(seed, "tight"))
    large = (1_400,) if "fragments" in tight else (60_000, 60_000, 8_000, 1_400)
    datagram_bytes_max = random.choice(large)
    states = stream(seed, "state-transfer")
    return Scenario(
        seed=seed,
        nodes=nodes,
        starts_ns=_draw_starts(random, nodes, safety_ns),
        safety_ns=safety_ns,
        network=_draw_network(stream(seed, "network-options")),
        disk=_draw_disk(random),
        multicast=random.random() < 0.8,
        datagram_bytes_max=datagram_bytes_max,
        turn_us=random.choice((20, 100, 300, 1_000)),
        connections=random.random() < 0.5,
        core=nodes > 1 and random.random() < 0.3,
        tight=tight,
        state_chunk_bytes=states.choice((0, 0, 16, 64, 60_000)),
        state_copies=states.choice((1, 2)),
        state_trouble=states.choice((0.0, 0.0, 0.5)),
        faults=faults,
        sends=_draw_sends(stream(seed, "workload"), nodes, safety_ns, faults, datagram_bytes_max),
    )


def _draw_starts(random: Random, nodes: int, safety_ns: int) -> tuple[int, ...]:
    late = random.random() < 0.3
    return tuple(
        random.randint(0, safety_ns // 2) if late and random.random() < 0.4 else
        random.randint(0, 300 * MILLISECOND)
        for _ in range(nodes)
    )  # fmt: skip


def _draw_network(random: Random) -> NetworkOptions:
    def share(likelihood: float, most: float) -> float:
        return random.uniform(0.0, most) if random.random() < likelihood else 0.0

    return NetworkOptions(
        loss=share(0.5, 0.3),
        correlated_loss=share(0.3, 0.15),
        duplicate=share(0.3, 0.5),
        delay_mean_us=random.choice((50, 100, 100, 1_000, 5_000)),
        tail=share(0.3, 0.1),
        tail_mean_ms=random.choice((10, 50, 200)),
        loopback=random.random() < 0.2,
        corrupt=share(0.15, 0.05),
        truncate=share(0.15, 0.05),
        piece_bytes=random.choice((0, 0, 0, 1_500, 9_000)),
        rate=random.choice((0,) * 9 + (125_000, 1_250_000)),
        uneven=random.choice((0, 0, 0, random.randint(1, 1_000_000))),
    )


def _draw_disk(random: Random) -> DiskOptions:
    if random.random() < 0.7:
        return HEALTHY
    return DiskOptions(tail=random.uniform(0.0, 0.2), tail_mean_ms=random.choice((20, 200)))


def _draw_sends(
    random: Random,
    nodes: int,
    safety_ns: int,
    faults: tuple[Fault, ...],
    datagram_bytes_max: int,
) -> tuple[Send, ...]:
    """Some at any time, some just before or after something goes wrong."""
    sends: list[Send] = []
    number = int(10 * 9 ** random.random())  # 10 to 90
    burst_max = random.choice((1, 4, 12))
    large = random.choice((0.0, 0.02, 0.1))
    # A few fragments each: the fiftieth costs time and shows nothing that the fifth did not.
    large_sizes = (2_000, 9_000, min(70_000, 5 * datagram_bytes_max))
    last_ns = random.randint(safety_ns // 4, safety_ns)  # silence afterwards shows a lost tail
    senders = [node for node in range(nodes) if random.random() < 0.7] or [0]
    for _ in range(number):
        sizes = tuple(
            random.choice(large_sizes) if random.random() < large else random.randint(24, 200)
            for _ in range(random.randint(1, burst_max))
        )
        to = random.randrange(nodes) if random.random() < 0.08 else None
        at_ns = random.randint(100 * MILLISECOND, last_ns)
        if faults and random.random() < 0.5:
            around_ns = random.randint(-20 * MILLISECOND, 40 * MILLISECOND)
            at_ns = min(max(0, random.choice(faults).at_ns + around_ns), last_ns)
        sends.append(Send(at_ns, random.choice(senders), sizes, to))
    return tuple(sorted(sends, key=lambda send: (send.at_ns, send.node)))
