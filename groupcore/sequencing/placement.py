"""Placement: which groups should move, so that the sequencers carry alike and near the senders.

In this order: what a node that drains still has; what is written to in turn, to one of its
sequencers; what a node carries above the bound, to where it is sent from if that helps; what else
one node mostly sends and another sequences. A strict component moves whole, and for load and
locality so does what is tied (`clusters`).

Invariants.
  I1  While loads stay the same the moves come to an end: one for load makes the nodes more alike,
      one for locality leaves its target well below the bound, and what is together stays so.
  I2  At most `moves_max` moves are under way, and a group that has moved rests.
  I3  A move never breaks S2, and never touches what moves or waits for its stream's end.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from groupcore.sequencing.choosing import Spread, dearest, within_bound
from groupcore.sequencing.clusters import Clusters, Unit
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.names import GroupId
from groupcore.view import Address


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """A `Move` that somebody should ask for; `reason`: drain, ties, load or locality."""

    groups: tuple[GroupId, ...]
    target: Address
    reason: str


def plan_balance(directory: Directory) -> list[PlannedMove]:
    """The moves that are worth making now; none where all is well or enough is under way.

    Depends on nothing but the directory. One node of the view should ask, from time to time, best
    after reports have come.
    """
    state = directory.state
    room = state.options.moves_max - len(state.moves)
    if state.view is None or room <= 0:
        return []
    planner = _Planner(state, room)
    heavy = {node for node in state.members if state.loads.is_heavy(node)}
    planner.drain()
    planner.bring_together()
    planner.bring_near(heavy)
    planner.balance(heavy)
    planner.bring_near(state.members)
    return planner.moves()


class _Planner:
    """One round: loads as they will be after what is planned, and the plan."""

    def __init__(self, state: DirectoryState, room: int) -> None:
        self._state = state
        self._options = state.options
        self._room = room
        self._nodes = {node: state.loads.node(node) for node in state.candidates()}
        self._total = sum(self._nodes.values())
        self._names = {node.name: node for node in self._nodes}
        self._planned: dict[tuple[Address, Address, str], list[list[GroupId]]] = {}
        self._taken: set[GroupId] = set()
        self._clusters = Clusters(state)

    def moves(self) -> list[PlannedMove]:
        return [
            PlannedMove(tuple(sorted(groups)), target, reason)
            for (_, target, reason), batches in self._planned.items()
            for groups in batches
        ]

    # --- drain ------------------------------------------------------------------------------------

    def drain(self) -> None:
        """What draining nodes have goes to the others, near its sender where there is room."""
        state = self._state
        leaving = {
            node
            for node in state.members
            if node.name in state.draining and node not in self._nodes
        }
        if not leaving:
            return
        spread = Spread(state, sum(state.loads.node(node) for node in leaving))
        theirs = (group for group, entry in state.entries.items() if entry.owner in leaving)
        for unit, cluster in self._leaving(self._units(theirs)):
            source = self._movable_from(unit)
            if source is None or source not in leaving:
                continue
            near = self._names.get(self._main_sender(unit)) or self._place_of(cluster)
            target = spread.place(unit, state.load_of(unit), near)
            if not self._plan(unit, source, target, "drain"):
                return

    def _leaving(self, clusters: Iterable[Unit]) -> Iterator[tuple[Unit, Unit]]:
        """What goes together, and its cluster: that whole where it has one owner, else by what S2
        binds. Where a part rests it may be long before all are together, and the node is to be left
        now.
        """
        for cluster in clusters:
            is_whole = self._state.settled_at(cluster) is not None
            units = [cluster] if is_whole else dict.fromkeys(map(self._state.unit_of, cluster))
            for unit in units:
                yield unit, cluster

    def _place_of(self, cluster: Unit) -> Address | None:
        """Where most of the cluster's load is, of the nodes that may be given more."""
        homes: dict[Address, list[GroupId]] = {}
        for group in cluster:
            home = self._state.home_of(group)
            if home in self._nodes:
                homes.setdefault(home, []).append(group)
        return dearest(self._state, homes) if homes else None

    # --- ties -------------------------------------------------------------------------------------

    def bring_together(self) -> None:
        """What is tied and has several sequencers goes to the one with the most of its load."""
        state = self._state
        for cluster in self._clusters.several():
            homes: dict[Address, list[GroupId]] = {}
            for group in cluster:
                homes.setdefault(state.home_of(group), []).append(group)
            able = {home: groups for home, groups in homes.items() if home in self._nodes}
            if len(homes) < 2 or not able:
                continue
            target = dearest(state, able)
            for group in cluster:
                unit = state.unit_of(group)
                source = self._movable_from(unit)
                if source is None or source == target or group != unit[0] or self._rests(unit):
                    continue
                if not self._plan(unit, source, target, "ties"):
                    return

    # --- load -------------------------------------------------------------------------------------

    def balance(self, heavy_nodes: Container[Address]) -> None:
        """Nodes above the bound give the idlest what brings the two closest to each other."""
        units: dict[Address, dict[Unit, int]] = {}
        for unit in self._units(sorted(self._state.loads.busy)):
            source = self._movable_from(unit)
            if source in self._nodes and source in heavy_nodes and not self._rests(unit):
                units.setdefault(source, {})[unit] = self._state.load_of(unit)
        heavy = sorted(units)
        while heavy:
            source = max(heavy, key=lambda node: (self._nodes[node], node))
            if within_bound(self._nodes[source], self._total, len(self._nodes), self._options):
                return
            target = min(self._nodes, key=lambda node: (self._nodes[node], node))
            best = self._best(units[source], self._nodes[source] - self._nodes[target])
            if best is None:
                heavy.remove(source)  # all it has would only change places
            elif self._plan(best, source, target, "load"):
                del units[source][best]
            else:
                return

    def _best(self, units: dict[Unit, int], gap: int) -> Unit | None:
        """The unit that halves the gap best; only one below the gap makes the loads more alike."""
        fitting = [unit for unit, load in units.items() if load < gap]
        if not fitting:
            return None
        return min(fitting, key=lambda unit: (abs(gap - 2 * units[unit]), unit))

    # --- locality ---------------------------------------------------------------------------------

    def bring_near(self, sources: Container[Address]) -> None:
        """What one node sends most of goes there, the busiest first, while there is room."""
        state = self._state
        wishes = []
        for unit in self._units(sorted(state.loads.busy)):
            load = state.load_of(unit)
            target = self._names.get(self._main_sender(unit))
            source = self._movable_from(unit)
            if source is None or source not in sources or self._rests(unit):
                continue
            if target is None or target == source:
                continue
            if load >= self._options.locality_us * len(unit):
                wishes.append((-load, unit, source, target))
        for negative, unit, source, target in sorted(wishes):
            if self._has_room(target, -negative) and not self._plan(
                unit, source, target, "locality"
            ):
                return

    def _has_room(self, node: Address, load: int) -> bool:
        """Whether the node stays below the middle between the mean and the bound with this."""
        margin = (self._options.balance_percent - 100) * self._total // (200 * len(self._nodes))
        return within_bound(
            self._nodes[node] + load + margin + self._options.slack_us // 2,
            self._total,
            len(self._nodes),
            self._options,
        )

    def _main_sender(self, unit: Unit) -> str:
        """The name of the node that sends enough of what is sent to the unit, or nothing."""
        busy = [self._state.loads.busy[group] for group in unit if group in self._state.loads.busy]
        total = sum(one.load for one in busy)
        shares: dict[str, int] = {}
        for one in busy:
            shares[one.sender] = shares.get(one.sender, 0) + one.load * one.share
        if not shares:
            return ""
        name = min(shares, key=lambda name: (-shares[name], name))
        return name if shares[name] >= total * self._options.locality_percent else ""

    # --- units ------------------------------------------------------------------------------------

    def _units(self, groups: Iterable[GroupId]) -> Iterator[Unit]:
        """Each unit that one of these groups is in, with what is tied to it, once."""
        seen: set[GroupId] = set()
        for group in groups:
            if group not in seen:
                unit = self._clusters.of(group)
                seen.update(unit)
                yield unit

    def _movable_from(self, unit: Unit) -> Address | None:
        """The owner of a unit that may move; None for one that is planned, moving or split."""
        if not self._taken.isdisjoint(unit):
            return None
        return self._state.settled_at(unit)

    def _rests(self, unit: Unit) -> bool:
        return any(group in self._state.loads.resting for group in unit)

    def _plan(self, unit: Unit, source: Address, target: Address, reason: str) -> bool:
        """Add a unit to the plan; False when there is no room for it in any move."""
        batches = self._planned.setdefault((source, target, reason), [])
        if not batches or len(batches[-1]) + len(unit) > self._options.groups_per_move:
            if not self._room:
                return False
            self._room -= 1
            batches.append([])
        batches[-1].extend(unit)
        self._taken.update(unit)
        load = self._state.load_of(unit)
        if source in self._nodes:
            self._nodes[source] -= load
        else:
            self._total += load
        self._nodes[target] += load
        return True
