"""SEQUENCER as its tests build it."""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.effects import Effect
from groupcore.layers.sequencer import Forward, Ordered, Sequencer
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, headed, installed, message


def member(me: Address = B, window_bytes: int = 1 << 20) -> Sequencer:
    """A member of the view [A B C], whose coordinator is A."""
    layer = Sequencer(me, window_bytes)
    layer.on_event(installed(A, B, C), 0.0)
    return layer


def send(layer: Sequencer, *texts: str) -> list[Effect]:
    return [effect for text in texts for effect in layer.on_down(message(layer.me, text), 0.0)]


def hear(layer: Sequencer, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


def ordered(origin: Address, seqno: int, text: str = "", coordinator: Address = A) -> Batch:
    """The broadcast of somebody's message, as the coordinator makes it."""
    return headed(coordinator, Ordered(origin, seqno), text=text or f"{origin.name}{seqno}")


def forward(sender: Address, seqno: int, view: int = 1, text: str = "") -> Batch:
    return headed(sender, Forward(view, seqno), text=text or f"{sender.name}{seqno}", to=A)


def delivered(origin: Address, seqno: int, position: int) -> Batch:
    batch = message(origin, f"{origin.name}{seqno}")
    batch.position = position
    return batch
