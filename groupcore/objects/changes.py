"""The kinds of change of a document, and their form on the wire (docs/transactions.md).

A change is an array whose first element names its kind; a transaction is an array of changes.
Parsing is strict: whatever parses is well-formed and within the limits, though it may still not
apply to a given document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from groupcore.objects.delta import Delta
from groupcore.objects.outline import AttributeValue

Attributes: TypeAlias = tuple[tuple[str, AttributeValue | None], ...]
"""Attributes by name, sorted; None removes one (only in `set`)."""

WireChange: TypeAlias = list[object]
"""A change as the array that msgpack packs."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document accepts; every replica of a document must have the same.

    `changes` a transaction, `block_text` and `title` in code points, `blocks` a document,
    `history` transactions and `history_bytes` (estimated) kept for rebasing, `clients` whose last
    verdict is remembered, `rebase_work` the most steps that one rebase may take.
    """

    changes: int = 1_000
    block_text: int = 100_000
    blocks: int = 20_000
    title: int = 200
    history: int = 2_000
    history_bytes: int = 4_000_000
    clients: int = 10_000
    rebase_work: int = 1_000_000


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class TextChange:
    """Edits a block's text; `extends`: what its writer wrote last, next to which it stands."""

    kind: ClassVar[str] = "text"
    block: str
    delta: Delta
    extends: bool = False

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        wire: WireChange = [self.kind, self.block, list(self.delta)]
        return [*wire, True] if self.extends else wire


@dataclass(frozen=True, slots=True)
class InsertChange:
    """Puts a new block behind `after` (None: at the start)."""

    kind: ClassVar[str] = "insert"
    block: str
    after: str | None
    attributes: Attributes
    text: str

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        return [self.kind, self.block, self.after, dict(self.attributes), self.text]


@dataclass(frozen=True, slots=True)
class DeleteChange:
    """Removes a block; `prev` is the block before it (None: it is the first)."""

    kind: ClassVar[str] = "delete"
    block: str
    prev: str | None

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        return [self.kind, self.block, self.prev]


@dataclass(frozen=True, slots=True)
class MoveChange:
    """Moves a block behind `after` (None: to the start); `prev` is where it stood before."""

    kind: ClassVar[str] = "move"
    block: str
    after: str | None
    prev: str | None

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        return [self.kind, self.block, self.after, self.prev]


@dataclass(frozen=True, slots=True)
class SetChange:
    """Sets attributes of a block; None removes one."""

    kind: ClassVar[str] = "set"
    block: str
    attributes: Attributes

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        return [self.kind, self.block, dict(self.attributes)]


@dataclass(frozen=True, slots=True)
class SplitChange:
    """Moves the text from `at` on into the new block `new`, right behind."""

    kind: ClassVar[str] = "split"
    block: str
    at: int
    new: str
    attributes: Attributes

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        return [self.kind, self.block, self.at, self.new, dict(self.attributes)]


@dataclass(frozen=True, slots=True)
class JoinChange:
    """Appends a block's text to `into` and removes the block.

    `offset` is the length of `into` before, `prev` the block that stood before the removed one.
    """

    kind: ClassVar[str] = "join"
    block: str
    into: str
    offset: int
    prev: str | None

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        return [self.kind, self.block, self.into, self.offset, self.prev]


@dataclass(frozen=True, slots=True)
class TitleChange:
    """Sets the document's title."""

    kind: ClassVar[str] = "title"
    text: str

    def to_wire(self) -> WireChange:
        """The array for the wire."""
        return [self.kind, self.text]


Change: TypeAlias = (
    TextChange
    | InsertChange
    | DeleteChange
    | MoveChange
    | SetChange
    | SplitChange
    | JoinChange
    | TitleChange
)
Transaction: TypeAlias = tuple[Change, ...]


def transaction_to_wire(changes: Transaction) -> list[WireChange]:
    """The array of arrays for the wire."""
    return [change.to_wire() for change in changes]


def mentioned(change: Change) -> tuple[str | None, ...]:
    """Ids of the blocks that the change names, None for the start of the document.

    Two changes that name nothing in common do not meet.
    """
    match change:
        case TextChange() | SetChange():
            return (change.block,)
        case InsertChange():
            return (change.block, change.after)
        case DeleteChange():
            return (change.block, change.prev)
        case MoveChange():
            return (change.block, change.after, change.prev)
        case SplitChange():
            return (change.block, change.new)
        case JoinChange():
            return (change.block, change.into, change.prev)
        case TitleChange():
            return ("\0title",)


def size_bytes(change: Change) -> int:
    """About what the change takes in memory; the same number at every replica."""
    match change:
        case TextChange():
            texts = sum(len(item) for item in change.delta if isinstance(item, str))
            return 64 + 16 * len(change.delta) + 2 * texts
        case InsertChange() | TitleChange():
            return 128 + 2 * len(change.text)
        case _:
            return 128


def effort(change: Change) -> int:
    """About how many steps it takes to carry the change over another one."""
    return 1 + len(change.delta) if isinstance(change, TextChange) else 1
