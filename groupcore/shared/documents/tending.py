"""What a node does for the blocks that it has open: carry what they owe, and keep the outline true.

Idea. Everything here may be done by any node, any number of times: the objects take it once. So
whoever has split or joined a block does it; when that node is gone, the oldest one in the block's
group does. Each block is tended by itself, anew whenever it has changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Protocol, TypeVar

from groupcore.errors import GroupcoreError
from groupcore.objects.rich_delta import inserted, length
from groupcore.sequencing.names import Process
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.handing import DELETED, JOINED, OPEN, UNBORN
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import Parcel, node_of
from groupcore.shared.pending import Pending

T = TypeVar("T")


class Host(Protocol):
    """What a document needs of the program around it: a node or session, and a way to start."""

    @property
    def process(self) -> Process:
        """As whom objects are opened."""

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        """Open a shared object."""

    def new_id(self) -> str:
        """An id for a block that nobody else gives: 1 to 64 characters of A-Za-z0-9_-."""

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine beside the others."""


def seed_parcel(outline: DocumentOutline, block: str) -> Parcel:
    """What a block begins with that the outline has the seed of."""
    seed = outline.seeds[block]
    return Parcel(1, "birth", seed.content, attributes=seed.attributes)


class Tender:
    """Tends the open blocks of one document. `copies`: so many nodes must have a text before who
    gave it forgets it."""

    def __init__(
        self,
        host: Host,
        outline: DocumentOutline,
        blocks: dict[str, Block],
        find: Callable[[str], Awaitable[Block]],
        copies: int,
    ) -> None:
        self.troubles: list[GroupcoreError] = []
        self._host = host
        self._outline = outline
        self.blocks = blocks
        self._find = find
        self._copies = copies
        self._busy: dict[str, bool] = {}
        self._done: dict[str, list[Pending[None]]] = {}
        self._waiting: dict[str, set[str]] = {}
        self.ended = False

    def wake(self, block: str) -> None:
        """Something has changed: see whether there is something to do."""
        if self.ended:
            return
        for one in (block, *self._waiting.pop(block, ())):
            if one in self._busy:
                self._busy[one] = True
            elif one in self.blocks and self._has_work(one, self.blocks[one]):
                self._busy[one] = False
                self._host.start(self._run(one))

    async def tended(self, name: str) -> None:
        """Wait until what there is to do for a block now is done, or cannot be done now."""
        self.wake(name)
        if name in self._busy:
            done: Pending[None] = Pending(self._outline._shared.caller.wait)
            self._done.setdefault(name, []).append(done)
            await done

    async def _run(self, name: str) -> None:
        again = True
        try:
            while again and not self.ended:
                self._busy[name] = False
                await self._tend(name)
                again = self._busy[name]
        except Exception:
            self._end(name)
            raise
        self._end(name)

    def _end(self, name: str) -> None:
        del self._busy[name]
        for done in self._done.pop(name, ()):
            done.resolve(None)

    async def _tend(self, name: str) -> None:
        """Do what there is to do for a block, once."""
        try:
            block = self.blocks.get(name)
            if block is None:
                return
            for target in list(block.owes):
                await self._carry(name, block, target)
            await self._agree(name, block)
        except (
            GroupcoreError
        ) as error:  # closed, cut off, or overtaken: what changes wakes it again
            self.troubles = [*self.troubles[-9:], error]

    # --- whose work it is -----------------------------------------------------------------------

    def _is_mine(self, block: Block, parcel: Parcel) -> bool:
        """Who has owed it carries it; when that one is gone, the oldest."""
        if parcel.by == node_of(self._host.process):
            return True
        nodes = {node_of(process) for process in block.members}
        there = parcel.by in nodes and parcel.by in self._outline.tenders
        return not there and self._is_oldest(block)

    def _is_oldest(self, block: Block) -> bool:
        """Whether this node tends the document the longest, of those in the block's group."""
        nodes = {node_of(process) for process in block.members}
        tenders = [one for one in self._outline.tenders if one in nodes]
        return tenders[:1] == [node_of(self._host.process)]

    def _has_work(self, name: str, block: Block) -> bool:
        if block.owes:
            return True
        outline = self._outline
        if name in outline.gone:
            return block.status == OPEN
        if block.status in (JOINED, DELETED) or block.rights_version < outline.rights_version:
            return True
        return name in outline.seeds

    def _is_kept(self, block: Block, source: Block | None) -> bool:
        """Whether enough nodes have a block: as many as `copies`, or as have what it came from."""
        nodes = {process.node for process in block.members}
        others = {process.node for process in (source or self._outline).members}
        return len(nodes) >= min(self._copies, len(others))

    # --- parcels --------------------------------------------------------------------------------

    async def _carry(self, name: str, block: Block, target: str) -> None:
        """Bring what is owed to where it goes, and have it forgotten here once it is there."""
        parcels = list(block.owes.get(target, ()))
        if not any(self._is_mine(block, parcel) for parcel in parcels):
            return
        other = await self._find(target)
        sent = [other.accept(name, target, parcel) for parcel in parcels]
        admitted = await self._admit(name, block)
        for parcel, pending in zip(parcels, sent, strict=True):
            if await pending == "refused" and parcel.kind != "edit":
                await block.take_back(target, parcel.number)
        if not admitted:
            return  # the outline will have this block soon, and that wakes it
        if not self._is_kept(other, block):
            self._waiting.setdefault(target, set()).add(name)
            return
        await block.handed(target, parcels[-1].number)

    async def _admit(self, name: str, block: Block) -> bool:
        """Have the outline know the blocks that were split off, all, in the order of the splits."""
        outline = self._outline
        new = [
            (target, str(dict(parcel.attributes).get("type", "paragraph")), _size(parcel))
            for target, parcels in block.owes.items()
            for parcel in parcels
            if parcel.kind == "birth"
            and target not in outline.entries
            and target not in outline.gone
        ]
        if not new:
            return True
        if name not in outline.entries and name not in outline.gone:
            return False
        await outline.admit(name, new)
        return True

    # --- the outline ----------------------------------------------------------------------------

    async def _agree(self, name: str, block: Block) -> None:
        """Bring block and outline together, if that is for this node to do."""
        outline = self._outline
        if not self._is_oldest(block):
            return
        if block.status == UNBORN and name in outline.seeds:
            await block.accept("", name, seed_parcel(outline, name))
        gone, known = outline.gone.get(name), name in outline.entries
        if block.status == OPEN and gone is not None:
            await (outline.restore(name) if gone.joined else block.delete())
        elif block.status == JOINED and known and not self._still_owes(block):
            await outline.remove([name], joined=True)
        elif block.status == DELETED and known:
            await outline.remove([name])
        if block.status != UNBORN and name in outline.seeds:
            if self._is_kept(block, None):
                await outline.planted([name])
            else:
                self._waiting.setdefault(name, set()).add(name)
        if block.rights_version < outline.rights_version:
            await block.follow(outline.rights_version, dict(outline.rights))

    @staticmethod
    def _still_owes(block: Block) -> bool:
        return any(parcel.kind == "append" for parcel in block.owes.get(block.into, ()))


def _size(parcel: Parcel) -> int:
    return length(inserted(parcel.delta))
