"""Moving things of several cells together, for who begins it; see `joining` for how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groupcore.errors import GroupcoreError
from groupcore.shared.places.carrying import Secure
from groupcore.shared.places.cell import Cell
from groupcore.shared.places.refusals import NoSuchThingError, ThingBusyError
from groupcore.shared.places.thing import Edit


async def move_jointly(
    cells: Mapping[str, Cell],
    joint: str,
    by_cell: Mapping[str, Sequence[Edit]],
    by: str = "",
    secure: Secure | None = None,
) -> None:
    """Change things of several open cells, all or none of it; `joint` is an id for that.

    The first cell, by path, decides, and is asked first. Where nodes have disks (`secure`) nothing
    is decided before it is saved that all are ready: a power cut could leave half of it. Raises the
    refusals of `Cell.change`, and ThingBusyError where it was given up meanwhile.
    """
    paths = sorted(by_cell)
    if any(path not in cells for path in paths):
        raise NoSuchThingError("a cell of what is to be moved is not open here")
    first, *others = [(cells[path], list(by_cell[path])) for path in paths]
    deciding, some = first
    await deciding.prepare(joint, paths, some, by)
    try:
        for pending in [cell.prepare(joint, paths, some, by) for cell, some in others]:
            await pending
    except GroupcoreError:
        await deciding.decide(joint, False)
        raise
    if secure is not None:
        await secure()
    if not await deciding.decide(joint, True):
        raise ThingBusyError("the move was given up meanwhile; try again")
