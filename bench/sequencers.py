"""Throughput against the number of sequencers, with groups that overlap more and less.

Four nodes send to twelve groups, all as fast as they may, runs of twenty messages to one group
after the other. `disjoint`: each group has a process of its own at every node. `overlapping`: each
process is in three neighbours of a ring of groups, and sends to all three. `full`: one process a
node is in all groups. So every node delivers every message, as in one channel with SEQUENCER, which
carries the same traffic beside it; a sequencer is a node that some of the groups were moved to.
With two cores more sequencers cannot be faster by more processors: CPU a delivery is what compares.
"""

from __future__ import annotations

from bench.group_load import GroupLoad, figures, run_group_load
from bench.measuring import load_average
from bench.ordering import Load, run_load

NODES = 4
GROUPS = 12
RUN = 20
TURN = 240
OVERLAPS = ("disjoint", "overlapping", "full")


def case(sequencers: int, overlap: str, measure_s: float) -> dict[str, object]:
    """So many sequencers, groups that overlap so."""
    load = GroupLoad(NODES, GROUPS, overlap, RUN, TURN, sequencers=sequencers, measure_s=measure_s)
    return {"sequencers": sequencers, "overlap": overlap, **figures(run_group_load(load))}


def channel(measure_s: float) -> dict[str, object]:
    """The same traffic through one channel with one sequencer."""
    measured = run_load(Load(NODES, NODES, 100, measure_s=measure_s))
    deliveries = sum(one.deliveries for one in measured)
    return {
        "protocol": "SEQUENCER",
        "deliveries_per_s": round(sum(one.deliveries / one.wall_s for one in measured)),
        "cpu_us_per_delivery": round(1e6 * sum(one.cpu_s for one in measured) / deliveries, 3),
    }


def run(quick: bool) -> dict[str, object]:
    """One, two and three sequencers with each overlap, and the channel."""
    measure_s = 1.0 if quick else 3.0
    cases = [case(count, overlap, measure_s) for overlap in OVERLAPS for count in (1, 2, 3)]
    return {
        "sequencers": cases,
        "one_channel": channel(measure_s),
        "nodes": NODES,
        "groups": GROUPS,
        "run": RUN,
        "size_bytes": 100,
        "load_average": load_average(),
    }
