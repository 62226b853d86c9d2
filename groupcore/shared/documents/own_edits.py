"""One author's own edits: what takes them back, and what takes that back.

Idea. An edit that is taken back is a late edit: its inverse, made against the version right behind
it. The block carries it over what others did since then, and sends it after text that has gone.
Of an edit that itself was late, only the part that was done in the block it was made in can be
taken back.
"""

from __future__ import annotations

from typing import NamedTuple

from groupcore.objects.rich_delta import Rich, RichDelta, invert
from groupcore.shared.changes import Change, Changed
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.parts import BlockEdited, Edited
from groupcore.shared.documents.tending import Host

UNDO_MAX = 200
"""So many own edits can be taken back."""


class OwnEdit(NamedTuple):
    """An edit of this block's text as of this version."""

    block: str
    version: int
    delta: RichDelta


class OwnEdits:
    """What `author` has written at `host`, last in, first out."""

    def __init__(self, host: Host, author: str) -> None:
        self.undo: list[OwnEdit] = []
        self.redo: list[OwnEdit] = []
        self._host = host
        self.author = author
        self._contents: dict[str, Rich] = {}
        self._inverses: dict[tuple[str, int], RichDelta] = {}
        self._under_way = 0

    def follow(self, block: str, content: Rich) -> None:
        """The block is open, with this text."""
        self._contents[block] = content

    def unfollow(self, block: str) -> None:
        """The block is closed."""
        self._contents.pop(block, None)

    def on_change(self, block: str, content: Rich, change: Change) -> None:
        """Something has happened to a block, whose text is this now."""
        mine = isinstance(change, Changed) and change.process == self._host.process
        if self._under_way and mine and isinstance(change, Changed):
            for detail in change.details:
                if isinstance(detail, BlockEdited) and change.operation == "edit":
                    inverse = invert(detail.delta, self._contents[block])
                    self._inverses[block, detail.version] = inverse
        self._contents[block] = content

    async def write(self, block: Block, edit: OwnEdit) -> Edited:
        """Do an edit that can be taken back, and then forget what was taken back before."""
        edited = await self.edit(block, edit, self.undo)
        self.redo.clear()
        return edited

    async def edit(self, block: Block, edit: OwnEdit, inverses: list[OwnEdit]) -> Edited:
        """Do an edit, and put what takes it back on top of these."""
        self._under_way += 1
        try:
            edited = await block.edit(edit.version, edit.delta, self.author)
        finally:
            self._under_way -= 1
        inverse = self._inverses.pop((edit.block, edited.version), None)
        if inverse is not None:
            inverses.append(OwnEdit(edit.block, edited.version, inverse))
            del inverses[:-UNDO_MAX]
        if not self._under_way:
            self._inverses.clear()
        return edited

    def undone(self) -> tuple[OwnEdit, list[OwnEdit]] | None:
        """The edit that takes the last one back, and where its own inverse goes."""
        return (self.undo.pop(), self.redo) if self.undo else None

    def redone(self) -> tuple[OwnEdit, list[OwnEdit]] | None:
        """The edit that takes the last undo back, and where its own inverse goes."""
        return (self.redo.pop(), self.undo) if self.redo else None
