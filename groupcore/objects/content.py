"""What a document holds, title and blocks, and what each change does to it.

A transaction is applied as a whole: when one of its changes does not apply, those before it are
undone in reverse order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from groupcore.objects.changes import (
    Attributes,
    Change,
    DeleteChange,
    InsertChange,
    JoinChange,
    Limits,
    MoveChange,
    SetChange,
    SplitChange,
    TextChange,
    TitleChange,
    Transaction,
)
from groupcore.objects.delta import apply, growth
from groupcore.objects.outline import AttributeValue, ReplicatedOutline
from groupcore.objects.refusal import (
    BadChangeError,
    OutOfRangeError,
    RefusalError,
    TooLargeError,
)

Undo = Callable[[], object]


class Content:
    """Title and blocks of one document."""

    __slots__ = ("_limits", "outline", "title")

    def __init__(self, title: str, limits: Limits) -> None:
        self.title = title
        self.outline = ReplicatedOutline(limits.blocks)
        self._limits = limits

    def apply(self, changes: Iterable[Change], undo: list[Undo] | None = None) -> Transaction:
        """Applies the changes, all or none, and returns them with their filled-in fields exact.

        Changes that turn out to do nothing are left out. `undo` is given the steps that take them
        back, to be called in reverse. Raises RefusalError; nothing is changed then.
        """
        done: list[Change] = []
        undo = [] if undo is None else undo
        before = len(undo)
        try:
            for change in changes:
                applied = self._apply(change, undo)
                if applied is not None:
                    done.append(applied)
        except RefusalError:
            for step in reversed(undo[before:]):
                step()
            del undo[before:]
            raise
        return tuple(done)

    def _apply(self, change: Change, undo: list[Undo]) -> Change | None:
        match change:
            case TextChange():
                return self._text(change, undo)
            case InsertChange():
                return self._insert(change, undo)
            case DeleteChange():
                return self._delete(change, undo)
            case MoveChange():
                return self._move(change, undo)
            case SetChange():
                return self._set(change, undo)
            case SplitChange():
                return self._split(change, undo)
            case JoinChange():
                return self._join(change, undo)
            case TitleChange():
                undo.append(partial(setattr, self, "title", self.title))
                self.title = change.text
                return change

    def _text(self, change: TextChange, undo: list[Undo]) -> Change | None:
        block = self.outline.get(change.block)
        if not change.delta:
            return None
        self._check_length(len(block.text) + growth(change.delta))
        text = apply(change.delta, block.text)
        undo.append(partial(setattr, block, "text", block.text))
        block.text = text
        return change

    def _insert(self, change: InsertChange, undo: list[Undo]) -> Change:
        self.outline.insert(change.block, change.after, present(change.attributes), change.text)
        undo.append(partial(self.outline.delete, change.block))
        return change

    def _delete(self, change: DeleteChange, undo: list[Undo]) -> Change:
        block = self.outline.delete(change.block)
        undo.append(partial(self.outline.restore, block))
        prev = block.previous_id
        return change if prev == change.prev else DeleteChange(change.block, prev)

    def _move(self, change: MoveChange, undo: list[Undo]) -> Change | None:
        prev = self.outline.get(change.block).previous_id
        self.outline.move(change.block, change.after)
        undo.append(partial(self.outline.move, change.block, prev))
        if change.after == prev:
            return None
        return MoveChange(change.block, change.after, prev)

    def _set(self, change: SetChange, undo: list[Undo]) -> Change | None:
        block = self.outline.get(change.block)
        if not change.attributes:
            return None
        undo.append(partial(setattr, block, "attributes", block.attributes))
        block.attributes = present((*block.attributes.items(), *change.attributes))
        return change

    def _split(self, change: SplitChange, undo: list[Undo]) -> Change:
        block = self.outline.get(change.block)
        text = block.text
        if change.at > len(text):
            raise OutOfRangeError(f"the split is at {change.at} of {len(text)} code points")
        attributes = present(change.attributes)
        self.outline.insert(change.new, change.block, attributes, text[change.at :])
        block.text = text[: change.at]
        undo.append(partial(setattr, block, "text", text))
        undo.append(partial(self.outline.delete, change.new))
        return change

    def _join(self, change: JoinChange, undo: list[Undo]) -> Change:
        block, into = self.outline.get(change.block), self.outline.get(change.into)
        if block is into:
            raise BadChangeError(f"block {block.id} cannot be joined into itself")
        offset = len(into.text)
        self._check_length(offset + len(block.text))
        self.outline.delete(block.id)
        undo.append(partial(self.outline.restore, block))
        undo.append(partial(setattr, into, "text", into.text))
        into.text += block.text
        return JoinChange(block.id, into.id, offset, block.previous_id)

    def _check_length(self, length: int) -> None:
        if length > self._limits.block_text:
            raise TooLargeError(f"a text may hold {self._limits.block_text} code points")


def present(
    pairs: Iterable[tuple[str, AttributeValue | None]] | Attributes,
) -> dict[str, AttributeValue]:
    """The attributes that are set: of each name the last value, None removes it."""
    return {name: value for name, value in dict(pairs).items() if value is not None}
