"""An ordered outline: blocks with ids, attributes and text, that many edit at once.

Source. The document engine, `groupcore.objects`: transactions say which version they were made
against and are carried over those since then, by the table of docs/transactions.md
(docs/decisions/0009).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from groupcore.objects.changes import (
    DEFAULT_LIMITS,
    DeleteChange,
    InsertChange,
    JoinChange,
    MoveChange,
    SetChange,
    SplitChange,
    TextChange,
    TitleChange,
    Transaction,
    effort,
    transaction_to_wire,
)
from groupcore.objects.content import Content
from groupcore.objects.delta import Delta, canonical
from groupcore.objects.outline import AttributeValue
from groupcore.objects.parsing import parse_attributes, parse_transaction
from groupcore.objects.rebase import rebase_transaction
from groupcore.objects.refusal import BaseTooOldError, RefusalError
from groupcore.shared.journal import Journal
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.pending import Pending
from groupcore.shared.scalars import Codec
from groupcore.shared.types.history import edits_since, remember

BlockState: TypeAlias = tuple[str, dict[str, AttributeValue], str]
"""Id, attributes and text of a block."""


class ContentCodec(Codec):
    """Title and blocks; changed only by transactions, which write their own undo steps."""

    def __init__(self) -> None:
        super().__init__("Content", mutable=True)

    def to_wire(self, value: object) -> object:
        if not isinstance(value, Content):
            raise self.misfit(value)
        blocks = [[block.id, dict(block.attributes), block.text] for block in value.outline]
        return [value.title, blocks]

    def from_wire(self, wire: object) -> object:
        match wire:
            case [str(title), list(blocks)]:
                content = Content(title, DEFAULT_LIMITS)
            case _:
                raise self.misfit(wire)
        try:
            for block in blocks:
                block_id, attributes, text = block
                last = content.outline.last
                after = None if last is None else last.id
                parsed = dict(parse_attributes(attributes, may_remove=False))
                content.outline.insert(
                    block_id, after, {k: v for k, v in parsed.items() if v is not None}, text
                )
        except (RefusalError, ValueError, TypeError) as error:
            raise self.misfit(wire) from error
        return content

    def adopt(self, value: object, journal: Journal) -> object:
        return self.from_wire(self.to_wire(value))


class TransactionCodec(Codec):
    """Changes of an outline, as in docs/transactions.md."""

    def __init__(self) -> None:
        super().__init__("Transaction 2")  # 1: no text said what it extends

    def to_wire(self, value: object) -> object:
        if not isinstance(value, tuple):
            raise self.misfit(value)
        try:
            wire = transaction_to_wire(value)
            parse_transaction(wire)
        except (RefusalError, AttributeError) as error:
            raise self.misfit(value) from error
        return wire

    def from_wire(self, wire: object) -> object:
        try:
            return parse_transaction(wire)
        except RefusalError as error:
            raise self.misfit(wire) from error


Changes = Annotated[Transaction, TransactionCodec()]


@dataclass(frozen=True, slots=True)
class OutlineEdited:
    """A detail of a change: `changes` led to `version`, as they were applied."""

    version: int
    changes: Transaction


def _take_back(steps: list[Callable[[], object]]) -> None:
    for step in reversed(steps):
        step()


FORMERLY: Mapping[str, tuple[str, ...]] = {"49c1c568edf6b638": ("_content", "version", "_recent")}
"""The fields of the former version, in which no text said that it extends what was written last."""


class Outline(SharedObject):
    """A title, and blocks in an order, each with attributes and a text; `version` counts edits.

    Blocks are named by id, so an edit means the same block wherever others have moved it. What the
    verbs do is carried over what others did meanwhile; writing into a block that was deleted
    raises BlockDeletedError, and what does not apply raises the errors of
    `groupcore.objects.refusal`. A change's details are `OutlineEdited`.
    """

    formerly = FORMERLY
    _content: Annotated[Content, ContentCodec()] = Content("untitled", DEFAULT_LIMITS)
    version: int = 0
    _recent: list[Changes]

    @operation
    def submit(self, base: int, changes: Changes) -> int:
        """Apply changes that were made against version `base`, all or none; the new version.

        That is the version before, where they turn out to do nothing.
        """
        return self._submit(base, changes)

    @operation
    def create(
        self, base: int, after: str | None, text: str, attributes: dict[str, str | int | bool]
    ) -> str:
        """Put a new block behind `after` (None: at the start); gives its id."""
        block = self.context.new_id()
        change = InsertChange(block, after, parse_attributes(dict(attributes), False), text)
        self._submit(base, parse_transaction(transaction_to_wire((change,))))
        return block

    def _submit(self, base: int, changes: Transaction) -> int:
        changes = self._rebased(base, changes)
        undo: list[Callable[[], object]] = []
        applied = self._content.apply(changes, undo)
        self._shared.journal.open_steps().append((_take_back, (undo,)))
        if not applied:
            return self.version  # it has turned out to do nothing
        self.version += 1
        remember(applied, self._recent)
        self.emit(OutlineEdited(self.version, applied))
        return self.version

    def _rebased(self, base: int, changes: Transaction) -> Transaction:
        work = 0
        for theirs in edits_since(base, self.version, self._recent):
            work += len(theirs) * sum(map(effort, changes))
            work += len(changes) * sum(map(effort, theirs))
            if work > DEFAULT_LIMITS.rebase_work:
                raise BaseTooOldError(f"too much has happened since version {base}")
            changes = rebase_transaction(changes, theirs)
        return changes

    def insert(
        self, text: str, after: str | None = None, **attributes: AttributeValue
    ) -> Pending[str]:
        """Put a new block behind `after` (None: at the start); gives its id."""
        return self.create(self.version, after, text, attributes)

    def edit(self, block: str, delta: Delta, extends: bool = False) -> Pending[int]:
        """Edit a block's text.

        `extends`: it goes on where its author wrote last, and stands left of what others have put
        there since (decision 202).
        """
        return self.submit(self.version, (TextChange(block, delta, extends),))

    def write(
        self, block: str, at: int, count: int, text: str, extends: bool = False
    ) -> Pending[int]:
        """Put `text` in the place of `count` code points of the block's text from `at` on."""
        return self.edit(block, canonical([at, text, -count]), extends)

    def set(self, block: str, **attributes: AttributeValue | None) -> Pending[int]:
        """Set attributes of the block; None removes one."""
        return self.submit(self.version, (SetChange(block, tuple(sorted(attributes.items()))),))

    def move(self, block: str, after: str | None) -> Pending[int]:
        """Put the block behind `after` (None: at the start)."""
        return self.submit(self.version, (MoveChange(block, after, self._previous(block)),))

    def delete(self, block: str) -> Pending[int]:
        """Take the block out."""
        return self.submit(self.version, (DeleteChange(block, self._previous(block)),))

    def split(self, block: str, at: int, new: str, **attributes: AttributeValue) -> Pending[int]:
        """Move the text from `at` on into the new block `new`, right behind."""
        change = SplitChange(block, at, new, tuple(sorted(attributes.items())))
        return self.submit(self.version, (change,))

    def join(self, block: str, into: str) -> Pending[int]:
        """Append the block's text to `into` and take the block out."""
        offset = len(self._content.outline.get(into).text)
        change = JoinChange(block, into, offset, self._previous(block))
        return self.submit(self.version, (change,))

    def rename(self, title: str) -> Pending[int]:
        """Set the title."""
        return self.submit(self.version, (TitleChange(title),))

    def _previous(self, block: str) -> str | None:
        return self._content.outline.get(block).previous_id

    @property
    def title(self) -> str:
        """The title."""
        return self._content.title

    def blocks(self) -> list[BlockState]:
        """Id, attributes and text of each block in order; the attributes are copies."""
        return [(block.id, dict(block.attributes), block.text) for block in self._content.outline]

    def text(self, block: str) -> str:
        """The block's text; NoSuchBlockError."""
        return self._content.outline.get(block).text

    def __contains__(self, block: object) -> bool:
        return block in self._content.outline

    def __len__(self) -> int:
        return len(self._content.outline)
