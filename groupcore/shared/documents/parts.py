"""What blocks of a document are made of, and hand over to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from groupcore.objects.rich_delta import Rich, RichDelta
from groupcore.sequencing.names import Process
from groupcore.shared.types.rich_text import RichContent, RichEdit

Value: TypeAlias = str | int | bool
Attributes: TypeAlias = tuple[tuple[str, Value], ...]
"""Attributes of a block by name: type, level, checked, language, …; sorted."""
Kind: TypeAlias = Literal["birth", "append", "edit", "extend"]
Outcome: TypeAlias = Literal["done", "refused", "drafted"]

TEXTS = ("birth", "append")
"""The kinds of parcels that are texts; the others are edits of them."""
UNSEEN = -1
PART = 1
"""Marks the step of an edit that came as a parcel: so pages know an edit of theirs in a history."""
TRAIL_MAX = 16
"""Through so many closed blocks a text is passed on, and an edit from letters to letters."""


def node_of(process: Process) -> str:
    """The name of a process's node, of this life of it."""
    return f"{process.node.name}#{process.node.incarnation:x}"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a block's history.

    `edit`: this delta; where `new` names a block, that was its parcel `frame`: the text of a block
    that was joined to this one, or (`at` is PART) an edit of a text that it had. `cut`: all from
    `at` on went to the block `new` as its frame `frame`. `all`: the whole text did, as it was
    joined to `new`. `gone`: the text was deleted.
    """

    kind: Literal["edit", "cut", "all", "gone"]
    delta: RichEdit = ()
    new: str = ""
    frame: int = 0
    at: int = 0

    @property
    def is_text(self) -> bool:
        """Whether it is the text of a block that was joined to this one."""
        return self.kind == "edit" and self.new != "" and self.at != PART


@dataclass(frozen=True, slots=True)
class Again:
    """Letters of a block that stand again in a text: where they were cut out, and pasted there.

    `count` letters from `start` on, of the text ahead of the step that led to version `step` and
    took them out; 0: of the present text, as they are there still. They stand in `block`, from `at`
    of its version `version` on. They were named as those from `origin` on of version `base`;
    UNSEEN: what was written between them since then may be in the paste.
    """

    step: int
    start: int
    count: int
    block: str
    version: int
    at: int
    base: int
    origin: int


@dataclass(frozen=True, slots=True)
class Parcel:
    """Something one block gives to another one, `number` of those from the one to the other.

    `birth`: the text (`delta` holds inserts only) and attributes that a new block begins with;
    `append`: a text for the end. Both make a frame, named by their number: the text as it was when
    it came. `edit`, or `extend` where it extends what its author wrote last (see `Block.edit`): an
    edit of the frame `frame`, made before the author knew that the text had moved; below 0 that is
    the receiver's own text of version `-1 - frame`, in which letters of the giver stand again. `by`
    names the node that has to carry it, `author` who gets it back if it cannot be done. `trail` are
    the closed blocks that an `append` has come through, or the blocks that an edit has gone
    through.
    """

    number: int
    kind: Kind
    delta: RichEdit
    frame: int = 0
    attributes: Attributes = ()
    by: str = ""
    author: str = ""
    trail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a text is that came from another block.

    At `offset` of this block's `version`; or (`to`) passed on to another block as its `frame`; or
    `refused`, so who gave it takes it back.
    """

    version: int = 0
    offset: int = 0
    to: str = ""
    frame: int = 0
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """What an author has written into a text that is not there any more."""

    author: str
    content: RichContent


@dataclass(frozen=True, slots=True)
class Edited:
    """What has become of an edit: `version` now, parts that went to other blocks, and a draft.

    `moved` names block and parcel; the parcel gets there whoever dies. `draft`: what was inserted
    into text that is deleted, and was not taken: the author keeps it.
    """

    version: int
    moved: tuple[tuple[str, int], ...] = ()
    draft: RichContent = ()


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A place is in another block by now: at `at` of the frame `frame` that `source` gave it."""

    block: str
    frame: int
    at: int


@dataclass(frozen=True, slots=True)
class Seed:
    """What a block begins with that nobody has edited yet."""

    id: str
    attributes: Attributes
    content: RichContent


@dataclass(frozen=True, slots=True)
class Entry:
    """What the outline knows of a block, late: its `type`, its `length` in code points.

    `live`: it has a group of its own; else its text is the seed in the outline.
    """

    type: str = "paragraph"
    length: int = 0
    live: bool = False


# --- what followers of a block are told --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BlockEdited:
    """A detail of a change: `delta` led to `version`."""

    version: int
    delta: RichDelta


@dataclass(frozen=True, slots=True)
class BlockCut:
    """A detail of a change: with `version`, all from `at` on went to the block `new`.

    That has these attributes.
    """

    version: int
    at: int
    new: str
    attributes: Attributes = ()


@dataclass(frozen=True, slots=True)
class BlockClosed:
    """A detail of a change: the block's text went to `into`, or (None) is deleted.

    `number` is the parcel's that the text goes to `into` in.
    """

    into: str | None
    content: Rich
    version: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class BlockOpened:
    """A detail of a change: the block has a text (again), `content`, with `version`.

    `late`: edits of the text that have come back with it, by the block that they went to and their
    parcel, each with what it has inserted into text that is deleted. `back`: the block that has
    refused the text, and its parcel; empty and 0: it is a new one.
    """

    version: int
    content: Rich
    attributes: Attributes = ()
    late: tuple[tuple[str, int, RichContent], ...] = ()
    back: tuple[str, int] = ("", 0)


@dataclass(frozen=True, slots=True)
class BlockSet:
    """A detail of a change: these attributes were set, or (None) removed."""

    changes: tuple[tuple[str, Value | None], ...]


@dataclass(frozen=True, slots=True)
class Received:
    """A detail of a change: what has become of parcel `number` of the block `source`.

    A text that this block, being closed, has passed on went `to` another one, as its `parcel`.
    `is_text`: it was the text of a block, not an edit of one. Of an edit, `moved`: where parts of
    it went on to, as blocks and parcels, and `draft`: what it inserted into text that is deleted.
    """

    source: str
    number: int
    outcome: Outcome
    to: str = ""
    parcel: int = 0
    is_text: bool = False
    moved: tuple[tuple[str, int], ...] = ()
    draft: RichContent = ()


@dataclass(frozen=True, slots=True)
class Handed:
    """A detail of a change: this block has the parcels up to `number`; they are owed no more."""

    block: str
    number: int


@dataclass(frozen=True, slots=True)
class LettersAgain:
    """A detail of a change: letters that were taken out of this block stand again in another text.

    `sent`: what was written between them meanwhile went after them, to blocks as their parcels.
    """

    letters: tuple[Again, ...]
    sent: tuple[tuple[str, int], ...] = ()


# --- what followers of an outline are told -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutlineChanged:
    """A detail of a change: these blocks have come, gone, or changed."""

    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlocksPlaced:
    """A detail of a change: these blocks stand behind `after` now, in this order."""

    after: str
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlocksLeft:
    """A detail of a change: these blocks are out; `joined`: their texts live on elsewhere."""

    blocks: tuple[str, ...]
    joined: bool


@dataclass(frozen=True, slots=True)
class BlocksKnown:
    """A detail of a change: what the outline knows of these blocks now."""

    news: tuple[tuple[str, Entry], ...]


@dataclass(frozen=True, slots=True)
class SeedsSown:
    """A detail of a change: new blocks, with what they begin with."""

    seeds: tuple[Seed, ...]


@dataclass(frozen=True, slots=True)
class SeedsPlanted:
    """A detail of a change: these blocks have their texts in groups of their own."""

    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """A detail of a change: the document's title."""

    title: str
