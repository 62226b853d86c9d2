"""A document over many groups: an outline, and the blocks that are open here.

```
doc = await open_document(host, "plan", author="ann")
first, second = await doc.insert("", [rich("One"), rich("Two")])
await doc.write(first, canonical([3, Run(" more")]))
third = await doc.split(second, 1)
await doc.join(third, into=second)
print(await doc.text())
```

A document that keeps (`keep`) has all blocks open that have groups, as a server's node does; else
those that were asked for by `block` and `view`. What a split or a join has begun is brought to its
end by whoever is left (`groupcore.shared.documents.tending`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from groupcore.objects.refusal import NoSuchBlockError
from groupcore.objects.rich_delta import Rich, RichDelta, plain
from groupcore.shared.changes import Change, Changed, MemberChanged
from groupcore.shared.documents.attending import Attending
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.handing import OPEN, UNBORN
from groupcore.shared.documents.opening import Opening
from groupcore.shared.documents.outline import LISTINGS, DocumentOutline
from groupcore.shared.documents.own_edits import OwnEdit, OwnEdits
from groupcore.shared.documents.parts import (
    Attributes,
    BlockCut,
    Edited,
    Elsewhere,
    OutlineChanged,
    Received,
    Seed,
    Value,
)
from groupcore.shared.documents.seeding import runs_of
from groupcore.shared.documents.shown import Shown
from groupcore.shared.documents.tending import Host, Secure, Tender
from groupcore.shared.errors import SharedError
from groupcore.shared.pending import Pending
from groupcore.shared.streams import Stream

IDS_MAX = 800
"""So many blocks are named in one message."""
HOPS_MAX = 50
"""Through so many blocks a place is followed."""


async def open_document(
    host: Host,
    name: str,
    *,
    author: str = "",
    keep: bool = False,
    copies: int = 1,
    tend: bool = True,
    secure: Secure | None = None,
) -> Document:
    """Open the document of this name, which is made if it is new.

    `author` names who writes here: drafts come back to it. `copies`: so many nodes have to have a
    text before who gave it forgets it; the number of nodes that keep the document, if that is less
    than three, else two, survives the loss of one. `secure`: waits until what was sent here is on
    disk; where it is given, one copy is enough, as every node's log has it. `tend`: this one does
    the work of its node for the document; where several sessions of a node have it open, one does
    it, as nobody in particular, so that it may whatever the access list says.
    """
    outline = await host.open(DocumentOutline, f"doc/{name}")
    document = Document(host, name, outline, author, keep, copies, tend, secure)
    await document.begin()
    return document


class Document(Shown):
    """A document that is open; made by `open_document`.

    `outline` is there to read; `drafts` has what this author wrote into texts that were deleted
    meanwhile, and who shows it to the author takes it out.
    """

    def __init__(
        self,
        host: Host,
        name: str,
        outline: DocumentOutline,
        author: str,
        keep: bool,
        copies: int,
        tend: bool,
        secure: Secure | None = None,
    ) -> None:
        self.drafts: list[Rich] = []
        self.tender = Tender(host, outline, {}, self.group, copies, secure)
        self.tender.ended = not tend
        super().__init__(outline, self.tender.blocks)
        self._host = host
        self._name = name
        self._author = author
        self._keep = keep
        self._streams: dict[str, Stream[Change]] = {}
        self._closing: dict[str, Pending[None]] = {}
        self.own = OwnEdits(host, author)
        self._owing: dict[str, None] = {}
        self._opening = Opening(host, self._keep_block)
        self.attending = Attending(host, outline, self.tender, self.group)

    async def begin(self) -> None:
        """Follow the outline; when it keeps, open all that has a group."""
        stream = self.outline.changes()
        stream.tap = self._on_outline
        self._streams[""] = stream
        if not self.tender.ended:
            await self.attending.begin()
        if self._keep:
            await self._open_all(self._living())

    def keep(self) -> None:
        """Have all blocks open that have groups, from now on; those of now are opened by and by."""
        self._keep = True
        self._host.start(self._open_all(self._living()))

    def _living(self) -> list[str]:
        return [block for block, entry in self.outline.entries.items() if entry.live]

    async def close(self) -> None:
        """Close the outline and all blocks at this node."""
        self.attending.end()
        for stream in self._streams.values():
            stream.close()
        for block in list(self.blocks.values()):
            await block.close()
        self.blocks.clear()
        await self.outline.close()

    # --- which blocks are open ------------------------------------------------------------------

    async def group(self, block: str) -> Block:
        """The block's object, whether it has a text or not; this document tends it from now on."""
        closing = self._closing.get(block)
        if closing is not None:
            await closing
        found = await self._host.open(Block, f"doc/{self._name}/{block}")
        if self.blocks.get(block) is not found:
            former = self._streams.pop(block, None)
            if former is not None:
                former.close()
            stream = self._streams[block] = found.changes()
            stream.tap = lambda change: self._on_block(block, change)
            self.blocks[block] = found
            self.own.follow(block, found.content)
            self._look_at(block)
            self.tender.wake(block)
        return found

    async def _open_all(self, blocks: list[str]) -> None:
        """Open many blocks, some at a time, and before any others that are to be opened."""
        wait = self.outline._shared.caller.wait
        wanted = [block for block in blocks if block not in self.blocks]
        for done in [self._opening.waited(block, Pending(wait)) for block in wanted]:
            await done

    async def block(self, block: str) -> Block:
        """Open a block to write in it; NoSuchBlockError when there is none of that id."""
        found = await self.group(block)
        if found.status == UNBORN and block in self.outline.seeds:
            if not self.tender.ended:
                await self.tender.plant(block, found)
            elif self.outline.tenders:
                self.outline.wake([block])
                await self._until(found, lambda: found.status != UNBORN)
        if found.status == UNBORN:
            raise NoSuchBlockError(f"there is no block {block}")
        if self.tender.ended and self.outline.tenders and self.outline.rights:
            version = self.outline.rights_version
            await self._until(found, lambda: found.rights_version >= version)
        return found

    async def view(self, first: int, count: int, margin: int = 20) -> list[str]:
        """Have the blocks open that are shown, and some around them; gives those that are shown.

        A block whose text is a seed needs no group to be shown. Others are closed, unless this
        document keeps, or they owe something that is for this node to bring.
        """
        order = list(self.outline.order)
        near = order[max(0, first - margin) : first + count + margin]
        entries = self.outline.entries
        await self._open_all([one for one in near if one in entries and entries[one].live])
        if not self._keep:
            for block in sorted(self.blocks.keys() - set(near)):
                self._let_go(block)
        return order[first : first + count]

    def _let_go(self, block: str) -> None:
        found = self.blocks[block]
        if found.owes:
            return
        del self.blocks[block]
        self._streams.pop(block).close()
        self.own.unfollow(block)
        self._owing.pop(block, None)
        closing = self._closing[block] = found.close()
        closing.when_done(lambda: self._closed(block))

    def _closed(self, block: str) -> None:
        self._closing.pop(block, None)

    # --- what happens ---------------------------------------------------------------------------

    def _on_block(self, block: str, change: Change) -> None:
        if isinstance(change, Changed):
            for detail in change.details:
                if isinstance(detail, BlockCut):
                    self.note_coming(block, detail.new)
                    self._host.start(self._keep_block(detail.new))
                if isinstance(detail, Received) and detail.outcome == "drafted":
                    self._collect(block, f"{detail.source}:{detail.number}")
        self.own.on_change(block, self.blocks[block].content, change)
        self._look_at(block)
        self.tender.wake(block)

    def _look_at(self, block: str) -> None:
        """Whether it is here, and owes something: what the outline says may concern that."""
        self.note_here(block)
        if self.blocks[block].owes:
            self._owing[block] = None
        else:
            self._owing.pop(block, None)

    def _collect(self, block: str, key: str) -> None:
        """A draft may be this author's."""
        found = self.blocks.get(block)
        draft = None if found is None else found.drafts.get(key)
        if found is not None and draft is not None and draft.author == self._author:
            self.drafts.append(draft.content)
            found.took_draft(key)

    def _on_outline(self, change: Change) -> None:
        changed: list[str] = []
        if isinstance(change, Changed | MemberChanged):
            for detail in change.details:
                if isinstance(detail, OutlineChanged):
                    changed += detail.blocks
            if isinstance(change, Changed) and change.operation in LISTINGS:
                changed = list(self.blocks)
        else:
            changed = list({**self.blocks, **self.outline.entries})
            self.attending.again()
        self.attending.look()
        for block in dict.fromkeys((*changed, *self._owing)):
            self.tender.wake(block)
            entry = self.outline.entries.get(block)
            if self._keep and entry is not None and entry.live and block not in self.blocks:
                self._opening.want(block)

    async def _keep_block(self, block: str) -> None:
        with suppress(SharedError):  # closed, cut off, or refused: there is nothing to keep here
            await self.group(block)

    # --- verbs ----------------------------------------------------------------------------------

    async def insert(
        self,
        after: str,
        texts: Sequence[Rich],
        attributes: Sequence[Mapping[str, Value]] = (),
    ) -> list[str]:
        """Put new blocks behind `after` (empty: at the start), some 40 KB a message; their ids.

        When one message is refused, those before it stand; errors as `DocumentOutline.insert`.
        """
        seeds: list[Seed] = []
        for place, text in enumerate(texts):
            given: Attributes = ()
            if place < len(attributes):
                given = tuple(sorted(attributes[place].items()))
            seeds.append(Seed(self._host.new_id(), given, text))
        for run in runs_of(seeds):
            await self.outline.insert(after, run)
            after = run[-1].id
        return [seed.id for seed in seeds]

    async def write(self, block: str, delta: RichDelta, base: int | None = None) -> Edited:
        """Edit a block's text as it is here, or as it was with version `base`.

        What is in `draft` of the answer was not taken; errors as `Block.edit`: then nothing was.
        """
        found = await self.block(block)
        version = found.version if base is None else base
        return await self.own.write(found, OwnEdit(block, version, delta))

    async def split(
        self, block: str, at: int, attributes: Mapping[str, Value] | None = None
    ) -> str:
        """Give all from `at` on to a new block behind it; gives its id, once it is in its place."""
        new = self._host.new_id()
        given = tuple(sorted((attributes or {}).items()))
        found = await self.block(block)
        base = found.version
        for _ in range(HOPS_MAX):
            elsewhere = await found.split(base, at, new, given)
            if elsewhere is None:
                await self.tender.tended(block)
                return new
            block, found, base, at = await self._followed(block, elsewhere)
        raise NoSuchBlockError("the place was moved too often; try again")

    async def _followed(self, source: str, place: Elsewhere) -> tuple[str, Block, int, int]:
        """Where a place is that was handed over: the block, its object, version and place."""
        for _ in range(HOPS_MAX):
            found = await self.group(place.block)
            key = f"{source}:{place.frame}"
            await self._until(found, partial(found.frames.__contains__, key))
            frame = found.frames[key]
            if frame.refused:
                back = await self.block(source)
                await self.tender.tended(source)
                return source, back, back.version, min(place.at, len(plain(back.content)))
            if not frame.to:
                return place.block, found, frame.version, frame.offset + place.at
            source, place = place.block, Elsewhere(frame.to, frame.frame, place.at)
        raise NoSuchBlockError("the place was moved too often; try again")

    async def _until(self, block: Block, is_so: Callable[[], bool]) -> None:
        """Wait for others to do something with a block; NoSuchBlockError when it is closed."""
        async with block.changes() as changes:
            if is_so():
                return
            async for _ in changes:
                if is_so():
                    return
        raise NoSuchBlockError("the document was closed")

    async def join(self, block: str, into: str) -> bool:
        """Put a block's text at the end of `into` and take the block out.

        False when it did not come to that: somebody was faster, or `into` is deleted or full;
        then the block is as it was.
        """
        found = await self.block(block)
        await self.block(into)
        if not await found.join(into):
            return False
        await self.tender.tended(block)
        if found.status == OPEN:
            return False
        if block in self.outline.entries and not self.tender.ended:
            await self.outline.remove([block], joined=True)
        return True

    async def delete(self, *blocks: str) -> list[str]:
        """Take blocks out with what they hold; those that were there.

        What others write into them meanwhile comes back to them as drafts.
        """
        for block in blocks:
            found = self.blocks.get(block)
            if found is not None and found.status == OPEN:
                found.delete()
        gone: list[str] = []
        for start in range(0, len(blocks), IDS_MAX):
            gone += await self.outline.remove(list(blocks[start : start + IDS_MAX]))
        return gone

    async def move(self, blocks: Sequence[str], after: str) -> None:
        """Put blocks behind `after`, in this order."""
        for start in range(0, len(blocks), IDS_MAX):
            some = list(blocks[start : start + IDS_MAX])
            await self.outline.move(some, after)
            after = some[-1]

    async def undo(self) -> Edited | None:
        """Take back the last edit that was written here, and only that; None when there is none.

        It is a late edit against the version right behind the one that it takes back. So it is
        carried over what others did since then, and goes to wherever the text has gone.
        """
        return await self._back(self.own.undone())

    async def redo(self) -> Edited | None:
        """Take back the last `undo`; None when there is none, or something was written since."""
        return await self._back(self.own.redone())

    async def _back(self, taken: tuple[OwnEdit, list[OwnEdit]] | None) -> Edited | None:
        if taken is None:
            return None
        edit, inverses = taken
        return await self.own.edit(await self.group(edit.block), edit, inverses)
