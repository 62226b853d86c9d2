"""Which node is given a group: for a new one, after a failover, and where strict groups meet.

Pure and deterministic: the same directory gives the same answer everywhere. Ties and spreads go by
rendezvous: each pair of group and node has a score, and the highest score wins, so that a node
that comes or goes changes little (Thaler and Ravishankar, 1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.view import Address

MASK = (1 << 64) - 1


@cache
def _hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big")


def score(group: GroupId, node: str) -> int:
    """How well a group and a node go together, by chance: 64 bits that depend on nothing else."""
    return _mix(_hash_of(group), _hash(node))


def _hash_of(group: GroupId) -> int:
    return int.from_bytes(blake2b(group.to_bytes(8, "big"), digest_size=8).digest(), "big")


def _mix(group: int, node: int) -> int:
    """One step of splitmix64: cheap enough for each of a hundred thousand groups and each node."""
    value = (group ^ node) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 29) * 0x94D049BB133111EB & MASK
    return value ^ value >> 32


def within_bound(load: int, total: int, nodes: int, options: PlacementOptions) -> bool:
    """Whether one of `nodes` that carry `total` may carry `load` of it."""
    bound = total * options.balance_percent + 100 * options.slack_us * nodes
    return load * nodes * 100 <= bound


def is_overload(state: DirectoryState, node: Address, load: int) -> bool:
    """Whether `load` is more than the bound allows this node; for one that drains it never is."""
    nodes = state.candidates()
    total = sum(state.loads.node(one) for one in nodes)
    return node in nodes and not within_bound(load, total, len(nodes), state.options)


def new_owner(state: DirectoryState, group: GroupId, creator: Address) -> Address:
    """Who sequences a new group: its creator while that is not above the bound, else the idlest.

    Load is not known yet, so the number of groups is bounded as well.
    """
    options, loads = state.options, state.loads
    nodes = state.candidates()
    carried = {node: loads.node(node) for node in nodes}
    if creator in carried:
        total, count = sum(carried.values()), sum(loads.count(node) for node in nodes)
        slack = options.count_slack * len(nodes) * 100
        few = (loads.count(creator) + 1) * len(
            nodes
        ) * 100 <= count * options.balance_percent + slack
        if few and within_bound(carried[creator], total, len(nodes), options):
            return creator
    return min(nodes, key=lambda node: (carried[node], -score(group, node.name)))


def dearest(state: DirectoryState, sides: dict[Address, list[GroupId]]) -> Address:
    """The owner that keeps its groups when all of them must be at one: the cheaper sides move.

    The paper leaves `resolve` its load metric open. A node that drains is no choice while there is
    another.
    """
    assert sides
    staying = [node for node in sides if node.name not in state.draining] or list(sides)
    return max(
        staying,
        key=lambda node: (
            state.load_of(sides[node]),
            len(sides[node]),
            score(min(sides[node]), node.name),
        ),
    )


class Spread:
    """Gives groups that must leave their sequencer to the others: rendezvous within the bound.

    `load` is that of all these groups together.
    """

    def __init__(self, state: DirectoryState, load: int) -> None:
        self._nodes = state.candidates()
        self._hashes = [_hash(node.name) for node in self._nodes]
        self._carried = [state.loads.node(node) for node in self._nodes]
        mean_percent = (sum(self._carried) + load) * state.options.balance_percent
        self._limit = mean_percent // (100 * len(self._nodes)) + state.options.slack_us

    def place(self, groups: Sequence[GroupId], load: int, near: Address | None = None) -> Address:
        """The new owner of these groups, which stay together; `near`, if that fits."""
        limit = self._limit - load
        fitting = [index for index, carried in enumerate(self._carried) if carried <= limit]
        if not fitting:
            chosen = min(range(len(self._nodes)), key=self._carried.__getitem__)
        elif near is not None and self._nodes.index(near) in fitting:
            chosen = self._nodes.index(near)
        else:
            mixed = _hash_of(groups[0])
            chosen = max(fitting, key=lambda index: _mix(mixed, self._hashes[index]))
        self._carried[chosen] += load
        return self._nodes[chosen]
