"""The trace records of places: what people did and were told, and what nodes saw.

What cells did at their positions, and what they were like, is in records of documents: these are
about any object. `object` is a cell's name, `person` somebody's; `by` names a connection, which is
another one for each time that somebody grabs something.
"""

from __future__ import annotations

from typing import NamedTuple


class PlaceCalled(NamedTuple):
    """A person asks for something: `what`, of these things, with this number."""

    t: int
    person: str
    number: int
    what: str
    things: tuple[str, ...]


class PlaceAnswered(NamedTuple):
    """A person is told what has become of it; `code` empty: it was done.

    Of a grab that was refused, `holder` is who was first.
    """

    t: int
    person: str
    number: int
    code: str
    by: str
    holder: str


class PlaceSaved(NamedTuple):
    """A person knows that it survives the loss of all nodes."""

    t: int
    person: str
    number: int


class PlaceHeld(NamedTuple):
    """At this place of a cell's order somebody got a thing (`what` got), was refused it (refused:
    `holder` has it), or let go of it, in whichever way (free)."""

    t: int
    n: str
    inc: int
    object: str
    epoch: int
    birth: str
    position: int
    what: str
    thing: str
    by: str
    holder: str


class PlaceGone(NamedTuple):
    """A node has done that this thing was deleted."""

    t: int
    n: str
    inc: int
    thing: str


class PlaceTicked(NamedTuple):
    """A node has done this tick of a cell."""

    t: int
    n: str
    inc: int
    object: str
    epoch: int
    birth: str
    position: int
    number: int


class PlaceRang(NamedTuple):
    """A node has done that a timer rang at `time_ms` of the order, due at `due_ms`."""

    t: int
    n: str
    inc: int
    object: str
    epoch: int
    birth: str
    position: int
    thing: str
    due_ms: int
    time_ms: int


class PlaceWrong(NamedTuple):
    """A screen at a node shows what it must not: `text` says what."""

    t: int
    n: str
    inc: int
    text: str


class PlaceEnd(NamedTuple):
    """What a node has of the place at the end: things, each with its cell.

    `wrong`: what does not fit together there.
    """

    t: int
    n: str
    inc: int
    things: tuple[tuple[str, str], ...]
    wrong: tuple[str, ...]


class PlaceInterest(NamedTuple):
    """At the end a person does not have the cells that belong to what it sees."""

    t: int
    person: str
    text: str


PlaceRecord = (
    PlaceCalled
    | PlaceAnswered
    | PlaceSaved
    | PlaceHeld
    | PlaceGone
    | PlaceTicked
    | PlaceRang
    | PlaceWrong
    | PlaceEnd
    | PlaceInterest
)

PLACE_EVENTS: dict[type, str] = {
    PlaceCalled: "p-call",
    PlaceAnswered: "p-answer",
    PlaceSaved: "p-save",
    PlaceHeld: "p-hold",
    PlaceGone: "p-gone",
    PlaceTicked: "p-tick",
    PlaceRang: "p-ring",
    PlaceWrong: "p-wrong",
    PlaceEnd: "p-end",
    PlaceInterest: "p-interest",
}
"""What each record is called in JSON lines."""
