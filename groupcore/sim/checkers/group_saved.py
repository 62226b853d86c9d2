"""Invariants 18 and 25 for groups with logs: what is saved stays, and in the end all have it.

What was not saved may be gone after a power cut, though it was numbered and delivered, and its
numbers given anew. So what is judged here are the ends, and what living processes were promised.
"""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message, life, process_name
from groupcore.sim.checkers.group_ends import GroupLiveness, accepted_numbers
from groupcore.sim.checkers.group_index import index_groups
from groupcore.sim.checkers.group_members import living_nodes, refused_messages
from groupcore.sim.checkers.group_order import closing_times
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import GroupHolds, GroupMid, GroupProcess, GroupSaved, GroupSent
from groupcore.sim.trace_streams import StreamKept
from groupcore.view import Address


class GroupSavedSurvives(Checker):
    """18: every message that is saved is in every copy of its group at the end of the run, once.

    A copy is the state of a node with members, or a node's archive. There is one. The power may
    have been cut for all nodes since then, and whoever was enough came up again. Of what is deleted
    anywhere nothing is asked: it may be there again where the power was cut right then.
    """

    number, name = 18, "group-saved"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What was told, and what is there."""
        told: dict[GroupId, dict[GroupProcess, GroupSaved]] = {}
        deleted = trace.once(index_groups).deleted
        for record in trace.of(GroupSaved):
            if record.group in deleted:
                continue
            last = told.setdefault(record.group, {})
            if record.process not in last or last[record.process].number < record.number:
                last[record.process] = record
        holding = trace.of(GroupHolds)
        for holds in holding:
            here = set(holds.messages)
            if len(here) < len(holds.messages):
                text = f"{life(holds.n, holds.inc)} has a message of group {holds.group} twice"
                found.append(self.breach(holds.t, (holds.n,), text))
            for process, mid in _lacking(told.get(holds.group, {}), here):
                text = (
                    f"{life(holds.n, holds.inc)} lacks {group_message(mid)}, which "
                    f"{process_name(process)} was told to be saved"
                )
                found.append(self.breach(holds.t, (holds.n,), text, mid))
        if holding:
            for group in sorted(set(told) - {holds.group for holds in holding}):
                text = f"nobody has group {group}, of which messages were saved"
                found.append(self.breach(holding[0].t, (), text))


class SavedIsKept(Checker):
    """18: a node that has counted towards what is saved has it when it starts with its log.

    Whoever forms a view from disk relies on that, though another node may have it at the time.
    """

    number, name = 18, "saved-is-kept"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What logs hold at the start of a life."""
        for kept in trace.of(StreamKept):
            if kept.kept < kept.promised:
                text = (
                    f"{life(kept.n, kept.inc)} begins with frame {kept.kept} of "
                    f"{life(*kept.stream)}, and has said to have saved {kept.promised}"
                )
                found.append(self.breach(kept.t, (kept.n,), text))


def _lacking(
    told: dict[GroupProcess, GroupSaved], here: set[tuple[GroupProcess, int]]
) -> Iterator[tuple[GroupProcess, GroupMid]]:
    """What was said to be saved and is not here."""
    for process, record in told.items():
        for number in range(1, record.number + 1):
            if (process, number) not in here:
                yield process, GroupMid(process, record.group, number)


class GroupsSettle(GroupLiveness):
    """25: soon after healing nothing is outstanding for who is there, and all copies are alike.

    Every request has had its answer, every message of a process that lives is in its group.
    """

    name = "groups-settle"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Judge the end; a trace without healing or ends has nothing to judge."""
        living = trace.once(living_nodes)
        if trace.healed_at is None or not living:
            return
        t = max(end.t for end in trace.ends)
        self._check_told(trace, living, t, found)
        self._check_requests(trace, living, t, found)
        first: dict[GroupId, GroupHolds] = {}
        deleted = trace.once(index_groups).deleted
        for holds in trace.of(GroupHolds):
            if holds.group in deleted:
                continue
            other = first.setdefault(holds.group, holds)
            if other.messages != holds.messages:
                text = (
                    f"{life(holds.n, holds.inc)} ends with other messages of group {holds.group} "
                    f"than {life(other.n, other.inc)}"
                )
                found.append(self.breach(t, (holds.n, other.n), text))
        here = {(holds.group, one) for holds in first.values() for one in holds.messages}
        refused, accepted = trace.once(refused_messages), trace.once(accepted_numbers)
        for (process, group), number in accepted.items():
            if process[:2] not in living or group not in first:
                continue
            for one in range(1, number + 1):
                mid = GroupMid(process, group, one)
                if (group, (process, one)) not in here and mid not in refused:
                    text = f"{group_message(mid)} has a number, and nobody has it in the end"
                    found.append(self.breach(t, (process[0],), text, mid))

    def _check_told(
        self, trace: Trace, living: set[Address], t: int, found: list[Violation]
    ) -> None:
        """Each message of a process that lives has a number, and the process knows."""
        refused, closed = trace.once(refused_messages), trace.once(closing_times)
        accepted, deleted = trace.once(accepted_numbers), trace.once(index_groups).deleted
        for sent in trace.of(GroupSent):
            if sent.process[:2] not in living or sent.process in closed or sent.mid in refused:
                continue
            if sent.group in deleted:
                continue
            if accepted.get((sent.process, sent.group), 0) < sent.number:
                text = (
                    f"{process_name(sent.process)} has not been told of {group_message(sent.mid)}"
                )
                found.append(self.breach(t, (sent.process[0],), text, sent.mid))
