"""One life of a node's processes and their application: what they have asked for and been told.

The application keeps of each group that the node is in the list of its messages. Everything that
the service says is written into the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgpack import packb, unpackb

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
    StateWanted,
    Volatile,
)
from groupcore.sequencing.names import GroupId, MessageId, Order, Process
from groupcore.sim.clock import Clock
from groupcore.sim.groups.messages import Content, read
from groupcore.sim.groups.observer import ObservedService
from groupcore.sim.groups.replica import Message, Replica, decode
from groupcore.sim.messages import content_hash
from groupcore.sim.trace import Trace
from groupcore.sim.trace_deletions import GroupDeleted
from groupcore.sim.trace_groups import (
    GroupAccepted,
    GroupCreated,
    GroupDelivered,
    GroupEnd,
    GroupEnrolled,
    GroupHolds,
    GroupJoined,
    GroupLeft,
    GroupProcess,
    GroupRefused,
    GroupReleased,
    GroupSaved,
    GroupState,
    GroupVolatile,
    GroupVolatileSent,
    flatten_process,
)
from groupcore.view import Address

ENDLESS = 1 << 62
"""A number that no group comes to."""
Place = tuple[Process, GroupId]
"""A process in a group."""
Wish = int | Place
"""A group of the schedule to be found, or a place to be taken or given up."""
Answer = Callable[[Content, int, Replica], None]
"""Called with a message that asks for answers, its hash, and the group's replica."""


class Desk(Protocol):
    """What a process does with the object in the guarded group, beside what all groups have.

    `installed`: the object's part of the state that has come last.
    """

    installed: bytes | None

    @property
    def group(self) -> GroupId:
        """The guarded group; 0 while it is not known."""

    def hear(self, event: ServiceEvent) -> None:
        """What the service says of the group."""

    def copy_state(self) -> bytes | None:
        """The object's state now."""


class Life:
    """`processes` by seat. `ids`: the groups, by their number in the schedule, that are known here.

    `wishes`: what was asked for and has not come: groups of the schedule, places to be taken or
    given up; `asked` has them by request number, `refused` those that may be asked for again.
    `inside`: who is in what; `observing`: whether that was asked for to observe. `sent`,
    `accepted`: the own number of the last message from each place, and `fleeting` of the last one
    to a volatile group; `numbered`: the last number of each group that somebody here was told.
    `stored`: what of the service's log is safe and has to be told. `deleting`: requests to delete
    groups that have no answer.
    """

    def __init__(
        self,
        address: Address,
        service: ObservedService,
        clock: Clock,
        trace: Trace,
        answer: Answer,
    ) -> None:
        self.address = address
        self.service = service
        self.processes: list[Process] = []
        self.ids: dict[int, GroupId] = {}
        self.volatile: set[GroupId] = set()
        self.wishes: set[Wish] = set()
        self.asked: dict[int, Wish] = {}
        self.refused: list[Wish] = []
        self.deleting: set[int] = set()
        self.inside: set[Place] = set()
        self.observing: dict[Place, bool] = {}
        self.replicas: dict[GroupId, Replica] = {}
        self.sent: dict[Place, int] = {}
        self.fleeting: dict[Place, int] = {}
        self.accepted: dict[Place, int] = {}
        self.numbered: dict[GroupId, int] = {}
        self.desk: Desk | None = None
        self.stored = 0
        self._clock = clock
        self._trace = trace
        self._answer = answer

    def hear(self, event: ServiceEvent) -> None:
        """Something that the service says."""
        match event:
            case Delivered():
                self._deliver(event)
            case Accepted(group, message, seqno):
                self._accept(group, message, seqno)
            case Volatile(group, process, payload):
                self._give_volatile(group, flatten_process(process), payload)
            case Saved(group, message):
                flat = flatten_process(message.process)
                self._trace.add(GroupSaved(self._now, flat, group, message.number))
            case Created(request, group, order):
                index = self.asked.pop(request, None)
                assert isinstance(index, int), f"request {request} is none for a group: {index}"
                self.wishes.discard(index)
                self.ids[index] = group
                if order is Order.VOLATILE:
                    self.volatile.add(group)
                self._trace.add(GroupCreated(self._now, *self.address, group, order))
            case Joined(group, seqno, process):
                self._join(group, seqno, process)
            case Enrolled(group, seqno, process):
                self._enrol(group, seqno, process)
                flat = flatten_process(process)
                self._trace.add(GroupEnrolled(self._now, *self.address, group, seqno, flat))
            case Departed(group, seqno, process, gone):
                self._depart(group, seqno, process, gone)
            case StateInstalled(group, seqno, state):
                self._install(group, seqno, state)
            case StateWanted(token, group):
                self.service.give_state(token, self._copy_state(group))
            case Released(group):
                self.replicas.pop(group, None)
                self._trace.add(GroupReleased(self._now, *self.address, group))
            case Deleted(group, request):
                self._delete(group, request)
            case Refused(request, code):
                self.deleting.discard(request)
                if request in self.asked:
                    self.refused.append(self.asked.pop(request))
                self._trace.add(GroupRefused(self._now, *self.address, request, code))
        if self.desk is not None and getattr(event, "group", 0) == self.desk.group:
            self.desk.hear(event)

    def close(self, process: Process) -> None:
        """A process ends: nothing is expected of it or for it any more."""
        self.inside = {place for place in self.inside if place[0] != process}
        for table in (self.sent, self.accepted):
            for place in [place for place in table if place[0] == process]:
                del table[place]
        for wish in [wish for wish in self.wishes if not isinstance(wish, int)]:
            if wish[0] == process:
                self._fulfilled(wish)

    def hand_over_volatile(
        self, process: Process, group: GroupId, payload: bytes, number: int, now: float
    ) -> None:
        """A process sends a message that may be lost."""
        self.fleeting[process, group] = number
        flat = flatten_process(process)
        h = content_hash(payload)
        self._trace.add(GroupVolatileSent(self._now, flat, group, number, h))
        self.service.send_volatile(process, group, payload, now)

    def groups_of(self, process: Process) -> set[GroupId]:
        """The groups that a process is in."""
        return {group for member, group in self.inside if member == process}

    def observes(self, process: Process, group: GroupId) -> bool:
        """Whether the process is in the group, or was to be, as an observer."""
        return self.observing.get((process, group), False)

    def unaccepted(self) -> list[Place]:
        """From where messages were sent that have no number yet."""
        return [place for place, n in self.sent.items() if n > self.accepted.get(place, 0)]

    def conclude(self, whole: bool) -> None:
        """Write down what is here at the end; `whole`: every message, of archives too."""
        for group, replica in sorted(self.replicas.items()):
            end = GroupEnd(self._now, *self.address, group, replica.seqno, replica.fingerprint())
            self._trace.add(end)
            if whole:
                messages = tuple((process, number) for process, number, _ in replica.messages)
                self._trace.add(GroupHolds(self._now, *self.address, group, messages))
        archive = self.service.plane.archive if whole else None
        for group in sorted(archive.groups if archive is not None else ()):
            archived = tuple((process, number) for process, number, _ in self._archived(group))
            self._trace.add(GroupHolds(self._now, *self.address, group, archived))

    def _archived(self, group: GroupId) -> list[Message]:
        """What a member would begin with that joined here now, if the node keeps the group."""
        archive = self.service.plane.archive
        replica = Replica()
        assert archive is not None
        for event in archive.get(group).events(group, ENDLESS, self.address):
            if isinstance(event, StateInstalled) and event.state is not None:
                replica = decode(event.state)
            elif isinstance(event, Delivered):
                process = flatten_process(event.process)
                for number, payload in enumerate(event.payloads, event.first):
                    replica.messages.append((process, number, content_hash(payload)))
        return replica.messages

    # --- what is said ---------------------------------------------------------------------------

    @property
    def _now(self) -> int:
        return self._clock.now_ns

    def _deliver(self, event: Delivered) -> None:
        group, process = event.group, flatten_process(event.process)
        replica = self.replicas.setdefault(group, Replica())
        to = tuple(flatten_process(own) for own in self.processes if (own, group) in self.inside)
        for offset, payload in enumerate(event.payloads):
            content, h, number = read(payload), content_hash(payload), event.first + offset
            replica.seqno = event.seqno + offset
            replica.messages.append((process, number, h))
            self._trace.add(
                GroupDelivered(
                    self._now, *self.address, group, replica.seqno, process, number, h, to
                )
            )
            if content.depth > 0:
                self._answer(content, h, replica)

    def _give_volatile(self, group: GroupId, process: GroupProcess, payload: bytes) -> None:
        to = tuple(flatten_process(own) for own in self.processes if (own, group) in self.inside)
        number, h = read(payload).number, content_hash(payload)
        self._trace.add(GroupVolatile(self._now, *self.address, group, process, number, h, to))

    def _accept(self, group: GroupId, message: MessageId, seqno: int) -> None:
        process, number = message
        self.numbered[group] = max(seqno, self.numbered.get(group, 0))
        if process in self.processes:
            place = (process, group)
            self.accepted[place] = max(number, self.accepted.get(place, 0))
        flat = flatten_process(process)
        self._trace.add(GroupAccepted(self._now, flat, group, number, seqno))

    def _join(self, group: GroupId, seqno: int, process: Process) -> None:
        if process.node != self.address:
            self._enrol(group, seqno, process)
        self._trace.add(
            GroupJoined(self._now, *self.address, group, seqno, flatten_process(process))
        )
        if process in self.processes:
            self.inside.add((process, group))
            self._fulfilled((process, group))

    def _enrol(self, group: GroupId, seqno: int, process: Process) -> None:
        """The place of a JOIN."""
        replica = self.replicas.setdefault(group, Replica())
        replica.seqno = max(replica.seqno, seqno)
        replica.members.add(flatten_process(process))

    def _depart(self, group: GroupId, seqno: int, process: Process, gone: bool) -> None:
        replica = self.replicas.get(group)
        if replica is not None:  # else it is an answer only: there is no state of the group here
            replica.seqno = max(replica.seqno, seqno)
            replica.members.discard(flatten_process(process))
        self._trace.add(
            GroupLeft(self._now, *self.address, group, seqno, flatten_process(process), gone)
        )
        self.inside.discard((process, group))
        self._fulfilled((process, group))

    def _delete(self, group: GroupId, request: int) -> None:
        """The group is no more; who still wants one of its name finds another one."""
        self.deleting.discard(request)
        self._trace.add(GroupDeleted(self._now, *self.address, group, request))
        self.ids = {index: known for index, known in self.ids.items() if known != group}
        self.inside = {place for place in self.inside if place[1] != group}
        for table in (self.sent, self.accepted):
            for place in [place for place in table if place[1] == group]:
                del table[place]
        for wish in [wish for wish in self.wishes if not isinstance(wish, int)]:
            if wish[1] == group:
                self._fulfilled(wish)
        self.numbered.pop(group, None)
        self.replicas.pop(group, None)

    def _fulfilled(self, wish: Wish) -> None:
        self.wishes.discard(wish)
        for request in [request for request, asked in self.asked.items() if asked == wish]:
            del self.asked[request]

    def _copy_state(self, group: GroupId) -> bytes:
        copied = self.replicas[group].encode()
        if self.desk is None or group != self.desk.group:
            return copied
        both: bytes = packb([copied, self.desk.copy_state()])
        return both

    def _install(self, group: GroupId, seqno: int, state: bytes | None) -> None:
        if self.desk is not None and group == self.desk.group and state is not None:
            state, self.desk.installed = unpackb(state)
        replica = Replica() if state is None else decode(state)
        replica.seqno = seqno
        self.replicas[group] = replica
        sh = replica.fingerprint()
        self._trace.add(GroupState(self._now, *self.address, group, seqno, sh, state is None))
