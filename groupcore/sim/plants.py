"""Planted bugs: mistakes put into the code on purpose, each of which a checker must find.

Those of TOTAL are in `plants_total`, of the flush in `plants_flush`, and so on; what a plant is, in
`planting`.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.batch import Batch
from groupcore.effects import Down, Effect, Up
from groupcore.events import CutAgreed, Event, Stable, ViewInstalled
from groupcore.forward_table import ForwardTable
from groupcore.layers import nakack, resilience, sequencer
from groupcore.membership import attempt, succession
from groupcore.order_state import OrderState
from groupcore.sim.disk import Disk
from groupcore.sim.plant_schedules import CUT_OFF_BY_TURNS
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.plants_access import ACCESS_PLANTS
from groupcore.sim.plants_cells import CELL_PLANTS
from groupcore.sim.plants_certificates import CERTIFICATE_PLANTS
from groupcore.sim.plants_deletions import DELETION_PLANTS
from groupcore.sim.plants_detection import DETECTION_PLANTS
from groupcore.sim.plants_documents import DOCUMENT_PLANTS
from groupcore.sim.plants_durable import DURABLE_PLANTS
from groupcore.sim.plants_flush import FLUSH_PLANTS
from groupcore.sim.plants_group_orders import GROUP_ORDER_PLANTS
from groupcore.sim.plants_groups import GROUP_PLANTS
from groupcore.sim.plants_merge import MERGE_PLANTS
from groupcore.sim.plants_observers import OBSERVER_PLANTS
from groupcore.sim.plants_pages import PAGE_PLANTS
from groupcore.sim.plants_places import PLACE_PLANTS
from groupcore.sim.plants_safety import SAFETY_PLANTS
from groupcore.sim.plants_set_aside import SET_ASIDE_PLANTS
from groupcore.sim.plants_total import TOTAL_PLANTS
from groupcore.sim.plants_transfer import TRANSFER_PLANTS
from groupcore.sim.plants_views import VIEW_PLANTS
from groupcore.sim.plants_voters import VOTER_PLANTS
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
        self.progress.received = {}

    return [(sequencer.Sequencer, "begin_epoch", begin_epoch)]


def _table_forgotten() -> list[Patch]:
    original = sequencer.Sequencer.on_view

    def on_view(self: sequencer.Sequencer, event: ViewInstalled) -> list[Effect]:
        effects = original(self, event)
        self.progress.received = {}
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
        self.progress.received[header.origin] = header.seqno - 1
        return deliver(self, batch, header)

    return [
        (sequencer.Sequencer, "on_view", on_view),
        (sequencer.Sequencer, "deliver", anything),
    ]


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
        received: dict[Address, int] = dict(self.progress.received)
        return OrderState(max(self.progress.position - 1, 0), received)

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
            "delivers-at-once",
            "a multicast is delivered before a quorum holds it",
            (3, 2, 5, 6, 15, 25),
            _delivers_at_once,
            schedule=CUT_OFF_BY_TURNS,
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
        *FLUSH_PLANTS,
        *VIEW_PLANTS,
        *VOTER_PLANTS,
        *SAFETY_PLANTS,
        *CERTIFICATE_PLANTS,
        *TOTAL_PLANTS,
        *TRANSFER_PLANTS,
        *MERGE_PLANTS,
        *DETECTION_PLANTS,
        *GROUP_PLANTS,
        *DELETION_PLANTS,
        *GROUP_ORDER_PLANTS,
        *OBSERVER_PLANTS,
        *PLACE_PLANTS,
        *SET_ASIDE_PLANTS,
        *ACCESS_PLANTS,
        *DURABLE_PLANTS,
        *DOCUMENT_PLANTS,
        *CELL_PLANTS,
        *PAGE_PLANTS,
    )
}
"""The plants by name."""
