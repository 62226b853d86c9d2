"""What a look at a screen may not find: a thing twice, half of a joint move, a thing no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from groupcore.shared.object import is_current
from groupcore.shared.places import Cell
from groupcore.shared.places.shown import seen

LEFT, RIGHT = "left", "right"
"""Things of these names, and the same number behind, are changed together only: a pair."""


def current(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """Those of which a screen shows the state of now."""
    return {path: cell for path, cell in cells.items() if is_current(cell)}


def shown_wrongly(cells: Mapping[str, Cell]) -> str:
    """What is wrong with what a screen of these cells shows, in words; empty: nothing."""
    things = [thing for _, thing in seen(cells)]
    shown = Counter(thing.id for thing in things)
    held = Counter(one for cell in cells.values() for one in cell.things)
    twice = [one for one in {**shown, **held} if max(shown[one], held[one]) > 1]
    if twice:
        return f"{' '.join(sorted(twice))} twice"
    by_id = {thing.id: thing for thing in things}
    halves = [
        one
        for one, thing in by_id.items()
        if one.startswith(LEFT)
        and (other := by_id.get(RIGHT + one.removeprefix(LEFT))) is not None
        and other.text != thing.text
    ]
    return f"half of what was done to {' '.join(sorted(halves))}" if halves else ""


class Look:
    """A screen as it was at the last look, to see what has vanished since."""

    def __init__(self) -> None:
        self._cells: dict[str, str] = {}
        self._things: dict[str, str] = {}

    def again(self, cells: Mapping[str, Cell], births: Mapping[str, str]) -> tuple[str, set[str]]:
        """What is wrong, and the things that are not shown any more though their cells are."""
        wrong = shown_wrongly(cells)
        now = {thing.id: path for path, thing in seen(cells)}
        goes_on = {path for path, birth in births.items() if self._cells.get(path) == birth}
        vanished = {
            one
            for one, path in self._things.items()
            if one not in now and path in goes_on and not _has_left(one, path, cells)
        }
        self._cells, self._things = dict(births), now
        return wrong, vanished


def _has_left(thing: str, path: str, cells: Mapping[str, Cell]) -> bool:
    """Whether it has gone to a cell that is not open here."""
    for _ in range(50):
        cell = cells.get(path)
        if cell is None:
            return True
        if thing not in cell.went:
            return False
        path = cell.went[thing]
    return True
