"""What a node does for the cells that it has open: tell them their roles, carry what they owe.

Idea. Everything here may be done by any node, any number of times: the cells take it once. Whoever
has caused a parcel carries it; when that node has the cell open no more, the node that has it open
the longest does. Each cell is tended by itself, anew whenever it has changed.

Where nodes have disks a parcel is carried when it is saved that it is owed, and forgotten when it
is saved that it was taken: else a power cut could take the one and leave the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Protocol, TypeVar

from groupcore.errors import GroupcoreError
from groupcore.sequencing.names import Process
from groupcore.shared.pending import Pending
from groupcore.shared.places.cell import Cell
from groupcore.shared.places.digest import digest_of, is_news
from groupcore.shared.places.limits import MERGE_BELOW, SPLIT_ABOVE, SPLITS_MAX, TICK_MS
from groupcore.shared.places.outline import PlaceOutline
from groupcore.shared.places.parts import Parcel, node_of
from groupcore.shared.places.splitting import is_crowded, is_lonely, splits
from groupcore.shared.places.squares import inner_below, parent_of, quarters

T = TypeVar("T")

Secure = Callable[[], Awaitable[object]]
"""Waits until what was sent from here up to now survives the loss of all nodes."""
TROUBLES_MAX = 10


class Host(Protocol):
    """What a place needs of the program around it: a node or session, and a way to start."""

    @property
    def process(self) -> Process:
        """As whom objects are opened."""

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        """Open a shared object."""

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine beside the others."""


class Carrier:
    """Tends the open `cells` of one place. `find` opens a cell, and has it tended from then on.

    `split_above`, `merge_below`: when cells are quartered and become one again.
    """

    def __init__(
        self,
        host: Host,
        outline: PlaceOutline,
        cells: dict[str, Cell],
        find: Callable[[str], Awaitable[Cell]],
        secure: Secure | None = None,
        split_above: int = SPLIT_ABOVE,
        merge_below: int = MERGE_BELOW,
    ) -> None:
        self.troubles: list[GroupcoreError] = []
        self.cells = cells
        self.ended = False
        self._host = host
        self._outline = outline
        self._find = find
        self._secure = secure
        self._split_above = split_above
        self._merge_below = merge_below
        self._busy: dict[str, bool] = {}
        self._ticking: dict[str, Pending[None]] = {}

    @property
    def is_busy(self) -> bool:
        """Whether something is being done."""
        return bool(self._busy)

    def wake(self, path: str) -> None:
        """Something has changed: see whether there is something to do."""
        if self.ended:
            return
        # The first of four quarters looks whether they are lonely, so it looks when any of them is.
        for one in dict.fromkeys((path, quarters(parent_of(path))[0])):
            if one in self._busy:
                self._busy[one] = True
            elif one in self.cells and self._has_work(one, self.cells[one]):
                self._busy[one] = False
                self._host.start(self._run(one))

    def _has_work(self, path: str, cell: Cell) -> bool:
        if cell.owes or self._lags(path, cell):
            return True
        return self._is_oldest(cell) and (
            self._is_crowded(path, cell) or self._is_lonely(path) or self._is_news(path, cell)
        )

    async def _run(self, path: str) -> None:
        try:
            again = True
            while again and not self.ended:
                self._busy[path] = False
                await self._tend(path)
                again = self._busy[path]
        finally:
            del self._busy[path]

    async def _tend(self, path: str) -> None:
        """Do what there is to do for a cell, once."""
        cell = self.cells.get(path)
        if cell is None:
            return
        try:
            await self.introduce(path, cell)
            owed = await self._owed(cell)
            for target, parcels in owed.items():
                await self._carry(path, cell, target, parcels)
            if self._is_oldest(cell):
                await self._balance(path, cell)
        except GroupcoreError as error:  # closed, cut off, overtaken: what changes wakes it again
            self.troubles = [*self.troubles[1 - TROUBLES_MAX :], error]

    # --- whose work it is -----------------------------------------------------------------------

    @property
    def node(self) -> str:
        """The node that it tends for, in this life."""
        return node_of(self._host.process)

    def _is_oldest(self, cell: Cell) -> bool:
        """Whether this node has the cell open the longest."""
        return [node_of(one) for one in cell.members[:1]] == [self.node]

    def _is_mine(self, cell: Cell, parcel: Parcel) -> bool:
        """Who has caused it carries it; when that one has the cell open no more, the oldest."""
        if parcel.by == self.node:
            return True
        return parcel.by not in map(node_of, cell.members) and self._is_oldest(cell)

    # --- roles and rights -----------------------------------------------------------------------

    def _lags(self, path: str, cell: Cell) -> bool:
        """Whether a cell has not been told what the outline says."""
        outline = self._outline
        role = outline.tree.get(path)
        if cell.rights_version < outline.rights_version:
            return True
        return role is not None and role != cell.role

    async def introduce(self, path: str, cell: Cell) -> None:
        """See that a cell has its role and the access list, as far as the outline is known here."""
        outline = self._outline
        if not outline.tree_version:
            await outline.attend()
        if path not in outline.tree:
            await outline.meet([path])
        if cell.rights_version < outline.rights_version:
            await cell.follow(outline.rights_version, dict(outline.rights))
        role = outline.tree[path]
        if cell.role == role:
            return
        if role == "inner" and cell.things:
            below = inner_below(outline.tree, path, SPLITS_MAX)
            await cell.quartered(path, outline.tree_version, below)
        else:
            await cell.become(path, outline.tree_version, role)

    # --- parcels --------------------------------------------------------------------------------

    async def _owed(self, cell: Cell) -> dict[str, list[Parcel]]:
        """What a cell owes and is for this node to carry, once it is saved that it owes it."""
        owed = {
            target: list(parcels)
            for target, parcels in cell.owes.items()
            if any(self._is_mine(cell, one) for one in parcels)
        }
        if owed and self._secure is not None:
            # A message of its own behind what others have caused: with it, that is saved, too.
            await cell.refresh()
            await self._secure()
        return owed

    async def _carry(self, path: str, cell: Cell, target: str, parcels: list[Parcel]) -> None:
        """Bring what is owed to where it goes, and have it forgotten here once it is there."""
        other = await self._find(target)
        await self.introduce(target, other)
        known = other.received.get(path, 0)
        for pending in [other.accept(path, one) for one in parcels if one.number > known]:
            await pending
        if self._secure is not None:
            await other.refresh()
            await self._secure()
        number = parcels[-1].number
        if any(one.number <= number for one in cell.owes.get(target, ())):
            await cell.handed(target, number)

    # --- ticks ----------------------------------------------------------------------------------

    def tick(self, path: str, time_ms: int) -> int | None:
        """Send a cell's next tick, if it is due and for this node to send; when the next is."""
        cell = self.cells[path]
        due_ms = cell.next_tick_ms(time_ms)
        if due_ms is None or not self._is_oldest(cell) or self.ended:
            return None
        under_way = self._ticking.get(path)
        if due_ms <= time_ms and (under_way is None or under_way.done):
            self._ticking[path] = cell.tick(cell.ticks + 1)
        return max(due_ms, time_ms + TICK_MS)

    # --- crowded and lonely cells ---------------------------------------------------------------

    def _is_crowded(self, path: str, cell: Cell) -> bool:
        is_leaf = self._outline.tree.get(path) == "leaf"
        return is_leaf and is_crowded(cell.things.values(), self._split_above)

    def _is_lonely(self, path: str) -> bool:
        """Whether this cell and its three neighbours would fit into one, and are open here.

        The first of the four asks for it.
        """
        four = quarters(parent_of(path))
        if path != four[0] or not all(self._outline.tree.get(one) == "leaf" for one in four):
            return False
        found = [
            cell.things.values()
            for one in four
            if (cell := self.cells.get(one)) is not None and cell.role == "leaf"
        ]
        return len(found) == 4 and is_lonely(found, self._merge_below)

    async def _unite(self, path: str) -> None:
        """Make a cell whole again, unless what it held is still on its way to its quarters."""
        parent = await self._find(path)
        if parent.role == "inner" and not parent.owes and self._is_lonely(quarters(path)[0]):
            await self._outline.unite(path)

    def _is_news(self, path: str, cell: Cell) -> bool:
        if self._outline.tree.get(path) != "leaf":
            return False
        return is_news(self._outline.digests.get(path), len(cell.things))

    async def _balance(self, path: str, cell: Cell) -> None:
        """Quarter a crowded cell, make four lonely ones one; tell what it looks like from afar."""
        if self._is_crowded(path, cell):
            paths = splits(path, cell.things.values(), self._split_above)
            if paths:
                await self._outline.split(paths)
        elif self._is_lonely(path):
            await self._unite(parent_of(path))
        if self._is_news(path, cell):
            await self._outline.describe(path, digest_of(cell))
