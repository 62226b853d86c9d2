"""What a screen shows of a place: each thing once, whichever of the cells are open there.

Idea. The cells are delivered in causal order. A thing that leaves one cell is shown from what that
owes, until the other one has taken it. A cell in between may not be open here, so a thing may have
gone further, or back, or be deleted there, while it is owed here still: of what is known of a thing
the one that was handed over most often is the latest. A joint move is shown in all cells as soon as
one of them knows that it is done.

Source. Invariants P1 of `groupcore.shared.places.handover` and J2 of `…joining`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from groupcore.shared.places.cell import Cell
from groupcore.shared.places.thing import Thing, edited

Cells = Mapping[str, Cell]


def seen(cells: Cells) -> list[tuple[str, Thing]]:
    """Every thing that is shown, with the cell that has it or owes it; no two of an id (P1).

    `cells`: those that are open here, by path.
    """
    found = list(_known(cells))
    latest: dict[str, int] = {}
    for cell in cells.values():
        for gone, hops in cell.gone.items():
            latest[gone] = max(hops + 1, latest.get(gone, 0))
    for _, thing in found:
        latest[thing.id] = max(thing.hops, latest.get(thing.id, 0))
    return [(path, thing) for path, thing in found if thing.hops == latest[thing.id]]


def _known(cells: Cells) -> Iterator[tuple[str, Thing]]:
    """What the cells have, and what they owe to others that have not got it, as far as is known."""
    known = {
        joint for cell in cells.values() for joint, outcome in cell.outcomes.items() if outcome.done
    }
    for path, cell in cells.items():
        moved = {
            edit.id: edit
            for joint in cell.joints.values()
            if joint.id in known
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
