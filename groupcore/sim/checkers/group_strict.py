"""Invariants 8 and 9: groups that share two processes or more are one order.

Each is judged in two ways: pair by pair, by what two members of the same two groups are given while
both are in both (`group_joint`); and for what is numbered while a component is the same, over all
of its groups together, which finds circles that go through more than two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message, process_name
from groupcore.sim.checkers.cycles import find_components, shortest_cycle
from groupcore.sim.checkers.group_index import GroupIndex, Place, index_groups
from groupcore.sim.checkers.group_joint import Pair, compared, stamp_ranks
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupDelivered,
    GroupMid,
    GroupProcess,
    GroupStamped,
)

Rank = tuple[int, int]
"""An interval of a component, and how many numbers had been given in the run before this one."""


class Overlaps:
    """Which `strict` groups are strongly intersecting, directly or through others, by now.

    A component has an interval of its own for as long as it is made of the same groups; intervals
    are numbered as they begin.
    """

    def __init__(self, deleted: Mapping[GroupId, int]) -> None:
        """`deleted`: when groups were deleted that were, as in `GroupIndex`."""
        self._deleted = sorted(deleted.items(), key=lambda one: one[1])
        self._gone: set[GroupId] = set()
        self.components: dict[GroupId, frozenset[GroupId]] = {}
        self.intervals: dict[GroupId, int] = {}
        self._groups: dict[GroupProcess, set[GroupId]] = {}
        self._common: dict[tuple[GroupId, GroupId], int] = {}
        self._begun = 0

    def advance(self, t: int) -> None:
        """Let time go on: nobody is in a group from when it is deleted anywhere."""
        while self._deleted and self._deleted[0][1] <= t:
            group, _ = self._deleted.pop(0)
            for process in [one for one, groups in self._groups.items() if group in groups]:
                self.change(group, process, LEAVE)
            self._gone.add(group)

    def change(self, group: GroupId, process: GroupProcess, what: int) -> None:
        """A process joins or leaves a strict group."""
        groups = self._groups.setdefault(process, set())
        if (group in groups) == (what == JOIN) or group in self._gone:
            return
        groups.discard(group)
        linked = False
        for other in sorted(groups):
            pair = (min(group, other), max(group, other))
            before = self._common.get(pair, 0)
            self._common[pair] = before + (1 if what == JOIN else -1)
            linked |= (before >= 2) != (self._common[pair] >= 2)
        if what == JOIN:
            groups.add(group)
        if linked or group not in self.components:
            self.components.setdefault(group, frozenset())
            self._divide()

    def _divide(self) -> None:
        root = {group: group for group in self.components}

        def find(group: GroupId) -> GroupId:
            while root[group] != group:
                group = root[group]
            return group

        for (one, other), common in self._common.items():
            if common >= 2:
                root[find(one)] = find(other)
        parts: dict[GroupId, list[GroupId]] = {}
        for group in sorted(root):
            parts.setdefault(find(group), []).append(group)
        for part in parts.values():
            component = frozenset(part)
            if self.components[part[0]] != component:
                self._begun += 1
                for group in part:
                    self.components[group] = component
                    self.intervals[group] = self._begun


def rank_stamps(trace: Trace) -> dict[Place, Rank]:
    """For each number that stands of a group in a component: its interval, when it was given."""
    index = trace.once(index_groups)
    overlaps = Overlaps(index.deleted)
    ranks: dict[Place, Rank] = {}
    for order, stamp in standing_strict(index):
        overlaps.advance(stamp.t)
        if index.binds(stamp):
            overlaps.change(stamp.group, stamp.process, stamp.number)
        elif stamp.number > 0 and len(overlaps.components.get(stamp.group, ())) > 1:
            ranks[stamp.group, stamp.seqno] = (overlaps.intervals[stamp.group], order)
    return ranks


def standing_strict(index: GroupIndex) -> Iterator[tuple[int, GroupStamped]]:
    """The stamps of strict groups that stand, each with its place in the order of all stamps."""
    for order, stamp in enumerate(index.stamps):
        if index.strict(stamp.group) and index.stands(stamp):
            yield order, stamp


class StrictOrder(Checker):
    """8: what the processes are given of groups that are strongly intersecting is one order.

    Any two members of the same two strict groups are given what both are given while both are in
    both in one order, whatever joins, parts or moves meanwhile. And: groups with two common
    processes or more are linked; while a connected component of that relation is made of the same
    groups, the union of the orders in which processes are given the messages that are numbered in
    it has no cycle. Common members are processes, not nodes. For `strict` groups only. Who observes
    links no groups; within a component it is given linked ones in that order, too.
    """

    number, name = 8, "strict-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Pairs first. Then an edge from each message to the next at a process; look for cycles."""
        pairs = list(self._scan_pairs(trace))
        found += pairs
        ranks = {} if pairs else trace.once(rank_stamps)
        graph: dict[int, list[int]] = {}
        messages: dict[int, GroupDelivered] = {}
        witnesses: dict[tuple[int, int], GroupProcess] = {}
        last: dict[tuple[GroupProcess, int], int] = {}
        for record in trace.records if ranks else ():
            if type(record) is not GroupDelivered:
                continue
            rank = ranks.get((record.group, record.seqno))
            if rank is None:
                continue
            interval, node = rank
            messages.setdefault(node, record)
            for process in record.to:
                before = last.get((process, interval))
                last[process, interval] = node
                if before is not None and (before, node) not in witnesses:
                    witnesses[before, node] = process
                    graph.setdefault(before, []).append(node)
        for component in find_components(graph):
            cycle = shortest_cycle(graph, component)
            steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
            text = "; ".join(
                f"{process_name(witnesses[step])} is given {group_message(messages[step[0]].mid)} "
                f"before {group_message(messages[step[1]].mid)}"
                for step in steps
            )
            records = [messages[node] for node in cycle]
            nodes = tuple(dict.fromkeys(record.n for record in records))
            mids = [record.mid for record in records]
            found.append(self.breach(max(record.t for record in records), nodes, text, *mids))

    def _scan_pairs(self, trace: Trace) -> Iterator[Violation]:
        """Two members of two groups: the first two messages that they are given in two orders."""
        seen: set[tuple[GroupProcess, GroupProcess, Pair]] = set()
        for stay, mine, other, pair in compared(trace):
            if (other.process, stay.process, pair) in seen:
                continue
            seen.add((stay.process, other.process, pair))
            places = {(one.group, one.seqno) for one in mine}
            theirs = [one for one in other.given if (one.group, one.seqno) in places]
            for one, two in zip(mine, theirs, strict=True):
                if one.mid != two.mid:
                    said = [
                        (process_name(who), f"{group_message(first)} before {group_message(then)}")
                        for who, first, then in (
                            (stay.process, one.mid, two.mid),
                            (other.process, two.mid, one.mid),
                        )
                    ]
                    text = "; ".join(f"{who} is given {what}" for who, what in sorted(said))
                    t, nodes = max(one.t, two.t), (one.n, two.n)
                    yield self.breach(t, nodes, text, one.mid, two.mid)
                    break


class StampOrder(Checker):
    """9: a sequencer gives the numbers of a group one by one, and its order is what is delivered.

    In an epoch the first number is that behind the floor. Of two strict groups a member of both is
    given what another member of both is given as well in the order in which it was numbered. Of the
    groups of one component (invariant 8) every process is, if it was numbered while the component
    was the same.
    """

    number, name = 9, "stamp-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """The stamps of each epoch; then for each process the ranks of what it is given."""
        index = trace.once(index_groups)
        self._scan_stamps(index, found)
        pairs = list(self._scan_pairs(trace))
        found += pairs
        ranks = {} if pairs else trace.once(rank_stamps)
        last: dict[tuple[GroupProcess, int], tuple[int, GroupMid]] = {}
        for record in trace.records if ranks else ():
            if type(record) is not GroupDelivered:
                continue
            rank = ranks.get((record.group, record.seqno))
            if rank is None:
                continue
            interval, order = rank
            for process in record.to:
                before = last.get((process, interval))
                if before is None or before[0] <= order:
                    last[process, interval] = (order, record.mid)
                    continue
                text = (
                    f"{process_name(process)} is given {group_message(record.mid)} after "
                    f"{group_message(before[1])}, which was numbered behind it"
                )
                found.append(self.breach(record.t, (record.n,), text, before[1], record.mid))

    def _scan_pairs(self, trace: Trace) -> Iterator[Violation]:
        ranks = trace.once(stamp_ranks)
        seen: set[tuple[GroupProcess, Pair]] = set()
        for stay, mine, other, pair in compared(trace):
            if (stay.process, pair) in seen:
                continue
            for one, two in pairwise(mine):
                before, after = (ranks.get((x.group, x.seqno)) for x in (one, two))
                if before is not None and after is not None and before > after:
                    seen.add((stay.process, pair))
                    text = (
                        f"{process_name(stay.process)} is given {group_message(two.mid)} after "
                        f"{group_message(one.mid)}, which was numbered behind it; so is "
                        f"{process_name(other.process)}, in some order"
                    )
                    yield self.breach(two.t, (two.n,), text, one.mid, two.mid)
                    break

    def _scan_stamps(self, index: GroupIndex, found: list[Violation]) -> None:
        last: dict[tuple[GroupId, int], int] = {}
        for group, owned in index.owned.items():
            for record in owned:
                last.setdefault((group, record.epoch), record.floor)
        for stamp in index.stamps:
            key = (stamp.group, stamp.epoch)
            before = last.get(key)
            if before is not None and stamp.seqno != before + 1:
                text = (
                    f"{stamp.n} gives number {stamp.seqno} of group {stamp.group} in epoch "
                    f"{stamp.epoch} after {before}"
                )
                found.append(self.breach(stamp.t, (stamp.n,), text))
            last[key] = stamp.seqno
