"""Flow control in the hands of a test: members, batches of a round cost, credit, turns."""

from __future__ import annotations

from groupcore.batch import MESSAGE_COST_BYTES, Batch
from groupcore.effects import Effect
from groupcore.layers.flow_control import Credit, FlowControl, FlowOptions
from groupcore.view import Address
from tests.groupcore.layers.building import A, B, C, bare, installed

CREDIT = 1000
COST = 100
OPTIONS = FlowOptions(credit_bytes=CREDIT, stall_timeout_s=2.0, pace_bytes_s=100, ask_s=0.1)


def member(me: Address = A, *members: Address) -> FlowControl:
    layer = FlowControl(me, OPTIONS)
    layer.on_event(installed(*(members or (A, B, C))), 0.0)
    return layer


def costing(cost_bytes: int, sender: Address = A, to: Address | None = None) -> Batch:
    return Batch(sender, to, (), bytes(cost_bytes - MESSAGE_COST_BYTES), 1)


def send(layer: FlowControl, count: int = 1, to: Address | None = None) -> list[Effect]:
    return [e for _ in range(count) for e in layer.on_down(costing(COST, to=to), 0.0)]


def credit(
    layer: FlowControl, sender: Address, *fields: int, multicast: bool = True
) -> list[Effect]:
    received, unread, *view = fields
    header = Credit(view[0] if view else 1, multicast, received, unread)
    return layer.on_up(bare(sender, header, to=layer.me), 0.0)


def receive(layer: FlowControl, sender: Address, count: int, to: Address | None = None) -> None:
    for _ in range(count):
        layer.on_pass(costing(COST, sender, to), 0.0)


def turn(layer: FlowControl) -> list[Effect]:
    """The end of a turn at which the application has got everything."""
    return layer.on_timer("settle", 0.0)


def look(layer: FlowControl, until: float) -> list[Effect]:
    """Watch every `ask_s` up to that time."""
    effects: list[Effect] = []
    for step in range(1, round(until / OPTIONS.ask_s) + 2):
        effects += layer.on_timer("watch", step * OPTIONS.ask_s)
    return effects
