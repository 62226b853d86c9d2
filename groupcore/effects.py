"""What a layer's handler returns: the only ways in which a layer acts on anything.

The stack runs the effects depth-first and in order after the handler has returned, so a layer is
never entered while it is in the middle of its own work.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.batch import Batch
from groupcore.events import Event


@dataclass(slots=True)
class Up:
    """Hand the batch to the layer above (that owns its outermost header), or the application."""

    batch: Batch


@dataclass(slots=True)
class Down:
    """Hand the batch to the layer below, in the end to the transport."""

    batch: Batch


@dataclass(slots=True)
class Notify:
    """Tell every layer, from the lowest to the highest, and then the application."""

    event: Event


@dataclass(slots=True)
class Tell:
    """Let an event go on to the application: what a layer returns that looks at those (`on_tell`).

    The layers have been told of it already, or are about to be.
    """

    event: Event


@dataclass(slots=True)
class StartTimer:
    """Wake this layer's `on_timer(name)` after `delay_s` seconds; replaces one of that name.

    A delay of zero means the end of the present turn: after everything that arrived together has
    been handled, before anything is sent.
    """

    name: str
    delay_s: float


@dataclass(slots=True)
class StopTimer:
    """Forget the timer of that name."""

    name: str


@dataclass(slots=True)
class Persist:
    """Store the record durably, then tell this stack `Persisted(token)`.

    One record, the newest replaces the former. Nothing that depends on it may be sent before.
    """

    token: int
    record: bytes


Effect = Up | Down | Notify | Tell | StartTimer | StopTimer | Persist
