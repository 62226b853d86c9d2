"""What a page shows of itself in a place."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.objects.delta import check_text
from groupcore.objects.parsing import is_identifier
from groupcore.objects.refusal import RefusalError
from groupcore.shared.places.limits import END, SIZE_MAX, START, TURN_MAX

NAME_MAX = 80
"""Most code points of a name."""
SELECTED_MAX = 200
DRAGGED_MAX = 60
LINE_MAX = 512
"""Most numbers of a line that is being drawn: two a point."""
COLOUR_MAX = 32
CALLS_MAX = 1_000_000
NIMBUS = ("", "quiet", "all")
"""As usual, little, and to all."""


@dataclass(frozen=True, slots=True)
class HereInPlace:
    """A name, and what the person sees, points at, has chosen, and moves or draws just now.

    `pointer`: x and y, or nothing; `view`: left, top, right, bottom, or nothing; `drag`: where each
    thing is that is being moved: id, x, y, width, height, turn; `editing`: the thing whose text is
    being written; `line`: the points of what is being drawn, with its colour and width; `avatar`:
    where the person stands in the room, x, y and turn, or nothing. `nimbus`: how far they hear and
    are heard there, one of NIMBUS. `idle`, `calls`: as in documents.
    """

    name: str
    pointer: tuple[int, ...]
    view: tuple[int, ...]
    selection: tuple[str, ...]
    drag: tuple[tuple[str, int, int, int, int, int], ...]
    idle: bool
    calls: int
    editing: str
    line: tuple[int, ...]
    colour: str
    width: int
    avatar: tuple[int, ...]
    nimbus: str

    def __post_init__(self) -> None:
        try:
            check_text(self.name, NAME_MAX)
            check_text(self.colour, COLOUR_MAX)
        except RefusalError as error:
            raise ValueError(str(error)) from None
        self._check_places()
        if len(self.selection) > SELECTED_MAX or len(self.drag) > DRAGGED_MAX:
            raise ValueError(f"up to {SELECTED_MAX} things are chosen, {DRAGGED_MAX} moved")
        named = [*self.selection, *(one[0] for one in self.drag)]
        if not all(map(is_identifier, [*named, self.editing] if self.editing else named)):
            raise ValueError("selection, drag and editing name things by their ids")
        if self.nimbus not in NIMBUS:
            raise ValueError(f"nimbus is one of {NIMBUS}")
        if not 0 <= self.calls <= CALLS_MAX:
            raise ValueError(f"calls are from 0 to {CALLS_MAX}")

    def _check_places(self) -> None:
        if len(self.pointer) not in (0, 2) or len(self.view) not in (0, 4):
            raise ValueError("a pointer has two numbers, a view four, or none")
        if len(self.avatar) not in (0, 3):
            raise ValueError("an avatar has three numbers, or none")
        if len(self.line) > LINE_MAX or len(self.line) % 2:
            raise ValueError(f"a line has pairs of numbers, {LINE_MAX} at most")
        places = [
            *self.pointer,
            *self.view,
            *self.line,
            *self.avatar[:2],
            *(n for one in self.drag for n in one[1:3]),
        ]
        if not all(START <= one <= END for one in places):
            raise ValueError(f"coordinates are from {START} to {END}")
        sizes = [self.width, *(n for one in self.drag for n in one[3:5])]
        turns = [*self.avatar[2:], *(one[5] for one in self.drag)]
        if not all(0 <= one <= SIZE_MAX for one in sizes):
            raise ValueError(f"sizes are from 0 to {SIZE_MAX}")
        if not all(0 <= one < TURN_MAX for one in turns):
            raise ValueError(f"turns are from 0 to {TURN_MAX - 1}")
