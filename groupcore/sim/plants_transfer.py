"""Planted bugs in state transfer: when copies are made, when queueing begins and how it ends."""

from __future__ import annotations

from groupcore.effects import Effect, Up
from groupcore.events import Event
from groupcore.layers import queue
from groupcore.sim import states
from groupcore.sim.clock import MILLISECOND
from groupcore.sim.planting import Patch, Plant
from groupcore.transfer import taking
from groupcore.transfer.asking import Transfer
from groupcore.transfer.events import GetApplicationState
from groupcore.transfer.headers import Chunk
from groupcore.transfer.version import StateVersion
from groupcore.view import Address


def _queues_late() -> list[Patch]:
    place, on_chunk = taking.Taker.place, taking.Taker.on_chunk
    late: dict[taking.Taker, Effect] = {}

    def place_only(
        self: taking.Taker, transfer: Transfer, version: StateVersion, epoch: int, position: int
    ) -> list[Effect]:
        late[self], *rest = place(self, transfer, version, epoch, position)
        return rest

    def then_queue(self: taking.Taker, sender: Address, chunk: Chunk, body: bytes) -> list[Effect]:
        started = [late.pop(self)] if self in late else []
        return [*started, *on_chunk(self, sender, chunk, body)]

    return [(taking.Taker, "place", place_only), (taking.Taker, "on_chunk", then_queue)]


def _copies_late() -> list[Patch]:
    original = states.States.on_event

    def on_event(self: states.States, event: Event) -> None:
        if isinstance(event, GetApplicationState):
            life = self._node.address
            late = 2 * MILLISECOND

            def copy() -> None:
                if self._node.address == life and self._node.application is not None:
                    original(self, event)

            self._clock.after(late, copy)
        else:
            original(self, event)

    return [(states.States, "on_event", on_event)]


def _queue_forgotten() -> list[Patch]:
    original = queue.Queue.replay

    def replay(self: queue.Queue) -> list[Effect]:
        return [effect for effect in original(self) if not isinstance(effect, Up)]

    return [(queue.Queue, "replay", replay)]


TRANSFER_PLANTS = (
    Plant(
        "state-in-two-steps",
        "a joiner queues from the first chunk on, not from the place of the copy",
        (17, 25),
        _queues_late,
    ),
    Plant(
        "copied-late",
        "the state is copied a moment after its place in the order",
        (17, 2, 25),
        _copies_late,
    ),
    Plant(
        "queue-not-replayed",
        "what was queued while the state came is forgotten",
        (5, 13, 15, 17, 25),
        _queue_forgotten,
    ),
)
