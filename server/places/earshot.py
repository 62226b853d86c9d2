"""Words and waves for who is near, in the room of a place: each square of its floor is a topic.

Idea. Who says something publishes it once: to the square in which they stand, or, where it is for
all, to the topic of the whole place. Who listens has those squares open that they hear something
of, whoever speaks there: a subscription group with open senders (sequencing service paper, sections
2 and 3.3) for each square, and as people walk these overlap in other ways all the time. What was
said is nowhere kept; who comes later has not heard it.

The speaker says how far it carries, the listener decides how far they listen; `speaking` has what a
node sees to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from groupcore.objects.delta import check_text
from groupcore.objects.refusal import RefusalError
from groupcore.shared.places.limits import END, START

EARSHOT = "near"
"""The part of a name under which the squares of a place stand."""
ALL = "all"
"""The square that is the whole place."""
SIDE = 153_600
"""Of a square, in lengths of the place: 24 metres of the room."""
REACH_MAX = 64_000
"""How far words carry that are not for all: 10 metres."""
NAME_MAX = 80
TEXT_MAX = 300
"""Most code points of what is said."""
WORDS = "words"
WAVE = "wave"
SQUARE = re.compile(r"-?\d{1,5}:-?\d{1,5}")


@dataclass(frozen=True, slots=True)
class Uttered:
    """Something that somebody says (`words`) or does (`wave`) at `x`, `y`.

    `reach`: how far it carries, in lengths; 0: to all in the place.
    """

    kind: str
    name: str
    x: int
    y: int
    reach: int
    text: str

    def __post_init__(self) -> None:
        try:
            check_text(self.name, NAME_MAX)
            check_text(self.text, TEXT_MAX)
        except RefusalError as error:
            raise ValueError(str(error)) from None
        if self.kind not in (WORDS, WAVE):
            raise ValueError(f"kind is {WORDS} or {WAVE}")
        if (self.kind == WORDS) != bool(self.text.strip()):
            raise ValueError("words have a text, a wave has none")
        if not all(START <= one <= END for one in (self.x, self.y)):
            raise ValueError(f"coordinates are from {START} to {END}")
        if not 0 <= self.reach <= REACH_MAX:
            raise ValueError(f"words carry up to {REACH_MAX}, or with 0 to all")


def square_of(x: int, y: int) -> str:
    """The square that a point lies in."""
    return f"{x // SIDE}:{y // SIDE}"


def is_square(text: str) -> bool:
    """Whether a square has this name, or the whole place."""
    return text == ALL or SQUARE.fullmatch(text) is not None
