"""What a placement is worth: the load of each node as it is, and as it would be.

The load is that which the sequencers report in the order (decision 0019), in µs of processor time a
second, by where each group is or goes. Imbalance: the fullest node's load over the mean, 1.0 where
all carry the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.names import GroupId
from server.console.colleagues import Shown

PAIR_MAX = 1e12
"""Nothing that a plan may expect is as much."""


def imbalance(loads: Mapping[str, int]) -> float:
    """Of these nodes' loads; 1.0 for nothing at all."""
    mean = sum(loads.values()) / len(loads) if loads else 0.0
    return round(max(loads.values()) / mean, 3) if mean else 1.0


def loads_of(state: DirectoryState) -> dict[str, int]:
    """Each node's load as it is."""
    return {member.name: state.loads.node(member) for member in sorted(state.members)}


def expected(said: Mapping[str, object]) -> Shown:
    """Of what a plan says it will bring the pairs that are known here, before and after; None: it
    does not say. `latency_us`: the median time until a message is back at its sender's node.
    """
    return {name: _pair(said.get(name)) for name in ("imbalance", "latency_us")}


def _pair(value: object) -> list[float] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    if not all(type(one) in (int, float) and 0 <= one < PAIR_MAX for one in value):
        return None
    return [float(one) for one in value]


def gain_of(state: DirectoryState, targets: Mapping[GroupId, str]) -> Shown:
    """Each node before and after its groups go to these nodes, and the imbalance of both."""
    before = loads_of(state)
    counts = {member.name: state.loads.count(member) for member in sorted(state.members)}
    after, counts_after = dict(before), dict(counts)
    for group, target in targets.items():
        source = state.home_of(group).name
        if source == target:
            continue
        load = state.loads.group(group)
        for name, sign in ((source, -1), (target, 1)):
            if name in after:
                after[name] += sign * load
                counts_after[name] += sign
    nodes = [
        {
            "node": name,
            "load_us": [before[name], after[name]],
            "groups": [counts[name], counts_after[name]],
        }
        for name in before
    ]
    return {"nodes": nodes, "imbalance": [imbalance(before), imbalance(after)]}
