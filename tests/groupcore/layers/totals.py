"""TOTAL as its tests build it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from groupcore.batch import Batch, Header
from groupcore.effects import Effect
from groupcore.events import ViewInstalled
from groupcore.layers.total import Total
from groupcore.layers.total_headers import Bcast, NewView, Request, TotalOptions
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, bare, downs, headed, installed, message

NAMES = (A, B, C)


def idle(me: Address = B, options: TotalOptions | None = None) -> Total:
    """A layer in no view."""
    return Total(me, Random(1), options or TotalOptions())


def unplaced(me: Address = B, number: int = 1) -> Total:
    """A member of [A B C] that does not know yet where the view begins."""
    layer = idle(me)
    layer.on_event(installed(*NAMES, number=number), 0.0)
    layer.on_timer("begin", 0.0)
    return layer


def member(
    me: Address = B,
    members: tuple[Address, ...] = NAMES,
    order_window_bytes: int = 1 << 20,
    window_bytes: int = 4 << 20,
) -> Total:
    """A member of a view that has begun, with the id 1; A is its sequencer."""
    options = replace(
        TotalOptions(), order_window_bytes=order_window_bytes, window_bytes=window_bytes
    )
    layer = idle(me, options)
    begin(layer, installed(*members), first=1)
    return layer


def begin(layer: Total, event: ViewInstalled, first: int | None = None) -> None:
    """Install a view and let it begin; a member is told the first id."""
    layer.on_event(event, 0.0)
    layer.on_timer("begin", 0.0)
    coordinator = event.view.coordinator
    if first is not None and coordinator != layer.me:
        layer.on_up(bare(coordinator, NewView(event.view.number, first)), 0.0)


def send(layer: Total, *texts: str) -> list[Effect]:
    return [effect for text in texts for effect in layer.on_down(message(layer.me, text), 0.0)]


def hear(layer: Total, *batches: Batch) -> list[Effect]:
    return [effect for batch in batches for effect in layer.on_up(batch, 0.0)]


def bcast(
    sequence_id: int,
    origin: Address,
    seqno: int,
    view: int = 1,
    held: int = 0,
    stable: int = 0,
    sender: Address = A,
    to: Address | None = None,
) -> Batch:
    """A broadcast, as the sequencer of a view [A B C …] makes it, or as a holder repeats it."""
    rank = "abcde".index(origin.name)
    header = Bcast(view, sequence_id, rank, seqno, held, stable)
    text = f"{origin.name}{seqno}"
    batch = headed(sender, header, text=text, to=to)
    batch.reliable = False
    return batch


def request(origin: Address, seqno: int, view: int = 1, text: str = "") -> Batch:
    return headed(origin, Request(view, seqno), text=text or f"{origin.name}{seqno}", to=A)


def delivered(origin: Address, seqno: int, position: int) -> Batch:
    batch = message(origin, f"{origin.name}{seqno}")
    batch.position, batch.reliable = position, False
    return batch


def marks_of(effects: list[Effect]) -> list[tuple[Address, int]]:
    """Whose messages are broadcast, and their seqnos; in a view [A B C] or [B C]."""
    found: list[tuple[Address, int]] = []
    for batch in downs(effects):
        header: Header = batch.headers[-1]
        if isinstance(header, Bcast):
            members = NAMES if batch.sender == A else NAMES[1:]
            found.append((members[header.origin], header.seqno))
    return found
