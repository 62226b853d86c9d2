"""Bugs to plant in TOTAL, as `plants` has them for the other layers."""

from __future__ import annotations

from groupcore.effects import Effect
from groupcore.layers.total_headers import CumSeqAck, SeqAck
from groupcore.layers.total_queue import Queue
from groupcore.layers.total_sequencer import Sequencing
from groupcore.order_progress import OrderProgress
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address


def _queue_kept() -> list[Patch]:
    original = Queue.place

    def place(self: Queue, first: int) -> None:
        original(self, first)
        for sequence_id, batch in self.previous[1].batches.items():
            self.window.add(sequence_id, batch)

    return [(Queue, "place", place)]


def _suffix_never_asked_for() -> list[Patch]:
    def idle(self: Sequencing) -> list[Effect]:
        return []

    return [(Sequencing, "idle", idle)]


def _single_as_cumulative() -> list[Patch]:
    def on_seq_ack(self: Sequencing, member: Address, ack: SeqAck) -> list[Effect]:
        return self.on_cum_ack(member, CumSeqAck(ack.view, ack.sequence_id, False))

    return [(Sequencing, "on_seq_ack", on_seq_ack)]


def _new_view_told_once() -> list[Patch]:
    def repeat_new_view(self: Sequencing) -> list[Effect]:
        return []

    return [(Sequencing, "repeat_new_view", repeat_new_view)]


def _body_cut_in_two() -> list[Patch]:
    def close_bodies(self: OrderProgress) -> None:
        self.opened = {}

    def settled(self: OrderProgress) -> dict[Address, int]:
        return dict(self.received)

    return [(OrderProgress, "close_bodies", close_bodies), (OrderProgress, "settled", settled)]


TOTAL_PLANTS = (
    Plant(
        "total-queue-kept",
        "TOTAL's queue is not cleared by a view change",
        (25, 0, 24, 2, 3, 4, 5, 6, 13, 15, 16),
        _queue_kept,
        "total",
    ),
    Plant(
        "total-suffix-lost",
        "the last id is never told: a lost suffix is never asked for",
        (25, 15),
        _suffix_never_asked_for,
        "total",
    ),
    Plant(
        "total-single-as-cumulative",
        "what is held beyond a gap counts as if there were no gap",
        (24, 25, 3, 2, 4, 5, 6, 13, 15),
        _single_as_cumulative,
        "total",
    ),
    Plant(
        "total-new-view-once",
        "where a view begins is told once",
        (25, 15),
        _new_view_told_once,
        "total",
    ),
    Plant(
        "total-body-cut",
        "a body lies half in one view and half in the next",
        (25, 15, 5, 6),
        _body_cut_in_two,
        "total",
    ),
)
"""Those of TOTAL; `plants.PLANTS` has all."""
