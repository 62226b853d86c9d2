"""Placement: which node should sequence what, with few moves; and what that would change.

A *unit* moves whole: a strict component (S2), or a group that is in none. First every unit comes to
one node: the one that has most of its load, unless that drains. Then, from the fullest node to the
emptiest, the largest unit goes that does not overshoot, while the fullest is above the bound and a
move is worth it. Plain Python over a small table: 100,000 units take well below a second.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

PLAN_FORMAT = 1
"""`plan` in what `groupcore.sequencing.plan` takes."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Groups that one sequencer must have. `at`: the node of each; loads in us a second.

    `sender`: the node that sends most of it, if it sends enough to matter. `resting`: it has moved
    just now, and goes nowhere unless S2 or a drain demands it.
    """

    name: int
    at: Mapping[int, str]
    loads: Mapping[int, float]
    sender: str | None = None
    resting: bool = False

    @property
    def load(self) -> float:
        """Of all its groups."""
        return sum(self.loads.values())


@dataclass(frozen=True)
class Bounds:
    """What a plan keeps to.

    `slack`: a node may carry so much more than the mean, as a share of it. `gain`: a unit with a
    load below this share of the mean node's is not worth a move for balance. `moves`:
    so many units may move for balance or locality; what S2 or a drain demands is not counted.
    `capacity`: us a second that a node can carry. `draining`: nodes that are to have nothing.
    """

    slack: float = 0.05
    gain: float = 0.00001
    moves: int = 1000
    capacity: float = 800_000.0
    draining: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Move:
    """A unit that goes: `reason` is `strict`, `drain`, `load` or `locality`."""

    unit: int
    groups: tuple[int, ...]
    target: str
    reason: str
    load: float


@dataclass
class Placement:
    """What is proposed. `before` and `after`: load of each node, us a second.

    `infeasible`: in sentences, what no placement can do here; `moves` is what could be done.
    """

    moves: list[Move]
    before: dict[str, float]
    after: dict[str, float]
    infeasible: list[str] = field(default_factory=list)

    def plan(self) -> dict[str, object]:
        """As the sequencing service takes it: `{"plan": 1, "groups": {"<number>": "<node>"}}`, with
        the `reasons` of these groups, and `infeasible` where something is.
        """
        targets = {str(gid): move.target for move in self.moves for gid in move.groups}
        reasons = {str(gid): move.reason for move in self.moves for gid in move.groups}
        made: dict[str, object] = {"plan": PLAN_FORMAT, "groups": targets, "reasons": reasons}
        return {**made, "infeasible": self.infeasible} if self.infeasible else made


def imbalance(loads: Mapping[str, float]) -> float:
    """The fullest node's load over the mean; 1.0 where there is none."""
    mean = sum(loads.values()) / len(loads) if loads else 0.0
    return max(loads.values()) / mean if mean else 1.0


def place(units: Sequence[Unit], nodes: Iterable[str], bounds: Bounds | None = None) -> Placement:
    """Propose a placement of the units on the nodes."""
    return _Planner(units, sorted(set(nodes)), bounds or Bounds()).run()


class _Planner:
    """Loads as they will be, and what moves for it."""

    def __init__(self, units: Sequence[Unit], nodes: Sequence[str], bounds: Bounds) -> None:
        self._units = {unit.name: unit for unit in units}
        self._bounds = bounds
        self._open = [node for node in nodes if node not in bounds.draining]
        self._after = dict.fromkeys(nodes, 0.0)
        self._before = dict.fromkeys(nodes, 0.0)
        self._load = {unit.name: unit.load for unit in units}
        self._home: dict[int, str] = {}
        self._reason: dict[int, str] = {}
        self._problems: list[str] = []
        self._budget = bounds.moves

    def run(self) -> Placement:
        for unit in self._units.values():
            for gid, node in unit.at.items():
                if node in self._before:
                    self._before[node] += unit.loads.get(gid, 0.0)
        if not self._open:
            return Placement(
                [], self._before, dict(self._before), ["Every node drains: there is no target."]
            )
        self._settle()
        self._bring_near()
        self._balance()
        self._look_for_problems()
        moves = [self._move(name) for name in sorted(self._home) if self._stray(name)]
        return Placement(moves, self._before, self._after, self._problems)

    def _settle(self) -> None:
        """Every unit to one node: what is spread, and what drains, the heaviest first."""
        homeless = []
        for name, unit in self._units.items():
            shares: dict[str, tuple[float, int]] = {}
            for gid, node in unit.at.items():
                if node in self._after and node not in self._bounds.draining:
                    load, count = shares.get(node, (0.0, 0))
                    shares[node] = (load + unit.loads.get(gid, 0.0), count + 1)
            if shares:
                self._put(name, max(shares, key=lambda node: (shares[node], node)))
                if len(set(unit.at.values())) > 1:
                    self._reason[name] = "strict"
            else:
                homeless.append(name)
        for name in sorted(homeless, key=lambda one: -self._load[one]):
            sender = self._units[name].sender
            least = min(self._open, key=lambda node: (self._after[node], node))
            near = sender in self._open and self._fits(str(sender), self._load[name])
            self._put(name, str(sender) if near else least)
            self._reason[name] = "drain"

    def _bring_near(self) -> None:
        """To the node that sends most of it, where there is room; the heaviest first."""
        for name in sorted(self._home, key=lambda one: -self._load[one]):
            unit, home = self._units[name], self._home[name]
            sender = unit.sender
            if sender is None or sender == home or sender not in self._open or unit.resting:
                continue
            if self._budget and self._fits(sender, self._load[name]):
                self._rehome(name, sender, "locality")

    def _balance(self) -> None:
        """From the fullest to the emptiest, until the bound is kept or nothing helps."""
        mean = sum(self._after.values()) / len(self._open)
        by_load: dict[str, list[tuple[float, int]]] = {node: [] for node in self._open}
        for name, home in self._home.items():
            if not self._units[name].resting and self._load[name] > 0:
                by_load[home].append((-self._load[name], name))
        for own in by_load.values():
            heapq.heapify(own)
        while self._budget and mean:
            full = max(self._open, key=lambda node: (self._after[node], node))
            empty = min(self._open, key=lambda node: (self._after[node], node))
            gap = self._after[full] - self._after[empty]
            if self._after[full] <= mean * (1 + self._bounds.slack):
                return
            # What is too large for this gap is for every later one, too: gaps only get smaller.
            while by_load[full] and -by_load[full][0][0] > gap / 2 + gap * self._bounds.slack:
                heapq.heappop(by_load[full])
            least = mean * self._bounds.gain
            if not by_load[full] or -by_load[full][0][0] < least:
                return
            _, name = heapq.heappop(by_load[full])
            self._rehome(name, empty, "load")
            heapq.heappush(by_load[empty], (-self._load[name], name))

    def _look_for_problems(self) -> None:
        """What no placement can do."""
        capacity = self._bounds.capacity
        total = sum(self._load.values())
        if total > capacity * len(self._open):
            self._problems.append(
                f"All groups together need {total:,.0f} us a second; {len(self._open)} nodes carry"
                f" {capacity * len(self._open):,.0f}. Add nodes."
            )
        for name, load in self._load.items():
            if load > capacity:
                self._problems.append(
                    f"Component {name} ({len(self._units[name].at)} groups) needs {load:,.0f} us a"
                    f" second, one node carries {capacity:,.0f}, and S2 lets nobody divide it. See"
                    " whose leaving would: `overlap`."
                )

    def _fits(self, node: str, load: float) -> bool:
        """Whether the node stays between mean and bound with this."""
        mean = sum(self._after.values()) / len(self._open)
        return self._after[node] + load <= mean * (1 + self._bounds.slack / 2)

    def _put(self, name: int, node: str) -> None:
        self._home[name] = node
        self._after[node] += self._load[name]

    def _rehome(self, name: int, node: str, reason: str) -> None:
        self._after[self._home[name]] -= self._load[name]
        self._put(name, node)
        if name not in self._reason:
            self._budget -= 1
            self._reason[name] = reason

    def _stray(self, name: int) -> tuple[int, ...]:
        """Groups of the unit that are elsewhere than where it shall be."""
        at = self._units[name].at
        return tuple(sorted(gid for gid, node in at.items() if node != self._home[name]))

    def _move(self, name: int) -> Move:
        # The whole unit is named: the service refuses a plan that names a part of a component.
        groups = tuple(sorted(self._units[name].at))
        reason = self._reason.get(name, "load")
        return Move(name, groups, self._home[name], reason, self._load[name])
