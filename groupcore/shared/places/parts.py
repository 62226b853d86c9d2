"""What cells of a place are made of, hand over to each other, and tell those who follow them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from groupcore.sequencing.names import Process
from groupcore.shared.places.thing import Edit, Thing

Role: TypeAlias = Literal["unborn", "leaf", "inner", "out"]
"""What a cell is in its place. `leaf`: it holds things. `inner`: it was quartered, and what comes
goes to a quarter. `out`: it is a quarter of one that is whole again, and what comes goes there.
`unborn`: nobody has told it."""


def node_of(process: Process) -> str:
    """The name of a process's node, of this life of it."""
    return f"{process.node.name}#{process.node.incarnation:x}"


def name_of(process: Process) -> str:
    """The name of a process."""
    return f"{node_of(process)}/{process.number}"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has grabbed a thing: the connection `by` of `process` (empty: the process itself)."""

    process: str
    by: str = ""

    def __str__(self) -> str:
        return self.by or self.process


@dataclass(frozen=True, slots=True)
class Signal:
    """A switch has been set: the thing `lamp` is `on` now."""

    lamp: str
    on: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What has become of a joint move: done or not; `over`: it need not be kept any more.

    `asked`: not a verdict but a question to the cell where it is decided, by the one that asks.
    `things`: those that come with it, as the move has made them.
    """

    joint: str
    done: bool = False
    over: bool = False
    asked: str = ""
    things: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parcel:
    """What one cell gives to another one at once, `number` of those from the one to the other.

    `by` names the node that has to carry it.
    """

    number: int
    things: tuple[Thing, ...] = ()
    signals: tuple[Signal, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class Joint:
    """A move of several things over several cells, as one of them knows it.

    `edits` are those of this cell; `cells` all that have a part in it, of which the first decides.
    `process` began it.
    """

    id: str
    cells: tuple[str, ...]
    edits: tuple[Edit, ...]
    process: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What has become of a joint move, kept until all `cells` know it; these are `told`.

    `things` are those that it has changed, and that came here. Where they have gone from here the
    move is known, too: `passed`.
    """

    done: bool
    cells: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()


# --- what followers of a cell are told ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ThingsHere:
    """A detail of a change: these things are in the cell, new or changed."""

    things: tuple[Thing, ...]


@dataclass(frozen=True, slots=True)
class ThingsGone:
    """A detail of a change: these things were deleted."""

    things: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThingsLeft:
    """A detail of a change: these things are owed to the cell `to`, in the parcel `number`."""

    things: tuple[Thing, ...]
    to: str
    number: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A detail of a change: parcel `number` of the cell `source` has come."""

    source: str
    number: int


@dataclass(frozen=True, slots=True)
class Handed:
    """A detail of a change: the cell `to` has the parcels up to `number`."""

    to: str
    number: int


@dataclass(frozen=True, slots=True)
class Grabbed:
    """A detail of a change: `holder` has these things."""

    things: tuple[str, ...]
    holder: Holder


@dataclass(frozen=True, slots=True)
class Released:
    """A detail of a change: nobody has these things any more."""

    things: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Acted:
    """A detail of a change: a thing was operated in this name, by which votes are counted."""

    who: str


@dataclass(frozen=True, slots=True)
class Rang:
    """A detail of a change: a timer that was to ring at `due_ms` has rung."""

    thing: str
    due_ms: int


@dataclass(frozen=True, slots=True)
class Ticked:
    """A detail of a change: the cell's tick of this number was done."""

    number: int


@dataclass(frozen=True, slots=True)
class RoleSet:
    """A detail of a change: the cell's role in its place."""

    role: Role


@dataclass(frozen=True, slots=True)
class Decided:
    """A detail of a change: what has become of a joint move is known here."""

    joint: str
    done: bool
