"""NAKACK as its tests build it."""

from __future__ import annotations

from random import Random

from groupcore.batch import Batch
from groupcore.effects import Effect
from groupcore.layers.nakack import Nakack
from groupcore.layers.nakack_headers import Data, NakackOptions
from groupcore.view import Address
from tests.groupcore.layers.building import (
    A,
    B,
    C,
    headed,
    installed,
    message,
)


def idle(me: Address = A, options: NakackOptions | None = None) -> Nakack:
    """A layer in no view."""
    return Nakack(me, Random(1), options or NakackOptions())


def member(me: Address = A, *others: Address, options: NakackOptions | None = None) -> Nakack:
    """A layer whose view has begun: me, then the others (default B and C)."""
    layer = idle(me, options)
    layer.on_event(installed(me, *(others or (B, C))), 0.0)
    layer.on_timer("begin", 0.0)
    return layer


def data(sender: Address, seqno: int, view: int = 1, stable: int = 0) -> Batch:
    return headed(sender, Data(view, seqno, stable), text=f"{sender.name}{seqno}")


def plain(sender: Address, seqno: int) -> Batch:
    """What goes up of such a multicast."""
    return message(sender, f"{sender.name}{seqno}")


def hear(layer: Nakack, *batches: Batch) -> list[Effect]:
    """Hand over batches from below, one after the other."""
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]
