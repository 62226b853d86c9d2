"""Ties: which groups are written to in turn, and so belong to one sequencer.

Idea. A process that writes to groups of two sequencers in turn, faster than a message takes its
place, costs everybody a hop at each turn (decision 0025). Its node sees that when it sends: the run
before has no place yet, and is of another group. Nodes count such pairs and report them; placement
brings together what is tied (`clusters`).

Source. Paper, section 7: sequence "a particular set of strongly-intersecting groups" where most is
sent. Decision 0030.

Invariants.
  I1  Only turns that wait are counted: who writes to two groups at a person's pace ties nothing.
  I2  Tables are bounded: pairs that are counted, and those that a node reports.
  I3  Rates are whole numbers, changed by reports alone: every node has the same.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from groupcore.sequencing.commands import Tie
from groupcore.sequencing.names import GroupId
from groupcore.view import Address

COUNTED_MAX = 8_192
"""Pairs that a node counts between two reports; further ones are left out."""
REPORTED_MAX = 512
"""Pairs in a report: those that are written to in turn most often."""
SCALE = 1_000
"""Rates are thousandths of a turn a second: many slow ones count together."""
RATE_MAX = 1_000_000 * SCALE
"""No pair counts for more."""

Pair = tuple[GroupId, GroupId]


class TieMeter:
    """Counts the turns of this node's processes since the last report."""

    def __init__(self) -> None:
        self.turns: dict[Pair, int] = {}

    def count(self, group: GroupId, other: GroupId) -> None:
        """A process has written to these two in turn, before the first had its place (I1)."""
        pair = (group, other) if group < other else (other, group)
        turns = self.turns
        known = turns.get(pair)
        if known is not None:
            turns[pair] = known + 1
        elif len(turns) < COUNTED_MAX:
            turns[pair] = 1

    def take(self, seconds: float) -> tuple[Tie, ...]:
        """The report of so many seconds; counting begins anew (I2)."""
        turns, self.turns = self.turns, {}
        busiest = sorted(turns, key=lambda pair: (-turns[pair], pair))[:REPORTED_MAX]
        rates = ((*pair, round(SCALE * turns[pair] / seconds)) for pair in busiest)
        return tuple(Tie(group, other, rate) for group, other, rate in rates if rate)


class TieBook:
    """What each node has reported, smoothed."""

    __slots__ = ("_smoothing", "by_node")

    def __init__(self, smoothing: int) -> None:
        self._smoothing = smoothing
        self.by_node: dict[Address, dict[Pair, int]] = {}

    def report(self, by: Address, ties: Sequence[Tie], known: Container[GroupId]) -> None:
        """A node's report; what it leaves out was not written to in turn. An empty one: none is."""
        said = {
            (tie.group, tie.other): min(tie.rate, RATE_MAX)
            for tie in ties
            if tie.group < tie.other and tie.group in known and tie.other in known
        }
        former = self.by_node.pop(by, {})
        if not said:
            return
        rates = {}
        for pair in dict.fromkeys([*former, *said]):
            before = former.get(pair, 0)
            rate = before + (said.get(pair, 0) - before) // self._smoothing
            if rate > 0:
                rates[pair] = rate
        self.by_node[by] = rates

    def keep_nodes(self, nodes: Container[Address]) -> None:
        """What all other nodes have said is forgotten."""
        self.by_node = {node: rates for node, rates in self.by_node.items() if node in nodes}

    def forget(self, group: GroupId) -> None:
        """The group is no more."""
        for rates in self.by_node.values():
            for pair in [pair for pair in rates if group in pair]:
                del rates[pair]

    def rates(self) -> dict[Pair, int]:
        """Those of all pairs, of all nodes together."""
        total: dict[Pair, int] = {}
        for rates in self.by_node.values():
            for pair, rate in rates.items():
                total[pair] = total.get(pair, 0) + rate
        return total
