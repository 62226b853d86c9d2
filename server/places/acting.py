"""What is asked of a place over HTTP: done in the name of who asks, in the cells where things are.

Idea. The node holds the place, and the cells that are looked into; who asks has a session of their
own, so each operation is judged by its cell's list at its place in the order. A cell that holds
nothing any more, and a thing that has gone on meanwhile, are looked for again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from groupcore.shared.places import Cell, Edit, Thing
from groupcore.shared.places.handover import portions
from groupcore.shared.places.joint_moves import move_jointly
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.parts import name_of
from groupcore.shared.places.refusals import NoSuchThingError, NotHereError, ThingBusyError
from groupcore.shared.places.shown import seen
from groupcore.shared.session import Session
from server.node import Node
from server.places.reading import AT_ONCE, ATTEMPTS, RETRY_S, moves_too_fast, tree_of


@asynccontextmanager
async def acting(node: Node, doc: str, principal: str) -> AsyncIterator[Acting]:
    """Somebody in a place; its list is up to date, as this node knows it."""
    async with node.keepers.places.reading(doc) as minding:
        await node.files.lists.settle(doc, minding.place.outline)
        async with node.objects.session(principal) as session, AsyncExitStack() as held:
            yield Acting(node, minding, session, held)


class Acting:
    """See above. `held` lets go of the cells that were needed."""

    def __init__(
        self, node: Node, minding: Minding, session: Session, held: AsyncExitStack
    ) -> None:
        self._node = node
        self._minding = minding
        self._place = minding.place
        self._session = session
        self._held = held
        self._cells: dict[str, Cell] = {}
        self._moves = 0

    async def rename(self, title: str) -> None:
        """Another name for the place; errors as `PlaceOutline.rename`."""
        outline = self._place.outline
        same = await self._session.open(type(outline), self._place.outline_name)
        await same.rename(title)

    async def put(self, things: Sequence[Thing]) -> None:
        """Put new things where they lie: all or none of those that one cell takes in a message."""
        left = list(things)
        for _ in range(ATTEMPTS):
            by_cell: dict[str, list[Thing]] = {}
            for thing in left:
                by_cell.setdefault(self._place.leaf(thing.x, thing.y), []).append(thing)
            left = []
            for path, some in by_cell.items():
                cell = await self._open(path)
                for run in portions(some):
                    try:
                        await cell.put(list(run))
                    except NotHereError:
                        left += run
            if not left:
                return
            await self._later()
        raise moves_too_fast()

    async def change(self, edits: Sequence[Edit]) -> list[str]:
        """Change things, all or none; gives those that were changed. Errors as `Cell.change`."""
        asked = {edit.id: edit for edit in edits}
        for _ in range(ATTEMPTS):
            where = await self._find(asked)
            if missing := [one for one in asked if one not in where]:
                raise NoSuchThingError(f"there is no thing {missing[0]} here")
            by_cell: dict[str, list[Edit]] = {}
            for edit in edits:
                path, thing = where[edit.id]
                by_cell.setdefault(path, []).append(self._aimed(edit, thing))
            try:
                return await self._change(by_cell)
            except (NotHereError, NoSuchThingError, ThingBusyError):
                await self._later()
        raise moves_too_fast()

    def _aimed(self, edit: Edit, thing: Thing) -> Edit:
        """The edit with the cell in which the thing will lie."""
        wanted = dict(edit.changes)
        x, y = wanted.get("x", thing.x), wanted.get("y", thing.y)
        if type(x) is not int or type(y) is not int:
            return edit
        return replace(edit, to=self._place.leaf(x, y))

    async def _change(self, by_cell: dict[str, list[Edit]]) -> list[str]:
        cells = {path: await self._open(path) for path in by_cell}
        if len(cells) == 1:
            [(path, edits)] = by_cell.items()
            return await cells[path].change(edits)
        self._moves += 1
        joint = f"{name_of(self._session.process)}-{self._moves}"
        groups = self._session.home.groups
        secure = groups.saved if groups.options.durable else None
        await move_jointly(cells, joint, by_cell, "", secure)
        return [edit.id for edits in by_cell.values() for edit in edits]

    async def delete(self, things: Iterable[str]) -> list[str]:
        """Delete those that are there, and give them; errors as `Cell.delete`."""
        gone: list[str] = []
        left = list(dict.fromkeys(things))
        for _ in range(ATTEMPTS):
            by_cell: dict[str, list[str]] = {}
            for one, (path, _thing) in (await self._find(left)).items():
                by_cell.setdefault(path, []).append(one)
            if not by_cell:
                return gone
            for path, some in by_cell.items():
                cell = await self._open(path)
                try:
                    gone += await cell.delete(some)
                except NotHereError:
                    continue
            left = [one for one in left if one not in gone]
            if left:
                await self._later()
        raise moves_too_fast()

    async def _later(self) -> None:
        """Somewhat later, with the tree as it is then."""
        await asyncio.sleep(RETRY_S)
        await self._place.outline.refresh()

    # --- where things are -----------------------------------------------------------------------

    async def _open(self, path: str) -> Cell:
        """The cell, for who asks; the node needs it as long."""
        known = self._cells.get(path)
        if known is not None:
            return known
        await self._held.enter_async_context(self._minding.needing([path]))
        name = self._place.name_of(path)
        found = self._cells[path] = await self._session.open(Cell, name)
        return found

    async def _find(self, things: Iterable[str]) -> dict[str, tuple[str, Thing]]:
        """Things and the cells that have or owe them, as far as there are such."""
        wanted = set(things)
        paths = [*self._place.cells, *(one for one in tree_of(self._minding))]
        tried: set[str] = set()
        while True:
            found = {
                thing.id: (path, thing)
                for path, thing in seen(self._place.cells)
                if thing.id in wanted
            }
            rest = [path for path in dict.fromkeys(paths) if path not in tried][:AT_ONCE]
            if len(found) == len(wanted) or not rest:
                return found
            tried.update(rest)
            await self._held.enter_async_context(self._minding.needing(rest))
