"""What a document shows: block by block, as a screen, and the whole of it."""

from __future__ import annotations

from typing import TypeAlias

from groupcore.objects.rich_delta import Rich, inserted, plain
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.handing import JOINED, UNBORN
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import Attributes
from groupcore.shared.documents.tables import words_of

Shot: TypeAlias = list[tuple[str, Attributes, Rich]]
"""Id, attributes and text of all blocks, in their order."""


class Shown:
    """An outline, and those of its blocks that are open here."""

    def __init__(self, outline: DocumentOutline, blocks: dict[str, Block]) -> None:
        self.outline = outline
        self.blocks = blocks
        self.coming: dict[str, Rich] = {}

    async def group(self, block: str) -> Block:
        """Open the block's group."""
        raise NotImplementedError

    def note_coming(self, source: str, new: str) -> None:
        """A text leaves this block: until its own group is here, it is shown as it left."""
        for parcel in self.blocks[source].owes.get(new, ()):
            if parcel.kind == "birth" and new not in self.blocks:
                self.coming[new] = inserted(parcel.delta)

    def note_here(self, block: str) -> None:
        """This block's group is here: its text is shown, and what has come to it is there no more
        as it left, or it would stand twice.
        """
        found = self.blocks[block]
        if found.status != UNBORN:
            self.coming.pop(block, None)
        for source in found.received.keys() & self.coming.keys():
            del self.coming[source]

    def content(self, block: str) -> Rich | None:
        """The text of a block as it is to be shown; None where it is not open here.

        Of a block that is being handed over it is where it was until it is where it goes: so it
        is never missing, and never there twice.
        """
        found = self.blocks.get(block)
        if found is not None and found.status == JOINED:
            for parcel in found.owes.get(found.into, ()):
                key = f"{block}:{parcel.number}"
                into = self.blocks.get(found.into)
                is_there = self._has_given(found.into) if into is None else key in into.frames
                if parcel.kind == "append" and not is_there:
                    return inserted(parcel.delta)
        if found is not None and found.status != UNBORN:
            return found.content
        entry = self.outline.entries.get(block)
        if block in self.outline.seeds and (found is not None or not (entry and entry.live)):
            return self.outline.seeds[block].content
        if block in self.coming:
            return self.coming[block]
        for other in () if entry is not None else self.blocks.values():
            for parcel in other.owes.get(block, ()):
                if parcel.kind == "birth":
                    return inserted(parcel.delta)
        return None

    def _has_given(self, block: str) -> bool:
        """Whether a block that is not here has passed on what it had, as far as can be seen."""
        if block in self.outline.gone:
            return True
        return any(block in one.received for one in self.blocks.values())

    def screen(self) -> list[tuple[str, Rich | None]]:
        """All blocks in order as they are to be shown now, with those that are about to come."""
        shown: list[tuple[str, Rich | None]] = []
        for block in self.outline.order:
            shown.append((block, self.content(block)))
            found = self.blocks.get(block)
            coming = [] if found is None else list(found.owes)
            shown += [
                (new, self.content(new))
                for new in reversed(coming)
                if found is not None
                and found.owes[new][0].kind == "birth"
                and new not in self.outline.entries
                and new not in self.outline.gone
            ]
        return shown

    async def read(self, block: str) -> Rich:
        """The text of a block, which is opened for it where it has a group."""
        content = self.content(block)
        if content is None:
            content = (await self.group(block)).content
        return content

    async def snapshot(self) -> Shot:
        """Id, attributes and text of all blocks, in their order, as far as this node is."""
        shot: Shot = []
        for block in list(self.outline.order):
            text = await self.read(block)
            seed = self.outline.seeds.get(block)
            given: Attributes = () if seed is None else seed.attributes
            if self._is_open(block):
                given = tuple(sorted(self.blocks[block].attributes.items()))
            shot.append((block, given, text))
        return shot

    async def headings(self) -> list[tuple[str, int, Attributes, Rich]]:
        """Id, place among the blocks, attributes and text of each heading, in their order.

        No other block is read, nor opened.
        """
        found = []
        for place, block in enumerate(list(self.outline.order)):
            entry, seed = self.outline.entries.get(block), self.outline.seeds.get(block)
            given: Attributes = () if seed is None else seed.attributes
            if self._is_open(block):
                given = tuple(sorted(self.blocks[block].attributes.items()))
            elif seed is None and entry is not None and entry.type == "heading":
                given = tuple(sorted((await self.group(block)).attributes.items()))
            if dict(given).get("type") == "heading":
                found.append((block, place, given, await self.read(block)))
        return found

    def _is_open(self, block: str) -> bool:
        return block in self.blocks and self.blocks[block].status != UNBORN

    async def text(self) -> str:
        """The whole text without marks, a line a block."""
        return "\n".join([words_of(dict(kinds), text) for _, kinds, text in await self.snapshot()])

    async def find(self, words: str) -> list[tuple[str, int]]:
        """Where the words stand: blocks and places, in the document's order."""
        found: list[tuple[str, int]] = []
        for block, _, content in await self.snapshot():
            text = plain(content)
            at = text.find(words)
            while words and at >= 0:
                found.append((block, at))
                at = text.find(words, at + len(words))
        return found
