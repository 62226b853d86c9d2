"""Composition: whether layers that stand over each other find what they require of one another.

Pure functions on what layer classes declare, so a stack is refused before anything of it exists.
State-transfer paper, 3.1: layers that respond to events advertise it, layers that need a response
from above or below advertise that, and a stack in which one is missing is not created.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from groupcore.errors import CompositionError
from groupcore.layer import Layer

Kind = Layer | type[Layer]
"""A layer or its class: what is declared is the same."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a layer requires: `what`, by name; `side` is above, below, or around it.

    `event`: an answer to an event of that name, not a service.
    """

    what: str
    side: str
    event: bool

    def is_met_by(self, layer: Kind) -> bool:
        """Whether this layer would provide it."""
        if self.event:
            return self.what in {event.__name__ for event in layer.answers}
        return self.what in layer.provides

    def __str__(self) -> str:
        return f"an answer to {self.what}" if self.event else f"'{self.what}'"


def needs_of(layer: Kind) -> Iterator[Need]:
    """Everything that the layer requires of those around it."""
    sides = (
        ("below", layer.requires_below, layer.asks_below),
        ("above", layer.requires_above, layer.asks_above),
        ("around", layer.requires_around, layer.asks_around),
    )
    for side, services, events in sides:
        for service in sorted(services):
            yield Need(service, side, event=False)
        for event in events:
            yield Need(event.__name__, side, event=True)


def check_composition(layers: Sequence[Kind], known: Iterable[type[Layer]] = ()) -> None:
    """CompositionError unless each layer finds what it requires below and above it.

    The text names the layer, what it misses, the side on which it misses it, and the remedy: the
    layer of the stack that stands on the wrong side, or those of the `known` ones that would do.
    """
    classes = tuple([layer if isinstance(layer, type) else type(layer) for layer in layers])
    _check_classes(classes, tuple(known))


@lru_cache(maxsize=64)
def _check_classes(layers: tuple[type[Layer], ...], known: tuple[type[Layer], ...]) -> None:
    """As above: what classes declare does not change, so a sound stack is looked at once."""
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise CompositionError(f"{name} stands twice in {':'.join(names)}; take one out")
    for index, layer in enumerate(layers):
        below, above = layers[:index], layers[index + 1 :]
        sides = {"below": (below, above), "above": (above, below), "around": (layers, ())}
        for need in needs_of(layer):
            right, wrong = sides[need.side]
            if not any(need.is_met_by(other) for other in right):
                raise CompositionError(_complaint(layer.name, need, wrong, names, known))


def _complaint(
    name: str,
    need: Need,
    wrong_side: Sequence[Kind],
    names: list[str],
    known: Iterable[type[Layer]],
) -> str:
    spec = ":".join(names)
    misplaced = next((other.name for other in wrong_side if need.is_met_by(other)), None)
    if misplaced is not None:
        lower, higher = (misplaced, name) if need.side == "below" else (name, misplaced)
        return (
            f"{higher} must stand above {lower} in {spec} (lowest first): {name} requires {need} "
            f"from a layer {need.side} it, and {misplaced} provides that; change their places"
        )
    providers = [layer.name for layer in known if need.is_met_by(layer)]
    remedy = " or ".join(providers) or "a layer that provides it,"
    return (
        f"{name} requires {need} from a layer {need.side} it in {spec}; "
        f"add {remedy} {need.side} {name}"
    )
