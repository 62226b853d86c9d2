"""Invariants 10 and 11: a group has one sequencer at a time, and nothing is lost between two."""

from __future__ import annotations

from bisect import bisect_right
from typing import ClassVar

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message, life
from groupcore.sim.checkers.group_index import Content, Place, index_groups, is_own_change
from groupcore.sim.checkers.group_strict import Overlaps
from groupcore.sim.checkers.synchrony import ENDINGS
from groupcore.sim.trace import Lived, Trace, Viewed
from groupcore.sim.trace_groups import (
    JOIN,
    GroupDelivered,
    GroupDisowned,
    GroupJoined,
    GroupLeft,
    GroupMid,
    GroupOwned,
    GroupPrimary,
    GroupStamped,
)
from groupcore.view import Address


class Owners:
    """Who owns what, as far as a trace has got: the last `GroupOwned` of each group."""

    def __init__(self, trace: Trace) -> None:
        self.current: dict[GroupId, GroupOwned] = {}
        self._times: dict[Address, list[int]] = {}
        self._views: dict[Address, list[tuple[Address, ...]]] = {}
        for view in trace.views:
            node = Address(view.n, view.inc)
            self._times.setdefault(node, []).append(view.t)
            self._views.setdefault(node, []).append(view.members)

    def sees(self, node: Address, other: Address, t: int) -> bool:
        """Whether `other` is in the view that `node` has at `t`, or installs in that instant."""
        at = bisect_right(self._times.get(node, ()), t)
        return at > 0 and other in self._views[node][at - 1]

    def is_late(self, owned: GroupOwned) -> bool:
        """Whether a node takes over that has been followed already, and is in no view of that one.

        It was cut off before it got so far in the order of the control plane.
        """
        current = self.current.get(owned.group)
        if current is None or owned.epoch >= current.epoch:
            return False
        node, owner = Address(owned.n, owned.inc), Address(current.n, current.inc)
        return not self.sees(owner, node, owned.t)


class OneSequencer(Checker):
    """10: each epoch of a group has one owner, and only an owner gives numbers.

    An owner does so from when it has become it, until its epoch is over, while it is in the primary
    view as far as it has been told. One that nobody has in a view any more may not know that it has
    been followed; what it does then does not stand, which is a matter of 3 and 11. An epoch may be
    skipped where a node has died or a view was installed meanwhile: its owner-to-be is gone.
    """

    number, name = 10, "one-sequencer"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass in the order of events."""
        owners = Owners(trace)
        own: set[tuple[Address, GroupId, int]] = set()
        lost: set[Address] = set()
        losses = 0
        losses_at: dict[GroupId, int] = {}
        for record in trace.records:
            if type(record) is GroupStamped:
                fault = self._fault(record, owners, own, lost)
                if fault:
                    text = f"{_stamp(record)}, {fault}"
                    found.append(self.breach(record.t, (record.n,), text))
            elif type(record) is GroupOwned:
                owner = Address(record.n, record.inc)
                own.add((owner, record.group, record.epoch))
                if owners.is_late(record):
                    continue
                self.scan_owned(record, owners, losses > losses_at.get(record.group, 0), found)
                owners.current[record.group] = record
                losses_at[record.group] = losses
            elif type(record) is GroupDisowned:
                own.discard((Address(record.n, record.inc), record.group, record.epoch))
            elif type(record) is GroupPrimary:
                (lost.discard if record.on else lost.add)(Address(record.n, record.inc))
            elif type(record) is Viewed or (type(record) is Lived and record.what in ENDINGS):
                losses += 1

    def _fault(
        self,
        stamp: GroupStamped,
        owners: Owners,
        own: set[tuple[Address, GroupId, int]],
        lost: set[Address],
    ) -> str:
        node = Address(stamp.n, stamp.inc)
        if (node, stamp.group, stamp.epoch) not in own:
            return "of which it is not the sequencer"
        if node in lost:
            return "though it has lost the primary view"
        current = owners.current[stamp.group]
        owner = Address(current.n, current.inc)
        if current.epoch > stamp.epoch and owners.sees(owner, node, stamp.t):
            return f"after {life(*owner)} has become the sequencer in epoch {current.epoch}"
        return ""

    def scan_owned(
        self, record: GroupOwned, owners: Owners, lost: bool, found: list[Violation]
    ) -> None:
        """Whether an epoch is skipped; `lost`: a node has died, or a view come, since the last."""
        before = owners.current.get(record.group)
        if before is None or record.epoch == before.epoch + 1:
            return
        if record.epoch > before.epoch and lost:
            return
        text = (
            f"{life(record.n, record.inc)} becomes the sequencer of group {record.group} in epoch "
            f"{record.epoch}, after {life(before.n, before.inc)} in epoch {before.epoch}"
        )
        found.append(self.breach(record.t, (before.n, record.n), text))


class MigrationAtomicity(Checker):
    """11: the next epoch goes on where the last one ended; components have one sequencer.

    1. A new owner begins behind all that has been delivered, and not further than the former one
       has got; if that one is still in its view, exactly where it has stopped.
    2. What is delivered was numbered in an epoch that stands: by its owner, at or before the floor
       of the next one. So all of an epoch comes before any of the next.
    3. No message has a number in two epochs that stand.
    4. Whenever a message of a strict group is numbered, all groups of its component (invariant 8)
       have the same sequencer (S2).
    """

    number, name = 11, "migration-atomicity"
    knows_beginnings: ClassVar[bool] = True
    """Whether the trace has all that was ever numbered; else what others numbered is not judged."""

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Rule by rule."""
        self._scan_floors(trace, found)
        self._scan_places(trace, found)
        self._scan_components(trace, found)

    def _scan_floors(self, trace: Trace, found: list[Violation]) -> None:
        owners = Owners(trace)
        delivered: dict[GroupId, int] = {}
        ends: dict[GroupId, tuple[int, Address]] = {}
        for record in trace.records:
            if isinstance(record, GroupDelivered | GroupJoined | GroupLeft):
                if record.seqno > delivered.get(record.group, 0) and not is_own_change(record):
                    delivered[record.group] = record.seqno
            elif type(record) is GroupStamped:
                current = owners.current.get(record.group)
                if current is None or record.epoch >= current.epoch:
                    ends[record.group] = (record.seqno, Address(record.n, record.inc))
            elif type(record) is GroupOwned and not owners.is_late(record):
                owner = Address(record.n, record.inc)
                end, giver = ends.get(record.group, (0, owner))
                fault = ""
                if record.floor < delivered.get(record.group, 0):
                    fault = f"number {delivered[record.group]} has been delivered"
                elif record.floor > end and self.knows_beginnings:
                    fault = f"the last number was {end}"
                elif record.floor < end and owners.sees(owner, giver, record.t):
                    fault = f"{life(*giver)}, which is there, had got to {end}"
                if fault:
                    text = (
                        f"{life(*owner)} goes on behind number {record.floor} of group "
                        f"{record.group} in epoch {record.epoch}, but {fault}"
                    )
                    found.append(self.breach(record.t, (record.n,), text))
                owners.current[record.group] = record
                ends[record.group] = (record.floor, owner)

    def _scan_places(self, trace: Trace, found: list[Violation]) -> None:
        index = trace.once(index_groups)
        standing: dict[Place, Content] = {}
        of: dict[GroupMid, GroupStamped] = {}
        for stamp in index.stamps:
            if not index.stands(stamp):
                continue
            standing[stamp.group, stamp.seqno] = (stamp.process, stamp.number)
            if stamp.number <= 0:
                continue
            mid = GroupMid(stamp.process, stamp.group, stamp.number)
            first = of.setdefault(mid, stamp)
            if first.epoch != stamp.epoch:
                text = f"{_stamp(stamp)} to {group_message(mid)}, {_stamp(first)} to it"
                found.append(self.breach(stamp.t, (first.n, stamp.n), text, mid))
        judged: set[Place] = set()
        for record in trace.records:
            if type(record) is not GroupDelivered or (record.group, record.seqno) in judged:
                continue
            place = (record.group, record.seqno)
            judged.add(place)
            content = standing.get(place)
            if content is None and not self.knows_beginnings:
                continue
            if content != (record.process, record.number):
                by = "by nobody" if content is None else "to another message"
                text = (
                    f"{life(record.n, record.inc)} delivers {group_message(record.mid)} at number "
                    f"{record.seqno} of group {record.group}; in the epoch that stands there it "
                    f"was given {by}"
                )
                found.append(self.breach(record.t, (record.n,), text, record.mid))

    def _scan_components(self, trace: Trace, found: list[Violation]) -> None:
        index = trace.once(index_groups)
        overlaps = Overlaps(index.deleted)
        owners = Owners(trace)
        changes = 0
        judged: dict[GroupId, tuple[int, int]] = {}
        for record in trace.records:
            if type(record) is GroupOwned and not owners.is_late(record):
                owners.current[record.group] = record
                changes += 1
            elif type(record) is GroupStamped and index.strict(record.group):
                group = record.group
                overlaps.advance(record.t)
                if not index.stands(record):
                    continue
                if record.number <= 0:
                    if index.binds(record):
                        overlaps.change(group, record.process, record.number)
                    continue
                state = (changes, overlaps.intervals.get(group, 0))
                if judged.get(group) == state:
                    continue
                judged[group] = state
                for other in sorted(overlaps.components.get(group, ())):
                    owned = owners.current.get(other)
                    if owned is not None and (owned.n, owned.inc) != (record.n, record.inc):
                        text = (
                            f"{_stamp(record)}; group {other} of the same component is "
                            f"sequenced by {life(owned.n, owned.inc)}"
                        )
                        found.append(self.breach(record.t, (record.n, owned.n), text))


def _stamp(stamp: GroupStamped) -> str:
    what = "number" if stamp.number > 0 else "JOIN" if stamp.number == JOIN else "LEAVE"
    return (
        f"{life(stamp.n, stamp.inc)} gives {what} {stamp.seqno} of group {stamp.group} in epoch "
        f"{stamp.epoch}"
    )
