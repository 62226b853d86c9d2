"""What a node does for the blocks that it has open: carry what they owe, and keep the outline true.

Idea. Everything here may be done by any node, any number of times: the objects take it once. So
whoever has split or joined a block does it; when that node is gone, the oldest one in the block's
group does. Each block is tended by itself, anew whenever it has changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Protocol, TypeVar

from groupcore.errors import GroupcoreError
from groupcore.objects.rich_delta import inserted, length
from groupcore.sequencing.names import Process
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.describing import Describing
from groupcore.shared.documents.handing import DELETED, JOINED, OPEN, UNBORN
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import TEXTS, Parcel, node_of
from groupcore.shared.pending import Pending

T = TypeVar("T")

Owed = Mapping[str, tuple[Parcel, ...]]
"""What a block owes to which others, oldest first."""
Secure = Callable[[], Awaitable[object]]
"""Waits until what was sent from here up to now survives the loss of all nodes."""

PLANTED_AT_ONCE = 800
"""So many seeds are forgotten in one message."""


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


def nodes_of(members: tuple[Process, ...]) -> list[str]:
    """The nodes that have an object open, who has had it longest first."""
    return list(dict.fromkeys(map(node_of, members)))


class Tender:
    """Tends the open blocks of one document. `copies`: so many nodes must have a text before who
    gave it forgets it; `secure`: and what was sent here up to now must be on disk."""

    def __init__(
        self,
        host: Host,
        outline: DocumentOutline,
        blocks: dict[str, Block],
        find: Callable[[str], Awaitable[Block]],
        copies: int,
        secure: Secure | None = None,
    ) -> None:
        self.troubles: list[GroupcoreError] = []
        self._host = host
        self._outline = outline
        self.blocks = blocks
        self._find = find
        self._copies = copies
        self._secure = secure
        self._planted: dict[str, None] = {}
        self._safe: dict[str, dict[str, Parcel]] = {}
        self._says_planted = False
        self.describing = Describing(outline, blocks, host.start)
        self._securing: dict[tuple[str, str], int] = {}
        self._secured_again: set[tuple[str, str]] = set()
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

    @property
    def is_busy(self) -> bool:
        """Whether something is being carried, or waits for a disk."""
        return bool(self._busy or self._securing)

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
            owed = await self._owed(name, block)
            for target in owed:
                await self._carry(name, block, target, owed)
            await self._agree(name, block)
        except (
            GroupcoreError
        ) as error:  # closed, cut off, or overtaken: what changes wakes it again
            self.troubles = [*self.troubles[-9:], error]

    @property
    def node(self) -> str:
        """The node that it tends for, in this life."""
        return node_of(self._host.process)

    # --- whose work it is -----------------------------------------------------------------------

    def _tending(self, block: Block) -> list[str]:
        """The nodes that tend the block, who tends the document the longest first.

        That another session of a node has it open does not mean that the node's tender has.
        """
        there = {node_of(one) for one in block.members if self._outline.is_tender(one)}
        return [one for one in self._outline.tenders if one in there]

    def _is_mine(self, block: Block, parcel: Parcel) -> bool:
        """Who has owed it carries it; when that one does not tend the block, the oldest."""
        if parcel.by == self.node:
            return True
        return parcel.by not in self._tending(block) and self._is_oldest(block)

    def _is_oldest(self, block: Block) -> bool:
        """Whether this node tends the document the longest, of those that tend the block."""
        return self._tending(block)[:1] == [self.node]

    def _has_work(self, name: str, block: Block) -> bool:
        if block.owes:
            return True
        outline = self._outline
        if name in outline.gone:
            return block.status == OPEN
        if block.status in (JOINED, DELETED) or block.rights_version < outline.rights_version:
            return True
        entry = outline.entries.get(name)
        return name in outline.seeds or self.describing.news(name, block, entry) is not None

    def _may_forget(self, block: Block, source: Block | None) -> bool:
        """Whether it is for this node to say that enough nodes have a text.

        Where one is enough, who carried it says so. Else one that has it from somebody else, and
        who had it first is there still: a member may wait for its state, but not who says this.
        """
        here = nodes_of((source or self._outline).members)
        needed, having = min(self._copies, len(here)), nodes_of(block.members)
        if needed <= 1 or len(having) < needed:
            return needed <= 1
        others = [one for one in self._tending(block) if one in having[1:] and one in here]
        return others[:1] == [self.node]

    async def _forget(self, source: str, target: str, having: Block, number: int) -> None:
        """`having` has a text: who has given it (no source: the outline) owes it no more.

        Where nodes have disks, not before it is on them: else a power cut could take it there, and
        leave here that it was given. The disk is waited for beside everything else.
        """
        if self._secure is None:
            await self._forgotten(source, target, number)
        elif (source, target) in self._securing:
            self._securing[source, target] = max(number, self._securing[source, target])
            self._secured_again.add((source, target))
        else:
            self._securing[source, target] = number
            self._host.start(self._forget_secured(self._secure, (source, target), having))

    async def _forget_secured(self, secure: Secure, way: tuple[str, str], having: Block) -> None:
        number = 0
        try:
            while number < self._securing[way] and not self.ended:
                number = self._securing[way]
                self._secured_again.discard(way)
                try:
                    # A message of its own behind what it was given: with it, that is saved, too.
                    await having.refresh()
                    await secure()
                    await self._forgotten(*way, number)
                except GroupcoreError as error:
                    self.troubles = [*self.troubles[-9:], error]
                    if way not in self._secured_again:
                        return
                    number = 0  # what has changed since then has asked for it: the node lives again
        finally:
            del self._securing[way]
            self._secured_again.discard(way)

    async def _forgotten(self, source: str, target: str, number: int) -> None:
        if not source:
            self._planted[target] = None
            if not self._says_planted:
                self._says_planted = True
                self._host.start(self._say_planted())
        elif source in self.blocks:
            await self.blocks[source].handed(target, number)

    async def _say_planted(self) -> None:
        """Tell the outline of seeds that it may forget; of many at once in one message."""
        try:
            while self._planted and not self.ended:
                some = list(self._planted)[:PLANTED_AT_ONCE]
                for target in some:
                    del self._planted[target]
                try:
                    await self._outline.planted(some)
                except GroupcoreError as error:  # those that are asked for meanwhile are told again
                    self.troubles = [*self.troubles[-9:], error]
        finally:
            self._says_planted = False
            self._planted.clear()

    # --- parcels --------------------------------------------------------------------------------

    async def _owed(self, name: str, block: Block) -> Owed:
        """What a block owes; where nodes have disks, once it is on them that it does (D1).

        Else a power cut could take that, and leave the text where it was carried to: it would be
        in both places. A message of one's own behind what another node has begun tells when that
        is on disk. Nothing is asked for those that another node carries.
        """
        owed = {target: tuple(parcels) for target, parcels in block.owes.items() if parcels}
        last = {target: parcels[-1] for target, parcels in owed.items()}
        if not owed:
            self._safe.pop(name, None)
        if self._secure is None or last == self._safe.get(name, {}):
            return owed
        mine = [one for parcels in owed.values() for one in parcels if self._is_mine(block, one)]
        if mine:
            if any(one.by != self.node for one in mine):
                await block.refresh()
            await self._secure()
            self._safe[name] = last
        return owed

    def _is_safe(self, name: str, target: str, owed: Owed) -> bool:
        """Whether it is on disk that a block owes these, as far as nodes have disks."""
        return self._secure is None or self._safe.get(name, {}).get(target) == owed[target][-1]

    async def _carry(self, name: str, block: Block, target: str, owed: Owed) -> None:
        """Bring what is owed to where it goes, and have it forgotten here once it is there."""
        parcels = [one for one in owed[target] if one in block.owes.get(target, ())]
        if not parcels:
            return
        other = await self._find(target)
        mine = any(self._is_mine(block, parcel) for parcel in parcels)
        if mine and self._is_safe(name, target, owed):
            self._give_list(other)
            if other.status == UNBORN and target in self._outline.seeds:
                await self.plant(target, other)  # letters stand there again
            known = other.received.get(name, 0)
            new = [parcel for parcel in parcels if parcel.number > known]
            sent = [other.accept(name, target, parcel) for parcel in new]
            await self._admit(name, target, owed)
            for pending in sent:
                await pending
            for parcel in parcels:
                frame = other.frames.get(f"{name}:{parcel.number}")
                if frame is not None and frame.refused:
                    await block.take_back(target, parcel.number)
        if self._is_there(name, other, target, parcels):
            if self._may_forget(other, block):
                if mine or self._secure is None:
                    await self._forget(name, target, other, parcels[-1].number)
            else:
                self._waiting.setdefault(target, set()).add(name)

    def _is_there(self, name: str, other: Block, target: str, parcels: list[Parcel]) -> bool:
        """Whether a block has taken all of these, and the outline knows it."""
        outline = self._outline
        if other.received.get(name, 0) < parcels[-1].number:
            self._waiting.setdefault(target, set()).add(name)
            return False
        texts = [parcel for parcel in parcels if parcel.kind in TEXTS]
        frames = [other.frames.get(f"{name}:{parcel.number}") for parcel in texts]
        known = target in outline.entries or target in outline.gone
        born = any(parcel.kind == "birth" for parcel in texts)
        return not any(one is not None and one.refused for one in frames) and (known or not born)

    async def _admit(self, name: str, sent_to: str, owed: Owed) -> None:
        """Have the outline know the blocks that were split off, all, in the order of the splits.

        None of them is told of before its text has been sent, by this node or the one that knew.
        """
        outline = self._outline
        if name not in outline.entries and name not in outline.gone:
            return  # the outline will have this block soon, and that wakes it
        new = []
        for target, parcels in owed.items():
            if target in outline.entries or target in outline.gone:
                continue
            for parcel in [one for one in parcels if one.kind == "birth"]:
                other = await self._find(target)
                if target != sent_to and other.received.get(name, 0) < parcel.number:
                    self._give_list(other)
                    other.accept(name, target, parcel)
                kind = str(dict(parcel.attributes).get("type", "paragraph"))
                new.append((target, kind, length(inserted(parcel.delta))))
        if new:
            await outline.admit(name, new)

    # --- the outline ----------------------------------------------------------------------------

    async def _agree(self, name: str, block: Block) -> None:
        """Bring block and outline together, if that is for this node to do."""
        outline = self._outline
        if name in outline.seeds and block.status != UNBORN:
            if self._may_forget(block, None):
                if self._secure is None or self._is_oldest(block):
                    await self._forget("", name, block, 1)
            else:
                self._waiting.setdefault(name, set()).add(name)
        if not self._is_oldest(block):
            return
        if block.status == UNBORN and name in outline.seeds:
            await self.plant(name, block)
        gone, known = outline.gone.get(name), name in outline.entries
        if block.status == OPEN and gone is not None:
            await (outline.restore(name) if gone.joined else block.delete())
        elif block.status == JOINED and known and not self._still_owes(block):
            await outline.remove([name], joined=True)
        elif block.status == DELETED and known:
            await outline.remove([name])
        self._give_list(block)
        await self.describing.tell(name)

    async def plant(self, name: str, block: Block) -> None:
        """Give a block the text that the outline has the seed of.

        Everybody knows of its group before that: else what is written there would be in a group
        that nobody opens, if this node dies.
        """
        outline = self._outline
        entry = outline.entries.get(name)
        if entry is not None and not entry.live:
            await outline.wake([name])
        seed = outline.seeds.get(name)
        if seed is None or block.status != UNBORN:
            return
        self._give_list(block)
        await block.accept("", name, Parcel(1, "birth", seed.content, attributes=seed.attributes))

    def _give_list(self, block: Block) -> None:
        """See that the block judges by the outline's list; a new one before it has a text."""
        outline = self._outline
        if block.rights_version < outline.rights_version:
            block.follow(outline.rights_version, dict(outline.rights))

    @staticmethod
    def _still_owes(block: Block) -> bool:
        return any(parcel.kind == "append" for parcel in block.owes.get(block.into, ()))
