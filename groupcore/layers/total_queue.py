"""The member's queue in TOTAL: what is held of a view, told to be held, missing, and asked for.

It starts the layer's timers `ack`, `repair`, `retry`, `ask` and `answer`; the layer hands them
back.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from groupcore.acknowledging import Acknowledging
from groupcore.answers import Answers
from groupcore.batch import Batch, Header
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, StartTimer
from groupcore.layers.total_headers import CumSeqAck, NewView, Resend, SeqAck, TotalOptions
from groupcore.repairs import Holdings, Repairing, Repairs, Wanted
from groupcore.view import Address, View
from groupcore.window import Window

SEQ_ACKS_MAX = 16
"""Most single acknowledgements in one turn; the cumulative one tells the rest later."""


class Queue:
    """One view at a time. `placed`: it is known with which id the view begins.

    In a view change nothing is acknowledged, and only its cut is asked for.
    """

    def __init__(
        self,
        me: Address,
        random: Random,
        options: TotalOptions,
        unreachable: Callable[[], frozenset[Address]],
    ) -> None:
        self.me = me
        self.options = options
        self.number = 0
        self.members: tuple[Address, ...] = ()
        self.window = Window()
        self.previous: tuple[int, Window] = (0, Window())
        self.placed = False
        self.acknowledging = Acknowledging(me, options.window_bytes, options.ack_late_s)
        self.beyond: list[int] = []
        self.repairs = Repairs(me, random, options.repair)
        holdings = Holdings(self.digest, self.repairable, unreachable, self.request)
        self.repairing = Repairing(self.repairs, holdings)
        self.asking = False
        self.ask_s = options.repeat_min_s
        self.answers = Answers(options.repair)
        self.repairs_sent = 0

    def counters(self) -> dict[str, int]:
        """Requests and repairs sent, repairs that went to all; what is kept, what waits."""
        window = self.window
        return {
            **self.repairing.numbers,
            "repairs_sent": self.repairs_sent,
            **self.answers.numbers,
            "kept": len(window.batches),
            "waiting": window.received - window.delivered,
        }

    def begin(self, view: View) -> None:
        """Nothing is held, owed or asked for in a new view."""
        self.previous = (self.number, self.window)
        self.number, self.members = view.number, view.members
        self.window, self.placed = Window(), False
        self.beyond, self.asking = [], False
        self.acknowledging.begin(view)
        self.repairing.begin_view(view.members)

    def place(self, first: int) -> None:
        """The ids of this view begin there."""
        self.window, self.placed = Window(first), True

    @property
    def coordinator(self) -> Address:
        """The sequencer of this view."""
        return self.members[0]

    def digest(self) -> Digest:
        """The id up to which everything is held, under the sequencer's address; empty for none."""
        window = self.window
        if not self.placed or window.received < window.first:
            return {}
        return {self.coordinator: window.received}

    def delivered(self) -> Digest:
        """The part of the digest that has been delivered."""
        window = self.window
        if not self.placed or window.delivered < window.first:
            return {}
        return {self.coordinator: window.delivered}

    def tell(self, member: Address, header: Header) -> Effect:
        """A header by itself, to one member."""
        return Down(Batch(self.me, member, (header,), reliable=False))

    def on_timer(self, timer: str) -> list[Effect]:
        """`ack` and `repair` at the end of a turn, `retry` and `ask` later."""
        match timer:
            case "ack":
                return self.acknowledge()
            case "repair":
                return self.repairing.repair()
            case "retry":
                return self.repairing.retry()
        return self.ask()

    # --- acknowledging ----------------------------------------------------------------------------

    def owe(self, size_bytes: int, at_once: bool = False) -> list[Effect]:
        """Acknowledge at the end of the turn or a little later; never in a flush."""
        if self.frozen:
            return []
        delay_s = self.acknowledging.note(self.coordinator, size_bytes, at_once)
        return [] if delay_s is None else [StartTimer("ack", delay_s)]

    def note(self, sequence_id: int, size_bytes: int) -> list[Effect]:
        """A broadcast is held now: acknowledge it, and ask for what is missing before it."""
        window = self.window
        beyond = sequence_id > window.received
        if beyond and len(self.beyond) < SEQ_ACKS_MAX:
            self.beyond.append(sequence_id)
        effects = self.owe(size_bytes, at_once=beyond)
        if window.received < window.highest:
            effects.append(StartTimer("repair", 0))
        return effects

    def acknowledge(self) -> list[Effect]:
        """TOTAL_CUM_SEQ_ACK, and TOTAL_SEQ_ACK for what has come beyond a gap."""
        if not self.acknowledging.take():
            return []
        received, beyond = self.window.received, self.beyond
        self.beyond = []
        return [
            self.tell(self.coordinator, CumSeqAck(self.number, received, False)),
            *(self.tell(self.coordinator, SeqAck(self.number, i)) for i in beyond if i > received),
        ]

    def ask_soon(self) -> list[Effect]:
        """Ask for the sequencer's mark after a while, if something waits to be delivered."""
        if self.asking or self.window.delivered == self.window.received:
            return []
        self.asking, self.ask_s = True, self.options.repeat_min_s
        return [StartTimer("ask", self.ask_s)]

    def ask(self) -> list[Effect]:
        """Ask how far a quorum holds what waits here, less and less often."""
        self.asking = self.window.delivered < self.window.received
        if not self.asking:
            return []
        self.ask_s = min(2 * self.ask_s, self.options.repeat_max_s)
        ask = CumSeqAck(self.number, self.window.received, True)
        return [self.tell(self.coordinator, ask), StartTimer("ask", self.ask_s)]

    # --- retransmission ---------------------------------------------------------------------------

    def repairable(self) -> dict[Address, Window]:
        """Where gaps may be asked for: nowhere before the first id is known, but for a cut."""
        known = self.placed or self.repairing.fetch is not None
        return {self.coordinator: self.window} if known else {}

    def request(self, wanted: Wanted) -> Effect:
        """TOTAL_RESEND; the sequencer is asked first."""
        return self.tell(wanted.holder, Resend(self.number, wanted.ranges))

    def on_resend(self, member: Address, resend: Resend, now: float) -> list[Effect]:
        """Gather what is asked for and held, of this view or the one before it."""
        present = resend.view == self.number
        window = self.window if present else self.previous[1]
        if present and not self.placed:
            return []
        effects: list[Effect] = [StartTimer("answer", 0)] if self.answers.empty else []
        place = (resend.view, self.me)
        self.answers.note(member, place, window, resend.ranges, now)
        if resend.ranges and resend.ranges[0] <= window.first:
            effects.append(self.tell(member, NewView(resend.view, window.first)))
        return effects

    def answer(self, now: float, has: Callable[[Address, int], bool]) -> list[Effect]:
        """Send what was asked for in this turn, unless it was acknowledged in it as well."""
        effects: list[Effect] = []
        for answer in self.answers.take(now):
            batch, to = answer.batch, answer.destination
            if answer.view == self.number and to is not None and has(to, answer.seqno):
                continue
            effects.append(Down(Batch(self.me, to, batch.headers, batch.body, batch.count, False)))
        self.repairs_sent += len(effects)
        return effects

    # --- view changes -----------------------------------------------------------------------------

    @property
    def frozen(self) -> bool:
        """Whether a view change is under way."""
        return self.repairing.frozen

    def freeze(self) -> None:
        """A view change begins."""
        self.repairing.freeze()
        self.asking = False
        self.acknowledging.stop()
