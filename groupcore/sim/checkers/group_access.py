"""Invariant 22: who may do what is decided by the list as it is at the place of the message."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import NamedTuple

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.checkers.group_index import index_groups
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import GroupCalled, GroupJudged, GroupShown, GroupState

READ, WRITE, MANAGE = 1, 2, 3
BEGINNING = {"a": MANAGE, "b": WRITE, "c": WRITE}
"""The list of a new object, as `groupcore.sim.groups.guarded` has it."""


class AccessInOrder(Checker):
    """22: a verdict depends on the list behind the former number, and is the same at all replicas.

    The list is replayed here from the calls and their places alone. Nobody is shown what comes
    behind the number at which its right to read has ended. Where a state was lost with all who had
    it, the object begins anew, and so does its list: for who judges from that time on.
    """

    number, name = 22, "access-in-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each group with calls."""
        calls = trace.of(GroupCalled)
        for group in sorted({call.group for call in calls}):
            self._scan_group(trace, group, [one for one in calls if one.group == group], found)

    def _scan_group(
        self, trace: Trace, group: GroupId, calls: list[GroupCalled], found: list[Violation]
    ) -> None:
        places = trace.once(index_groups).places
        at = {places[call.mid]: call for call in calls if call.mid in places}
        losses = sorted(
            (one.t, one.seqno) for one in trace.of(GroupState) if one.group == group and one.anew
        )
        lists = [_replay(at, [number for _, number in losses[:n]]) for n in range(len(losses) + 1)]

        def as_of(t: int) -> _Replayed:
            return lists[bisect_right(losses, t, key=itemgetter(0))]

        for judged in trace.of(GroupJudged):
            if judged.group != group:
                continue
            if as_of(judged.t).verdicts.get(judged.seqno) != judged.allowed:
                call = at.get(judged.seqno)
                who = "nobody" if call is None else f"{call.principal or 'nobody'}"
                text = (
                    f"{life(judged.n, judged.inc)} {'allows' if judged.allowed else 'refuses'} "
                    f"{judged.operation} of {who} at number {judged.seqno} of group {group}"
                )
                found.append(self.breach(judged.t, (judged.n,), text))
        for shown in trace.of(GroupShown):
            if shown.group == group and shown.principal not in as_of(shown.t).before(shown.seqno):
                text = (
                    f"{life(shown.n, shown.inc)} shows {shown.principal} number {shown.seqno} of "
                    f"group {group}, behind the end of its right to read"
                )
                found.append(self.breach(shown.t, (shown.n,), text))


class _Replayed(NamedTuple):
    """The verdict at each number, and who may read behind it."""

    verdicts: dict[int, bool]
    readers: dict[int, frozenset[str]]

    def before(self, number: int) -> frozenset[str]:
        """Who may read what has this number."""
        former = max((one for one in self.readers if one < number), default=None)
        return frozenset(BEGINNING) if former is None else self.readers[former]


def _replay(at: dict[int, GroupCalled], anew: list[int]) -> _Replayed:
    """The list from its beginning, and begun anew behind each of these numbers."""
    rights = dict(BEGINNING)
    verdicts: dict[int, bool] = {}
    readers: dict[int, frozenset[str]] = {}
    for seqno in sorted({*at, *anew}):
        call = at.get(seqno)
        if call is not None:
            needed = WRITE if call.operation == "note" else MANAGE
            verdicts[seqno] = rights.get(call.principal, 0) >= needed
            if verdicts[seqno] and call.operation != "note":
                rights = _changed(rights, call)
        if seqno in anew:  # behind that number, for those who have it from then on
            rights = dict(BEGINNING)
        readers[seqno] = frozenset(name for name, right in rights.items() if right >= READ)
    return _Replayed(verdicts, readers)


def _changed(rights: dict[str, int], call: GroupCalled) -> dict[str, int]:
    """The list behind a call that changes it, unless nobody could change it any more."""
    after = {name: right for name, right in rights.items() if name != call.subject}
    if call.right:
        after[call.subject] = call.right
    return after if MANAGE in after.values() else rights
