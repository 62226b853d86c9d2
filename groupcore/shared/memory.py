"""The order of many groups, in memory: what the test kit has in place of the sequencing service.

Each group is one sequence of slots. What nodes are given obeys `sequencing.names.Order`: a message
waits for what its sender had been given, or had sent, before (CT1, CT2); in `strict` groups also
for all that was numbered in others before it. Apart from that the network delays each thing by
itself: who is behind whom, and what is interleaved with what, differs from node to node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from groupcore.sequencing.events import (
    Accepted,
    Delivered,
    Departed,
    Enrolled,
    Joined,
    Released,
    ServiceEvent,
    StateInstalled,
    StateWanted,
    Volatile,
)
from groupcore.sequencing.names import GroupId, MessageId, Order, Process
from groupcore.shared.sequences import Context, Seat, Sequence, Slot

RUN_MAX = 4
"""Most messages that are delivered as one run."""


class Network(Protocol):
    """How long things take, and what gets lost, between a node and the order."""

    def carry(
        self, node: str, lane: object, deliver: Callable[[], None], lost: Callable[[], None]
    ) -> None:
        """Call `deliver` later, in order on one lane; `lost` when the node crashes before."""

    def carry_or_lose(self, sender: str, node: str, deliver: Callable[[], None]) -> None:
        """Call `deliver` later, or never: a packet from one node to another."""

    def choose(self, count: int) -> int:
        """A number below `count`, by the seed."""


def _nothing() -> None:
    """For what may be lost."""


class MemoryOrder:
    """All groups and everybody's seats in them."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._sequences: dict[str, Sequence] = {}
        self._seats: dict[tuple[str, GroupId], Seat] = {}
        self._seats_at: dict[str, dict[GroupId, Seat]] = {}
        self._late: dict[str, dict[GroupId, Seat]] = {}
        self._contexts: dict[str, Context] = {}
        self._wanted: dict[int, tuple[Seat, Seat]] = {}
        self._installing: list[tuple[Seat, StateInstalled, Context]] = []
        self._parked: list[tuple[Sequence, Slot]] = []
        self._tokens = 0

    def sequence(self, name: str, order: Order) -> Sequence:
        """The group of this name, made when it is new."""
        if name not in self._sequences:
            self._sequences[name] = Sequence(len(self._sequences) + 1, order)
        return self._sequences[name]

    def store(self, name: str, order: Order, number: int, state: bytes) -> None:
        """A group that has been before: who begins it has this state, as of this number."""
        sequence = self.sequence(name, order)
        sequence.first, sequence.stored = number, state

    def trim(self) -> None:
        """Forget what all members have been given."""
        for sequence in self._sequences.values():
            seats = [self._seat_of(process, sequence.id) for process in sequence.members]
            given = [0 if seat is None else seat.delivered or 0 for seat in seats]
            if given and min(given) > sequence.first:
                sequence.slots = sequence.between(min(given), len(sequence.slots) + sequence.first)
                sequence.first, sequence.stored = min(given), None

    def _seat_of(self, process: Process, group: GroupId) -> Seat | None:
        return self._seats.get((process.node.name, group))

    def seat(
        self, sequence: Sequence, process: Process, feed: Callable[[ServiceEvent], None]
    ) -> Seat:
        """A place from which a process sends to the group, and may join it."""
        seat = Seat(sequence, process, feed)
        self._seats[seat.node, sequence.id] = seat
        self._seats_at.setdefault(seat.node, {})[sequence.id] = seat
        self._late.setdefault(seat.node, {}).pop(sequence.id, None)
        self._contexts.setdefault(seat.node, Context())
        return seat

    def send(self, seat: Seat, payload: bytes) -> int:
        """DO-MULTICAST; gives the process's own number of the message."""
        seat.sent += 1
        number = seat.sent
        if seat.sequence.order is Order.VOLATILE:
            self._scatter(seat, number, payload)
            return number
        context = self._contexts[seat.node]
        context.merge(Context())
        slot = Slot(seat.sequence.id, seat.process, number, payload, context.copy())
        context.unnumbered.append(slot)
        self._request(seat, slot)
        return number

    def join(self, seat: Seat) -> None:
        """JOIN-GROUP."""
        self._request(seat, Slot(seat.sequence.id, seat.process, 0, None, Context(), joined=True))

    def leave(self, seat: Seat) -> None:
        """LEAVE-GROUP."""
        self._request(seat, Slot(seat.sequence.id, seat.process, 0, None, Context()))

    def give_state(self, token: int, state: bytes) -> None:
        """The answer to StateWanted."""
        giver, taker = self._wanted.pop(token)
        assert giver.delivered is not None
        taker.promised = True
        installed = StateInstalled(giver.sequence.id, giver.delivered, state)
        context = self._contexts[giver.node].copy()

        def arrive() -> None:
            self._installing.append((taker, installed, context))
            self._advance(taker.node)

        # Who asked has asked again if the giver has crashed meanwhile.
        self._network.carry(taker.node, ("state", id(taker)), arrive, _nothing)

    def crash(self, node: str) -> None:
        """The node is gone: its seats are vacated, and its members depart from their groups."""
        self._late.pop(node, None)
        for seat in self._seats_at.pop(node, {}).values():
            del self._seats[node, seat.sequence.id]
            if seat.process in seat.sequence.members:
                self._number(
                    seat.sequence,
                    Slot(seat.sequence.id, seat.process, 0, None, Context(), gone=True),
                )
            self._ask_others(seat)

    def _ask_others(self, gone: Seat) -> None:
        """Who waits for this seat's state asks another one; what it waits for itself is off."""
        for token, (giver, taker) in list(self._wanted.items()):
            if giver is gone or taker is gone:
                self._wanted.pop(token, None)  # answered meanwhile, as somebody was asked
            if giver is gone:
                self._ask_for_state(taker)

    def _request(self, seat: Seat, slot: Slot) -> None:
        def lost() -> None:
            slot.lost = True
            self._number_parked()
            for node in list(self._contexts):
                self._advance(node)

        lane = ("to", id(seat))
        self._network.carry(seat.node, lane, lambda: self._arrive(seat.sequence, slot), lost)

    def _arrive(self, sequence: Sequence, slot: Slot) -> None:
        """No message gets its number before those that its sender sent before it.

        Else two that each wait for one behind the other would wait for ever.
        """
        self._parked.append((sequence, slot))
        self._number_parked()

    def _number_parked(self) -> None:
        progress = True
        while progress:
            progress = False
            for item in list(self._parked):
                sequence, slot = item
                slot.context.merge(Context())
                if not slot.context.unnumbered:
                    self._parked.remove(item)
                    self._number(sequence, slot)
                    progress = True

    def _number(self, sequence: Sequence, slot: Slot) -> None:
        """The sequencer's part: the next number, and on to the members."""
        sequence.slots.append(slot)
        slot.seqno = sequence.first + len(sequence.slots)
        if sequence.order is Order.STRICT:
            for other in self._sequences.values():
                if other.order is Order.STRICT and other is not sequence:
                    slot.context.merge(Context({other.id: other.first + len(other.slots)}))
        if sequence.order is Order.FIFO:
            slot.context = Context()
        members = list(sequence.members)
        if slot.payload is None:
            if slot.joined:
                sequence.members.append(slot.process)
                members.append(slot.process)
            elif slot.process in sequence.members:
                sequence.members.remove(slot.process)
        for member in members:
            self._carry(slot, member)
        sender = self._seat_of(slot.process, sequence.id)
        if sender is None:
            return
        if slot.joined:
            sender.joined_at = slot.seqno
            self._ask_for_state(sender)
        elif slot.payload is not None:
            message = MessageId(slot.process, slot.number)
            accepted = Accepted(sequence.id, message, slot.seqno)
            lane = ("accept", id(sender))
            self._network.carry(sender.node, lane, lambda: sender.feed(accepted), _nothing)

    def _carry(self, slot: Slot, member: Process) -> None:
        seat = self._seat_of(member, slot.group)
        if seat is None:
            return

        def arrive() -> None:
            seat.arrived = slot.seqno
            self._late.setdefault(seat.node, {})[slot.group] = seat
            self._advance(seat.node)

        self._network.carry(seat.node, ("from", id(seat)), arrive, _nothing)

    def _ask_for_state(self, taker: Seat) -> None:
        """Find somebody who has the group's state, and ask as soon as it is behind the JOIN.

        Where only those are left that wait for it themselves, who joined before this one will have
        it: a second beginning of the group would be another one.
        """
        givers = self._givers(taker) or self._expecting(taker)
        if not givers or taker.sequence.order is Order.VOLATILE:
            group, stored = taker.sequence.id, taker.sequence.stored
            number = taker.joined_at - 1 if stored is None else taker.sequence.first
            installed = StateInstalled(group, number, stored)
            self._installing.append((taker, installed, Context()))
            self._advance(taker.node)
            return
        self._tokens += 1
        self._wanted[self._tokens] = (givers[self._network.choose(len(givers))], taker)
        self._answer_wanted()

    def _givers(self, taker: Seat) -> list[Seat]:
        return [seat for seat in self._others(taker) if seat.delivered is not None]

    def _expecting(self, taker: Seat) -> list[Seat]:
        """Members without a state that get one, or have asked for it and joined before."""
        asking = {id(waits) for _, waits in self._wanted.values()}
        return [
            one
            for one in self._others(taker)
            if one.promised or (id(one) in asking and one.joined_at < taker.joined_at)
        ]

    def _others(self, taker: Seat) -> list[Seat]:
        members, group = taker.sequence.members, taker.sequence.id
        seats = [(one, self._seat_of(one, group)) for one in members]
        return [seat for one, seat in seats if seat and seat is not taker and seat.process == one]

    def _answer_wanted(self) -> None:
        for token, (giver, taker) in list(self._wanted.items()):
            if giver.delivered is not None and giver.delivered >= taker.joined_at:
                giver.feed(StateWanted(token, giver.sequence.id))

    def _scatter(self, seat: Seat, number: int, payload: bytes) -> None:
        event = Volatile(seat.sequence.id, seat.process, payload)
        for member in seat.sequence.members:
            other = self._seat_of(member, seat.sequence.id)
            if other is not None and other is not seat:
                self._network.carry_or_lose(seat.node, other.node, _latest(other, number, event))

    def _advance(self, node: str) -> None:
        """Deliver at the node whatever may be delivered now."""
        progress = True
        while progress:
            progress = self._install(node)
            for seat in self._behind(node):
                run = self._next_run(seat)
                if run:
                    progress = True
                    self._deliver(seat, run)
        self._answer_wanted()

    def _behind(self, node: str) -> list[Seat]:
        """Those at the node that have more than they have delivered: few of many."""
        late = self._late.get(node, {})
        for group, one in list(late.items()):
            if one.delivered is not None and one.arrived <= one.delivered:
                del late[group]
        return [one for one in late.values() if one.delivered is not None]

    def _install(self, node: str) -> bool:
        for item in self._installing:
            seat, installed, context = item
            if seat.node != node or not self._is_ready(seat, context):
                continue
            self._installing.remove(item)
            if seat.delivered is None:
                known = self._contexts[node].numbers.get(installed.group, 0)
                if installed.seqno < known and self._givers(seat):
                    self._ask_for_state(seat)  # the node has seen what comes behind that
                    return True
                seat.delivered = installed.seqno
                self._contexts[node].merge(context)
                seat.feed(installed)
                if installed.seqno >= seat.joined_at:
                    seat.feed(Joined(installed.group, seat.joined_at, seat.process))
            return True
        return False

    def _is_ready(self, seat: Seat, context: Context) -> bool:
        """CT2: what the context names has been delivered, in the node's other groups."""
        for group, number in context.numbers.items():
            other = self._seats.get((seat.node, group))
            if other is None or other is seat or other.delivered is None:
                continue
            if other.delivered < number:
                return False
        return True

    def _next_run(self, seat: Seat) -> list[Slot]:
        """The next messages that may be delivered as one run: CT1, then CT2."""
        run: list[Slot] = []
        if seat.delivered is None:
            return run
        count = 1 + self._network.choose(RUN_MAX)
        last = min(seat.arrived, seat.delivered + count)
        if last <= seat.delivered:
            return run  # as most often
        for slot in seat.sequence.between(seat.delivered, last):
            if run and (slot.payload is None or slot.process != run[0].process):
                break
            if not self._is_ready(seat, slot.context):
                break
            run.append(slot)
            if slot.payload is None:
                break
        return run

    def _deliver(self, seat: Seat, run: list[Slot]) -> None:
        first, group = run[0], seat.sequence.id
        seat.delivered = run[-1].seqno
        context = self._contexts[seat.node]
        for slot in run:
            context.merge(slot.context)
        context.merge(Context({group: seat.delivered}))
        if first.payload is not None:
            payloads = [slot.payload for slot in run if slot.payload is not None]
            seat.feed(Delivered(group, first.seqno, first.process, first.number, payloads))
        elif first.joined and first.process == seat.process:
            seat.feed(Enrolled(group, first.seqno, first.process))
            seat.feed(Joined(group, first.seqno, first.process))
        elif first.joined:
            seat.feed(Joined(group, first.seqno, first.process))
        else:
            seat.feed(Departed(group, first.seqno, first.process, first.gone))
            if first.process == seat.process:
                seat.delivered = None
                seat.feed(Released(group))
                self._ask_others(seat)


def _latest(seat: Seat, number: int, event: Volatile) -> Callable[[], None]:
    def arrive() -> None:
        if seat.delivered is not None and seat.latest.get(event.process, 0) < number:
            seat.latest[event.process] = number
            seat.feed(event)

    return arrive
