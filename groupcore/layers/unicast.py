"""Reliable FIFO unicast between two members.

Idea. Each direction between two members is numbered from 1. The receiver delivers in order,
acknowledges cumulatively and names its gaps, so that the sender repeats just those
at once; a timer repeats what nobody has acknowledged.

Place. Above the transport, beside NAKACK; below everything that sends to one member.

Source. JGroups UNICAST; fault matrix rows 1, 4, 5, 7.

Invariants.
  I1  What one member sends to another is delivered once and in order.
  I2  What was sent is repeated until it is acknowledged or the receiver has left the view.
  I3  At most `window_batches` are unacknowledged; the rest waits.
  I4  Only members of the view installed here are listened to; who has left it is forgotten. What
      comes before the view does is not acknowledged, so it comes again.
  I5  Who has left and is back, as after a merge, is listened to anew: what was said before, and is
      still on the way, counts for nothing. A conversation is named by the view in which it began.
  I6  Who is in several of the views that merge has lived in one of them; the others had let it in,
      and it went elsewhere. Nobody knows which, so all begin anew with it, and it with all.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from groupcore.acknowledging import Acknowledging
from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, StartTimer, StopTimer, Up
from groupcore.events import Event, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.view import Address

GAPS_MAX = 32
REPEATED_AT_ONCE = 16
"""Batches that are repeated in one go when nothing is acknowledged."""


@travels(8)
@dataclass(slots=True)
class Data(Header):
    """Member to member: number `seqno` of what I send to you since we met, in view `since`."""

    kind: ClassVar[str] = "unicast.data"
    since: int
    seqno: int


@travels(9)
@dataclass(slots=True)
class Ack(Header):
    """Receiver to sender: all up to `received` is here; `gaps` (first, last pairs) is not.

    `since`: that of the data.
    """

    kind: ClassVar[str] = "unicast.ack"
    since: int
    received: int
    gaps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UnicastOptions:
    """Times in seconds. `window_batches` bounds what one member has on the way to another.

    What is not acknowledged is repeated after `repeat_min_s` at least, again after `repeat_max_s`
    at most; on a link that is known to be slow after `repeat_slow_s` at most.
    """

    window_batches: int = 512
    ahead_max: int = 1024
    ack_late_s: float = 0.005
    repeat_min_s: float = 0.03
    repeat_max_s: float = 0.5
    repeat_slow_s: float = 4.0


@dataclass(slots=True)
class Sending:
    """What goes to one member."""

    next_seqno: int = 1
    unacknowledged: dict[int, Batch] = field(default_factory=dict)
    waiting: deque[Batch] = field(default_factory=deque)
    repeat_s: float = 0.0
    round_trip_s: float = 0.0
    timed_seqno: int = 0
    timed_at: float = 0.0
    doubtful_seqno: int = 0
    patience_s: float = 0.0

    def time(self, seqno: int, now: float) -> None:
        """Take the time of this batch, unless that of another is being taken."""
        if not self.timed_seqno:
            self.timed_seqno, self.timed_at = seqno, now

    def note_received(self, received: int, now: float) -> None:
        """Learn how long an acknowledgement takes: up at once, down slowly."""
        if self.timed_seqno and received >= self.timed_seqno:
            taken_s = now - self.timed_at
            self.round_trip_s = max(taken_s, self.round_trip_s + (taken_s - self.round_trip_s) / 8)
            self.timed_seqno = 0
            self.patience_s = 0.0

    def be_patient(self) -> None:
        """What was repeated has arrived: the repeats may have come too early.

        As they teach no time, the next batch waits longer; that goes on until one is acknowledged
        that was not repeated, so a slow link is not filled with repeats for ever.
        """
        self.patience_s = 2 * self.repeat_s

    def first_repeat_s(self, least_s: float, most_s: float) -> float:
        """When to repeat for the first time: twice as late as an acknowledgement comes."""
        return min(max(least_s, 2 * self.round_trip_s, self.patience_s), most_s)


@dataclass(slots=True)
class Receiving:
    """What comes from one member, which has counted since this view."""

    since: int
    received: int = 0
    early: dict[int, Batch] = field(default_factory=dict)

    def gaps(self) -> tuple[int, ...]:
        """Pairs of first and last number that are missing below what is here."""
        pairs: list[int] = []
        first = self.received + 1
        for seqno in sorted(self.early):
            if seqno > first:
                pairs += (first, seqno - 1)
            first = seqno + 1
        return tuple(pairs[: 2 * GAPS_MAX])


class Unicast(Layer):
    """Numbers, repeats and delivers what goes from one member to another."""

    name = "UNICAST"
    headers = (Data, Ack)
    hears = (ViewInstalled,)
    provides = frozenset({"reliable unicast"})
    requires_above = frozenset({"views"})

    def __init__(self, me: Address, options: UnicastOptions) -> None:
        self.me = me
        self.options = options
        self.sending: dict[Address, Sending] = {}
        self.receiving: dict[Address, Receiving] = {}
        # Counted in batches: a quarter of the sender's window, or a gap, is told at once.
        self.acknowledging = Acknowledging(me, options.window_batches, options.ack_late_s)
        self.members: frozenset[Address] = frozenset()
        self.met: dict[Address, int] = {}
        self.first = self.last = 0
        self.numbers = {"sent": 0, "repeated": 0, "dropped": 0}

    def counters(self) -> dict[str, int]:
        """Batches sent, repeated, dropped, and not acknowledged yet."""
        open_ = sum(len(peer.unacknowledged) for peer in self.sending.values())
        return {**self.numbers, "unacknowledged": open_}

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        """Number a reliable unicast; everything else passes."""
        if batch.destination is None or not batch.reliable:
            return [Down(batch)]
        if batch.destination == self.me:
            return [Up(batch)]
        peer = self.sending.setdefault(batch.destination, Sending())
        peer.waiting.append(batch)
        return self.transmit(batch.destination, peer, now)

    def transmit(self, member: Address, peer: Sending, now: float) -> list[Effect]:
        """Send what the window lets (I3)."""
        effects: list[Effect] = []
        while peer.waiting and len(peer.unacknowledged) < self.options.window_batches:
            batch = peer.waiting.popleft()
            peer.unacknowledged[peer.next_seqno] = batch
            peer.time(peer.next_seqno, now)
            effects.append(self.numbered(member, peer.next_seqno, batch))
            peer.next_seqno += 1
        self.numbers["sent"] += len(effects)
        if effects and not peer.repeat_s:
            effects.append(self.start_repeating(member, peer))
        return effects

    def numbered(self, member: Address, seqno: int, batch: Batch) -> Effect:
        """Send it, for the first time or again."""
        return Down(batch.with_header(Data(self.met.get(member, 0), seqno)))

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """One of this layer's headers, outermost."""
        header = batch.headers[-1]
        if batch.sender not in self.members:
            self.numbers["dropped"] += 1
            return []
        match header:
            case Data():
                return self.on_data(batch, header)
            case Ack():
                return self.on_ack(batch.sender, header, now)
        raise AssertionError(f"not a header of UNICAST: {header!r}")

    def conversation(self, member: Address, since: int) -> Receiving | None:
        """What comes from a member that counts since this view; None if that is over, or to come.

        A new life may have missed the view in which others met it; nobody has spoken to it before.
        """
        met = self.met[member]
        if not (met if met > self.first else 1) <= since <= self.last:
            return None
        peer = self.receiving.get(member)
        if peer is None or since > peer.since:
            peer = self.receiving[member] = Receiving(since)
        return peer if since == peer.since else None

    def on_data(self, batch: Batch, header: Data) -> list[Effect]:
        """Deliver in order (I1); acknowledge soon, at once what came twice or leaves a gap."""
        seqno, peer = header.seqno, self.conversation(batch.sender, header.since)
        if peer is None:
            self.numbers["dropped"] += 1
            return []
        in_order = seqno == peer.received + 1
        at_once = not in_order or bool(peer.early)
        delay_s = self.acknowledging.note(batch.sender, 1, at_once)
        effects: list[Effect] = [] if delay_s is None else [StartTimer("ack", delay_s)]
        if in_order:
            peer.received = seqno
            effects.append(Up(batch.without_header()))
            while (following := peer.early.pop(peer.received + 1, None)) is not None:
                peer.received += 1
                effects.append(Up(following))
        elif peer.received < seqno <= peer.received + self.options.ahead_max:
            peer.early[seqno] = batch.without_header()
        else:
            self.numbers["dropped"] += 1
        return effects

    def on_ack(self, member: Address, header: Ack, now: float) -> list[Effect]:
        """Forget what has arrived, repeat what the receiver names, send what waited."""
        peer = self.sending.get(member)
        if peer is None or header.received >= peer.next_seqno or header.since != self.met[member]:
            return []
        peer.note_received(header.received, now)
        arrived = [seqno for seqno in peer.unacknowledged if seqno <= header.received]
        for seqno in arrived:
            del peer.unacknowledged[seqno]
        effects = self.repeat_gaps(member, peer, header.gaps)
        if arrived and header.received < peer.doubtful_seqno:
            effects += self.repeat_first(
                member, peer
            )  # what was lost together is repeated without a pause
        if arrived and arrived[0] <= peer.doubtful_seqno:
            peer.be_patient()
        if arrived:
            peer.repeat_s = 0.0
        if not peer.unacknowledged and not peer.waiting:
            return [*effects, StopTimer(timer_of(member))]
        effects += self.transmit(member, peer, now)
        if arrived and not peer.repeat_s:
            effects.append(self.start_repeating(member, peer))
        return effects

    def start_repeating(self, member: Address, peer: Sending) -> Effect:
        """The timer for what nobody acknowledges."""
        options = self.options
        peer.repeat_s = peer.first_repeat_s(options.repeat_min_s, options.repeat_slow_s)
        return StartTimer(timer_of(member), peer.repeat_s)

    def repeat_gaps(self, member: Address, peer: Sending, gaps: tuple[int, ...]) -> list[Effect]:
        """Send again what the receiver has named, at once."""
        effects: list[Effect] = []
        if len(gaps) > 2 * GAPS_MAX:
            self.numbers["dropped"] += 1
            return effects
        for first, last in zip(gaps[::2], gaps[1::2], strict=False):
            for seqno in range(first, min(last, peer.next_seqno) + 1):
                batch = peer.unacknowledged.get(seqno)
                if batch is not None:
                    effects.append(self.numbered(member, seqno, batch))
        self.numbers["repeated"] += len(effects)
        return effects

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`ack` at the end of a turn; else the repeat timer of one member (I2)."""
        if timer == "ack":
            return self.acknowledge()
        for member, peer in self.sending.items():
            if timer == timer_of(member) and peer.unacknowledged:
                return self.repeat_oldest(member, peer)
        return []

    def acknowledge(self) -> list[Effect]:
        """One acknowledgement to each member to whom one is owed."""
        effects: list[Effect] = []
        for member in self.acknowledging.take():
            peer = self.receiving.get(member)
            if peer is not None:
                ack = Ack(peer.since, peer.received, peer.gaps())
                effects.append(Down(Batch(self.me, member, (ack,), reliable=False)))
        return effects

    def repeat_oldest(self, member: Address, peer: Sending) -> list[Effect]:
        """Repeat the first few that nobody has acknowledged, less and less often."""
        peer.doubtful_seqno = peer.next_seqno - 1
        peer.timed_seqno = 0  # what was repeated says nothing of the time
        peer.repeat_s = max(peer.repeat_s, min(2 * peer.repeat_s, self.options.repeat_max_s))
        return [*self.repeat_first(member, peer), StartTimer(timer_of(member), peer.repeat_s)]

    def repeat_first(self, member: Address, peer: Sending) -> list[Effect]:
        """The first few that are not acknowledged."""
        first = list(islice(peer.unacknowledged.items(), REPEATED_AT_ONCE))
        self.numbers["repeated"] += len(first)
        return [self.numbered(member, seqno, batch) for seqno, batch in first]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """A view: forget who has left it (I4), and begin anew with who is back (I5, I6)."""
        if not isinstance(event, ViewInstalled):
            return []
        self.members = frozenset(event.view.members)
        self.last = event.view.number
        self.first = self.first or self.last
        known = self.members - self.claimed_twice(event)
        self.met = {
            m: self.met[m] if m in known & self.met.keys() else self.last
            for m in event.view.members
        }
        gone = [member for member in self.sending if member not in known]
        for member in gone:
            del self.sending[member]
        self.receiving = {m: peer for m, peer in self.receiving.items() if m in known}
        return [StopTimer(timer_of(member)) for member in gone]

    def claimed_twice(self, event: ViewInstalled) -> frozenset[Address]:
        """Who is in several of the views that have merged; everybody, if this member is (I6)."""
        sides = Counter(member for view in event.merged for member in view.members)
        twice = frozenset(member for member, count in sides.items() if count > 1)
        return self.members if self.me in twice else twice


def timer_of(member: Address) -> str:
    """The name of a member's repeat timer."""
    return f"repeat {member.name} {member.incarnation}"
