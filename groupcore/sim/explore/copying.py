"""Copies of a stack, and a key that two stacks share when they will behave alike.

Both go through the fields by reflection, so a new layer needs nothing here. What is never changed
once it exists (views, batches, headers, events, options) is shared between copies. A key leaves
out what only counts, and takes times relative to now; dictionaries are sorted by their keys.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from itertools import count
from random import Random
from types import CellType, FunctionType, MethodType
from typing import TypeVar, cast

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Notify, Persist, StartTimer, StopTimer, Up
from groupcore.events import Event
from groupcore.membership.succession import Ballot, Proposal, Record, Vote
from groupcore.sequencing.names import MessageId, Process
from groupcore.stack import Stack
from groupcore.view import Address, View

T = TypeVar("T")

EPOCH_S = 1_000.0
"""Where virtual time begins: larger numbers in a layer are moments, smaller ones durations."""
LONG_AGO_S = 3.0
"""Moments longer ago than this count as equal."""

PLAIN = (int, float, str, bytes, bool, type(None))
NAMED = (Address, View, Process, MessageId)


class Fixed:
    """Base of what all copies share though it changes: the world's own instruments."""


SHARED = (
    Fixed,
    *NAMED,
    *(*PLAIN, type, Address, View, frozenset, Batch, Header, Event, Random, FunctionType),
    *(Down, Up, Notify, Persist, StartTimer, StopTimer, Ballot, Proposal, Record, Vote),
)
COUNTED = frozenset(
    {"numbers", "drops", "views", "rounds", "options", "random", "name", "encode"}
    | {"_owner", "_below", "_passed", "_listeners", "_ticket", "_timers", "_heap", "_output"}
)
"""Fields that say how often something happened, or that are the same for all copies."""


def duplicate(value: T) -> T:
    """What behaves like this from now on, and shares nothing that changes."""
    return cast(T, _duplicate(value, {}))


def _duplicate(value: object, done: dict[int, object]) -> object:
    kind = type(value)
    if isinstance(value, FunctionType) and value.__closure__:
        return _duplicate_closure(value, done)
    if kind in _ATOMS or isinstance(value, SHARED) or kind.__name__.endswith("Options"):
        return value
    known = done.get(id(value))
    if known is not None:
        return known
    if kind is tuple:
        return tuple([_duplicate(item, done) for item in value])  # type: ignore[attr-defined]
    if isinstance(value, tuple):
        return kind(*[_duplicate(item, done) for item in value])
    if isinstance(value, MethodType):
        return MethodType(value.__func__, _duplicate(value.__self__, done))
    if isinstance(value, count):
        return copy(value)
    return _duplicate_container(value, done)


def _duplicate_closure(value: FunctionType, done: dict[int, object]) -> object:
    """A function that was made inside another one sees the copies of what it has seen."""
    known = done.get(id(value))
    if known is not None:
        return known
    seen = value.__closure__ or ()
    cells = tuple(cast(CellType, done.setdefault(id(cell), CellType())) for cell in seen)
    made = FunctionType(
        value.__code__, value.__globals__, value.__name__, value.__defaults__, cells
    )
    done[id(value)] = made
    for old, new in zip(seen, cells, strict=True):
        new.cell_contents = _duplicate(old.cell_contents, done)
    return made


def _duplicate_container(value: object, done: dict[int, object]) -> object:
    result: object
    if isinstance(value, dict):
        table: dict[object, object] = {}
        if isinstance(value, Counter):
            table = Counter()  # type: ignore[assignment]
        done[id(value)] = table
        for key, item in value.items():
            table[key] = _duplicate(item, done)
        return table
    if isinstance(value, list | deque):
        sequence: list[object] | deque[object] = [] if isinstance(value, list) else deque()
        done[id(value)] = sequence
        sequence.extend(_duplicate(item, done) for item in value)
        return sequence
    if isinstance(value, set):
        done[id(value)] = result = set(value)
        return result
    result = object.__new__(type(value))
    done[id(value)] = result
    for name in _names(value):
        object.__setattr__(result, name, _duplicate(getattr(value, name), done))
    return result


_ATOMS = frozenset({*PLAIN, *NAMED, Batch})


def _names(value: object) -> list[str]:
    """The fields of an object, in a fixed order."""
    if hasattr(value, "__dict__"):
        return list(vars(value))
    return [name for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)]


def _slots(kind: type) -> Iterable[str]:
    slots: str | Iterable[str] = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else slots


def key_of_value(value: object, now: float, left_out: frozenset[str]) -> bytes:
    """Equal for two values that will behave alike from `now` on, without these fields."""
    parts: list[str] = []
    _Writer(parts.append, now, left_out).write(value)
    return digest("".join(parts).encode())


def key_of(stack: Stack, now: float) -> bytes:
    """Equal for two stacks that will behave alike from `now` on."""
    parts: list[str] = []
    _Writer(parts.append, now).write(stack)
    timers = stack._timers
    alive = sorted(
        (index, name, round(when - now, 6))
        for when, ticket, index, name in stack._heap
        if timers.get((index, name)) == ticket
    )
    parts.append(repr(alive))
    return digest("".join(parts).encode())


def key_of_batches(batches: Iterable[Batch], now: float) -> bytes:
    """Equal for packets that say the same."""
    parts: list[str] = []
    writer = _Writer(parts.append, now)
    for batch in batches:
        writer.write(batch)
    return digest("".join(parts).encode())


def digest(data: bytes) -> bytes:
    """A short hash."""
    return blake2b(data, digest_size=12).digest()


class _Writer:
    """Writes values as text, each object once and then by its number."""

    def __init__(
        self, put: Callable[[str], None], now: float, left_out: frozenset[str] = COUNTED
    ) -> None:
        self.put = put
        self.now = now
        self.left_out = left_out
        self.seen: dict[int, int] = {}

    def write(self, value: object) -> None:
        """Append the text of a value."""
        kind = type(value)
        if kind is float:
            self.put(self._moment(value))  # type: ignore[arg-type]
        elif kind in PLAIN or kind in NAMED or isinstance(value, int):
            self.put(repr(value))
        elif kind is Batch:
            self._write_batch(value)  # type: ignore[arg-type]
        elif isinstance(value, type):
            self.put(value.__name__)
        elif isinstance(value, list | tuple | deque):
            self.put("[")
            for item in value:
                self.write(item)
                self.put(",")
            self.put("]")
        elif isinstance(value, dict):
            self._write_sorted((key, item) for key, item in value.items())
        elif isinstance(value, set | frozenset):
            self._write_sorted((item, None) for item in value)
        elif not (isinstance(value, Random | count) or callable(value)):
            self._write_fields(value)

    def _moment(self, value: float) -> str:
        if not EPOCH_S / 2 < value < 1e18:
            return repr(round(value, 6))
        return repr(max(round(value - self.now, 6), -LONG_AGO_S))

    def _write_batch(self, batch: Batch) -> None:
        self.put(f"B{batch.sender}{batch.destination}{batch.body!r}{batch.position}")
        for header in batch.headers:
            self._write_fields(header)

    def _write_sorted(self, items: Iterable[tuple[object, object]]) -> None:
        self.put("{")
        for key, item in sorted(items, key=lambda pair: repr(pair[0])):
            self.write(key)
            self.put(":")
            self.write(item)
            self.put(",")
        self.put("}")

    def _write_fields(self, value: object) -> None:
        number = self.seen.get(id(value))
        if number is not None:
            self.put(f"#{number}")
            return
        self.seen[id(value)] = len(self.seen)
        self.put(type(value).__name__ + "(")
        names = (
            [item.name for item in fields(value)] if is_dataclass(value) else sorted(_names(value))
        )
        for name in names:
            if name not in self.left_out:
                self.write(getattr(value, name))
                self.put(";")
        self.put(")")
