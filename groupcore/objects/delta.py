"""Text edits in one canonical form, and the algebra of operational transformation on them.

A delta is a tuple read from left to right over a text: a positive integer retains that many code
points, a negative one deletes them, a string is inserted. Canonical means: no zero, no empty
string, no two neighbours of one kind, an insert stands before a delete at the same place, and no
retain at the end. Every function here takes and returns canonical deltas and is linear in the
size of what it is given. The empty tuple changes nothing.

With one total order, `transform` needs only the first transformation property (TP1):
apply(a) then transform(b, a, other_first=True) gives the same text as
apply(b) then transform(a, b, other_first=False).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from groupcore.objects.refusal import BadChangeError, OutOfRangeError, TooLargeError

Delta: TypeAlias = tuple[int | str, ...]

TEXT_MAX = 100_000
"""Most code points in one text, unless the caller says otherwise."""

_FORBIDDEN = re.compile("[\x00\r\ud800-\udfff]")
_RETAIN, _INSERT, _DELETE = 1, 2, 3


class DeltaBuilder:
    """Collects retains, deletes and inserts in any order and gives the canonical delta.

    Inserts and deletes between two retains are at one place, so they are gathered until the next
    retain and written insert first.
    """

    __slots__ = ("_deleted", "_inserted", "_items", "_retained")

    def __init__(self) -> None:
        self._items: list[int | str] = []
        self._retained = 0
        self._inserted: list[str] = []
        self._deleted = 0

    def retain(self, count: int) -> None:
        """Keep the next `count` code points; 0 does nothing."""
        if count and (self._inserted or self._deleted):
            self._flush()
        self._retained += count

    def insert(self, text: str) -> None:
        """Insert `text` here; the empty string does nothing."""
        if text:
            self._inserted.append(text)

    def delete(self, count: int) -> None:
        """Delete the next `count` code points; 0 does nothing."""
        self._deleted += count

    def finish(self) -> Delta:
        """The canonical delta of everything collected."""
        if self._inserted or self._deleted:
            self._flush()
        return tuple(self._items)

    def _flush(self) -> None:
        if self._retained:
            self._items.append(self._retained)
        if self._inserted:
            self._items.append("".join(self._inserted))
        if self._deleted:
            self._items.append(-self._deleted)
        self._retained = 0
        self._inserted = []
        self._deleted = 0


def check_text(value: object, text_max: int = TEXT_MAX) -> str:
    """The value as a text of a document.

    Raises BadChangeError when it is no string, or holds U+0000, a carriage return or a lone
    surrogate; TooLargeError above `text_max` code points.
    """
    if type(value) is not str:
        raise BadChangeError("a text must be a string")
    if len(value) > text_max:
        raise TooLargeError(f"a text may hold {text_max} code points")
    if _FORBIDDEN.search(value) is not None:
        raise BadChangeError("a text may hold no U+0000, carriage return or lone surrogate")
    return value


def parse_delta(wire: object, text_max: int = TEXT_MAX) -> Delta:
    """The delta that an array from outside stands for; only the canonical form is accepted.

    Raises BadChangeError on any other form, TooLargeError when it inserts more than `text_max`
    code points, OutOfRangeError when it reaches further than `text_max`.
    """
    if type(wire) is not list and type(wire) is not tuple:
        raise BadChangeError("a delta must be an array")
    before = inserted = reached = 0
    for item in wire:
        if type(item) is int:
            if item == 0:
                raise BadChangeError("a delta may not hold 0")
            kind = _RETAIN if item > 0 else _DELETE
            reached += abs(item)
        elif type(item) is str:
            kind = _INSERT
            inserted += len(check_text(item, text_max))
            if not item:
                raise BadChangeError("a delta may not insert the empty string")
        else:
            raise BadChangeError("a delta holds integers and strings only")
        if kind == before or (kind == _INSERT and before == _DELETE):
            raise BadChangeError("a delta must be in canonical form")
        before = kind
    if before == _RETAIN:
        raise BadChangeError("a delta may not end with a retain")
    if inserted > text_max:
        raise TooLargeError(f"a text may hold {text_max} code points")
    if reached > text_max:
        raise OutOfRangeError(f"a delta may reach {text_max} code points far")
    return tuple(wire)


def canonical(items: Iterable[int | str]) -> Delta:
    """The canonical form of retains, deletes and inserts in any order."""
    builder = DeltaBuilder()
    for item in items:
        if isinstance(item, str):
            builder.insert(item)
        elif item > 0:
            builder.retain(item)
        else:
            builder.delete(-item)
    return builder.finish()


def apply(delta: Delta, text: str) -> str:
    """The text after the edit; OutOfRangeError when the delta reaches behind its end."""
    parts: list[str] = []
    position = 0
    for item in delta:
        if isinstance(item, str):
            parts.append(item)
        elif item > 0:
            parts.append(text[position : position + item])
            position += item
        else:
            position -= item
    if position > len(text):
        raise OutOfRangeError(f"the edit reaches {position} of {len(text)} code points")
    parts.append(text[position:])
    return "".join(parts)


def base_length(delta: Delta) -> int:
    """How long a text must be at least for the delta to apply, in code points."""
    return sum(abs(item) for item in delta if isinstance(item, int))


def growth(delta: Delta) -> int:
    """By how many code points the text gets longer (negative: shorter)."""
    total = 0
    for item in delta:
        if isinstance(item, str):
            total += len(item)
        elif item < 0:
            total += item
    return total


def inserts_text(delta: Delta) -> bool:
    """Whether the edit inserts anything."""
    return any(isinstance(item, str) for item in delta)


def invert(delta: Delta, text: str) -> Delta:
    """The edit that leads from the text after `delta` back to `text`."""
    builder = DeltaBuilder()
    position = 0
    for item in delta:
        if isinstance(item, str):
            builder.delete(len(item))
        elif item > 0:
            builder.retain(item)
            position += item
        else:
            builder.insert(text[position : position - item])
            position -= item
    if position > len(text):
        raise OutOfRangeError(f"the edit reaches {position} of {len(text)} code points")
    return builder.finish()


def shift(delta: Delta, count: int) -> Delta:
    """The same edit in a text that has `count` code points more before it."""
    if not delta or not count:
        return delta
    first = delta[0]
    if isinstance(first, int) and first > 0:
        return (first + count, *delta[1:])
    return (count, *delta)


def divide(delta: Delta, at: int) -> tuple[Delta, Delta]:
    """The edit of the text before `at` and of the text from `at` on, each from its own start.

    What is inserted exactly at `at` belongs to the first.
    """
    before, behind = DeltaBuilder(), DeltaBuilder()
    position = 0
    for item in delta:
        if isinstance(item, str):
            (before if position <= at else behind).insert(item)
            continue
        left = min(abs(item), max(0, at - position))
        right = abs(item) - left
        if item > 0:
            before.retain(left)
            behind.retain(right)
        else:
            before.delete(left)
            behind.delete(right)
        position += abs(item)
    return before.finish(), behind.finish()


def transform_position(position: int, delta: Delta) -> int:
    """Where a place in the text is after the edit; what is inserted exactly there stays left."""
    seen = 0
    moved = position
    for item in delta:
        if seen > position:
            break
        if isinstance(item, str):
            moved += len(item)
        elif item > 0:
            seen += item
        else:
            moved -= min(-item, position - seen)
            seen -= item
    return moved


def transform(delta: Delta, other: Delta, other_first: bool) -> Delta:
    """The edit `delta` for the text that `other` has changed already; both had one base.

    Where both insert at one place, `other`'s text stands left if `other_first`, else right.
    """
    builder = DeltaBuilder()
    mine_left, theirs_left = iter(delta), iter(other)
    mine: int | str | None = next(mine_left, None)
    theirs: int | str | None = next(theirs_left, None)
    while mine is not None:
        if isinstance(theirs, str) and (other_first or not isinstance(mine, str)):
            builder.retain(len(theirs))
            theirs = next(theirs_left, None)
        elif isinstance(mine, str):
            builder.insert(mine)
            mine = next(mine_left, None)
        elif theirs is None:
            _keep(builder, mine)
            mine = next(mine_left, None)
        else:
            assert isinstance(theirs, int)
            step = min(abs(mine), abs(theirs))
            if theirs > 0:
                _keep(builder, step if mine > 0 else -step)
            mine = _rest(mine, step) or next(mine_left, None)
            theirs = _rest(theirs, step) or next(theirs_left, None)
    return builder.finish()


def compose(first: Delta, second: Delta) -> Delta:
    """The one edit that does `first` and then `second`."""
    builder = DeltaBuilder()
    first_left, second_left = iter(first), iter(second)
    one: int | str | None = next(first_left, None)
    two: int | str | None = next(second_left, None)
    offset = 0  # how much of an insert of `first` is used already
    while one is not None or two is not None:
        if isinstance(one, int) and one < 0:
            builder.delete(-one)
            one = next(first_left, None)
        elif isinstance(two, str):
            builder.insert(two)
            two = next(second_left, None)
        elif two is None:
            if isinstance(one, str):
                builder.insert(one[offset:])
            elif one is not None:
                builder.retain(one)
            one, offset = next(first_left, None), 0
        elif isinstance(one, str):
            step = min(len(one) - offset, abs(two))
            if two > 0:
                builder.insert(one[offset : offset + step])
            offset += step
            if offset == len(one):
                one, offset = next(first_left, None), 0
            two = _rest(two, step) or next(second_left, None)
        else:
            step = abs(two) if one is None else min(one, abs(two))
            _keep(builder, step if two > 0 else -step)
            one = None if one is None else _rest(one, step) or next(first_left, None)
            two = _rest(two, step) or next(second_left, None)
    return builder.finish()


def _keep(builder: DeltaBuilder, count: int) -> None:
    """Adds a retain (positive) or a delete (negative)."""
    if count > 0:
        builder.retain(count)
    else:
        builder.delete(-count)


def _rest(count: int, step: int) -> int:
    """What is left of a retain or delete after `step` of it."""
    return count - step if count > 0 else count + step
