"""Probes of the data plane: rare situations of groups that a long run must have met."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.group_index import index_groups, is_own_join
from groupcore.sim.checkers.group_strict import Overlaps, standing_strict
from groupcore.sim.trace import Lived, Trace, Viewed
from groupcore.sim.trace_deletions import DeletionAsked, GroupDeleted
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupAccepted,
    GroupAsked,
    GroupClosed,
    GroupDelivered,
    GroupDisowned,
    GroupJoined,
    GroupLeft,
    GroupOwned,
    GroupProcess,
    GroupSent,
    GroupStamped,
    GroupState,
    GroupVolatile,
)
from groupcore.view import Address

TraceProbe = Callable[[Trace], bool]
OVER = frozenset({"crash", "excluded", "left"})
"""How the life of a sequencer may end."""


def _failovers(trace: Trace) -> Iterator[tuple[GroupOwned, int]]:
    """Groups that were taken over from a life that was over, and when that had ended."""
    ended: dict[Address, int] = {}
    owner: dict[GroupId, Address] = {}
    for record in trace.records:
        if type(record) is Lived and record.what in OVER:
            ended[Address(record.n, record.inc)] = record.t
        elif type(record) is GroupOwned:
            former = owner.get(record.group)
            owner[record.group] = Address(record.n, record.inc)
            if former is not None and former in ended:
                yield record, ended[former]


def _moved_during_failover(trace: Trace) -> bool:
    moves = [record.t for record in trace.of(GroupDisowned)]
    return any(since < t < owned.t for owned, since in _failovers(trace) for t in moves)


def _joined_during_move(trace: Trace) -> bool:
    """A JOIN was asked for before a group's hand-over and numbered behind it."""
    asked: dict[tuple[GroupProcess, GroupId], int] = {}
    handed_over: dict[GroupId, int] = {}
    for record in trace.records:
        if type(record) is GroupAsked and record.what != "leave":
            asked[record.process, record.group] = record.t
        elif type(record) is GroupDisowned:
            handed_over[record.group] = record.t
        elif type(record) is GroupStamped and record.number == JOIN:
            since = asked.get((record.process, record.group), record.t)
            if since < handed_over.get(record.group, 0) <= record.t:
                return True
    return False


def _component_changes(trace: Trace) -> Iterator[int]:
    """By how much the component of a strict group has grown or shrunk with a JOIN or a LEAVE."""
    index = trace.once(index_groups)
    overlaps = Overlaps(index.deleted)
    for _, stamp in standing_strict(index):
        overlaps.advance(stamp.t)
        if index.binds(stamp):
            before = len(overlaps.components.get(stamp.group, (stamp.group,)))
            overlaps.change(stamp.group, stamp.process, stamp.number)
            yield len(overlaps.components.get(stamp.group, (stamp.group,))) - (before or 1)


def _watched_by_two(trace: Trace) -> bool:
    """Two processes observed the same two groups, each at some time."""
    groups: dict[GroupProcess, set[GroupId]] = {}
    for stamp in trace.once(index_groups).observing:
        groups.setdefault(stamp.process, set()).add(stamp.group)
    return any(len(one & two) > 1 for one, two in combinations(groups.values(), 2))


def _changed_role(trace: Trace, role: str) -> bool:
    """A process joined in this role that had joined the same group in the other one."""
    index = trace.once(index_groups)
    joined: set[tuple[GroupProcess, GroupId, bool]] = set()
    for stamp in index.stamps:
        if stamp.number == JOIN and index.strict(stamp.group):
            observes = stamp in index.observing
            joined.add((stamp.process, stamp.group, observes))
            former = (stamp.process, stamp.group, not observes)
            if observes == (role == "observe") and former in joined:
                return True
    return False


def _many_sequencers(trace: Trace) -> bool:
    owners: dict[GroupId, Address] = {}
    for record in trace.of(GroupOwned):
        owners[record.group] = Address(record.n, record.inc)
        if len(set(owners.values())) > 2:
            return True
    return False


def _sent_by_a_stranger(trace: Trace) -> bool:
    members: set[tuple[GroupProcess, GroupId]] = set()
    for record in trace.records:
        if type(record) is GroupStamped:
            place = (record.process, record.group)
            if record.number == JOIN:
                members.add(place)
            elif record.number == LEAVE:
                members.discard(place)
            elif place not in members:
                return True
    return False


def _left_before_it_was_in(trace: Trace) -> bool:
    inside: set[tuple[GroupProcess, GroupId]] = set()
    for record in trace.records:
        if isinstance(record, GroupJoined | GroupLeft) and record.process[:2] == record[1:3]:
            place = (record.process, record.group)
            if is_own_join(record):
                inside.add(place)
            elif place not in inside:
                return True
            else:
                inside.discard(place)
    return False


def _closed_with_messages_pending(trace: Trace) -> bool:
    pending: dict[tuple[GroupProcess, GroupId], int] = {}
    for record in trace.records:
        if type(record) is GroupSent:
            pending[record.process, record.group] = record.number
        elif type(record) is GroupAccepted:
            if record.number >= pending.get((record.process, record.group), 0):
                pending.pop((record.process, record.group), None)
        elif type(record) is GroupClosed and any(key[0] == record.process for key in pending):
            return True
    return False


def _state_behind_the_join(trace: Trace) -> bool:
    """A node took a state of a later number than its JOIN has."""
    joins: dict[tuple[Address, GroupId], int] = {}
    for record in trace.records:
        if type(record) is GroupStamped and record.number == JOIN:
            joins.setdefault((Address(*record.process[:2]), record.group), record.seqno)
        elif type(record) is GroupState and not record.anew:
            at = joins.get((Address(record.n, record.inc), record.group), record.seqno)
            if record.seqno > at:
                return True
    return False


def _message_outlived_its_sequencer(trace: Trace) -> bool:
    """What was numbered by a life that is over was delivered only then."""
    by: dict[tuple[GroupId, int], Address] = {}
    over: set[Address] = set()
    given: set[tuple[GroupId, int]] = set()
    for record in trace.records:
        if type(record) is GroupStamped:
            by[record.group, record.seqno] = Address(record.n, record.inc)
        elif type(record) is Lived and record.what in OVER:
            over.add(Address(record.n, record.inc))
        elif type(record) is GroupDelivered and (record.group, record.seqno) not in given:
            given.add((record.group, record.seqno))
            if by.get((record.group, record.seqno)) in over:
                return True
    return False


def _two_failovers_at_once(trace: Trace) -> bool:
    ends = {since for _, since in _failovers(trace)}
    return any(0 < other - one < 1_000_000_000 for one in ends for other in ends)


def _view_changed_during_move(trace: Trace) -> bool:
    """A view was installed between the end of an epoch and the beginning of the next."""
    disowned: dict[GroupId, int] = {}
    viewed = 0
    for record in trace.records:
        if type(record) is GroupDisowned:
            disowned[record.group] = record.t
        elif type(record) is Viewed:
            viewed = record.t
        elif type(record) is GroupOwned and disowned.pop(record.group, record.t) < viewed:
            return True
    return False


def _deleted_with_messages_pending(trace: Trace) -> bool:
    """Somebody was still to be told of a message to a group when it was deleted."""
    pending: dict[tuple[GroupProcess, GroupId], int] = {}
    for record in trace.records if trace.of(GroupDeleted) else ():
        if type(record) is GroupSent:
            pending[record.process, record.group] = record.number
        elif type(record) is GroupAccepted:
            if record.number >= pending.get((record.process, record.group), 0):
                pending.pop((record.process, record.group), None)
        elif type(record) is GroupDeleted and any(one == record.group for _, one in pending):
            return True
    return False


def _deleted_twice_at_once(trace: Trace) -> bool:
    asked: dict[GroupId, int] = {}
    for record in trace.of(DeletionAsked):
        asked[record.group] = asked.get(record.group, 0) + 1
    return any(times > 1 for times in asked.values())


GROUP_TRACE_PROBES: dict[str, TraceProbe] = {
    "group-moved": lambda trace: bool(trace.of(GroupDisowned)),
    "group-failed-over": lambda trace: any(_failovers(trace)),
    "group-moved-during-a-failover": _moved_during_failover,
    "group-joined-during-a-move": _joined_during_move,
    "view-changed-during-a-move": _view_changed_during_move,
    "two-sequencers-failed-over-at-once": _two_failovers_at_once,
    "strict-groups-linked": lambda trace: any(by > 0 for by in _component_changes(trace)),
    "strict-groups-observed": lambda trace: bool(trace.once(index_groups).observing),
    "observed-by-two-in-common": _watched_by_two,
    "member-became-observer": lambda trace: _changed_role(trace, "observe"),
    "observer-became-member": lambda trace: _changed_role(trace, "join"),
    "strict-groups-came-apart": lambda trace: any(by < 0 for by in _component_changes(trace)),
    "three-sequencers-at-once": _many_sequencers,
    "sent-by-no-member": _sent_by_a_stranger,
    "left-before-it-was-in": _left_before_it_was_in,
    "closed-with-messages-pending": _closed_with_messages_pending,
    "state-behind-the-join": _state_behind_the_join,
    "group-began-anew": lambda trace: any(
        record.anew and record.seqno for record in trace.of(GroupState)
    ),
    "message-outlived-its-sequencer": _message_outlived_its_sequencer,
    "group-deleted": lambda trace: bool(trace.of(GroupDeleted)),
    "deleted-with-messages-pending": _deleted_with_messages_pending,
    "deleted-twice-at-once": _deleted_twice_at_once,
    "volatile-given": lambda trace: bool(trace.of(GroupVolatile)),
}
"""Situations by name, read off the trace."""

GROUP_COUNTER_PROBES: dict[str, tuple[str, ...]] = {
    "group-request-forwarded": ("sequencing.forwarded",),
    "group-message-repeated": ("sequencing.repeated",),
    "waited-for-the-place-of-another": ("sequencing.waited_for_places",),
    "group-message-missing": ("sequencing.out_of_sequence",),
    "frame-repaired": ("sequencing.repairs",),
    "old-volatile-dropped": ("sequencing.dropped.old_volatile",),
    "gone-sender-dropped": ("sequencing.dropped.gone",),
    "requests-waited-for-the-window": ("sequencing.window_waits",),
    "old-request-dropped": ("sequencing.old_request",),
    "moves-planned": ("sequencing.moves_planned",),
    "groups-inherited-later": ("sequencing.inherited_later",),
    "groups-brought-together": ("sequencing.moves_planned.ties",),
}
"""Situations by name, with the counters of which one must be above zero."""
