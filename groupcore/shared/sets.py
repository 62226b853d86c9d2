"""Sets that are iterated in the order of their elements, in a state and as arguments.

The order of a Python set depends on the process (hash seed, history). An operation that iterates
one would do other things at other replicas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from groupcore.shared.containers import Adopt
from groupcore.shared.journal import Journal

SortKey: TypeAlias = Callable[[object], bytes]
"""Bytes by which elements are ordered, the same at all replicas."""


class SortedSet(set[object]):
    """A set whose iteration, `pop` and text go by the order of `key`."""

    __slots__ = ("_key",)

    def __init__(self, items: Iterable[object], key: SortKey) -> None:
        super().__init__(items)
        self._key = key

    def __iter__(self) -> Iterator[object]:
        return iter(sorted(super().__iter__(), key=self._key))

    def _new(self, items: Iterable[object]) -> SortedSet:
        return SortedSet(items, self._key)

    def pop(self) -> object:
        """Take the least element out."""
        for item in self:
            self.remove(item)
            return item
        raise KeyError("pop from an empty set")

    def copy(self) -> SortedSet:
        """A set of its own with the same elements."""
        return self._new(set.__iter__(self))

    def union(self, *others: Iterable[object]) -> SortedSet:
        """Elements of any."""
        return self._new(set().union(set.__iter__(self), *others))

    def intersection(self, *others: Iterable[object]) -> SortedSet:
        """Elements of all."""
        return self._new(set(set.__iter__(self)).intersection(*others))

    def difference(self, *others: Iterable[object]) -> SortedSet:
        """Elements that no other has."""
        return self._new(set(set.__iter__(self)).difference(*others))

    def symmetric_difference(self, other: Iterable[object]) -> SortedSet:
        """Elements of one of both."""
        return self._new(set(set.__iter__(self)).symmetric_difference(other))

    def __or__(self, other: AbstractSet[object]) -> SortedSet:
        return self.union(other)

    def __and__(self, other: AbstractSet[object]) -> SortedSet:
        return self.intersection(other)

    def __sub__(self, other: AbstractSet[object]) -> SortedSet:
        return self.difference(other)

    def __xor__(self, other: AbstractSet[object]) -> SortedSet:
        return self.symmetric_difference(other)

    def __ror__(self, other: AbstractSet[object]) -> SortedSet:
        return self.union(other)

    def __rand__(self, other: AbstractSet[object]) -> SortedSet:
        return self.intersection(other)

    def __rsub__(self, other: AbstractSet[object]) -> SortedSet:
        return self._new(set(other).difference(set.__iter__(self)))

    def __rxor__(self, other: AbstractSet[object]) -> SortedSet:
        return self.symmetric_difference(other)

    def __reduce__(self) -> tuple[type, tuple[list[object]]]:
        return set, (list(self),)

    def __deepcopy__(self, memo: object) -> set[object]:
        return set(set.__iter__(self))

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if self else "set()"


class TrackedSet(SortedSet):
    """A set in a shared object."""

    __slots__ = ("_check", "_journal")

    def __init__(
        self, items: Iterable[object], check: Adopt, key: SortKey, journal: Journal
    ) -> None:
        super().__init__([check(item) for item in items], key)
        self._check = check
        self._journal = journal

    def add(self, item: object) -> None:
        """Put the element in."""
        steps = self._journal.open_steps()
        checked = self._check(item)
        if checked not in self:
            super().add(checked)
            steps.append((set.discard, (self, checked)))

    def discard(self, item: object) -> None:
        """Take the element out, if it is in."""
        steps = self._journal.open_steps()
        if item in self:
            super().discard(item)
            steps.append((set.add, (self, item)))

    def remove(self, item: object) -> None:
        """Take the element out; KeyError when it is not in."""
        if item not in self:
            raise KeyError(item)
        self.discard(item)

    def clear(self) -> None:
        """Take all elements out."""
        self._become(())

    def update(self, *others: Iterable[object]) -> None:
        """Put elements in."""
        for other in others:
            for item in other:
                self.add(item)

    def intersection_update(self, *others: Iterable[object]) -> None:
        """Keep what all others have."""
        self._become(self.intersection(*others))

    def difference_update(self, *others: Iterable[object]) -> None:
        """Take out what any other has."""
        self._become(self.difference(*others))

    def symmetric_difference_update(self, other: Iterable[object]) -> None:
        """Keep what one of both has."""
        self._become(self.symmetric_difference(other))

    def _become(self, items: Iterable[object]) -> None:
        steps = self._journal.open_steps()
        old = set(set.__iter__(self))
        new = {self._check(item) for item in items}
        self._restore(new)
        steps.append((self._restore, (old,)))

    def _restore(self, items: set[object]) -> None:
        set.clear(self)
        set.update(self, items)

    def __ior__(self, other: AbstractSet[object]) -> TrackedSet:
        self.update(other)
        return self

    def __iand__(self, other: AbstractSet[object]) -> TrackedSet:
        self.intersection_update(other)
        return self

    def __isub__(self, other: AbstractSet[object]) -> TrackedSet:
        self.difference_update(other)
        return self

    def __ixor__(self, other: AbstractSet[object]) -> TrackedSet:
        self.symmetric_difference_update(other)
        return self
