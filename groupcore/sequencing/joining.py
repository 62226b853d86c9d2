"""Joining and leaving: a number in the group's sequence, the state, and when a process is in.

Idea. JOIN goes to the sequencer until the record shows it. A node that delivers the group already
gives the process what it has; otherwise it takes the state of a place at or behind the JOIN from a
node that has it. The process is in the group when nothing that it has been given elsewhere could
still be missing here, and nothing that the state depends on is missing elsewhere.

Source. Design, 4.11 and the joiner in 4.4; paper, section 3.2 (virtual synchrony of JOIN).

Invariants.
  I1  Between the JOIN and the state no message is lost: what follows the JOIN is queued.
  I2  A process is told that it is in only when its groups' states satisfy each other's contexts.
  I3  The last process that leaves lets the state go, when one that joins meanwhile has it.
  I4  A group begins anew at the node whose member has joined first, when all others with members
      have said that they wait for its state, and all that have left behind its JOIN, or that of a
      member whom it has found, that they have none; who waits for it takes it from nobody else from
      then on, as long as it is the first.
  I5  Who attends is given what its node delivers of the group, under CT2 like a member, and takes
      no number: nobody else hears of it. It does so as long as a process of its node is a member.
"""

from __future__ import annotations

from groupcore.context import encode_context
from groupcore.sequencing.beginning import begin_archived
from groupcore.sequencing.commands import EnterStrict, ExitStrict, ObserveStrict
from groupcore.sequencing.events import (
    Departed,
    Joined,
    Refused,
    Released,
    StateInstalled,
    StateWanted,
)
from groupcore.sequencing.group_state import pack_group_state, unpack_group_state
from groupcore.sequencing.handing import Handing
from groupcore.sequencing.headers import Reach, StateRequest
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.receiver import Receiver
from groupcore.sequencing.record import GONE, JOINED, Hold, Record
from groupcore.sequencing.resuming import Held
from groupcore.sequencing.sender import Sender
from groupcore.sequencing.states import Copy, States
from groupcore.sequencing.wish import Wish
from groupcore.sequencing.wishes import Key, Wishes
from groupcore.view import Address


class Joining:
    """The wishes of this node's processes. `now`: when this turn, or packet, is."""

    def __init__(self, plane: Plane, receiver: Receiver, sender: Sender) -> None:
        self._plane = plane
        self._receiver = receiver
        self._sender = sender
        self.states = States(plane, self._copy_state, plane.place_of)
        self.copy_node_state = self._no_node_state
        self.handing = Handing(plane, self.states)
        self._leaders: dict[GroupId, Address] = {}
        self._left: dict[GroupId, dict[Address, int]] = {}
        self._wishes = Wishes(plane, self._is_awaited)
        self._settling: dict[Key, Wish] = {}
        self._ready: dict[Key, None] = {}
        self._wanted: dict[int, tuple[int, bytes]] = {}
        self._kept: dict[GroupId, Record] = {}
        self._attending: dict[GroupId, dict[Process, None]] = {}
        self.now = 0.0
        self._seen_progress = -1

    # --- wishes ---------------------------------------------------------------------------------

    def join(self, request: int, process: Process, group: GroupId, observes: bool) -> None:
        """JOIN-GROUP; `observes`: a strict group's overlaps are not to count the process."""
        key = (process, group)
        record = self._open_to(request, process, group)
        if record is not None:
            strict = record.order is Order.STRICT
            self._wishes.add(wish := Wish(request, process, group, False, not strict))
            hold = record.hold
            if strict:
                kind = ObserveStrict if observes else EnterStrict
                self._plane.propose(kind(request, group, process))
            elif hold is not None and not hold.waiting_for_state and self._stays(record):
                wish.recorded = hold.seqno + 1
                self._settling[key] = wish
                self._ready[key] = None  # the group is here: nobody need be waited for

    def _open_to(self, request: int, process: Process, group: GroupId) -> Record | None:
        """The group that a process asks to enter; None where that is refused at once."""
        record = self._plane.records.get(group)
        if self._sender.open_local(process) is None:
            self.refuse(request, "left", f"{process} is closed; open a process first")
        elif record is None:
            self.refuse(request, "unknown_group", f"there is no group {group}; create it first")
        elif self._is_known(process, record):
            self.refuse(request, "already_a_member", f"{process} is in group {group}, or joins it")
        else:
            return record
        return None

    def _is_known(self, process: Process, record: Record) -> bool:
        """Whether the process is in the group, or wishes to be, or to be out of it."""
        key = (process, record.group)
        attends = process in self._attending.get(record.group, ())
        return attends or key in self._wishes or key in self._settling or process in record.members

    def attend(self, request: int, process: Process, group: GroupId) -> None:
        """Be given what this node delivers of the group, and be no member of it (I5)."""
        record = self._open_to(request, process, group)
        if record is None:
            return
        if record.order is Order.STRICT:
            text = f"group {group} is strict: processes count there, so {process} has to join it"
            self.refuse(request, "bad_order", text)
        elif record.hold is None or record.hold.waiting_for_state or not self._stays(record):
            text = f"no process of this node is in group {group}; have one join it first"
            self.refuse(request, "not_a_member", text)
        else:
            wish = Wish(request, process, group, False, True, recorded=record.hold.seqno + 1)
            self._attending.setdefault(group, {})[process] = None
            self._settling[process, group] = wish
            self._ready[process, group] = None
            self._plane.progress += 1  # `settle` looks at it in this turn

    def attending(self) -> dict[GroupId, list[int]]:
        """The numbers of this node's processes that attend, by group."""
        return {group: sorted(one.number for one in who) for group, who in self._attending.items()}

    def _part(self, process: Process, record: Record) -> None:
        """The process attends no more: it is told so at once, as nobody else has to be."""
        group = record.group
        attending = self._attending[group]
        del attending[process]
        if not attending:
            del self._attending[group]
        wish = self._settling.pop((process, group), None)
        if wish is not None:
            self.refuse(wish.request, "left", f"{process} parts from group {group} before it is in")
        local = self._sender.locals.get(process)
        if local is not None:
            self._sender.leave(local, group, record)
        if record.hold is not None:
            self._plane.take_out(group, record.hold, process)
        self._plane.events.append(Departed(group, 0, process, False))

    def leave(self, request: int, process: Process, group: GroupId) -> None:
        """LEAVE-GROUP; what is delivered from now on is not the process's any more."""
        key = (process, group)
        record = self._plane.records.get(group)
        if record is not None and process in self._attending.get(group, ()):
            self._part(process, record)
            return
        if record is None:
            self.refuse(request, "unknown_group", f"there is no group {group}")
            return
        wish = self._wishes.get(key)
        if wish is None and process not in record.members and key not in self._settling:
            self.refuse(request, "not_a_member", f"{process} is not in group {group}")
            return
        local = self._sender.locals.get(process)
        was_in = local is not None and group in local.groups
        if wish is not None and not (wish.leaving or was_in):
            self.refuse(wish.request, "left", f"{process} leaves group {group} before it is in")
        if local is not None:
            self._sender.leave(local, group, record)
        if record.hold is not None:
            self._plane.take_out(group, record.hold, process)
        self._settling.pop(key, None)
        self._wishes.add(Wish(request, process, group, True, True, was_in=was_in))

    def allow(self, process: Process, group: GroupId, request: int) -> None:
        """S2 holds with this process in the group by this request: JOIN may take its number."""
        self._wishes.allow((process, group), request)

    def refuse_entry(self, process: Process, group: GroupId, code: str, detail: str) -> None:
        """The directory, or the sequencer, says no."""
        wish = self._wishes.remove((process, group))
        if wish is not None:
            self.refuse(wish.request, code, detail)

    def refuse_request(self, request: int, code: str, detail: str) -> bool:
        """The directory refuses a request; whether it was one of these."""
        wish = self._wishes.of_request(request)
        if wish is not None:
            self.refuse_entry(wish.process, wish.group, code, detail)
        return wish is not None

    def groups_of(self, process: Process) -> list[GroupId]:
        """The groups that the process is in, or is about to be in as its JOIN has its number."""
        local = self._sender.locals.get(process)
        inside = set(local.groups) if local is not None else set()
        return sorted(inside | {group for one, group in self._settling if one == process})

    def close(self, process: Process) -> None:
        """The process ends: what it still wanted is not wanted any more."""
        for key in [key for key in self._settling if key[0] == process]:
            del self._settling[key]
        for wish in self._wishes.of_process(process):
            if not wish.leaving:
                self.refuse_ended(wish.request, process, wish.group)
                self._leave_again(process, wish.group)

    def _leave_again(self, process: Process, group: GroupId) -> None:
        """What the process has asked for, or come into, is not wanted any more."""
        self._wishes.add(Wish(self._plane.request(), process, group, True, True))

    def delete(self, record: Record) -> None:
        """The group is no more."""
        group = record.group
        self._left.pop(group, None)
        self._attending.pop(group, None)
        for wish in self._wishes.of_group(group):
            self._wishes.remove((wish.process, group))
        for key in [key for key in self._settling if key[1] == group]:
            del self._settling[key]
        for local in self._sender.locals.values():
            if group in local.groups:
                self._sender.leave(local, group, record)
        self._sender.forget_group(group)
        held = record.hold is not None
        self._receiver.forget(record)
        if held:
            self.states.forget(group)
            self._plane.tell(Released(group))

    def on_refusal(self, request: int, code: str, detail: str) -> None:
        """A sequencer refuses a request; who is not in a group has left it."""
        wish = self._wishes.of_request(request)
        if wish is None:
            return
        key = (wish.process, wish.group)
        self._wishes.remove(key)
        self._settling.pop(key, None)
        record = self._plane.records.get(wish.group)
        if record is not None:
            if record.order is Order.STRICT:
                self._plane.propose(ExitStrict(record.group, wish.process))
            self.let_go(record)
        if wish.was_in:  # it had been told so before its JOIN had a number
            self._plane.events.append(Departed(wish.group, 0, wish.process, False))
        elif wish.process in self._sender.locals:
            self.refuse(request, code, detail)

    def refuse_ended(self, request: int, process: Process, group: GroupId) -> None:
        """The process has ended before it was in."""
        self.refuse(request, "left", f"{process} ends before it is in group {group}")

    def refuse(self, request: int, code: str, detail: str) -> None:
        """Nothing comes of the request."""
        self._plane.counters[f"refused.{code}"] += 1
        self._plane.events.append(Refused(request, code, detail))

    def ask(self, now: float) -> None:
        """Send the requests that are due; they are repeated until the record shows them."""
        self.now = now
        for record in list(self._kept.values()):
            self.let_go(record)
        self._wishes.ask(now)

    def _is_awaited(self, group: GroupId, now: float) -> bool:
        """Whether a process joins, here or where the state is not yet: it is not let go (I3)."""
        record = self._plane.records.get(group)
        if record and self.handing.owes(record, now) and not self._stays(record):
            return True
        return any(not wish.leaving for wish in self._wishes.of_group(group))

    def hurry(self, groups: tuple[GroupId, ...]) -> None:
        """The groups have another sequencer: ask it at once."""
        self._wishes.hurry(groups)

    def wanted(self) -> list[GroupId]:
        """The groups that processes wait to be in, or out of."""
        return list(self._wishes.groups())

    def is_put_off(self) -> bool:
        """Whether something is looked at in every turn."""
        return bool(self._kept) or self._wishes.is_put_off()

    def next_wake(self) -> float | None:
        """When a request is to be repeated."""
        return self._wishes.next_wake()

    # --- the record shows it --------------------------------------------------------------------

    def on_change(
        self, record: Record, process: Process, what: int, seqno: int, now: float
    ) -> None:
        """A membership change has been recorded, of a process of this node or another."""
        self.now = now
        if process.node != self._plane.me:
            if what == JOINED:
                self.handing.on_joined(record, process.node, now)
            else:
                self._note_left(record, process.node, seqno)
            return
        key = (process, record.group)
        wish = self._wishes.get(key)
        if what == JOINED:
            if wish is None or wish.leaving or process not in self._sender.locals:
                if wish is None:  # it has gone meanwhile
                    self._leave_again(process, record.group)
                return
            self._wishes.remove(key)
            if wish.recorded == 0:
                wish.recorded = seqno
                self._settling[key] = wish
            if record.hold is None:
                self._begin(record, seqno)
            if not (record.hold and record.hold.waiting_for_state):
                self._ready[key] = None
            return
        if wish is not None and wish.leaving:
            self._wishes.remove(key)
        self._settling.pop(key, None)
        if record.order is Order.STRICT:
            self._plane.propose(ExitStrict(record.group, process))
        hold = record.hold
        if hold is None or (hold.waiting_for_state and self._plane.has_no_member(record)):
            # The group's order is not told here; with its state the LEAVE is told at its place.
            self._plane.events.append(Departed(record.group, seqno, process, what == GONE))
            self.let_go(record)

    def _note_left(self, record: Record, node: Address, seqno: int) -> None:
        """Keep in mind who has left behind the JOIN of a present member: that may have no state."""
        first = min(record.members.values(), default=seqno)
        left = {one: at for one, at in self._left.pop(record.group, {}).items() if at > first}
        if seqno > first:
            left[node] = seqno
        if left:
            self._left[record.group] = left

    def _begin(self, record: Record, seqno: int) -> None:
        """The first process of this node: queue what follows, take the state (I1)."""
        plane = self._plane
        record.hold = Hold(seqno - 1, waiting_for_state=True)
        self._leaders.pop(record.group, None)
        before = plane.member_nodes(record)  # who leaves from now on has the state, and keeps it
        first = min(record.members.values(), default=seqno)
        left_before = self._left.get(record.group, {})
        before = before | {one: at for one, at in left_before.items() if at > first}
        if plane.archive is not None:
            begin_archived(record, record.hold, seqno, plane.archive, plane)
            self._receiver.apply_queue(record)
            return
        if not left_before and all(process.node == plane.me for process in record.members):
            self._install(record, seqno, None)  # nobody can have had a state that others took
            return

        def givers() -> dict[Address, int]:
            nodes = plane.member_nodes(record)
            leader = self._leaders.get(record.group)
            if leader is not None and leader == next(iter(nodes), None):
                return {leader: nodes[leader]}
            self._leaders.pop(record.group, None)
            left = dict.fromkeys((one for one in before if plane.in_view(one)), seqno)
            nodes = nodes | {one: place for one, place in left.items() if one not in nodes}
            nodes.pop(plane.me, None)
            return nodes

        def may_begin() -> bool:
            staying = plane.member_nodes(record, self._wishes.leaving(record.group))
            return next(iter(staying), None) == plane.me

        def done(state: bytes | None) -> None:
            self._install(record, seqno, state)

        self.states.take(record.group, seqno, (), givers, may_begin, done)

    def _install(self, record: Record, joined_at: int, state: bytes | None) -> None:
        hold = record.hold
        if hold is None:
            return
        if state is None:
            # Nobody else has it: what there is begins here.
            hold.seqno = max(hold.seqno, joined_at - 1)
            self._plane.tell(StateInstalled(record.group, hold.seqno, None))
        else:
            hold.seqno, hold.context, content = unpack_group_state(state)
            self._plane.tell(StateInstalled(record.group, hold.seqno, content))
        self.handing.on_taken(record, joined_at, self.now)
        self._receiver.apply_queue(record)
        self._look_at(record)

    def _look_at(self, record: Record) -> None:
        """The group's state is here: its members may be in."""
        for process in record.members:
            key = (process, record.group)
            if key in self._settling:
                self._ready[key] = None

    def _stays(self, record: Record) -> bool:
        """Whether a process of this node is a member and does not leave: the state stays here."""
        me = self._plane.me
        return any(
            process.node == me and (process, record.group) not in self._wishes
            for process in record.members
        )

    def let_go(self, record: Record) -> None:
        """A member of this node has gone: drop the state if it was the last one (I3)."""
        self._kept.pop(record.group, None)
        if record.hold is None or not self._plane.has_no_member(record):
            return
        if not record.hold.waiting_for_state and self.handing.owes(record, self.now):
            self._kept[record.group] = record
            return
        for process in list(self._attending.get(record.group, ())):
            self._part(process, record)
        self.states.forget(record.group)
        self._receiver.drop(record)
        self._plane.tell(Released(record.group))

    # --- in -------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Tell the processes that are in by now (I2); looked at when something has moved."""
        if not self._ready or self._plane.progress == self._seen_progress:
            return
        self._seen_progress = self._plane.progress
        for key in list(self._ready):
            wish = self._settling.get(key)
            record = self._plane.records.get(key[1])
            local = self._sender.locals.get(key[0])
            if wish is None or record is None or local is None:
                del self._ready[key]
                self._settling.pop(key, None)
            elif self._is_settled(record, wish, local.groups):
                del self._ready[key], self._settling[key]
                hold = record.hold
                assert hold is not None
                hold.local[wish.process] = wish.recorded
                local.groups[wish.group] = None
                self._plane.progress += 1
                self._plane.tell(Joined(wish.group, wish.recorded, wish.process))

    def _is_settled(self, record: Record, wish: Wish, groups: dict[GroupId, None]) -> bool:
        hold = record.hold
        if hold is None or hold.waiting_for_state or hold.queue or record.waiting:
            return False
        if hold.seqno < wish.recorded - 1:
            return False

        def concerns(other: Record) -> bool:
            return other.group in groups

        return self._plane.settled(hold.context, concerns)

    # --- giving ---------------------------------------------------------------------------------

    def _copy_state(self, token: int, node: Address, request: StateRequest) -> Copy:
        group = request.group
        if group == 0:
            held = Held(request.held, request.held_to)
            return self.copy_node_state(token, request.bases, held)
        record = self._plane.records.get(group)
        if record is None:
            return Copy.TAKING  # for all that it knows: it has not heard of the group
        hold = record.hold
        if hold is None:
            return Copy.NONE if record.seqno >= request.least else Copy.LATER
        if hold.waiting_for_state:
            return self._await(record, node)
        if hold.seqno < request.least:
            return Copy.LATER
        # The place is that of the event: what the host is told behind it is not in its copy.
        self._wanted[token] = (hold.seqno, encode_context(hold.context))
        self._plane.events.append(StateWanted(token, group))
        return Copy.BEGUN

    def _await(self, record: Record, node: Address) -> Copy:
        """Another one that waits for the state asks: is it the one that may begin it anew (I4)?"""
        nodes = self._plane.member_nodes(record)
        if next(iter(nodes), None) != node or not self.states.ask_nobody_but(record.group, node):
            return Copy.TAKING
        self._leaders[record.group] = node
        return Copy.AWAITED

    def _no_node_state(self, token: int, bases: tuple[Reach, ...], held: Held) -> Copy:
        del token, bases, held
        return Copy.LATER

    def give(self, token: int, content: bytes | None) -> None:
        """The host's copy of the state that was wanted; None: it has none to give."""
        seqno, context = self._wanted.pop(token)
        if content is None:
            self.states.refuse(token)
            return
        self.states.give(token, pack_group_state(seqno, context, content))
