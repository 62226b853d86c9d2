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
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from random import Random
from types import CellType, FunctionType, MethodType
from typing import Any, TypeVar, cast

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


def _duplicate(value: object, done: Done) -> object:
    copier = _COPIERS[type(value)]
    if copier is None:
        return value
    known = done.get(id(value))
    return copier(value, done) if known is None else known


def _copier_of(kind: type) -> Copier | None:
    """How values of a type are copied; None: they are shared."""
    if kind is FunctionType:
        return _duplicate_closure
    if issubclass(kind, SHARED) or kind.__name__.endswith("Options"):
        return None
    if kind is tuple:
        return _duplicate_tuple
    if issubclass(kind, tuple):
        return _duplicate_named
    if issubclass(kind, MethodType):
        return _duplicate_method
    if issubclass(kind, count):
        return lambda value, done: copy(value)
    if issubclass(kind, dict):
        return _duplicate_counter if issubclass(kind, Counter) else _duplicate_dict
    if issubclass(kind, list | deque):
        return _duplicate_list if issubclass(kind, list) else _duplicate_deque
    return _duplicate_set if issubclass(kind, set) else _duplicate_object


def _duplicate_items(items: Iterable[object], done: Done) -> list[object]:
    copiers = _COPIERS
    return [item if copiers[type(item)] is None else _duplicate(item, done) for item in items]


def _duplicate_tuple(value: tuple[object, ...], done: Done) -> object:
    return tuple(_duplicate_items(value, done))


def _duplicate_named(value: tuple[object, ...], done: Done) -> object:
    make = cast(Callable[..., object], type(value))
    return make(*_duplicate_items(value, done))


def _duplicate_method(value: MethodType, done: Done) -> object:
    return MethodType(value.__func__, _duplicate(value.__self__, done))


def _duplicate_closure(value: FunctionType, done: Done) -> object:
    """A function that was made inside another one sees the copies of what it has seen."""
    if not value.__closure__:
        return value
    seen = value.__closure__
    cells = tuple(cast(CellType, done.setdefault(id(cell), CellType())) for cell in seen)
    made = FunctionType(
        value.__code__, value.__globals__, value.__name__, value.__defaults__, cells
    )
    done[id(value)] = made
    for old, new in zip(seen, cells, strict=True):
        new.cell_contents = _duplicate(old.cell_contents, done)
    return made


def _duplicate_dict(value: Table, done: Done) -> object:
    return _fill_table({}, value, done)


def _duplicate_counter(value: Table, done: Done) -> object:
    return _fill_table(cast(Table, Counter()), value, done)


def _fill_table(table: Table, value: Table, done: Done) -> object:
    done[id(value)] = table
    copiers = _COPIERS
    for key, item in value.items():
        table[key] = item if copiers[type(item)] is None else _duplicate(item, done)
    return table


def _duplicate_list(value: list[object], done: Done) -> object:
    done[id(value)] = made = list[object]()
    made.extend(_duplicate_items(value, done))
    return made


def _duplicate_deque(value: deque[object], done: Done) -> object:
    done[id(value)] = made = deque[object]()
    made.extend(_duplicate_items(value, done))
    return made


def _duplicate_set(value: set[object], done: Done) -> object:
    done[id(value)] = made = set(value)
    return made


def _duplicate_object(value: object, done: Done) -> object:
    made = object.__new__(type(value))
    done[id(value)] = made
    if hasattr(value, "__dict__"):
        table, copiers = vars(made), _COPIERS
        for name, item in vars(value).items():
            table[name] = item if copiers[type(item)] is None else _duplicate(item, done)
        return made
    for name in _names(value):
        object.__setattr__(made, name, _duplicate(getattr(value, name), done))
    return made


Table = dict[object, object]
Done = dict[int, object]
"""The copies of what has been copied, by the ids of that."""
Copier = Callable[[Any, Done], object]


class _Copiers(dict[type, Copier | None]):
    """How values are copied, by type, found out when the first of its type comes."""

    def __missing__(self, kind: type) -> Copier | None:
        copier = self[kind] = _copier_of(kind)
        return copier


_COPIERS = _Copiers()
_SLOTS: dict[type, tuple[str, ...]] = {}
_DECLARED: dict[type, tuple[str, ...] | None] = {}
_SORTED: dict[type, tuple[frozenset[str], tuple[str, ...]]] = {}


def _names(value: object) -> list[str]:
    """The fields of an object, in a fixed order."""
    if hasattr(value, "__dict__"):
        return list(vars(value))
    kind = type(value)
    if kind not in _SLOTS:
        _SLOTS[kind] = _slots_of(kind)
    return [name for name in _SLOTS[kind] if hasattr(value, name)]


def _slots_of(kind: type) -> tuple[str, ...]:
    found: list[str] = []
    for base in kind.__mro__:
        slots: str | Iterable[str] = base.__dict__.get("__slots__", ())
        found += (slots,) if isinstance(slots, str) else slots
    return tuple(found)


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
        write = _WRITERS[type(value)]
        if write is None:
            self.put(repr(value))
        else:
            write(self, value)

    def write_moment(self, value: float) -> None:
        """A time, from now."""
        self.put(self._moment(value))

    def write_named(self, value: object) -> None:
        """An address or the like, of which there are few, and those everywhere."""
        self.put(_text(value))

    def write_type(self, value: type) -> None:
        """A class."""
        self.put(value.__name__)

    def write_nothing(self, value: object) -> None:
        """What only does things."""

    def write_items(self, value: Iterable[object]) -> None:
        """A list or the like."""
        self.put("[")
        put, writers = self.put, _WRITERS
        for item in value:
            write = writers[type(item)]
            if write is None:
                put(repr(item))
            else:
                write(self, item)
            put(",")
        put("]")

    def write_table(self, value: Table) -> None:
        """A dictionary."""
        self._write_sorted(value.items())

    def write_set(self, value: set[object]) -> None:
        """A set."""
        self._write_sorted((item, None) for item in value)

    def _moment(self, value: float) -> str:
        if not EPOCH_S / 2 < value < 1e18:
            return repr(round(value, 6))
        return repr(max(round(value - self.now, 6), -LONG_AGO_S))

    def write_batch(self, batch: Batch) -> None:
        self.put(f"B{batch.sender}{batch.destination}{batch.body!r}{batch.position}")
        for header in batch.headers:
            self.write_fields(header)

    def _write_sorted(self, items: Iterable[tuple[object, object]]) -> None:
        self.put("{")
        for key, item in sorted(items, key=lambda pair: repr(pair[0])):
            self.write(key)
            self.put(":")
            self.write(item)
            self.put(",")
        self.put("}")

    def write_fields(self, value: object) -> None:
        """Any other object; its fields, the second time only which it is."""
        number = self.seen.get(id(value))
        if number is not None:
            self.put(f"#{number}")
            return
        self.seen[id(value)] = len(self.seen)
        put, writers, left_out = self.put, _WRITERS, self.left_out
        put(type(value).__name__ + "(")
        for name in _written(value):
            if name in left_out:
                continue
            item = getattr(value, name)
            write = writers[type(item)]
            if write is None:
                put(repr(item))
            else:
                write(self, item)
            put(";")
        put(")")


_text = lru_cache(maxsize=4096, typed=True)(repr)


def _written(value: object) -> Iterable[str]:
    """The fields of an object in the order in which they are written."""
    kind = type(value)
    if kind not in _DECLARED:
        found = tuple(item.name for item in fields(kind)) if is_dataclass(kind) else None
        _DECLARED[kind] = found
    declared = _DECLARED[kind]
    if declared is not None:
        return declared
    if not hasattr(value, "__dict__"):
        return sorted(_names(value))
    # Nearly all objects of a class have the same fields: they are sorted once.
    names, known = vars(value).keys(), _SORTED.get(kind)
    if known is None or names != known[0]:
        known = _SORTED[kind] = (frozenset(names), tuple(sorted(names)))
    return known[1]


def _writer_of(kind: type) -> Write | None:
    """How values of a type are written; None: as Python writes them."""
    if kind is float:
        return _Writer.write_moment
    if kind in NAMED:
        return _Writer.write_named
    if kind in PLAIN or issubclass(kind, int):
        return None
    if kind is Batch:
        return _Writer.write_batch
    if issubclass(kind, type):
        return _Writer.write_type
    if issubclass(kind, list | tuple | deque):
        return _Writer.write_items
    if issubclass(kind, dict):
        return _Writer.write_table
    if issubclass(kind, set | frozenset):
        return _Writer.write_set
    calls = any("__call__" in vars(base) for base in kind.__mro__)
    if calls or issubclass(kind, Random | count):
        return _Writer.write_nothing
    return _Writer.write_fields


Write = Callable[[_Writer, Any], None]


class _Writers(dict[type, Write | None]):
    """How values are written, by type, found out when the first of its type comes."""

    def __missing__(self, kind: type) -> Write | None:
        write = self[kind] = _writer_of(kind)
        return write


_WRITERS = _Writers()
