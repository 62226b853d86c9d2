"""PBCAST as its tests build it."""

from __future__ import annotations

from random import Random

from groupcore.batch import Batch
from groupcore.digest import Digest
from groupcore.effects import Effect
from groupcore.events import Stable
from groupcore.layers.pbcast import Gossip, GossipOptions, Pbcast
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, bare, events, installed

ALL = GossipOptions(lag=0)


def member(
    *members: Address,
    mine: Digest | None = None,
    held: Digest | None = None,
    options: GossipOptions = ALL,
    seed: int = 1,
) -> Pbcast:
    """A's layer in a view of these members; what it has delivered, and held."""
    delivered = {} if mine is None else mine
    layer = Pbcast(A, Random(seed), lambda: held or delivered, lambda: delivered, options)
    layer.on_event(installed(*(members or (A, B, C))), 0.0)
    return layer


def gossip(
    origin: Address,
    held: tuple[int, ...],
    not_seen: tuple[int, ...],
    number: int = 1,
    delivered: tuple[int, ...] | None = None,
    view: int = 1,
    relay: Address | None = None,
    stable: tuple[int, ...] | None = None,
    urgent: bool = False,
) -> Batch:
    least, nothing = delivered or held, (0,) * len(held)
    header = Gossip(view, origin, number, urgent, held, least, stable or nothing, not_seen)
    return bare(relay or origin, header)


def hear(layer: Pbcast, *batches: Batch) -> list[Effect]:
    """Hand over gossips from below, then end the turn."""
    for batch in batches:
        layer.on_up(batch, 0.0)
    return layer.on_timer("handle", 0.0)


def stable(effects: list[Effect]) -> list[Stable]:
    return [event for event in events(effects) if isinstance(event, Stable)]
