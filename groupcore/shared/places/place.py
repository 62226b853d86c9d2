"""A place that is open at a node: its outline, and the cells that somebody there needs.

```
place = await open_place(host, "office")
await place.put([Thing("note-1", "sticky", x=640, text="Milk")])
await place.change([Edit("note-1", (("x", 99_000_000),))])
print(place.screen())
```

`look` says what is seen: the cells for that are opened, and those that nobody needs are closed. A
cell that owes something stays open until the other one has it. What a node that is gone has left
undone is looked for by the one that has kept the place the longest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from functools import partial

from groupcore.errors import GroupcoreError
from groupcore.shared.changes import Change, Changed
from groupcore.shared.errors import SharedError
from groupcore.shared.pending import Pending
from groupcore.shared.places.carrying import Carrier, Host, Secure
from groupcore.shared.places.cell import Cell
from groupcore.shared.places.interest import Interest, View, interest
from groupcore.shared.places.joint_moves import move_jointly
from groupcore.shared.places.limits import MERGE_BELOW, SPLIT_ABOVE
from groupcore.shared.places.outline import PlaceOutline, TreeChanged
from groupcore.shared.places.own_changes import OwnChanges, Step, Wish
from groupcore.shared.places.parts import name_of, node_of
from groupcore.shared.places.reaching import reach
from groupcore.shared.places.refusals import NoSuchThingError, NotHereError, ThingBusyError
from groupcore.shared.places.shown import seen
from groupcore.shared.places.squares import leaf_at
from groupcore.shared.places.talking import Talking
from groupcore.shared.places.thing import Edit, Thing, edited
from groupcore.shared.streams import Stream

HANDED_MAX = 10
"""So often a change follows things that are handed over before it comes to its place."""
LISTINGS = frozenset({"claim", "entitle", "grant", "revoke"})
"""What changes the access list: all cells follow."""


async def open_place(
    host: Host,
    name: str,
    *,
    secure: Secure | None = None,
    split_above: int = SPLIT_ABOVE,
    merge_below: int = MERGE_BELOW,
) -> Place:
    """Open the place of this name, which is made if it is new.

    `secure`: waits until what was sent here is on disk. `split_above`, `merge_below`: how many
    things a cell may have before it is quartered, and four together to become one.
    """
    outline = await host.open(PlaceOutline, f"place/{name}")
    place = Place(host, name, outline, secure, split_above, merge_below)
    await place.begin()
    return place


class Place:
    """See above. `outline` is there to read; `cells` are those that are open here, by path;
    `talking` opens the place's chat.

    `on_change` is called whenever one of them has changed.
    """

    def __init__(
        self,
        host: Host,
        name: str,
        outline: PlaceOutline,
        secure: Secure | None,
        split_above: int,
        merge_below: int,
    ) -> None:
        self.outline = outline
        self.cells: dict[str, Cell] = {}
        self.wanted: frozenset[str] = frozenset()
        self.carrier = Carrier(
            host, outline, self.cells, self.cell, secure, split_above, merge_below
        )
        self.talking = Talking(host, name, outline)
        self._host = host
        self._name = name
        self._streams: dict[str, Stream[Change]] = {}
        self._closing: dict[str, Pending[None]] = {}
        self._is_looking = False
        self._is_attending = False
        self._joints = 0
        self._secure = secure
        self.own = OwnChanges()
        self.on_change: Callable[[], None] = lambda: None

    async def begin(self) -> None:
        """Follow the outline, and say that this node keeps the place."""
        stream = self.outline.changes()
        stream.tap = self._on_outline
        self._streams[""] = stream
        await self.outline.attend()
        self._look_for_lost()

    def end(self) -> None:
        """Keep the place no more; say that nothing is left undone, where nothing is."""
        owing = any(cell.owes for cell in self.cells.values())
        if not (self.carrier.ended or owing or self.carrier.is_busy):
            self.outline.retire()
        self.carrier.ended = True
        self.on_change = lambda: None
        self.talking.end()
        for stream in self._streams.values():
            stream.close()

    async def close(self) -> None:
        """As `end`, and close everything."""
        self.end()
        for cell in list(self.cells.values()):
            await cell.close()
        self.cells.clear()
        await self.talking.close()
        await self.outline.close()

    @property
    def is_over(self) -> bool:
        """Whether the outline is closed: then this is of no use any more."""
        return self._streams[""].ended

    @property
    def is_first(self) -> bool:
        """Whether this node has kept the place longer than all others."""
        return next(iter(self.outline.keepers), "") == self.carrier.node

    # --- which cells are open -------------------------------------------------------------------

    @property
    def outline_name(self) -> str:
        """The name of the outline's object."""
        return f"place/{self._name}"

    def name_of(self, path: str) -> str:
        """The name of a cell's object."""
        return f"place/{self._name}/{path}"

    async def cell(self, path: str) -> Cell:
        """Open a cell, whether there is one of this path or not; it is tended from now on."""
        closing = self._closing.get(path)
        if closing is not None:
            await closing
        found = await self._host.open(Cell, self.name_of(path))
        if self.cells.get(path) is not found:
            former = self._streams.pop(path, None)
            if former is not None:
                former.close()
            stream = self._streams[path] = found.changes()
            stream.tap = lambda _: self._on_cell(path)
            self.cells[path] = found
            self._on_cell(path)
        return found

    def look(self, view: View, held: Collection[str]) -> Interest:
        """What somebody needs who sees this and holds these cells, by the tree as it is here."""
        return interest(view, self.outline.tree, held)

    def want(self, paths: Collection[str]) -> None:
        """Have these cells open from now on; others are closed when they owe nothing."""
        self.wanted = frozenset(paths)
        for path in sorted(self.wanted - self.cells.keys()):
            self._host.start(self._open(path))
        for path in sorted(self.cells.keys() - self.wanted):
            self._let_go(path)

    async def _open(self, path: str) -> None:
        with suppress(SharedError):  # closed or cut off: there is nothing to show here
            await self.cell(path)

    def _let_go(self, path: str) -> None:
        cell = self.cells[path]
        is_needed = path in self.wanted or cell.owes or self.carrier.is_busy or self._is_looking
        if is_needed or self.carrier.ended:
            return
        del self.cells[path]
        self._streams.pop(path).close()
        closing = self._closing[path] = cell.close()
        closing.when_done(lambda: self._closed(path))

    def _closed(self, path: str) -> None:
        self._closing.pop(path, None)

    # --- what happens ---------------------------------------------------------------------------

    def _on_cell(self, path: str) -> None:
        self.carrier.wake(path)
        self.on_change()

    def _on_outline(self, change: Change) -> None:
        self.on_change()
        if not isinstance(change, Changed):
            # Who came or went is told by a change of members; another state by a new one.
            if node_of(self.outline.process) not in self.outline.keepers:
                self._host.start(self._attend())
            self._look_for_lost()
            self._wake_all()
        elif change.operation in LISTINGS or any(
            isinstance(detail, TreeChanged) for detail in change.details
        ):
            self._wake_all()

    def _wake_all(self) -> None:
        for path in list(self.cells):
            self.carrier.wake(path)

    async def _attend(self) -> None:
        if self._is_attending:
            return
        self._is_attending = True
        with suppress(GroupcoreError):
            await self.outline.attend()
        self._is_attending = False

    # --- what others have left ------------------------------------------------------------------

    def _look_for_lost(self) -> None:
        """The oldest node that keeps the place looks through all cells for what they owe."""
        outline = self.outline
        if self.is_first and outline.looked < outline.lost and not self._is_looking:
            self._is_looking = True
            self._host.start(self._look())

    async def _look(self) -> None:
        try:
            with suppress(GroupcoreError):
                while self.outline.looked < self.outline.lost and not self.carrier.ended:
                    lost = self.outline.lost
                    for path in list(self.outline.tree):
                        await self.cell(path)
                    await self.outline.searched(lost)
        finally:
            self._is_looking = False

    # --- ticks ----------------------------------------------------------------------------------

    def tick(self, time_ms: int) -> int | None:
        """Send the ticks that are due; when the next is, in the order's time (None: never).

        To be called every `limits.TICK_MS` while that is soon, by the node that keeps the place.
        """
        moments = [self.carrier.tick(path, time_ms) for path in self.cells]
        return min((one for one in moments if one is not None), default=None)

    # --- verbs ----------------------------------------------------------------------------------

    def leaf(self, x: int, y: int) -> str:
        """The path of the cell in which a point lies, by the tree as it is here."""
        return leaf_at(self.outline.tree, x, y)

    def where(self, thing: str) -> str:
        """The open cell that has a thing; NoSuchThingError."""
        for path, cell in self.cells.items():
            if thing in cell.things:
                return path
        raise NoSuchThingError(f"{thing} is in no cell that is open here")

    def screen(self) -> dict[str, Thing]:
        """The things of the open cells, by id, as they are to be shown."""
        return {thing.id: thing for _, thing in seen(self.cells)}

    async def put(self, things: Sequence[Thing]) -> None:
        """Put new things into the cells where they lie; errors as `Cell.put`."""
        await self._put(things)
        self.own.note(Step((), tuple(things)))

    async def _put(self, things: Sequence[Thing]) -> None:
        by_cell: dict[str, list[Thing]] = {}
        for thing in things:
            by_cell.setdefault(self.leaf(thing.x, thing.y), []).append(thing)
        for path, some in by_cell.items():
            cell = await self.cell(path)
            await self.carrier.introduce(path, cell)
            await cell.put(some)

    async def change(self, edits: Sequence[Edit], by: str = "") -> None:
        """Change things; those of several cells by one joint move. Errors as `Cell.change`."""
        now = self.screen()
        before = [now[edit.id] for edit in edits if edit.id in now]
        await self._meeting([edit.id for edit in edits], lambda: self._change(edits, by))
        changes = {edit.id: edit for edit in edits}
        after = [edited(thing, changes[thing.id]) for thing in before]
        self.own.note(Step(tuple(before), tuple(after)))

    async def _meeting(self, things: Sequence[str], act: Callable[[], Awaitable[None]]) -> None:
        """Act on things where they are; again where they were handed over meanwhile."""
        for _ in range(HANDED_MAX):
            await reach(self.cells, self.cell, things)
            with suppress(NoSuchThingError, NotHereError):
                return await act()
        raise ThingBusyError("it is handed from cell to cell; try again")

    async def _change(self, edits: Sequence[Edit], by: str) -> None:
        by_cell: dict[str, list[Edit]] = {}
        for edit in edits:
            by_cell.setdefault(self.where(edit.id), []).append(edit)
        if len(by_cell) == 1:
            for path, some in by_cell.items():
                await self.cells[path].change(some, by)
        elif by_cell:
            process = self._host.process
            self._joints += 1
            joint = f"{name_of(process)}-{self._joints}"
            await move_jointly(self.cells, joint, by_cell, by, self._secure)

    async def delete(self, things: Sequence[str], by: str = "") -> None:
        """Delete things; errors as `Cell.delete`, and NoSuchThingError."""
        now = self.screen()
        before = [now[one] for one in things if one in now]
        await self._delete([(one, -1) for one in things], by)
        self.own.note(Step(tuple(before), ()))

    async def _delete(self, things: Sequence[tuple[str, int]], by: str) -> None:
        for one, version in things:
            await self._meeting([one], partial(self._delete_one, one, version, by))

    async def _delete_one(self, one: str, version: int, by: str) -> None:
        cell = self.cells[self.where(one)]
        gone = await cell.delete([one], by, version)
        if not gone and one not in cell.things and one in self.screen():
            raise NotHereError(f"{one} has just been handed over")

    async def undo(self, by: str = "") -> bool:
        """Take back the last thing that was done here, and only that; False when there is none."""
        return await self._ask(self.own.undo(self.screen()), by)

    async def redo(self, by: str = "") -> bool:
        """Do again what `undo` took back; False when there is none, or something was done since."""
        return await self._ask(self.own.redo(self.screen()), by)

    async def _ask(self, wish: Wish | None, by: str) -> bool:
        if wish is None:
            return False
        await self._put(wish.puts)
        await self._delete(wish.deletions, by)
        await self._change(wish.edits, by)
        return True
