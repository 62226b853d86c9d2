"""The sequencer's role in TOTAL: gives ids, broadcasts, counts holders, tells how far it is.

One object serves one view. It starts the layer's timers `new_view`, `idle` and `mark`, and the
layer hands them back.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.assigning import Assigning
from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Notify, StartTimer
from groupcore.events import Stable
from groupcore.holders import held_by_quorum
from groupcore.layers.total_headers import (
    Bcast,
    CumSeqAck,
    Mark,
    NewView,
    SeqAck,
    TotalHeader,
    TotalOptions,
)
from groupcore.view import Address, View
from groupcore.window import Window


class Sequencing:
    """What the sequencer knows and does in one view. `held`: how far a quorum holds its ids."""

    def __init__(
        self,
        me: Address,
        view: View,
        window: Window,
        received: Mapping[Address, int],
        options: TotalOptions,
    ) -> None:
        self.me = me
        self.view = view
        self.window = window
        self.options = options
        others = [member for member in view.members if member != me]
        self.book = Assigning(window, others, received)
        self.ranks = {member: rank for rank, member in enumerate(view.members)}
        self.others_cannot_know = not all(view.is_quorum({me.name, m.name}) for m in others)
        self.held = self.told_held = self.told_stable = window.first - 1
        self.new_view_s = self.idle_s = options.repeat_min_s
        self.idling = self.busy = False
        self.sequenced = 0

    def tell(self, member: Address | None, header: Header) -> Effect:
        """A header by itself, to one member or to the group."""
        return Down(Batch(self.me, member, (header,), reliable=False))

    def on_timer(self, timer: str) -> list[Effect]:
        """`mark` at the end of a turn, `new_view` and `idle` later."""
        if timer == "mark":
            return self.tell_held()
        return self.idle() if timer == "idle" else self.repeat_new_view()

    def on_told(self, member: Address, header: TotalHeader) -> list[Effect]:
        """A member says what it holds, or that it knows where the view begins."""
        match header:
            case CumSeqAck():
                return self.on_cum_ack(member, header)
            case SeqAck():
                return self.on_seq_ack(member, header)
            case _:
                self.book.unplaced.pop(member, None)
                return []

    # --- where the view begins --------------------------------------------------------------------

    def begin(self) -> list[Effect]:
        """Tell the group which id comes first."""
        if not self.book.unplaced:
            return []
        new_view = NewView(self.view.number, self.window.first)
        return [self.tell(None, new_view), StartTimer("new_view", self.new_view_s)]

    def repeat_new_view(self) -> list[Effect]:
        """Tell it again whoever has not acknowledged it, less and less often."""
        if not self.book.unplaced:
            return []
        new_view = NewView(self.view.number, self.window.first)
        self.new_view_s = min(2 * self.new_view_s, self.options.repeat_max_s)
        told = [self.tell(member, new_view) for member in self.book.unplaced]
        return [*told, StartTimer("new_view", self.new_view_s)]

    # --- giving ids -------------------------------------------------------------------------------

    def assign(self) -> list[Effect]:
        """Give what waits the next ids, as far as the window has room, and broadcast it."""
        out, limit = self.book.out, self.options.window_bytes
        effects: list[Effect] = []
        for origin, seqno, batch in self.book.assignable(limit):
            rank, number = self.ranks[origin], self.view.number
            header = Bcast(number, self.window.highest + 1, rank, seqno, self.held, out.stable)
            headers = (*batch.headers, header)
            out.add(Batch(self.me, None, headers, batch.body, batch.count, False))
            effects += [Down(sent) for _, sent in out.sendable(limit)]
        if not effects:
            return effects
        self.sequenced += len(effects)
        self.told_held, self.told_stable = self.held, out.stable
        self.count_holders()
        if out.alone:
            return []  # nobody listens
        self.busy = True
        if not self.idling:
            self.idling = True
            effects.append(StartTimer("idle", self.idle_s))
        return effects

    def count_holders(self) -> bool:
        """Whether a quorum holds more than before."""
        acknowledged = self.book.out.acknowledged
        before, sent = self.held, self.window.highest
        self.held = held_by_quorum(self.view, self.me, sent, acknowledged, before)
        return self.held > before

    # --- what is held -----------------------------------------------------------------------------

    def on_cum_ack(self, member: Address, ack: CumSeqAck) -> list[Effect]:
        """The member holds everything up to an id; the window may open."""
        effects: list[Effect] = []
        if ack.wanted and member in self.book.out.acknowledged:
            effects.append(self.tell(member, self.mark(wanted=False)))
        if not self.book.out.acknowledge(member, ack.sequence_id):
            return effects
        if self.count_holders() and self.others_cannot_know:
            effects.append(StartTimer("mark", 0))
        if self.book.out.settle():
            self.idle_s = self.options.repeat_min_s
            effects += self.assign()
        return effects

    def on_seq_ack(self, member: Address, ack: SeqAck) -> list[Effect]:
        """The member holds one beyond a gap: it needs no repair, and closes the window no more.

        It does not count for the quorum: the digest of a vote tells nothing beyond a gap.
        """
        if self.book.out.acknowledge_one(member, ack.sequence_id):
            return self.assign()
        return []

    def holds(self, member: Address, sequence_id: int) -> bool:
        """Whether the member has acknowledged this id, one way or the other."""
        return self.book.out.holds(member, sequence_id)

    # --- telling how far --------------------------------------------------------------------------

    def mark(self, wanted: bool) -> Mark:
        """How far this sequencer is."""
        out = self.book.out
        return Mark(self.view.number, self.window.highest, self.held, out.stable, wanted)

    def tell_held(self) -> list[Effect]:
        """Tell what a quorum holds, unless a broadcast has carried it since."""
        if self.held == self.told_held:
            return []
        self.told_held, self.told_stable = self.held, self.book.out.stable
        return [self.tell(None, self.mark(wanted=False))]

    def idle(self) -> list[Effect]:
        """Nothing was sent for a while: ask for what is not acknowledged, once all is, say so."""
        out = self.book.out
        if self.busy:
            self.busy = False
            return [StartTimer("idle", self.idle_s)]
        if not out.all_hold:
            self.idle_s = min(2 * self.idle_s, self.options.repeat_max_s)
            return [self.tell(None, self.mark(wanted=True)), StartTimer("idle", self.idle_s)]
        self.idling = False
        if self.told_stable == out.stable:
            return []
        self.told_held, self.told_stable = self.held, out.stable
        stable = Stable({self.me: out.stable}, {self.me: self.window.highest})
        return [self.tell(None, self.mark(wanted=False)), Notify(stable)]
