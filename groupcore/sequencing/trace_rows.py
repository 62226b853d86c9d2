"""Rows of the trace while they gather: a list for each column, never an object for a row.

Numbers are kept as the 64 bits that they are in a segment, so nothing has to be converted; `NULL`
stands for none. What is written down for each run has columns of its own here, all else is added
by name.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from struct import pack
from typing import NamedTuple, TypeAlias

from groupcore.context import Numbers
from groupcore.trace import REACHES, TABLES
from groupcore.view import Address

NULL = -1
"""In a column of numbers: there is none. Nothing in the trace is below 0."""

Ints: TypeAlias = "array[int]"


def ints() -> Ints:
    """A column of integers."""
    return array("q")


class Reaches:
    """A column of contexts: of each row where its entries end, and the entries of all of them."""

    __slots__ = ("ends", "frames", "sequencers")

    def __init__(self) -> None:
        self.ends = array("i", [0])
        self.sequencers: list[str] = []
        self.frames = ints()

    def append(self, reaches: Iterable[tuple[str, int]]) -> None:
        """One row more."""
        for sequencer, frame in reaches:
            self.sequencers.append(sequencer)
            self.frames.append(frame)
        self.ends.append(len(self.frames))

    def __len__(self) -> int:
        return len(self.ends) - 1


Texts = list[str | None]
Value = int | float | str | bool | list[str] | list[tuple[str, int]] | None
Column: TypeAlias = "Ints | array[float] | Texts | list[Value] | Reaches"


class Gathered(NamedTuple):
    """Rows of one kind: the columns of its table by name, without `node` and `off`.

    `t` is in microseconds since 1970. `node` is the life that has written them.
    """

    kind: str
    node: str
    rows: int
    columns: dict[str, Column]

    @property
    def began_us(self) -> int:
        """When the first of them was written."""
        times = self.columns["t"]
        assert isinstance(times, array)
        return int(times[0])


@dataclass(slots=True)
class Frames:
    """Rows of `frame`."""

    t: Ints = field(default_factory=ints)
    frame: Ints = field(default_factory=ints)
    view: Ints = field(default_factory=ints)
    runs: Ints = field(default_factory=ints)
    messages: Ints = field(default_factory=ints)
    bytes: Ints = field(default_factory=ints)
    queue_us: Ints = field(default_factory=ints)
    context: Reaches = field(default_factory=Reaches)


@dataclass(slots=True)
class Accepts:
    """Rows of `accept`."""

    t: Ints = field(default_factory=ints)
    lseq: Ints = field(default_factory=ints)
    gid: Ints = field(default_factory=ints)
    epoch: Ints = field(default_factory=ints)
    seq: Ints = field(default_factory=ints)
    count: Ints = field(default_factory=ints)
    sender: Texts = field(default_factory=list)
    first: Ints = field(default_factory=ints)
    bytes: Ints = field(default_factory=ints)
    crc: Ints = field(default_factory=ints)


class Deliveries:
    """Rows of `delivery`, one behind the other: `numbers` has those of NUMBERS, `texts` of TEXTS.

    There is nothing of which more is written down. To put a row's numbers behind a list at once,
    and to divide them into columns later, takes less than to put each behind its column.
    """

    NUMBERS = ("t", "dno", "gid", "seq", "count", "what", "first", "lseq", "crc", "round_us")
    TEXTS = ("sender", "sequencer")
    __slots__ = ("numbers", "texts")

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.texts: Texts = []

    def __len__(self) -> int:
        return len(self.texts) // len(self.TEXTS)

    def columns(self) -> dict[str, Column]:
        """The columns by name."""
        packed = ints()
        packed.frombytes(pack(f"{len(self.numbers)}q", *self.numbers))
        width, texts = len(self.NUMBERS), len(self.TEXTS)
        columns: dict[str, Column] = {
            name: packed[at::width] for at, name in enumerate(self.NUMBERS)
        }
        columns |= {name: self.texts[at::texts] for at, name in enumerate(self.TEXTS)}
        return columns


class Rows:
    """Rows of any other kind."""

    __slots__ = ("columns",)

    def __init__(self, kind: str) -> None:
        self.columns: dict[str, Column] = {
            column.name: _column(column.kind)
            for column in TABLES[kind].columns
            if column.name not in ("node", "off")
        }

    def add(self, values: dict[str, Value]) -> None:
        """One row; a column that is not named is null, or an empty context."""
        for name, column in self.columns.items():
            value = values.get(name)
            if value is None and isinstance(column, array):
                value = NULL
            elif value is None and isinstance(column, Reaches):
                value = []
            column.append(value)  # type: ignore[arg-type]  # as the table says


Kept = Frames | Accepts | Deliveries | Rows


def columns_of(rows: Kept) -> dict[str, Column]:
    """The columns by name."""
    if isinstance(rows, Rows):
        return rows.columns
    if isinstance(rows, Deliveries):
        return rows.columns()
    return {one.name: getattr(rows, one.name) for one in fields(rows)}


def _column(kind: str) -> Column:
    if kind in ("int", "bigint", "timestamp"):
        return ints()
    if kind == "double":
        return array("d")
    return Reaches() if kind == REACHES else []


def life(node: Address) -> str:
    """A node's life, as the trace names it."""
    return f"{node.name}#{node.incarnation:x}"


def reaches(numbers: Numbers) -> list[tuple[str, int]]:
    """A context, or a cut, as a row has it."""
    return [(life(address), frame) for address, frame in numbers.items()]
