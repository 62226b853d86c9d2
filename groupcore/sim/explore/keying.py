"""A key that two stacks share when they will behave alike.

It goes through the fields by reflection, so a new layer needs nothing here. A key leaves out what
only counts, and takes times relative to now; dictionaries are sorted by their keys.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from random import Random
from typing import Any

from groupcore.batch import Batch
from groupcore.sim.explore.copying import NAMED, PLAIN, Table, names_of
from groupcore.stack import Stack

EPOCH_S = 1_000.0
"""Where virtual time begins: larger numbers in a layer are moments, smaller ones durations."""
LONG_AGO_S = 3.0
"""Moments longer ago than this count as equal."""

COUNTED = frozenset(
    {"numbers", "drops", "views", "rounds", "options", "random", "name", "encode", "together"}
    | {"_owner", "_below", "_passed", "_listeners", "_ticket", "_timers", "_heap", "_output"}
)
"""Fields that say how often something happened, or that are the same for all copies."""
_DECLARED: dict[type, tuple[str, ...] | None] = {}
_SORTED: dict[type, tuple[frozenset[str], tuple[str, ...]]] = {}


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

    def write_hash(self, value: blake2b) -> None:
        """What has been hashed so far."""
        self.put(value.hexdigest())

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
            return _duration(value)
        return repr(max(round(value - self.now, 6), -LONG_AGO_S))

    def write_batch(self, batch: Batch) -> None:
        self.put(f"B{batch.sender}{batch.destination}{batch.body!r}{batch.position}")
        for header in batch.headers:
            self.write_fields(header)

    def _write_sorted(self, items: Iterable[tuple[object, object]]) -> None:
        pairs, put, write = list(items), self.put, self.write
        if len(pairs) > 1:
            pairs.sort(key=_text_of_key)
        put("{")
        for key, item in pairs:
            write(key)
            put(":")
            write(item)
            put(",")
        put("}")

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


@lru_cache(maxsize=4096)
def _duration(value: float) -> str:
    return repr(round(value, 6) + 0.0)  # 0.0 for -0.0, too: they are equal


def _text_of_key(pair: tuple[object, object]) -> str:
    key = pair[0]
    return _text(key) if type(key) in NAMED else repr(key)


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
        return sorted(names_of(value))
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
    if kind is blake2b:
        return _Writer.write_hash
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
