"""Clusters: groups that are worth having at one sequencer, as processes write to them in turn.

Pure, from the directory alone. The strongest ties come first. Two clusters become one when the load
of both together fits on a node, or when the turns between them cost more than the lighter one
carries: then the hops are dearer than anything that another node could take over.
"""

from __future__ import annotations

from groupcore.sequencing.choosing import within_bound
from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.ties import SCALE

Unit = tuple[GroupId, ...]


class Clusters:
    """The clusters of a directory; a strict component is in one whole."""

    def __init__(self, state: DirectoryState) -> None:
        self._state = state
        self._roots: dict[GroupId, GroupId] = {}
        self._loads: dict[GroupId, int] = {}
        self._members: dict[GroupId, list[GroupId]] = {}
        if state.ties.by_node:
            self._join_tied()

    def of(self, group: GroupId) -> Unit:
        """The groups that should be where this one is, itself included, in order."""
        root = self._roots.get(group)
        return self._state.unit_of(group) if root is None else tuple(self._members[root])

    def several(self) -> list[Unit]:
        """The clusters that are more than what S2 keeps together, in order."""
        units = [tuple(sorted(members)) for members in self._members.values()]
        return sorted(unit for unit in units if self._state.unit_of(unit[0]) != unit)

    def _join_tied(self) -> None:
        state, options = self._state, self._state.options
        nodes = state.candidates()
        total = sum(state.loads.node(node) for node in nodes)
        rates = state.ties.rates()
        strong = [pair for pair, rate in rates.items() if rate >= options.tied_rate]
        for pair in sorted(strong, key=lambda pair: (-rates[pair], pair)):
            one, other = (self._root(group) for group in pair)
            if one == other:
                continue
            lighter, heavier = sorted((self._loads[one], self._loads[other]))
            fits = within_bound(lighter + heavier, total, len(nodes), options)
            if fits or rates[pair] * options.turn_us // SCALE >= lighter:
                self._join(one, other)
        for members in self._members.values():
            members.sort()

    def _root(self, group: GroupId) -> GroupId:
        """Which group stands for the cluster of this one; its strict component is there, too."""
        root = self._roots.get(group)
        if root is None:
            unit = self._state.unit_of(group)
            root = unit[0]
            self._roots.update(dict.fromkeys(unit, root))
            self._members[root] = list(unit)
            self._loads[root] = self._state.load_of(unit)
        return root

    def _join(self, one: GroupId, other: GroupId) -> None:
        """The smaller cluster becomes a part of the larger one."""
        if len(self._members[one]) < len(self._members[other]):
            one, other = other, one
        moved = self._members.pop(other)
        self._members[one] += moved
        self._roots.update(dict.fromkeys(moved, one))
        self._loads[one] += self._loads.pop(other)
