"""Layers that write down what they are handed and answer as a test says, and stacks of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect
from groupcore.events import Event
from groupcore.layer import Layer
from groupcore.stack import Stack
from groupcore.view import Address

A = Address("a", 1)


@dataclass(slots=True)
class LowHeader(Header):
    kind: ClassVar[str] = "low.data"


@dataclass(slots=True)
class HighHeader(Header):
    kind: ClassVar[str] = "high.data"


@dataclass(slots=True)
class NobodysHeader(Header):
    kind: ClassVar[str] = "nobody.data"


Scripted = Callable[[object], list[Effect]]


class Recorder(Layer):
    """Writes down what it is handed, and answers as the test says."""

    def __init__(self, log: list[str], script: Scripted | None = None) -> None:
        self.log = log
        self.script = script or (lambda _: [])

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        self.log.append(f"{self.name} up")
        return self.script(batch)

    def on_event(self, event: Event, now: float) -> list[Effect]:
        self.log.append(f"{self.name} {type(event).__name__}")
        return self.script(event)

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        self.log.append(f"{self.name} timer {timer} at {now}")
        return self.script(timer)


class Low(Recorder):
    name = "LOW"
    headers = (LowHeader,)
    provides = frozenset({"ground"})

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        self.log.append("LOW down")
        return [Down(batch.with_header(LowHeader()))]

    def counters(self) -> dict[str, int]:
        return {"things": 4}


class Middle(Recorder):
    """Owns no header and does not look at what goes down."""

    name = "MIDDLE"


class High(Recorder):
    name = "HIGH"
    headers = (HighHeader,)
    requires_below = frozenset({"ground"})

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        self.log.append("HIGH down")
        return [Down(batch.with_header(HighHeader()))]


def message(*headers: Header) -> Batch:
    return Batch(A, None, headers, b"body", 1)


def three(log: list[str], **scripts: Scripted) -> Stack:
    return Stack(
        [
            Low(log, scripts.get("low")),
            Middle(log, scripts.get("middle")),
            High(log, scripts.get("high")),
        ]
    )


def answer(to: object, *effects: Effect) -> Scripted:
    """Return the effects to one input, once."""
    waiting = list(effects)

    def script(given: object) -> list[Effect]:
        if given != to:
            return []
        taken, waiting[:] = list(waiting), []
        return taken

    return script
