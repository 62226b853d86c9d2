"""Many overlapping groups: messages delivered a second, CPU for each, bytes of context.

Four nodes send to 200 groups. One process of each node is in three quarters of them: any two groups
share at least two nodes' processes. Messages are handed over in runs of ten to one group, or one
message to each group in turn; a loop turn hands over some hundreds. Contexts are on (causally-total
groups), datagrams are sealed. A delivery is a message at a node that is a member of its group; CPU
is that of all four nodes, which also keep the frames of the groups that they are not in. With
`placed` "by placement" the groups begin at four sequencers, and what processes write to in turn is
brought together while the load lasts: `sequencers` are those that are left.
"""

from __future__ import annotations

from dataclasses import replace

from bench.group_load import GroupLoad, figures, run_group_load
from bench.measuring import load_average

NODES = 4
GROUPS = 200
SETTLE_S = 12.0
"""So long the load lasts before the clock starts where placement may act."""
WAYS = {"runs of 10": (10, 500), "one message a group": (1, 150)}
"""How messages are handed over: to one group in a row, and in one turn."""


def case(way: str, sequencers: int, measure_s: float) -> dict[str, object]:
    """One way of handing over."""
    run, turn = WAYS[way]
    load = GroupLoad(NODES, GROUPS, "three_of_four", run, turn, sequencers, measure_s=measure_s)
    if not sequencers:
        load = replace(load, warm_up_s=SETTLE_S)
    measured = run_group_load(load)
    return {
        "nodes": NODES,
        "groups": GROUPS,
        "groups_of_a_process": GROUPS * 3 // 4,
        "handed_over": way,
        "messages_a_turn": turn,
        "size_bytes": load.size_bytes,
        "placed": "by a plan" if sequencers else "by placement",
        "sequencers": measured[0].sequencers,
        **figures(measured),
    }


def run(quick: bool) -> dict[str, object]:
    """Both ways: where placement brings the groups, at four sequencers, and at one."""
    measure_s = 1.0 if quick else 4.0
    return {
        "cases": [case(way, sequencers, measure_s) for sequencers in (0, 4, 1) for way in WAYS],
        "load_average": load_average(),
    }
