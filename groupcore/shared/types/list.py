"""A list whose items have ids: positions that stay what they were while others insert."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from groupcore.shared.errors import SharedError
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation, query

T = TypeVar("T")

GONE_MAX = 1_000
"""So many deleted items are remembered, for those who were about to insert behind one."""
START = ""
"""The id of the place before the first item."""

EMPTY = {START: (START, START)}
"""The links of an empty list: before and behind the start is the start."""


class NoSuchItemError(SharedError):
    """The list has no item of this id, and had none lately; look at it anew."""


@dataclass(frozen=True, slots=True)
class Inserted(Generic[T]):
    """A detail of a change: a new item behind `after` (None: at the start)."""

    id: str
    after: str | None
    value: T


@dataclass(frozen=True, slots=True)
class Removed(Generic[T]):
    """A detail of a change: the item is gone; it had this value."""

    id: str
    value: T


@dataclass(frozen=True, slots=True)
class Moved:
    """A detail of a change: the item stands behind `after` now (None: at the start)."""

    id: str
    after: str | None


@dataclass(frozen=True, slots=True)
class ItemChanged(Generic[T]):
    """A detail of a change: the item's value was `old` and is `new`."""

    id: str
    old: T
    new: T


class List(SharedObject, Generic[T]):
    """`List[T]`: an ordered list. Places are named by the item that something stands behind.

    An index would mean another item by the time an operation comes to its place in the order; an
    id means the same one. Who inserts behind an item that was deleted meanwhile inserts where it
    stood. Several who insert behind one item: the last in the order stands next to it.
    """

    _values: dict[str, T]
    _links: dict[str, tuple[str, str]] = EMPTY
    _gone: dict[str, str]

    @operation
    def append(self, value: T) -> str:
        """Put an item at the end; gives its id."""
        return self._insert(value, self._links[START][0])

    @operation
    def insert(self, value: T, after: str | None = None) -> str:
        """Put an item behind `after` (None: at the start); gives its id. NoSuchItemError."""
        return self._insert(value, self._place(after))

    @operation
    def set(self, item: str, value: T) -> T:
        """Give the item this value; gives the one before. NoSuchItemError."""
        old = self._value(item)
        self._values[item] = value
        self.emit(ItemChanged(item, old, value))
        return old

    @operation
    def move(self, item: str, after: str | None = None) -> None:
        """Put the item behind `after` (None: at the start). NoSuchItemError for either."""
        self._value(item)
        place = self._place(after)
        if place in (item, self._links[item][0]):
            return
        self._unlink(item)
        self._link(item, place)
        self.emit(Moved(item, place or None))

    @operation
    def delete(self, item: str) -> T:
        """Take the item out; gives its value. NoSuchItemError."""
        value = self._value(item)
        self._gone[item] = self._links[item][0]
        if len(self._gone) > 2 * GONE_MAX:
            self._gone = dict(list(self._gone.items())[GONE_MAX:])
        self._unlink(item)
        del self._links[item], self._values[item]
        self.emit(Removed(item, value))
        return value

    def _insert(self, value: T, place: str) -> str:
        item = self.context.new_id()
        self._values[item] = value
        self._link(item, place)
        self.emit(Inserted(item, place or None, value))
        return item

    def _value(self, item: str) -> T:
        if item not in self._values:
            raise NoSuchItemError(f"there is no item {item}")
        return self._values[item]

    def _place(self, after: str | None) -> str:
        """The item that is to stand before: `after`, or who stood before it when it was deleted."""
        place = START if after is None else after
        while place not in self._links and place in self._gone:
            place = self._gone[place]
        if place not in self._links:
            raise NoSuchItemError(f"there is no item {place}")
        return place

    def _link(self, item: str, place: str) -> None:
        before, following = self._links[place]
        self._links[item] = (place, following)
        if place == following:  # the list was empty: both ends are the start
            self._links[place] = (item, item)
            return
        self._links[place] = (before, item)
        self._links[following] = (item, self._links[following][1])

    def _unlink(self, item: str) -> None:
        before, following = self._links[item]
        self._links[before] = (self._links[before][0], following)
        self._links[following] = (before, self._links[following][1])

    def ids(self) -> list[str]:
        """The items' ids in order."""
        ids: list[str] = []
        item = self._links[START][1]
        while item != START:
            ids.append(item)
            item = self._links[item][1]
        return ids

    @query
    def copy(self) -> list[T]:
        """The values in order, as a plain list."""
        return [self._values[item] for item in self.ids()]

    def items(self) -> list[tuple[str, T]]:
        """Ids and values in order."""
        return [(item, self._values[item]) for item in self.ids()]

    def id_at(self, index: int) -> str:
        """The id of the item at this place here and now, 0 for the first; IndexError."""
        return self.ids()[index]

    def __getitem__(self, item: str) -> T:
        return self._value(item)

    def __contains__(self, item: object) -> bool:
        return item in self._values

    def __iter__(self) -> Iterator[T]:
        return iter([self._values[item] for item in self.ids()])

    def __len__(self) -> int:
        return len(self._values)
