"""Invariants 15, 16 and 17 for groups: who is given what, and what a state that is taken holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import ClassVar

from groupcore.sequencing.names import GroupId
from groupcore.sim.checkers.base import Checker, Violation, group_message, life, process_name
from groupcore.sim.checkers.group_index import GroupIndex, index_groups, is_own_join
from groupcore.sim.checkers.group_order import (
    closing_times,
    leaves_between,
    leaving_times,
    say,
)
from groupcore.sim.checkers.synchrony import ENDINGS
from groupcore.sim.trace import Lived, Record, Trace, Viewed
from groupcore.sim.trace_deletions import GroupDeleted
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupClosed,
    GroupDelivered,
    GroupEnd,
    GroupJoined,
    GroupLeft,
    GroupMid,
    GroupOwned,
    GroupProcess,
    GroupRefused,
    GroupReleased,
    GroupSent,
    GroupStamped,
    GroupState,
    group_state_step,
)
from groupcore.view import Address


def refused_messages(trace: Trace) -> set[GroupMid]:
    """The messages that were refused."""
    return {
        GroupMid(record.process, record.group, record.number)
        for record in trace.of(GroupRefused)
        if record.process is not None and record.number
    }


def living_nodes(trace: Trace) -> set[Address]:
    """The lives that are there at the end, in the primary view."""
    return {Address(end.n, end.inc) for end in trace.ends if end.primary}


@dataclass(slots=True)
class Stay:
    """A process in a group: which number it began with, and which of its own it has been given.

    `since` when; `until`: the number from which it is given nothing, None while it stays.
    """

    begun: int
    since: int = 0
    until: int | None = None
    given: set[int] = field(default_factory=set)


def stays(trace: Trace) -> dict[tuple[GroupProcess, GroupId], Stay]:
    """The last stay of each process in each group, as its node tells it."""
    found: dict[tuple[GroupProcess, GroupId], Stay] = {}
    leaving = trace.once(leaving_times)
    for (_, _, group), said in trace.once(index_groups).streams.items():
        position = 0
        here: dict[GroupProcess, Stay] = {}
        for record in said:
            if type(record) is GroupDelivered:
                position = max(position, record.seqno)
                process = record.process
                if process in here and process in record.to:
                    here[process].given.add(record.number)
                elif process in here and leaves_between(
                    leaving, process, group, here[process].since, record.t
                ):
                    here.pop(process).until = record.seqno
                continue
            if is_own_join(record):
                stay = here[record.process] = Stay(position, record.t)
                found[record.process, group] = stay
            elif isinstance(record, GroupJoined | GroupLeft | GroupState):
                position = max(position, record.seqno)
            if isinstance(record, GroupState):
                for stay in here.values():
                    stay.begun = record.seqno
            if isinstance(record, GroupLeft) and record.process in here:
                here.pop(record.process).until = record.seqno
            if isinstance(record, GroupDeleted):
                for stay in here.values():
                    stay.until = position + 1
                here.clear()
    return found


class GroupSelfDelivery(Checker):
    """15: a process that stays is given all that it sent to a group in which it stays.

    Less what was refused, and what the state that it began with holds already.
    """

    number, name = 15, "group-self-delivery"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What was sent, less what was given; that it has a number at all is invariant 25."""
        index, refused = trace.once(index_groups), trace.once(refused_messages)
        living, closed = trace.once(living_nodes), trace.once(closing_times)
        memberships = trace.once(stays)
        for mid, sent in index.sent.items():
            stay = memberships.get((sent.process, sent.group))
            if stay is None or sent.process[:2] not in living or sent.process in closed:
                continue
            seqno = index.places.get(mid)
            if sent.number in stay.given or seqno is None or seqno <= stay.begun or mid in refused:
                continue
            if stay.until is None or seqno < stay.until:
                text = (
                    f"{process_name(sent.process)} has not been given its own "
                    f"{group_message(mid)}, which has number {seqno} of group {sent.group}"
                )
                found.append(self.breach(sent.t, (sent.process[0],), text, mid))


class GroupNoZombies(Checker):
    """16: nothing from a life that is over, nothing for who has left, nothing from who is gone.

    1. After a life has ended its node and its processes say, send and number nothing.
    2. A node gives messages to those of its own processes that have joined and not left.
    3. Behind the LEAVE of a process whose node is gone there is no message of it in the group.
    """

    number, name = 16, "group-no-zombies"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Rule by rule."""
        self._scan_ended(trace, found)
        self._scan_members(trace, found)
        self._scan_gone(trace, found)

    def _scan_ended(self, trace: Trace, found: list[Violation]) -> None:
        over: dict[tuple[str, int], str] = {}
        for record in trace.records:
            if type(record) is Lived:
                if record.what in ENDINGS:
                    over[record.n, record.inc] = record.what
                continue
            if not over:
                continue
            if isinstance(record, GroupSent):
                node = record.process[:2]
            elif isinstance(
                record,
                GroupDelivered | GroupStamped | GroupJoined | GroupLeft | GroupState | GroupOwned,
            ):
                node = (record.n, record.inc)
            else:
                continue
            if node in over:
                what = type(record).__name__
                text = f"{what} of group {record.group} at {life(*node)} after its end"
                found.append(self.breach(record.t, (node[0],), f"{text} ({over[node]})"))

    def _scan_members(self, trace: Trace, found: list[Violation]) -> None:
        members: dict[GroupId, set[GroupProcess]] = {}
        closed: set[GroupProcess] = set()
        for record in trace.records:
            if type(record) is GroupDelivered:
                here = members.get(record.group, set())
                node = (record.n, record.inc)
                for process in record.to:
                    if process not in here or process in closed or process[:2] != node:
                        why = "is closed" if process in closed else "has not joined here"
                        text = (
                            f"{life(record.n, record.inc)} {say(record)} to "
                            f"{process_name(process)}, which {why}"
                        )
                        found.append(self.breach(record.t, (record.n,), text, record.mid))
            elif type(record) is GroupJoined:
                if record.process[:2] == (record.n, record.inc):
                    members.setdefault(record.group, set()).add(record.process)
            elif type(record) is GroupLeft:
                if record.process[:2] == (record.n, record.inc):
                    members.setdefault(record.group, set()).discard(record.process)
            elif type(record) is GroupDeleted:
                here = members.get(record.group, set())
                here -= {process for process in here if process[:2] == (record.n, record.inc)}
            elif type(record) is GroupClosed:
                closed.add(record.process)

    def _scan_gone(self, trace: Trace, found: list[Violation]) -> None:
        index = trace.once(index_groups)
        gone: dict[tuple[GroupProcess, GroupId], int] = {}
        for left in trace.of(GroupLeft):
            if left.gone:
                gone.setdefault((left.process, left.group), left.seqno)
        for mid, seqno in index.places.items() if gone else ():
            end = gone.get((mid.process, mid.group))
            if end is not None and seqno > end:
                text = (
                    f"{group_message(mid)} has number {seqno} of group {mid.group}, behind its "
                    f"sender's LEAVE at {end}, whose node is gone"
                )
                found.append(self.breach(0, (mid.process[0],), text, mid))


NO_VIEW = (0, 0)
"""The epoch and number of the view of who is in none."""
Beginning = tuple[GroupId, int]
"""A group, and how many times it has begun anew."""


class GroupStateTransfer(Checker):
    """17: a group's state is what its messages up to that number lead to, taken or lived through.

    An independent replayer folds the messages of each group. That the first one delivered behind a
    state is the next one is invariant 5. A group that no living member's node has a copy of has no
    state: what is numbered meanwhile is given to nobody, and who waits or joins then begins anew.
    Whatever was said before that is judged by the former beginning; so is what a node says that is
    cut off, and in a former view than the one in which the group has begun anew; behind the number
    at which it has, such a node's numbers are not those of the order. Who hears late of its own
    JOIN and LEAVE may say a beginning when others have begun behind a later number already.
    """

    number, name = 17, "group-state-transfer"
    has_archives: ClassVar[bool] = False
    """Whether a node may begin with what its own archive has: nothing, of a group that is new."""

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Fold each group once a beginning, and stop at each number that somebody has it of."""
        index = trace.once(index_groups)
        claims: dict[Beginning, dict[int, list[GroupState | GroupEnd]]] = {}
        bases: dict[Beginning, int] = {}
        begun: dict[GroupId, int] = {}
        views: dict[Address, tuple[int, int]] = {}
        since: dict[Beginning, tuple[int, int]] = {}
        copies = _Copies()
        for record in trace.records:
            if type(record) is Viewed:
                views[Address(record.n, record.inc)] = (record.epoch, record.number)
            if type(record) is GroupState and record.anew and _is_past(record, begun, bases):
                past = (record.group, -len(claims) - 1)
                bases[past], claims[past] = record.seqno, {record.seqno: [record]}
                copies.learn(record)
                continue
            if type(record) is GroupState and record.anew:
                begun[record.group] = begun.get(record.group, 0) + 1
                bases[record.group, begun[record.group]] = record.seqno
                view = views.get(Address(record.n, record.inc), NO_VIEW)
                since[record.group, begun[record.group]] = view
                others = [life(*other) for other in copies.others(record)]
                if others and not self.has_archives:
                    text = (
                        f"{life(record.n, record.inc)} begins group {record.group} anew behind "
                        f"number {record.seqno}, though {' and '.join(others)} has its state"
                    )
                    found.append(self.breach(record.t, (record.n,), text))
            if isinstance(record, GroupState | GroupEnd) and record.sh:
                times = begun.get(record.group, 0)
                view = views.get(Address(record.n, record.inc), NO_VIEW)
                is_cut_off = bool(times) and view < since[record.group, times]
                if is_cut_off and record.seqno > bases[record.group, times]:
                    copies.learn(record)
                    continue  # those numbers are the others' order, not the one that this node has
                while times and view < since[record.group, times]:
                    times -= 1
                beginning = (record.group, times)
                claims.setdefault(beginning, {}).setdefault(record.seqno, []).append(record)
            copies.learn(record)
        for beginning, places in claims.items():
            self._fold(index, beginning[0], bases.get(beginning, 0), places, found)

    def _fold(
        self,
        index: GroupIndex,
        group: GroupId,
        base: int,
        claims: dict[int, list[GroupState | GroupEnd]],
        found: list[Violation],
    ) -> None:
        digest = blake2b(digest_size=8)
        self._compare(claims.get(base, []), digest.hexdigest(), found)
        for seqno in range(base + 1, max(claims) + 1):
            content = index.contents.get((group, seqno))
            if content is None:
                return  # nobody delivered this one: invariant 5 tells of it
            process, number = content
            if number > 0:
                sent = index.sent.get(GroupMid(process, group, number))
                digest.update(group_state_step(process, number, 0 if sent is None else sent.h))
            if seqno in claims:
                self._compare(claims[seqno], digest.hexdigest(), found)

    def _compare(
        self, claims: list[GroupState | GroupEnd], right: str, found: list[Violation]
    ) -> None:
        for claim in claims:
            if claim.sh == right:
                continue
            how = "takes" if isinstance(claim, GroupState) else "ends with"
            text = (
                f"{life(claim.n, claim.inc)} {how} the state {claim.sh} at number {claim.seqno} of "
                f"group {claim.group}; its messages lead to {right}"
            )
            found.append(self.breach(claim.t, (claim.n,), text))


def _is_past(record: GroupState, begun: dict[GroupId, int], bases: dict[Beginning, int]) -> bool:
    """Whether the group has begun anew behind a later number already."""
    newest = begun.get(record.group, 0)
    return newest > 0 and record.seqno < bases[record.group, newest]


class _Copies:
    """Which nodes have a copy of which groups, as far as a trace has got.

    One that has no member any more, by what has been numbered, drops its copy as soon as it hears.
    """

    def __init__(self) -> None:
        self._views: dict[Address, tuple[Address, ...]] = {}
        self._copies: dict[GroupId, dict[Address, None]] = {}
        self._members: dict[GroupId, set[GroupProcess]] = {}

    def others(self, taker: GroupState) -> list[Address]:
        """The nodes in one view with the taker that have a copy of its group, and a member."""
        node = Address(taker.n, taker.inc)
        inside = {process[:2] for process in self._members.get(taker.group, ())}
        return [
            other
            for other in self._copies.get(taker.group, ())
            if other != node
            and other in inside
            and other in self._views.get(node, ())
            and node in self._views.get(other, ())  # else it is cut off, and will be excluded
        ]

    def learn(self, record: Record) -> None:
        """What a record of the trace changes."""
        if type(record) is GroupStamped:
            members = self._members.setdefault(record.group, set())
            if record.number == JOIN:
                members.add(record.process)
            elif record.number == LEAVE:
                members.discard(record.process)
        elif type(record) is GroupState:
            self._copies.setdefault(record.group, {})[Address(record.n, record.inc)] = None
        elif type(record) is Viewed:
            self._views[Address(record.n, record.inc)] = record.members
        elif type(record) is GroupReleased:
            self._copies.get(record.group, {}).pop(Address(record.n, record.inc), None)
        elif type(record) is Lived and record.what in ENDINGS:
            for have in self._copies.values():
                have.pop(Address(record.n, record.inc), None)
