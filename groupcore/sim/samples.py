"""What a running stack keeps in memory at a moment, next to what it is allowed to keep.

Reads the layers as they are; a layer that a stack lacks contributes nothing.
"""

from __future__ import annotations

from groupcore.forward_table import ForwardTable
from groupcore.layer import Layer
from groupcore.layers.nakack import Nakack
from groupcore.layers.sequencer import Sequencer
from groupcore.layers.total import Total
from groupcore.sim.trace import Sampled
from groupcore.stack import Stack
from groupcore.view import Address
from groupcore.window import Window

BURST_BYTES = 1 << 20
"""What may be on top of a window: it closes only behind what one call of the application sends."""


def sample(stack: Stack, me: Address, t: int) -> Sampled:
    """The buffers of this stack, and how far its windows reach."""
    buffers: list[tuple[str, int, int]] = []
    view, windows = 0, dict[Address, Window]()
    for layer in stack.layers:
        buffers += _buffers(layer)
        if isinstance(layer, Nakack):
            view, windows = layer.number, layer.windows
        elif isinstance(layer, Total):
            view = layer.queue.number
            windows = {layer.queue.coordinator: layer.queue.window} if layer.queue.placed else {}
    return Sampled(
        t,
        *me,
        view,
        tuple(buffers),
        tuple(_reach(sender, window) for sender, window in windows.items()),
    )


def _buffers(layer: Layer) -> list[tuple[str, int, int]]:
    """(name, bytes used, most bytes allowed) for each buffer of the layer."""
    match layer:
        case Nakack():
            window = layer.options.window_bytes + BURST_BYTES
            return [
                ("nakack.in_flight", layer.mine.in_flight_bytes, window),
                # A sender's window moves on by as much before its next multicast tells the others
                # what they may drop.
                (
                    "nakack.kept",
                    max(map(_kept_bytes, layer.windows.values()), default=0),
                    2 * window,
                ),
                ("nakack.future", layer.future.size_bytes, layer.future.bytes_max + BURST_BYTES),
            ]
        case Sequencer():
            return [
                _forward_table("sequencer", layer.forward_table),
                ("sequencer.early", layer.early.size_bytes, layer.early.bytes_max + BURST_BYTES),
            ]
        case Total():
            window, role = layer.options.window_bytes + BURST_BYTES, layer.role
            in_flight = 0 if role is None else role.book.out.in_flight_bytes
            return [
                _forward_table("total", layer.table),
                ("total.in_flight", in_flight, window),
                ("total.kept", _kept_bytes(layer.queue.window), 2 * window),
                ("total.early", layer.early.size_bytes, layer.early.bytes_max + BURST_BYTES),
            ]
        case _:
            return []


def _forward_table(layer: str, table: ForwardTable) -> tuple[str, int, int]:
    return (f"{layer}.forward_table", table.size_bytes, table.window_bytes + BURST_BYTES)


def _reach(sender: Address, window: Window) -> tuple[Address, int, int]:
    """How many of the sender's are held without a gap, and how many were dropped again."""
    before = window.first - 1
    return (sender, window.received - before, window.purged - before)


def _kept_bytes(window: Window) -> int:
    return sum(batch.size_bytes for batch in window.batches.values())
