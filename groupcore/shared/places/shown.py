"""What a screen shows of a place: each thing once, whichever of the cells are open there.

Source. Invariants P1 of `groupcore.shared.places.handover` and J2 of `…joining`. As the cells are
delivered in causal order, a thing that leaves one cell is shown from what that owes until the other
one has taken it, and a joint move is shown in all cells as soon as one of them knows it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groupcore.shared.places.cell import Cell
from groupcore.shared.places.thing import Thing, edited

Cells = Mapping[str, Cell]


def seen(cells: Cells) -> Iterator[tuple[str, Thing]]:
    """Every thing that is shown, with the cell that has it or owes it. There are no two of an id.

    `cells`: those that are open here, by path.
    """
    done = {
        joint
        for cell in cells.values()
        for joint, outcome in cell.outcomes.items()
        if outcome.is_done
    }
    for path, cell in cells.items():
        moved = {
            edit.id: edit
            for joint in cell.joints.values()
            if joint.id in done
            for edit in joint.edits
        }
        for thing in cell.things.values():
            edit = moved.get(thing.id)
            yield path, thing if edit is None else edited(thing, edit)
        yield from _under_way(path, cell, cells)


def _under_way(path: str, cell: Cell, cells: Cells) -> Iterator[tuple[str, Thing]]:
    """What the cell owes to others that have not got it, as far as is known here."""
    for target, parcels in cell.owes.items():
        other = cells.get(target)
        known = 0 if other is None else other.received.get(path, 0)
        for parcel in parcels:
            if parcel.number > known:
                for thing in parcel.things:
                    yield path, thing


def screen(cells: Cells) -> dict[str, Thing]:
    """The things that are shown, by id."""
    return {thing.id: thing for _, thing in seen(cells)}
