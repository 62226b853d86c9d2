"""The outline of a document: its blocks in their order, and what one knows of them from afar.

Idea. The order of the blocks, what is deleted, the title and the access list have one order, that
of the outline's group. Texts are in the blocks' groups; but a block that nobody has edited since
it was put in needs none, its text is a seed here. So pasting thousands of blocks is a few
messages, and reading them needs no group.

Invariants.
  O1  A block stands at one place at most; what was taken out does not come in again by itself.
  O2  A place that names a block that is gone is behind the block that stood before it.
  O3  Where a node that tended the document is gone without a word, the blocks that were taken out
      last are looked through for texts that they owe (`documents.attending`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from groupcore.objects.parsing import check_title
from groupcore.objects.refusal import BlockExistsError, NoSuchBlockError, TooLargeError
from groupcore.objects.rich_delta import length
from groupcore.sequencing.names import Process
from groupcore.shared.access import Guarded, LastManagerError, Right
from groupcore.shared.documents.limits import check_attributes, check_content, check_id
from groupcore.shared.documents.parts import (
    BlocksKnown,
    BlocksLeft,
    BlocksPlaced,
    Entry,
    OutlineChanged,
    Renamed,
    Seed,
    SeedsPlanted,
    SeedsSown,
    node_of,
)
from groupcore.shared.operations import operation

BLOCKS_MAX = 20_000
"""Most blocks of a document."""
GONE_MAX = 20_000
"""So many blocks that were taken out are known, the last ones."""
LEFT_MAX = 256
"""So many blocks that were taken out, and have groups, may be looked through, the last ones."""
FEW = 16
"""So many keys are taken out one by one."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A block that was taken out, from behind `previous`; `joined`: its text lives on elsewhere."""

    previous: str
    joined: bool


NODES_ONLY = frozenset({"admit", "attend", "entitle", "planted", "restore", "retire", "searched"})
"""Operations that nodes call for themselves, as nobody in particular."""
NODES_TOO = frozenset({"remove", "wake", "describe"})
"""What nodes call for themselves, and people who may write."""
FORMERLY = {
    "960f92608aa1e1e6": (
        *("rights", "title", "order", "entries", "seeds", "gone", "rights_version"),
        *("tenders", "_attending"),
    )
}
"""The fields of former versions: in that one nobody counted who was gone."""
LISTINGS = frozenset({"claim", "entitle", "grant", "revoke"})
"""What changes the access list: all blocks follow."""


class DocumentOutline(Guarded):
    """Title, blocks and access list. An empty id stands for the start of the document.

    `left`: blocks that were taken out and have groups, oldest first; `lost`: how many nodes that
    tended the document are gone without a word, and `looked` how many of them have been made up for
    (O3).
    """

    for_nodes = NODES_ONLY
    formerly = FORMERLY
    title: str = "untitled"
    order: list[str]
    entries: dict[str, Entry]
    seeds: dict[str, Seed]
    gone: dict[str, Gone]
    rights_version: int = 0
    tenders: list[str]
    left: list[str]
    lost: int = 0
    looked: int = 0
    _attending: dict[str, int]

    # --- blocks ---------------------------------------------------------------------------------

    @operation
    def insert(self, after: str, seeds: list[Seed]) -> None:
        """Put new blocks behind `after`.

        Raises BlockExistsError, NoSuchBlockError, TooLargeError, BadChangeError.
        """
        place = self._place(after)
        for seed in seeds:
            check_id(seed.id)
            check_attributes(dict(seed.attributes))
            check_content(seed.content)
            if seed.id in self.entries or seed.id in self.gone:
                raise BlockExistsError(f"there is a block {seed.id} already")
            kind = str(dict(seed.attributes).get("type", "paragraph"))
            self.entries[seed.id] = Entry(kind, length(seed.content))
            self.seeds[seed.id] = seed
        new = [seed.id for seed in seeds]
        self.order[place:place] = new
        self.emit(SeedsSown(tuple(seeds)))
        self._placed(place, new)
        self._told(*new)

    @operation
    def admit(self, after: str, new: list[tuple[str, str, int]]) -> None:
        """Put blocks that were split off `after` behind it, the first split last; id, type, length.

        Those that are known already stay where they are (O1).
        """
        for block, kind, size in new:
            if block in self.entries or block in self.gone:
                continue
            self._enter(block, after, Entry(kind, size, live=True))
        self._told(*[block for block, _, _ in new])

    def _enter(self, block: str, after: str, entry: Entry) -> None:
        place = self._place(after)
        self.order.insert(place, block)
        self.entries[block] = entry
        self.emit(BlocksKnown(((block, entry),)))
        self._placed(place, [block])

    def _placed(self, place: int, blocks: list[str]) -> None:
        self.emit(BlocksPlaced(self.order[place - 1] if place else "", tuple(blocks)))

    def _place(self, after: str) -> int:
        """O2."""
        if len(self.order) >= BLOCKS_MAX:
            raise TooLargeError(f"a document may have {BLOCKS_MAX} blocks")
        while after and after not in self.entries:
            if after not in self.gone:
                raise NoSuchBlockError(f"there is no block {after}")
            after = self.gone[after].previous
        return self.order.index(after) + 1 if after else 0

    @operation
    def move(self, blocks: list[str], after: str) -> None:
        """Put these blocks behind `after`, in this order; those that are gone are passed over."""
        moved = [block for block in dict.fromkeys(blocks) if block in self.entries]
        chosen = set(moved)
        anchor = after
        while anchor in chosen or anchor in self.gone:
            place = self.order.index(anchor) if anchor in chosen else -1
            before = self.order[place - 1] if place > 0 else ""
            anchor = before if place >= 0 else self.gone[anchor].previous
        if anchor and anchor not in self.entries:
            raise NoSuchBlockError(f"there is no block {anchor}")
        left = [block for block in self.order if block not in chosen]
        place = left.index(anchor) + 1 if anchor else 0
        self.order = left[:place] + moved + left[place:]
        self._placed(place, moved)
        self._told(*moved)

    @operation
    def remove(self, blocks: list[str], joined: bool = False) -> list[str]:
        """Take blocks out; gives those that were in. Their nodes delete what is in their groups."""
        leaving = dict.fromkeys([block for block in blocks if block in self.entries])
        previous, left = "", []
        for block in self.order:
            if block not in leaving:
                left.append(block)
                previous = block
                continue
            self.gone[block] = Gone(previous, joined)
        self.order = left
        if joined or len(leaving) <= FEW:
            self._note_left([one for one in leaving if self.entries[one].live])
        if len(leaving) > FEW:  # taking keys out one by one costs as much as all of them each
            self.entries = {one: kept for one, kept in self.entries.items() if one not in leaving}
            self.seeds = {one: kept for one, kept in self.seeds.items() if one not in leaving}
        for block in leaving if len(leaving) <= FEW else ():
            del self.entries[block]
            self.seeds.pop(block, None)
        while len(self.gone) > GONE_MAX:
            del self.gone[next(iter(self.gone))]
        self.emit(BlocksLeft(tuple(leaving), joined))
        self._told(*blocks)
        return [block for block in blocks if block in leaving]

    def _note_left(self, blocks: list[str]) -> None:
        """They have groups, which may be given something to hand on at any time (O3)."""
        if blocks:
            self.left = [*self.left, *blocks][-LEFT_MAX:]

    @operation
    def restore(self, block: str) -> None:
        """Put a block in again whose text nobody would take, where it stood."""
        gone = self.gone.get(block)
        if gone is not None:
            del self.gone[block]
            self._enter(block, gone.previous, Entry(live=True))
            self._told(block)

    # --- who tends ------------------------------------------------------------------------------

    @operation
    def attend(self) -> None:
        """The calling process does its node's work for the document from now on."""
        process = self.context.process
        name = node_of(process)
        if name not in self.tenders:
            self.tenders.append(name)
        self._attending[name] = process.number

    def is_tender(self, process: Process) -> bool:
        """Whether it is this process that does its node's work for the document."""
        return self._attending.get(node_of(process)) == process.number

    @operation
    def retire(self) -> None:
        """The calling process does so no more, and has left nothing undone."""
        self._ends(self.context.process)

    def on_departed(self, process: Process) -> None:
        """It does so no more; other processes of its node may come and go."""
        if self.is_tender(process):
            self.lost += 1
        self._ends(process)

    def _ends(self, process: Process) -> None:
        if self.is_tender(process):
            name = node_of(process)
            del self._attending[name]
            self.tenders.remove(name)
            self.emit(OutlineChanged(tuple(self.entries)))

    @operation
    def searched(self, lost: int) -> None:
        """What so many nodes may have left undone is open where the document is tended (O3)."""
        self.looked = max(self.looked, lost)

    # --- seeds and what is known from afar ------------------------------------------------------

    @operation
    def wake(self, blocks: list[str]) -> None:
        """These blocks get groups of their own: who keeps the document opens them."""
        self._wake(blocks)

    def _wake(self, blocks: list[str]) -> None:
        for block in blocks:
            if block in self.entries:
                self.entries[block] = replace(self.entries[block], live=True)
        self._know(blocks)
        self._told(*blocks)

    def _know(self, blocks: Iterable[str]) -> None:
        known = [(block, self.entries[block]) for block in blocks if block in self.entries]
        self.emit(BlocksKnown(tuple(known)))

    @operation
    def planted(self, blocks: list[str]) -> None:
        """These blocks have their texts in their groups: the seeds are needed no more.

        Who keeps the document opens them from now on, should a power cut have taken that they woke.
        """
        for block in blocks:
            self.seeds.pop(block, None)
        asleep = [one for one in blocks if one in self.entries and not self.entries[one].live]
        if asleep:
            self._wake(asleep)
        self.emit(SeedsPlanted(tuple(blocks)))

    @operation
    def describe(self, news: list[tuple[str, str, int]]) -> None:
        """Type and length of blocks, as somebody has them open now."""
        for block, kind, size in news:
            if block in self.entries:
                self.entries[block] = replace(self.entries[block], type=kind, length=size)
        blocks = [block for block, _, _ in news]
        self._know(blocks)
        self._told(*blocks)

    @operation
    def rename(self, title: str) -> None:
        """Set the title; BadChangeError, TooLargeError."""
        self.title = check_title(title)
        self.emit(Renamed(self.title))

    def _told(self, *blocks: str) -> None:
        self.emit(OutlineChanged(blocks))

    # --- who may --------------------------------------------------------------------------------

    @operation
    def grant(self, principal: str, right: Right) -> None:
        """As `Guarded.grant`; the blocks follow."""
        Guarded.grant.function(self, principal, right)
        self.rights_version += 1

    @operation
    def revoke(self, principal: str) -> None:
        """As `Guarded.revoke`; the blocks follow."""
        Guarded.revoke.function(self, principal)
        self.rights_version += 1

    @operation
    def claim(self) -> None:
        """As `Guarded.claim`; the blocks follow."""
        Guarded.claim.function(self)
        self.rights_version += 1

    @operation
    def entitle(self, version: int, rights: dict[str, Right]) -> None:
        """This is the whole list, as of this version of it; nothing, if a later one is known.

        For a server that has accounts of its own; LastManagerError when nobody manages it.
        """
        if Right.MANAGE not in rights.values():
            raise LastManagerError("a list needs somebody who manages it")
        if version > self.rights_version:
            self.rights_version, self.rights = version, rights

    def may_call(self, principal: str, operation: str) -> bool:
        """By the list; a document that nobody has claimed is everybody's.

        What nodes do for themselves, by nobody in particular.
        """
        if not self.rights:
            return True
        if operation in NODES_ONLY or (not principal and operation in NODES_TOO):
            return not principal
        return super().may_call(principal, operation)

    def may_read(self, principal: str) -> bool:
        """By the list; nodes, by nobody in particular, always."""
        return not principal or super().may_read(principal)
