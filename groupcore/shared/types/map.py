"""A map: a dict that is the same on all nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation, query

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class KeyChanged(Generic[K, V]):
    """A detail of a change: `key` had the value `old` (None: none) and has `new` (None: none)."""

    key: K
    old: V | None
    new: V | None


class Map(SharedObject, Generic[K, V]):
    """`Map[K, V]`: reads are local and at once, writes have one order.

    Keys keep the order in which they were added. V should not include None: it stands for a key
    that is not there. A change's details are `KeyChanged`.
    """

    _items: dict[K, V]

    @operation
    def set(self, key: K, value: V) -> V | None:
        """Give the key this value; gives the one before, None if there was none."""
        return self._put(key, value)

    @operation
    def setdefault(self, key: K, default: V) -> V:
        """Give the key this value if it has none; gives the one that it has then."""
        if key not in self._items:
            self._put(key, default)
        return self._items[key]

    @operation
    def update(self, pairs: dict[K, V]) -> None:
        """Set all of these, at one place in the order."""
        for key, value in pairs.items():
            self._put(key, value)

    @operation
    def delete(self, key: K) -> V:
        """Take the key out; gives its value. KeyError when it is not there at that place."""
        return self._take(key)

    @operation
    def pop(self, key: K) -> V | None:
        """Take the key out if it is there; gives its value."""
        return self._take(key) if key in self._items else None

    @operation
    def compare_and_set(self, key: K, old: V | None, new: V | None) -> bool:
        """If the key's value is `old` make it `new`, and say so; None stands for no value."""
        if self._items.get(key) != old:
            return False
        if new is not None:
            self._put(key, new)
        elif key in self._items:
            self._take(key)
        return True

    @operation
    def clear(self) -> int:
        """Take all keys out; says how many there were."""
        keys = list(self._items)
        for key in reversed(keys):
            self._take(key)
        return len(keys)

    def _put(self, key: K, value: V) -> V | None:
        old = self._items.get(key)
        self._items[key] = value
        self.emit(KeyChanged(key, old, value))
        return old

    def _take(self, key: K) -> V:
        value = self._items.pop(key)
        self.emit(KeyChanged(key, value, None))
        return value

    def get(self, key: K, default: V | None = None) -> V | None:
        """The key's value here and now; a live one where it is a list or a dict: do not keep it."""
        return self._items.get(key, default)

    @query
    def copy(self) -> dict[K, V]:
        """All of it as a plain dict."""
        return self._items

    def keys(self) -> list[K]:
        """The keys, in the order in which they were added."""
        return list(self._items)

    def values(self) -> list[V]:
        """The values, in the order of the keys."""
        return list(self._items.values())

    def items(self) -> list[tuple[K, V]]:
        """Keys and values."""
        return list(self._items.items())

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._items))

    def __len__(self) -> int:
        return len(self._items)
