"""Lists, dicts and sets inside a shared object: checked, undone, and iterated alike everywhere.

They behave like Python's own, with three differences. What goes in is checked against the
declared type and copied, so that no alias from outside can change the state. A change writes its
undo step into the object's journal and raises ReadOnlyError outside of an operation. And a set is
iterated in the order of its elements, since the order of a Python set differs from process to
process.

Undoing costs memory for what was there: appending, replacing one item and adding a key take one
step. Changes that move other items (inserting, deleting in the middle, sorting) copy the list, or
the dict's keys, once each: some 10 ns an item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import SupportsIndex, TypeAlias

from groupcore.shared.journal import Journal

Adopt: TypeAlias = Callable[[object], object]
"""Checks a value and gives what is kept in its place; raises MisfitError."""

_MISSING = object()


class TrackedList(list[object]):
    """A list in a shared object."""

    __slots__ = ("_adopt", "_journal")

    def __init__(self, items: Iterable[object], adopt: Adopt, journal: Journal) -> None:
        super().__init__([adopt(item) for item in items])
        self._adopt = adopt
        self._journal = journal

    def _keep_all(self) -> None:
        """Write down the whole list, before a change that moves items."""
        self._journal.open_steps().append((self._restore, (list(self),)))

    def _restore(self, items: list[object]) -> None:
        list.__setitem__(self, slice(None), items)

    def append(self, item: object) -> None:
        """Put an item at the end."""
        steps = self._journal.open_steps()
        super().append(self._adopt(item))
        steps.append((list.pop, (self,)))

    def extend(self, items: Iterable[object]) -> None:
        """Put items at the end."""
        steps = self._journal.open_steps()
        length = len(self)
        adopted = [self._adopt(item) for item in items]
        super().extend(adopted)
        steps.append((list.__delitem__, (self, slice(length, None))))

    def insert(self, index: SupportsIndex, item: object) -> None:
        """Put an item before the one at `index`."""
        adopted = self._adopt(item)
        self._keep_all()
        super().insert(index, adopted)

    def pop(self, index: SupportsIndex = -1) -> object:
        """Take the item at `index` out and return it."""
        steps = self._journal.open_steps()
        place = index.__index__()
        if self and place in (-1, len(self) - 1):
            item = super().pop()
            steps.append((list.append, (self, item)))
            return item
        self._keep_all()
        return super().pop(place)

    def remove(self, item: object) -> None:
        """Take the first equal item out."""
        self._keep_all()
        super().remove(item)

    def clear(self) -> None:
        """Take all items out."""
        self._keep_all()
        super().clear()

    def reverse(self) -> None:
        """Turn the order round."""
        self._keep_all()
        super().reverse()

    def sort(self, *, key: Callable[[object], object] | None = None, reverse: bool = False) -> None:
        """Sort in place."""
        self._keep_all()
        super().sort(key=key, reverse=reverse)  # type: ignore[arg-type]

    def copy(self) -> list[object]:
        """A plain list of the same items."""
        return list(self)

    def __setitem__(self, index: SupportsIndex | slice, value: object) -> None:
        if isinstance(index, slice):
            assert isinstance(value, Iterable)
            adopted = [self._adopt(item) for item in value]
            self._keep_all()
            list.__setitem__(self, index, adopted)
            return
        steps = self._journal.open_steps()
        new, old = self._adopt(value), self[index]
        list.__setitem__(self, index, new)
        steps.append((list.__setitem__, (self, index, old)))

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        self._keep_all()
        super().__delitem__(index)

    def __iadd__(self, items: Iterable[object]) -> TrackedList:  # type: ignore[misc]
        self.extend(items)
        return self

    def __imul__(self, count: SupportsIndex) -> TrackedList:
        items = list(self) * count.__index__()
        self[:] = items
        return self

    def __reduce__(self) -> tuple[type, tuple[list[object]]]:
        return list, (list(self),)

    def __deepcopy__(self, memo: object) -> object:
        return detach(self)


class TrackedDict(dict[object, object]):
    """A dict in a shared object; it keeps the order in which keys were added."""

    __slots__ = ("_adopt", "_check", "_journal")

    def __init__(
        self, pairs: Mapping[object, object], check: Adopt, adopt: Adopt, journal: Journal
    ) -> None:
        super().__init__((check(key), adopt(value)) for key, value in pairs.items())
        self._check = check
        self._adopt = adopt
        self._journal = journal

    def __setitem__(self, key: object, value: object) -> None:
        steps = self._journal.open_steps()
        key, new = self._check(key), self._adopt(value)
        old = self.get(key, _MISSING)
        super().__setitem__(key, new)
        if old is _MISSING:
            steps.append((dict.__delitem__, (self, key)))
        else:
            steps.append((dict.__setitem__, (self, key, old)))

    def __delitem__(self, key: object) -> None:
        steps = self._journal.open_steps()
        old = self[key]
        if next(reversed(self)) == key:
            steps.append((dict.__setitem__, (self, key, old)))
        else:
            steps.append((self._put_back, (list(self), key, old)))
        super().__delitem__(key)

    def _put_back(self, keys: list[object], key: object, value: object) -> None:
        """Undo a deletion in the middle: the keys stand in their order again."""
        dict.__setitem__(self, key, value)
        self._restore({one: self[one] for one in keys})

    def _restore(self, pairs: dict[object, object]) -> None:
        dict.clear(self)
        dict.update(self, pairs)

    def pop(self, key: object, default: object = _MISSING) -> object:
        """Take the key out and return its value."""
        self._journal.open_steps()
        if key not in self and default is not _MISSING:
            return default
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[object, object]:
        """Take the key out that was added last."""
        steps = self._journal.open_steps()
        key, value = super().popitem()
        steps.append((dict.__setitem__, (self, key, value)))
        return key, value

    def clear(self) -> None:
        """Take all keys out."""
        self._journal.open_steps().append((self._restore, (dict(self),)))
        super().clear()

    def update(self, *others: object, **pairs: object) -> None:
        """Set all these keys."""
        for key, value in dict[object, object](*others, **pairs).items():
            self[key] = value

    def setdefault(self, key: object, default: object = None) -> object:
        """The key's value, which is `default` if it had none."""
        self._journal.open_steps()
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self) -> dict[object, object]:
        """A plain dict of the same pairs."""
        return dict(self)

    def __ior__(self, other: object) -> TrackedDict:  # type: ignore[misc]
        self.update(other)
        return self

    def __reduce__(self) -> tuple[type, tuple[dict[object, object]]]:
        return dict, (dict(self),)

    def __deepcopy__(self, memo: object) -> object:
        return detach(self)


def detach(value: object) -> object:
    """The value without ties to a state: plain lists, dicts and sets, all the way down."""
    if isinstance(value, list):
        return [detach(item) for item in value]
    if isinstance(value, dict):
        return {key: detach(item) for key, item in value.items()}
    if isinstance(value, set):
        return set(set.__iter__(value))
    if type(value) is tuple:
        return tuple([detach(item) for item in value])
    return value
