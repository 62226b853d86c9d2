"""The delivery rules of the paper as they stand there: slow, obvious, and only for comparison.

Whole contexts `{group: number}` with every entry, on every message: nothing is left out because it
is stable, known already, or of no concern to anybody. Where the paper leaves something open or its
letter would wait for ever:

- T2 asks that the entries of the sequencer (`C | intersect(G)`) are equal to D_p. Here D_p may be
  further, as in CT2. With equality a sender's old entry for a group of another sequencer would
  never be equal again, nor would one from before two groups came apart, when the other one's next
  message has no reason to wait any more. Among messages that are bound to each other nothing is
  lost: the later one has the earlier one in its own entries.
- The sequencer puts in the groups of the destination's component, and they bind the processes that
  are in both groups when the message is numbered. (S2 leaves no meaning to more.) A process is in a
  group until it has been given what stands before its LEAVE. JOIN and LEAVE themselves bind nobody.
- Who observes a group does not count in what it has in common with others, so it makes no component
  (decision 0060). Within one that members make, T2 binds it like them.
- A sequencer does not number a message whose context has a SEQ(id) without a number. Otherwise
  two sequencers can put effects before causes so that each waits for the other for ever (decision
  0020).
- A process that joins begins with a state. The state must hold what the process has been told of in
  that group, and the process must have been given what the state depends on.
- SEQ(id) of a message that will never have a number, because its sender is gone, binds nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from groupcore.sequencing.names import GroupId, Order
from groupcore.sim.checkers.group_index import Place
from groupcore.sim.trace_groups import JOIN, LEAVE, GroupMid, GroupProcess

Entry = frozenset[int | GroupMid]
"""The items of one group: a number, and every SEQ(id) that cannot be compared with it yet."""
Context = dict[GroupId, Entry]

NOTHING: Entry = frozenset()


def merge(one: Context, other: Context) -> Context:
    """merge(C1, C2), keeping what cannot be compared."""
    groups = sorted({*one, *other})
    return {group: one.get(group, NOTHING) | other.get(group, NOTHING) for group in groups}


@dataclass(frozen=True, slots=True)
class Message:
    """An ACCEPTed message with C_m; `exact`: the entries that the sequencer put in, for T2.

    `members`: who was in these groups, and in its own, when it was numbered.
    """

    mid: GroupMid
    context: Context
    exact: Mapping[GroupId, int]
    members: Mapping[GroupId, frozenset[GroupProcess]]


class Obvious:
    """Told what happens, in order; says what may happen next.

    C_p is kept in two parts: what the process has been told of with what it was given (`told`), and
    what it has sent itself (`own`). `bound`: what the sequencers put in. `excused`: a process that
    has asked to leave a group may be given what is there, and need not. `observing`: who joined a
    group to observe it. `begun`: the number behind which a group has begun anew, if it has.
    """

    def __init__(
        self, orders: Mapping[GroupId, Order], numbers: Mapping[GroupMid, int] | None = None
    ) -> None:
        """`numbers`: those of a whole run, if it is over; what has none there never will."""
        self.orders = dict(orders)
        self.over = numbers is not None
        self.numbers: dict[GroupMid, int] = dict(numbers or {})
        self.gone: set[GroupProcess] = set()
        self.places: dict[Place, Message | None] = {}
        self.last: dict[GroupId, int] = {}
        self.members: dict[GroupId, frozenset[GroupProcess]] = {}
        self.leaving: dict[GroupId, frozenset[GroupProcess]] = {}
        self.sent: dict[GroupMid, Context] = {}
        self.told: dict[GroupProcess, Context] = {}
        self.own: dict[GroupProcess, Context] = {}
        self.bound: dict[GroupProcess, dict[GroupId, int]] = {}
        self.delivered: dict[GroupProcess, dict[GroupId, int]] = {}
        self.excused: set[tuple[GroupProcess, GroupId]] = set()
        self.observing: set[tuple[GroupProcess, GroupId]] = set()
        self.begun: dict[GroupId, int] = {}

    # --- what happens -----------------------------------------------------------------------------

    def send(self, mid: GroupMid) -> None:
        """DO-MULTICAST encloses C_p; then C_p.G := SEQ(id(m)), beside what stands there."""
        if not self._causal(mid.group):
            self.sent[mid] = {}
            return
        told, own = self.told.get(mid.process, {}), self.own.get(mid.process, {})
        self.sent[mid] = merge(told, own)
        self.own[mid.process] = merge(own, {mid.group: frozenset([mid])})

    def stamp(
        self,
        group: GroupId,
        seqno: int,
        process: GroupProcess,
        number: int,
        gone: bool = False,
        observes: bool = False,
    ) -> None:
        """The sequencer gives the next number: C.G := C.G + 1.

        `gone`: the LEAVE of a process whose node is in the view no more. `observes`: the JOIN of
        one that has asked to observe.
        """
        self.last[group] = seqno
        here = self.members.setdefault(group, frozenset())
        if number == JOIN:
            self.members[group] = here | {process}
            self.observing.discard((process, group))
            if observes:
                self.observing.add((process, group))
        elif number == LEAVE:
            self.members[group] = here - {process}
            if process not in self.gone and not gone:
                self.leaving[group] = self.leaving.get(group, frozenset()) | {process}
        if number <= 0:
            self.places[group, seqno] = None
            return
        mid = GroupMid(process, group, number)
        self.numbers[mid] = seqno
        context = self.sent.get(mid, {})
        if self._causal(group):
            context = merge(context, {group: frozenset([seqno])})
        exact = {}
        if self.orders.get(group) is Order.STRICT:
            others = [other for other in self.component(group) if other != group]
            exact = {other: self.last_message(other, self.last[other]) for other in others}
        members = {other: self.inside(other) for other in (group, *exact)}
        self.places[group, seqno] = Message(mid, context, exact, members)

    def deliver(self, process: GroupProcess, group: GroupId, seqno: int) -> None:
        """A process is given what stands there: D_p := merge(D_p, C_m), C_p := merge(C_p, C_m)."""
        self.delivered[process][group] = seqno
        message = self.places.get((group, seqno))
        if message is not None:
            self._learn(process, message)

    def begin(self, process: GroupProcess, group: GroupId, seqno: int) -> None:
        """A process is in the group, from a state of this number on."""
        self.delivered.setdefault(process, {})[group] = seqno
        self.excused.discard((process, group))
        for message in self._past(group, seqno):
            self._learn(process, message)

    def begin_anew(self, group: GroupId, seqno: int) -> None:
        """Nobody has the group's state: from now on states hold only what is behind this number."""
        self.begun[group] = seqno

    def leave(self, process: GroupProcess, group: GroupId) -> None:
        """A process is not in the group any more: it has been given all up to its LEAVE."""
        self.delivered.get(process, {}).pop(group, None)
        self.leaving[group] = self.leaving.get(group, frozenset()) - {process}

    def delete(self, group: GroupId) -> None:
        """The group is no more: it binds nothing that is numbered from now on."""
        self.members[group] = self.leaving[group] = frozenset()

    def forget(self, process: GroupProcess) -> None:
        """A process is gone: what it sent and what has no number will never have one."""
        self.gone.add(process)
        self.delivered.pop(process, None)
        for group in self.leaving:
            self.leaving[group] = self.leaving.get(group, frozenset()) - {process}

    # --- what may happen --------------------------------------------------------------------------

    def objection_to_stamp(self, mid: GroupMid) -> str:
        """Why a sequencer must not number this message yet; empty if it may."""
        for number in range(1, mid.number):
            if mid._replace(number=number) not in self.numbers:
                return f"FIFO: its sender's {number} has no number"
        for entry in self.sent[mid].values():
            unknown = self._unknown(entry)
            if unknown:
                return f"SEQ: {min(unknown)} has no number, and comes before it"
        return ""

    def objection(self, process: GroupProcess, group: GroupId, seqno: int) -> str:
        """Why this process must not be given this message yet; empty if it may."""
        mine = self.delivered.get(process, {})
        if group not in mine:
            return "the process is not in the group"
        if (group, seqno) not in self.places:
            return "nobody has given this number"
        if seqno != mine[group] + 1:
            return f"CT1: {mine[group]} is the last that it was given of the group"
        message = self.places[group, seqno]
        if message is None:
            return ""
        for other in sorted(mine):
            if other != group and (process, other) not in self.excused:
                reason = self._objection_of(message, other, mine[other])
                if reason:
                    return reason
        for other, n in self._exact(process, message):
            if n > mine.get(other, n) and (process, other) not in self.excused:
                return f"T2: {n} of group {other} is before it, {mine[other]} were given"
        return ""

    def objection_to_begin(self, process: GroupProcess, group: GroupId, seqno: int) -> str:
        """Why this process must not begin with the state of this number; empty if it may."""
        mine = self.delivered.get(process, {})
        entry = self.told.get(process, {}).get(group, NOTHING)
        if self._number(entry) > seqno:
            return f"the process has been told of {self._number(entry)}"
        bound = self.bound.get(process, {}).get(group, 0)
        if bound > seqno:
            return f"T2: the process has been given what is behind {bound}"
        for message in self._past(group, seqno):
            for other in sorted(mine):
                if other != group and (process, other) not in self.excused:
                    reason = self._objection_of(message, other, mine[other])
                    if reason:
                        return reason
            for other, n in self._exact(process, message):
                if n > mine.get(other, n) and (process, other) not in self.excused:
                    return f"T2: the state is behind {n} of group {other}"
        return ""

    def deliverable(self, process: GroupProcess, received: Iterable[Place]) -> list[Place]:
        """What this process may be given next, of what has been received."""
        return [
            (group, seqno)
            for group, seqno in sorted(received)
            if not self.objection(process, group, seqno)
        ]

    # --- its parts --------------------------------------------------------------------------------

    def inside(self, group: GroupId) -> frozenset[GroupProcess]:
        """Its members, and who has still to be given what stands before its LEAVE."""
        return self.members[group] | self.leaving.get(group, frozenset())

    def counting(self, group: GroupId) -> frozenset[GroupProcess]:
        """Who is in the group and does not only observe it."""
        return frozenset(
            process for process in self.inside(group) if (process, group) not in self.observing
        )

    def component(self, group: GroupId) -> list[GroupId]:
        """The strict groups that are strongly intersecting with it, directly or through others."""
        reached, waiting = {group}, [group]
        while waiting:
            here = self.counting(waiting.pop())
            for other in self.members:
                strict = self.orders.get(other) is Order.STRICT
                if strict and other not in reached and len(here & self.counting(other)) >= 2:
                    reached.add(other)
                    waiting.append(other)
        return sorted(reached)

    def last_message(self, group: GroupId, seqno: int) -> int:
        """The number of the last message up to there; 0 when there is none."""
        while seqno and self.places.get((group, seqno)) is None:
            seqno -= 1
        return seqno

    def _learn(self, process: GroupProcess, message: Message) -> None:
        told = self.told.get(process, {})
        self.told[process] = self._settle(merge(told, message.context))
        bound = self.bound.setdefault(process, {})
        for other, n in self._exact(process, message):
            bound[other] = max(n, bound.get(other, 0))

    def _exact(self, process: GroupProcess, message: Message) -> list[tuple[GroupId, int]]:
        """The entries of the sequencer that bind this process: it is in both groups."""
        here = message.members[message.mid.group]
        return [
            (other, n)
            for other, n in message.exact.items()
            if process in here & message.members[other]
        ]

    def _objection_of(self, message: Message, other: GroupId, given: int) -> str:
        entry = message.context.get(other, NOTHING)
        unknown = self._unknown(entry)
        if unknown:
            return f"SEQ: {min(unknown)} of group {other} has no number"
        if self._number(entry) > given:
            return f"CT2: it names {self._number(entry)} of group {other}, {given} were given"
        return ""

    def _past(self, group: GroupId, seqno: int) -> list[Message]:
        first = self.begun.get(group, 0) + 1
        places = (self.places.get((group, number)) for number in range(first, seqno + 1))
        return [message for message in places if message is not None]

    def _causal(self, group: GroupId) -> bool:
        order = self.orders.get(group, Order.CAUSALLY_TOTAL)
        return order in (Order.CAUSALLY_TOTAL, Order.STRICT)

    def _number(self, entry: Entry) -> int:
        """C.G, of the items that are numbers or known to be."""
        numbers = [item if isinstance(item, int) else self.numbers.get(item, 0) for item in entry]
        return max(numbers, default=0)

    def _unknown(self, entry: Entry) -> set[GroupMid]:
        if self.over:
            return set()
        return {
            item
            for item in entry
            if not isinstance(item, int)
            and item not in self.numbers
            and item.process not in self.gone
        }

    def _settle(self, context: Context) -> Context:
        """Numbers for identifiers, as soon as they are known; of several numbers the largest."""
        return {
            group: frozenset([self._number(entry), *self._unknown(entry)])
            for group, entry in context.items()
        }
