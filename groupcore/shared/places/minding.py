"""What a node does for a place that it keeps: open what is needed, close what is not, send ticks.

Idea. Who needs a cell says so, and says when that is over; the cells are counted. Soon behind a
change the node looks: it sends the ticks that are due, and some time later it closes the cells that
nobody needs and that owe nothing. It looks again only while something moves, or a cell has yet to
be closed: a place in which nothing happens costs nothing.

Invariants.
  M1  A cell that somebody needs is open, told its role and who may, before they go on.
  M2  A cell that nobody needs is closed once it owes nothing.
  M3  Ticks are sent while something moves in an open cell, at most one each TICK_MS; else none.
  M4  Where nodes have no disks (`keeps_all`) all cells stay open, and the chat: what nobody has
      open is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial

from groupcore.shared.pending import Pending
from groupcore.shared.places.cell import Cell
from groupcore.shared.places.limits import TICK_MS
from groupcore.shared.places.place import Place
from groupcore.shared.runtime import Runtime

SOON_S = TICK_MS / 1000
"""So long behind a change the node looks."""
SPARE_S = 1.0
"""So often it looks for cells that nobody needs: what is there twice in a row is closed."""
LATEST_S = 60.0
"""It looks at the latest after this while a timer runs."""


class Minding:
    """Minds one open place; with `ticks` False nothing moves in it by itself.

    `keeps_all`: its cells are open here whether needed or not (M4).
    """

    def __init__(
        self, place: Place, runtime: Runtime, ticks: bool = True, keeps_all: bool = False
    ) -> None:
        self.place = place
        self._has_ticks = ticks
        self._keeps_all = keeps_all
        self._kept_version = -1
        self._runtime = runtime
        self._needed: Counter[str] = Counter()
        self._idle: frozenset[str] = frozenset()
        self._ticking = _Alarm(runtime, self._tick)
        self._sweeping = _Alarm(runtime, self._sweep)
        self._ended = False
        place.on_change = self._stir
        if keeps_all:
            self._stir()

    @property
    def needed(self) -> frozenset[str]:
        """The cells that somebody needs."""
        return frozenset(self._needed)

    async def need(self, path: str) -> Cell:
        """Have the cell open until `release` is called once for this (M1).

        Raises what opening raises; then there is nothing to release.
        """
        self._needed[path] += 1
        try:
            cell = await self.place.cell(path)
            await self.place.carrier.introduce(path, cell)
        except BaseException:
            self.release(path)
            raise
        return cell

    def release(self, path: str) -> None:
        """Somebody needs the cell no more."""
        self._needed[path] -= 1
        if self._needed[path] <= 0:
            del self._needed[path]
            self._stir()

    @asynccontextmanager
    async def needing(self, paths: Collection[str]) -> AsyncIterator[dict[str, Cell]]:
        """Have these cells open for a while."""
        found: dict[str, Cell] = {}
        asked: list[tuple[str, Pending[Cell]]] = []
        try:
            asked = [(path, self._runtime.spawn(self.need(path))) for path in dict.fromkeys(paths)]
            for path, pending in asked:
                found[path] = await pending
            yield found
        finally:
            for path, pending in asked:
                pending.when_done(partial(self._done, path, pending))

    def _done(self, path: str, pending: Pending[Cell]) -> None:
        if pending.error is None:
            self.release(path)

    def end(self) -> None:
        """Mind it no more."""
        self._ended = True
        self._ticking.stop()
        self._sweeping.stop()

    # --- looking --------------------------------------------------------------------------------

    def _stir(self) -> None:
        """Something has changed."""
        if self._ended:
            return
        self._ticking.within(SOON_S)
        if self._keeps_all:
            self._keep_all()
        elif self._spare:
            self._sweeping.within(SPARE_S)

    def _keep_all(self) -> None:
        """M4: when the tree has changed, and where an opening has failed."""
        outline = self.place.outline
        self.place.talking.keep()
        is_lacking = len(self.place.cells) < len(outline.tree)
        if is_lacking or outline.tree_version != self._kept_version:
            self._kept_version = outline.tree_version
            self.place.want(self.needed.union(outline.tree))

    @property
    def _spare(self) -> frozenset[str]:
        return frozenset(self.place.cells.keys() - self._needed.keys())

    def _tick(self) -> None:
        """M3."""
        if self._ended or self.place.is_over or not self._has_ticks:
            return
        now_ms = self._now_ms()
        due_ms = self.place.tick(now_ms)
        if due_ms is not None:
            self._ticking.within(min(max((due_ms - now_ms) / 1000, SOON_S), LATEST_S))

    def _sweep(self) -> None:
        """M2: what was spare the last time, and is still."""
        if self._ended or self.place.is_over:
            return
        spare = self._spare
        idle, self._idle = spare & self._idle, spare
        self.place.want(self.needed | (spare - idle))
        if self._spare:
            self._sweeping.within(SPARE_S)

    def _now_ms(self) -> int:
        """The order's time: the latest that one of the cells knows, so no timer is late."""
        place = self.place
        times = [cell.time_s for cell in place.cells.values()]
        return round(max([place.outline.time_s, *times]) * 1000)


class _Alarm:
    """Calls back once, at the earliest time that it was asked for."""

    def __init__(self, runtime: Runtime, callback: Callable[[], None]) -> None:
        self._runtime = runtime
        self._callback = callback
        self._call_off: Callable[[], None] | None = None
        self._delay_s = 0.0

    def within(self, delay_s: float) -> None:
        """At the latest so much later; one that was asked for later than this is called off."""
        if self._call_off is not None and self._delay_s <= delay_s:
            return
        self.stop()
        self._delay_s = delay_s
        self._call_off = self._runtime.alarm(delay_s, self._ring)

    def stop(self) -> None:
        """Not at all."""
        if self._call_off is not None:
            self._call_off()
            self._call_off = None

    def _ring(self) -> None:
        self._call_off = None
        self._callback()
