"""Planted bugs: mistakes put into the code on purpose, each of which a checker must find.

Those of TOTAL are in `plants_total`; what a plant is, in `planting`.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.batch import Batch
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, Up
from groupcore.events import CutAgreed, Event, FlushStarted, Stable, ViewInstalled
from groupcore.forward_table import ForwardTable
from groupcore.layers import flush, nakack, resilience, sequencer
from groupcore.membership import attempt, succession, voter
from groupcore.membership.succession import Vote
from groupcore.order_state import OrderState
from groupcore.sim.disk import Disk
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.plants_safety import SAFETY_PLANTS
from groupcore.sim.plants_total import TOTAL_PLANTS
from groupcore.sim.plants_transfer import TRANSFER_PLANTS
from groupcore.sim.plants_views import VIEW_PLANTS
from groupcore.view import Address, View
from groupcore.window import Window


def _gap() -> list[Patch]:
    original = sequencer.Sequencer.deliver

    def deliver(self: sequencer.Sequencer, batch: Batch, header: sequencer.Ordered) -> list[Effect]:
        effects = original(self, batch, header)
        if header.seqno % 5 == 4 and header.origin != self.me:
            return [effect for effect in effects if not isinstance(effect, Up)]
        return effects

    return [(sequencer.Sequencer, "deliver", deliver)]


def _duplicate() -> list[Patch]:
    original = sequencer.Sequencer.deliver

    def deliver(self: sequencer.Sequencer, batch: Batch, header: sequencer.Ordered) -> list[Effect]:
        effects = original(self, batch, header)
        if header.seqno % 5 == 4:
            return [effects[0], *effects] if effects else effects
        return effects

    return [(sequencer.Sequencer, "deliver", deliver)]


def _two_coordinators() -> list[Patch]:
    def always(basis: View | None, names: object, cluster_size: int) -> bool:
        return True

    return [(succession, "is_quorum_of", always), (attempt, "is_quorum_of", always)]


def _tail_lost() -> list[Patch]:
    original = nakack.Nakack.on_event

    def silent(self: nakack.Nakack) -> list[Effect]:
        return []

    def on_event(self: nakack.Nakack, event: Event, now: float) -> list[Effect]:
        return [] if isinstance(event, Stable) else original(self, event, now)

    return [
        (nakack.Nakack, "repeat_high_water", silent),
        (nakack.Nakack, "on_event", on_event),
    ]


def _joiner_forgets() -> list[Patch]:
    original = sequencer.Sequencer.begin_epoch

    def begin_epoch(self: sequencer.Sequencer, event: ViewInstalled) -> None:
        original(self, event)
        self.received_table = {}

    return [(sequencer.Sequencer, "begin_epoch", begin_epoch)]


def _table_forgotten() -> list[Patch]:
    original = sequencer.Sequencer.on_view

    def on_view(self: sequencer.Sequencer, event: ViewInstalled) -> list[Effect]:
        effects = original(self, event)
        self.received_table = {}
        return effects

    return [(sequencer.Sequencer, "on_view", on_view)]


def _not_resent() -> list[Patch]:
    original = sequencer.Sequencer.on_view

    def on_view(self: sequencer.Sequencer, event: ViewInstalled) -> list[Effect]:
        if event.fresh or event.recovered:
            return original(self, event)
        table, self.forward_table = self.forward_table, ForwardTable(0)
        effects = original(self, event)
        self.forward_table = table
        return effects

    return [(sequencer.Sequencer, "on_view", on_view)]


def _resent_in_reverse() -> list[Patch]:
    original = sequencer.Sequencer.on_view
    deliver = sequencer.Sequencer.deliver

    def on_view(self: sequencer.Sequencer, event: ViewInstalled) -> list[Effect]:
        effects = original(self, event)
        downs = [effect for effect in effects if isinstance(effect, Down)]
        return [*downs[::-1], *(effect for effect in effects if not isinstance(effect, Down))]

    def anything(
        self: sequencer.Sequencer, batch: Batch, header: sequencer.Ordered
    ) -> list[Effect]:
        self.received_table[header.origin] = header.seqno - 1
        return deliver(self, batch, header)

    return [
        (sequencer.Sequencer, "on_view", on_view),
        (sequencer.Sequencer, "deliver", anything),
    ]


def _delivers_in_flush() -> list[Patch]:
    nakack_event, resilience_event = nakack.Nakack.on_event, resilience.Resilience.on_event

    def in_nakack(self: nakack.Nakack, event: Event, now: float) -> list[Effect]:
        return [] if isinstance(event, FlushStarted) else nakack_event(self, event, now)

    def in_resilience(self: resilience.Resilience, event: Event, now: float) -> list[Effect]:
        return [] if isinstance(event, FlushStarted) else resilience_event(self, event, now)

    def is_holding(self: flush.Flush) -> bool:
        return self.opening or not self.number

    return [
        (nakack.Nakack, "on_event", in_nakack),
        (resilience.Resilience, "on_event", in_resilience),
        (flush.Flush, "is_holding", property(is_holding)),
    ]


def _answers_before_it_stops() -> list[Patch]:
    """The promise brings the digest, as it did before there was a flush."""
    original = voter.Voter.vote
    digests: dict[Address, Digest] = {}

    def vote(self: voter.Voter) -> Vote:
        if self.state.live_in_basis:
            digests[self.state.me] = self.ask.digest()
        return original(self)

    def answer(self: flush.Flush) -> list[Effect]:
        digest, self.digest = self.digest, lambda: digests.get(self.me, {})
        effects = flush_answer(self)
        self.digest = digest
        return effects

    flush_answer = flush.Flush.answer
    return [(voter.Voter, "vote", vote), (flush.Flush, "answer", answer)]


def _delivers_at_once() -> list[Patch]:
    original = resilience.Resilience.on_view

    def on_view(self: resilience.Resilience, view: View) -> list[Effect]:
        effects = original(self, view)
        self.pair_suffices = frozenset(view.members)
        return effects

    def count_holders(self: resilience.Resilience, mine: resilience.Stream) -> None:
        mine.held = mine.received

    return [
        (resilience.Resilience, "on_view", on_view),
        (resilience.Resilience, "count_holders", count_holders),
    ]


def _nothing_stored() -> list[Patch]:
    def store(self: Disk, record: bytes, done: Callable[[], None]) -> None:
        self.sync(done)

    return [(Disk, "store", store)]


def _window_off_by_one() -> list[Patch]:
    original = Window.missing

    def missing(self: Window, limit: int | None = None) -> list[tuple[int, int]]:
        gaps = original(self, limit)
        return [(first + 1, last) for first, last in gaps[:1] if first < last] + gaps[1:]

    return [(Window, "missing", missing)]


def _cut_off_by_one() -> list[Patch]:
    original = nakack.Nakack.on_cut_agreed

    def on_cut_agreed(self: nakack.Nakack, event: CutAgreed) -> list[Effect]:
        cut = {sender: max(seqno - 1, 0) for sender, seqno in event.cut.items()}
        return original(self, CutAgreed(cut))

    return [(nakack.Nakack, "on_cut_agreed", on_cut_agreed)]


def _joiner_at_zero() -> list[Patch]:
    def order_state(self: sequencer.Sequencer) -> OrderState:
        received: dict[Address, int] = dict(self.received_table)
        return OrderState(max(self.position - 1, 0), received)

    return [(sequencer.Sequencer, "order_state", order_state)]


PLANTS: dict[str, Plant] = {
    plant.name: plant
    for plant in (
        Plant("gap", "a message is skipped, its place is not", (5, 25), _gap),
        Plant("duplicate", "a message is delivered twice", (2, 4, 6, 25), _duplicate),
        Plant(
            "two-coordinators",
            "a view needs no quorum of its predecessor",
            (12, 2, 3, 4, 5, 6, 15, 25),
            _two_coordinators,
        ),
        Plant(
            "tail-lost", "no high-water marks: a lost last message stays lost", (25, 15), _tail_lost
        ),
        Plant(
            "joiner-forgets",
            "a joiner begins with an empty received-table",
            (3, 2, 6, 15, 25),
            _joiner_forgets,
        ),
        Plant(
            "received-table-forgotten",
            "the received-table is emptied by every view",
            (15, 25),
            _table_forgotten,
        ),
        Plant(
            "not-resent",
            "the forward-table is not sent to a new coordinator",
            (15, 25),
            _not_resent,
        ),
        Plant(
            "resent-in-reverse",
            "the forward-table is sent again from its end",
            (6, 2, 3, 15, 25),
            _resent_in_reverse,
        ),
        Plant(
            "delivers-in-flush",
            "multicasts are delivered while a view change is under way",
            (3, 2, 4, 5, 6, 15, 25),
            _delivers_in_flush,
        ),
        Plant(
            "answers-before-it-stops",
            "the flush is answered with what was held when the promise was given",
            (3, 2, 4, 5, 6, 15, 25),
            _answers_before_it_stops,
        ),
        Plant(
            "delivers-at-once",
            "a multicast is delivered before a quorum holds it",
            (3, 2, 5, 6, 15, 25),
            _delivers_at_once,
        ),
        Plant(
            "nothing-stored",
            "votes and views are not on disk when they are told",
            (12, 2, 3, 5, 6, 15, 25),
            _nothing_stored,
        ),
        Plant(
            "window-off-by-one",
            "the first missing number is never asked for",
            (25, 15),
            _window_off_by_one,
        ),
        Plant(
            "cut-off-by-one",
            "the last message of a view is not delivered in it",
            (3, 2, 5, 6, 15, 25),
            _cut_off_by_one,
        ),
        Plant(
            "joiner-one-behind",
            "a joiner is told a position that is one too low",
            (3, 2, 4, 5, 6, 15, 25),
            _joiner_at_zero,
        ),
        *VIEW_PLANTS,
        *SAFETY_PLANTS,
        *TOTAL_PLANTS,
        *TRANSFER_PLANTS,
    )
}
"""The plants by name."""
