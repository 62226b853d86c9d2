"""Invariant 22: who may do what is decided by the list as it is at the place of the message."""

from __future__ import annotations

from bisect import bisect_left

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
    it, the object begins anew, and so does its list.
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
        anew = sorted(
            {one.seqno for one in trace.of(GroupState) if one.group == group and one.anew}
        )
        verdicts, readers = _replay(at, anew)
        numbers = sorted(readers)
        for judged in trace.of(GroupJudged):
            if judged.group == group and verdicts.get(judged.seqno) != judged.allowed:
                call = at.get(judged.seqno)
                who = "nobody" if call is None else f"{call.principal or 'nobody'}"
                text = (
                    f"{life(judged.n, judged.inc)} {'allows' if judged.allowed else 'refuses'} "
                    f"{judged.operation} of {who} at number {judged.seqno} of group {group}"
                )
                found.append(self.breach(judged.t, (judged.n,), text))
        for shown in trace.of(GroupShown):
            before = bisect_left(numbers, shown.seqno) - 1
            allowed = readers[numbers[before]] if before >= 0 else frozenset(BEGINNING)
            if shown.group == group and shown.principal not in allowed:
                text = (
                    f"{life(shown.n, shown.inc)} shows {shown.principal} number {shown.seqno} of "
                    f"group {group}, behind the end of its right to read"
                )
                found.append(self.breach(shown.t, (shown.n,), text))


def _replay(
    at: dict[int, GroupCalled], anew: list[int]
) -> tuple[dict[int, bool], dict[int, frozenset[str]]]:
    """The verdict at each number, and who may read behind it."""
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
    return verdicts, readers


def _changed(rights: dict[str, int], call: GroupCalled) -> dict[str, int]:
    """The list behind a call that changes it, unless nobody could change it any more."""
    after = {name: right for name, right in rights.items() if name != call.subject}
    if call.right:
        after[call.subject] = call.right
    return after if MANAGE in after.values() else rights
