"""Writes down what the service of a node with documents is asked for and says, as of any group.

So what is judged of groups is judged here, too: the program over the service sends what documents
need, and nobody has told it to.
"""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.sequencing.events import (
    Accepted,
    Created,
    Deleted,
    Delivered,
    Departed,
    Enrolled,
    Joined,
    Refused,
    Released,
    Saved,
    ServiceEvent,
    StateInstalled,
    Volatile,
)
from groupcore.sequencing.names import GroupId, Process
from groupcore.sim.clock import Clock
from groupcore.sim.messages import content_hash
from groupcore.sim.trace import Trace
from groupcore.sim.trace_deletions import GroupDeleted
from groupcore.sim.trace_groups import (
    GroupAccepted,
    GroupAsked,
    GroupClosed,
    GroupCreated,
    GroupDelivered,
    GroupEnrolled,
    GroupJoined,
    GroupLeft,
    GroupProcess,
    GroupRefused,
    GroupReleased,
    GroupSaved,
    GroupSent,
    GroupState,
    flatten_process,
)
from groupcore.view import Address


class Scribe:
    """Of one life of a node; `inside`: which of its processes are in which groups."""

    def __init__(self, address: Address, trace: Trace, clock: Clock) -> None:
        self._address = address
        self._trace = trace
        self._clock = clock
        self._inside: set[tuple[Process, GroupId]] = set()

    @property
    def _now(self) -> int:
        return self._clock.now_ns

    # --- what is asked for ----------------------------------------------------------------------

    def asks(self, request: int, what: str, process: Process, group: GroupId) -> None:
        """A process asks to join or to leave; who leaves is given nothing from now on."""
        if what == "leave":
            self._inside.discard((process, group))
        flat = flatten_process(process)
        self._trace.add(GroupAsked(self._now, *self._address, request, what, flat, group))

    def sends(
        self, process: Process, group: GroupId, first: int, payloads: Sequence[bytes]
    ) -> None:
        """A process hands messages over, the first of them with this number of its own."""
        flat = flatten_process(process)
        for number, payload in enumerate(payloads, first):
            self._trace.add(GroupSent(self._now, flat, group, number, content_hash(payload)))

    def closes(self, process: Process) -> None:
        """A process ends."""
        self._inside = {place for place in self._inside if place[0] != process}
        self._trace.add(GroupClosed(self._now, flatten_process(process)))

    # --- what is said ---------------------------------------------------------------------------

    def hear(self, event: ServiceEvent) -> None:
        """Something that the service says."""
        now, me, trace = self._now, self._address, self._trace
        match event:
            case Delivered():
                self._deliver(event)
            case Accepted(group, message, seqno):
                flat = flatten_process(message.process)
                trace.add(GroupAccepted(now, flat, group, message.number, seqno))
            case Saved(group, message):
                flat = flatten_process(message.process)
                trace.add(GroupSaved(now, flat, group, message.number))
            case Created(_, group, order):
                trace.add(GroupCreated(now, *me, group, order))
            case Joined(group, seqno, process):
                if process.node == me:
                    self._inside.add((process, group))
                trace.add(GroupJoined(now, *me, group, seqno, flatten_process(process)))
            case Departed(group, seqno, process, gone):
                self._inside.discard((process, group))
                trace.add(GroupLeft(now, *me, group, seqno, flatten_process(process), gone))
            case StateInstalled(group, seqno, state):
                trace.add(GroupState(now, *me, group, seqno, "", state is None))
            case Released(group):
                trace.add(GroupReleased(now, *me, group))
            case Deleted(group, request):
                self._inside = {place for place in self._inside if place[1] != group}
                trace.add(GroupDeleted(now, *me, group, request))
            case Refused(request, code):
                trace.add(GroupRefused(now, *me, request, code))
            case Enrolled(group, seqno, process):
                trace.add(GroupEnrolled(now, *me, group, seqno, flatten_process(process)))
            case Volatile():
                pass  # it has no number

    def _deliver(self, event: Delivered) -> None:
        group, flat = event.group, flatten_process(event.process)
        to = self._hosted(group)
        for offset, payload in enumerate(event.payloads):
            seqno, number = event.seqno + offset, event.first + offset
            h = content_hash(payload)
            self._trace.add(
                GroupDelivered(self._now, *self._address, group, seqno, flat, number, h, to)
            )

    def _hosted(self, group: GroupId) -> tuple[GroupProcess, ...]:
        return tuple(sorted(flatten_process(p) for p, inside in self._inside if inside == group))
