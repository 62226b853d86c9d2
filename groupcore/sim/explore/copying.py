"""Copies of a stack, which share nothing that changes.

They are made by reflection, so a new layer needs nothing here. What is never changed once it exists
(views, batches, headers, events, options) is shared between copies.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from copy import copy
from hashlib import blake2b
from itertools import count
from random import Random
from types import CellType, FunctionType, MethodType
from typing import Any, TypeVar, cast

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Notify, Persist, StartTimer, StopTimer, Up
from groupcore.events import Event
from groupcore.membership.ballots import Ballot, Proposal, Record, Vote
from groupcore.sequencing.names import MessageId, Process
from groupcore.view import Address, View

T = TypeVar("T")

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
    if kind is blake2b:
        return lambda value, done: value.copy()
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
    copiers, put = _COPIERS, object.__setattr__
    for name in names_of(value):
        item = getattr(value, name)
        put(made, name, item if copiers[type(item)] is None else _duplicate(item, done))
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


def names_of(value: object) -> list[str]:
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
