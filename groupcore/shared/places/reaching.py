"""How somebody gets at things that are on their way from one cell to another.

A thing that a cell owes is shown, but no cell has it until the other one has taken it: until then
nothing can be asked of it. So who wants to change it opens the cell where it goes, and waits.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping

from groupcore.shared.places.cell import Cell
from groupcore.shared.places.refusals import NoSuchThingError

Cells = Mapping[str, Cell]


async def reach(
    cells: Cells, find: Callable[[str], Awaitable[Cell]], things: Iterable[str]
) -> None:
    """Wait until open cells have all these things; `find` opens a cell.

    NoSuchThingError where no cell that is open has one, or owes it.
    """
    for thing in things:
        while not any(thing in cell.things for cell in cells.values()):
            source, target, number = _way_of(cells, thing)
            await _taken(await find(target), source, number)


def _way_of(cells: Cells, thing: str) -> tuple[str, str, int]:
    """From which cell a thing goes to which one, and in which parcel."""
    for source, cell in cells.items():
        for target, parcels in cell.owes.items():
            other = cells.get(target)
            known = 0 if other is None else other.received.get(source, 0)
            for parcel in parcels:
                if parcel.number > known and any(one.id == thing for one in parcel.things):
                    return source, target, parcel.number
    raise NoSuchThingError(f"{thing} is in no cell that is open here")


async def _taken(cell: Cell, source: str, number: int) -> None:
    """Until the cell has the parcel, or is closed."""
    stream = cell.changes()
    try:
        while cell.received.get(source, 0) < number and not stream.ended:
            async for _ in stream:
                break
    finally:
        stream.close()
