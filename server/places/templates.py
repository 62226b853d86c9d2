"""What a new place begins with."""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.shared.places import Thing
from groupcore.shared.places.limits import UNIT

WIDTH, HEIGHT, GAP = 320 * UNIT, 640 * UNIT, 24 * UNIT


def _columns(titles: Sequence[str]) -> list[Thing]:
    """A frame for each title, beside each other."""
    step = WIDTH + GAP
    first = -step * (len(titles) - 1) // 2
    return [
        Thing(
            f"frame-{number}",
            "frame",
            x=first + number * step,
            width=WIDTH,
            height=HEIGHT,
            order=-1,
            text=title,
        )
        for number, title in enumerate(titles)
    ]


TEMPLATES: dict[str, list[Thing]] = {
    "empty": [],
    "retrospective": _columns(["Went well", "To improve", "Actions"]),
    "kanban": _columns(["To do", "Doing", "Done"]),
}
"""By name."""
