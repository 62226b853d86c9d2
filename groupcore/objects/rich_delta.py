"""Text with marks, edits of it in one canonical form, and operational transformation on them.

A rich delta is a tuple read from left to right: a positive integer retains that many code points,
a negative one deletes them, a `Run` is inserted with its marks, a `Format` retains code points and
changes their marks. A rich text is a delta of runs alone. Canonical means: nothing empty, no two
neighbours that could be one, an insert stands before a delete at the same place, and no plain
retain at the end. Every function takes and returns canonical deltas and is linear in the size of
what it is given. The empty tuple changes nothing.

An embed (an image, a mention) is one code point U+FFFC with the mark `embed`, its id; its other
marks are its attributes. So the algebra knows text and marks only.

Two that set the same mark: the later in the order wins. What is inserted strictly inside of what
another one formats at the same time is formatted as well, at its edges not. TP1 holds, as in
`groupcore.objects.delta`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from groupcore.objects.refusal import OutOfRangeError

MarkValue: TypeAlias = str | int | bool
Marks: TypeAlias = tuple[tuple[str, MarkValue], ...]
"""Marks by name, sorted."""
MarkChanges: TypeAlias = tuple[tuple[str, MarkValue | None], ...]
"""Marks that are set, or (None) removed, sorted by name."""

Side: TypeAlias = Literal["left", "right"]
"""On which side of a place the letter stands that the place stays with."""

EMBED = "\ufffc"
"""The code point that an embed is."""


class Run(NamedTuple):
    """Text that has the same marks throughout."""

    text: str
    marks: Marks = ()


class Format(NamedTuple):
    """The next `size` code points get these changes of marks."""

    size: int
    changes: MarkChanges


RichItem: TypeAlias = int | Run | Format
RichDelta: TypeAlias = tuple[RichItem, ...]
Rich: TypeAlias = tuple[Run, ...]
"""A text: canonical runs."""


class RichBuilder:
    """Collects items in any order and gives the canonical delta; see `delta.DeltaBuilder`."""

    __slots__ = ("_deleted", "_items", "_runs")

    def __init__(self) -> None:
        self._items: list[RichItem] = []
        self._runs: list[Run] = []
        self._deleted = 0

    def retain(self, count: int, changes: MarkChanges = ()) -> None:
        """Keep the next `count` code points, with these changes of marks."""
        if not count:
            return
        self._flush()
        items = self._items
        last = items[-1] if items else None
        if changes:
            if isinstance(last, Format) and last.changes == changes:
                items[-1] = Format(last.size + count, changes)
            else:
                items.append(Format(count, changes))
        elif isinstance(last, int) and last > 0:
            items[-1] = last + count
        else:
            items.append(count)

    def insert(self, text: str, marks: Marks = ()) -> None:
        """Insert here; the empty string does nothing."""
        if not text:
            return
        if self._runs and self._runs[-1].marks == marks:
            text = self._runs.pop().text + text
        self._runs.append(Run(text, marks))

    def delete(self, count: int) -> None:
        """Delete the next `count` code points."""
        self._deleted += count

    def put(self, item: RichItem) -> None:
        """Any of these."""
        if isinstance(item, Run):
            self.insert(item.text, item.marks)
        elif isinstance(item, Format):
            self.retain(item.size, item.changes)
        elif item > 0:
            self.retain(item)
        else:
            self.delete(-item)

    def finish(self) -> RichDelta:
        """The canonical delta of everything collected."""
        self._flush()
        while self._items and type(self._items[-1]) is int and self._items[-1] > 0:
            self._items.pop()
        return tuple(self._items)

    def _flush(self) -> None:
        if self._runs:
            self._items += self._runs
            self._runs = []
        if self._deleted:
            self._items.append(-self._deleted)
            self._deleted = 0


def span(item: RichItem) -> int:
    """How much of the text before the edit the item covers, in code points."""
    if isinstance(item, Run):
        return 0
    return item.size if isinstance(item, Format) else abs(item)


def canonical(items: Iterable[RichItem]) -> RichDelta:
    """The canonical form of items in any order."""
    builder = RichBuilder()
    for item in items:
        builder.put(item)
    return builder.finish()


def marked(marks: Marks, changes: MarkChanges) -> Marks:
    """The marks after the changes."""
    if not changes:
        return marks
    merged: dict[str, MarkValue | None] = dict(marks)
    merged.update(changes)
    return tuple(sorted((name, value) for name, value in merged.items() if value is not None))


def length(text: Rich) -> int:
    """Code points of the text."""
    return sum(len(run.text) for run in text)


def plain(text: Rich) -> str:
    """The text without its marks."""
    return "".join([run.text for run in text])


def rich(text: str, **marks: MarkValue) -> Rich:
    """A text of one run."""
    return (Run(text, tuple(sorted(marks.items()))),) if text else ()


def base_length(delta: RichDelta) -> int:
    """How long a text must be at least for the delta to apply, in code points."""
    return sum(map(span, delta))


def growth(delta: RichDelta) -> int:
    """By how many code points the text gets longer (negative: shorter)."""
    total = 0
    for item in delta:
        if isinstance(item, Run):
            total += len(item.text)
        elif isinstance(item, int) and item < 0:
            total += item
    return total


def inserted(delta: RichDelta) -> Rich:
    """All that the edit inserts, as one text."""
    return _runs(canonical(item for item in delta if isinstance(item, Run)))


def apply(delta: RichDelta, text: Rich) -> Rich:
    """The text after the edit; OutOfRangeError when the delta reaches behind its end."""
    if base_length(delta) > length(text):
        raise OutOfRangeError(
            f"the edit reaches {base_length(delta)} of {length(text)} code points"
        )
    return _runs(compose(text, delta))


def cut(text: Rich, start: int, end: int) -> Rich:
    """The text from code point `start` up to `end`."""
    builder = RichBuilder()
    position = 0
    for words, marks in text:
        if position >= end:
            break
        builder.insert(words[max(0, start - position) : end - position], marks)
        position += len(words)
    return _runs(builder.finish())


def joined(first: Rich, second: Rich) -> Rich:
    """One text behind the other."""
    return _runs(canonical((*first, *second)))


def invert(delta: RichDelta, text: Rich) -> RichDelta:
    """The edit that leads from the text after `delta` back to `text`."""
    builder = RichBuilder()
    position = 0
    for item in delta:
        if isinstance(item, Run):
            builder.delete(len(item.text))
            continue
        here = cut(text, position, position + span(item))
        if length(here) < span(item):
            raise OutOfRangeError(f"the edit reaches behind {length(text)} code points")
        position += span(item)
        for run in here:
            if isinstance(item, Format):
                builder.retain(len(run.text), _back(run.marks, item.changes))
            elif item > 0:
                builder.retain(len(run.text))
            else:
                builder.insert(run.text, run.marks)
    return builder.finish()


def shift(delta: RichDelta, count: int) -> RichDelta:
    """The same edit in a text that has `count` code points more before it."""
    return canonical((count, *delta)) if count and delta else delta


def divide(delta: RichDelta, at: int) -> tuple[RichDelta, RichDelta]:
    """The edit of the text before `at` and of the text from `at` on, each from its own start.

    What is inserted exactly at `at` belongs to the first.
    """
    before, behind = RichBuilder(), RichBuilder()
    position = 0
    for item in delta:
        if isinstance(item, Run):
            (before if position <= at else behind).put(item)
            continue
        left = min(span(item), max(0, at - position))
        before.put(part(item, left))
        behind.put(part(item, span(item) - left))
        position += span(item)
    return before.finish(), behind.finish()


def transform_position(
    position: int, delta: RichDelta | tuple[int | str, ...], side: Side = "right"
) -> int:
    """Where a place in the text is after the edit.

    What is inserted exactly there stands on its other side.
    """
    seen = 0
    moved = position
    for item in delta:
        if seen > position or (seen == position and side == "left"):
            break
        if isinstance(item, str):
            moved += len(item)
            continue
        if isinstance(item, Run):
            moved += len(item.text)
            continue
        if isinstance(item, int) and item < 0:
            moved -= min(-item, position - seen)
        seen += span(item)
    return moved


def transform(
    delta: RichDelta, other: RichDelta, other_first: bool, other_left: bool | None = None
) -> RichDelta:
    """The edit `delta` for the text that `other` has changed already; both had one base.

    Where both insert at one place, `other`'s text stands left if `other_left`, else right: without
    that, if `other_first`. Where both set one mark, `other`'s value stands unless `other_first`.
    """
    other_left = other_first if other_left is None else other_left
    builder = RichBuilder()
    mine, theirs = _Items(delta), _Items(other)
    while mine.item is not None:
        one, two = mine.item, theirs.item
        if isinstance(two, Run) and (other_left or not isinstance(one, Run)):
            inside = isinstance(one, Format) and mine.is_begun
            builder.retain(len(two.text), one.changes if inside else ())  # type: ignore[union-attr]
            theirs.take_all()
        elif isinstance(one, Run):
            changes = two.changes if isinstance(two, Format) and theirs.is_begun else ()
            builder.insert(one.text, marked(one.marks, changes))
            mine.take_all()
        elif two is None:
            builder.put(part(one, mine.left))
            mine.take_all()
        else:
            step = min(mine.left, theirs.left)
            if isinstance(two, Format):
                builder.put(_over(part(one, step), two.changes, other_first))
            elif isinstance(two, int) and two > 0:
                builder.put(part(one, step))
            mine.take(step)
            theirs.take(step)
    return builder.finish()


def compose(first: RichDelta, second: RichDelta) -> RichDelta:
    """The one edit that does `first` and then `second`."""
    builder = RichBuilder()
    ones, twos = _Items(first), _Items(second)
    while ones.item is not None or twos.item is not None:
        one, two = ones.item, twos.item
        if isinstance(one, int) and one < 0:
            builder.delete(-one)
            ones.take_all()
        elif isinstance(two, Run):
            builder.put(two)
            twos.take_all()
        elif two is None:
            assert one is not None
            builder.put(ones.rest())
            ones.take_all()
        else:
            step = twos.left if one is None else min(ones.left, twos.left)
            _then(builder, None if one is None else ones.rest(step), part(two, step))
            ones.take(step)
            twos.take(step)
    return builder.finish()


def _then(builder: RichBuilder, one: RichItem | None, two: RichItem) -> None:
    """One piece of text that `one` has made or kept, and then `two` keeps or deletes."""
    changes = two.changes if isinstance(two, Format) else ()
    if isinstance(two, int) and two < 0:
        if not isinstance(one, Run):
            builder.delete(-two)
    elif isinstance(one, Run):
        builder.insert(one.text, marked(one.marks, changes))
    elif isinstance(one, Format):
        builder.retain(one.size, tuple(sorted({**dict(one.changes), **dict(changes)}.items())))
    else:
        builder.retain(span(two), changes)


class _Items:
    """Walks over a delta in pieces; `left` code points of `item` are still to be taken."""

    __slots__ = ("_items", "item", "left", "whole")

    def __init__(self, delta: RichDelta) -> None:
        self._items: Iterator[RichItem] = iter(delta)
        self.item: RichItem | None = None
        self.left = self.whole = 0
        self.take_all()

    @property
    def is_begun(self) -> bool:
        """Whether a part of the item has been taken."""
        return self.left < self.whole

    def take_all(self) -> None:
        """On to the next item."""
        item = self.item = next(self._items, None)
        if item is not None:
            self.left = self.whole = len(item.text) if isinstance(item, Run) else span(item)

    def take(self, count: int) -> None:
        """Take so much of the item."""
        self.left -= count
        if self.item is not None and not self.left:
            self.take_all()

    def rest(self, count: int | None = None) -> RichItem:
        """What is left of the item, at most `count` of it."""
        assert self.item is not None
        count = self.left if count is None else count
        if isinstance(self.item, Run):
            start = self.whole - self.left
            return Run(self.item.text[start : start + count], self.item.marks)
        return part(self.item, count)


def part(item: RichItem, count: int) -> RichItem:
    """An item that covers text, for `count` code points of it."""
    if isinstance(item, Format):
        return Format(count, item.changes)
    assert isinstance(item, int)
    return count if item > 0 else -count


def _over(item: RichItem, theirs: MarkChanges, other_first: bool) -> RichItem:
    """The item on text whose marks the other one has changed."""
    if not isinstance(item, Format) or other_first:
        return item
    names = {name for name, _ in theirs}
    return Format(item.size, tuple([pair for pair in item.changes if pair[0] not in names]))


def _back(marks: Marks, changes: MarkChanges) -> MarkChanges:
    """What takes these changes back on text that had these marks."""
    before = dict(marks)
    return tuple([(name, before.get(name)) for name, now in changes if before.get(name) != now])


def _runs(delta: RichDelta) -> Rich:
    return tuple([item for item in delta if isinstance(item, Run)])
