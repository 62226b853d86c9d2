"""Following a part of an object: what a page is told of it goes by what the page sees.

Idea. A page that opens an object with a `sight` follows those parts of it that the sight meets, and
is told of no others. With another sight it is given the parts that come to it, as they are at that
place of the order, and told which have left it; what is done to its parts from then on follows.

Invariants.
  P1  At each place of the order a page has the parts that its sight meets there, as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from groupcore.frames import Message, pack

Sight: TypeAlias = tuple[int, int, int, int]
"""A rectangle: left, top, right, bottom."""
EVERYWHERE = ""
"""Stands for the part that everybody follows."""


class Piece(NamedTuple):
    """Something that is told of a change, to those who follow this part."""

    part: str
    detail: object


class Parts(Protocol):
    """The parts of one object, for those of its followers that see some of them."""

    def seen(self, sight: Sight) -> frozenset[str]:
        """The parts that are followed by who sees this, as the object is now."""

    def shown(self, parts: Iterable[str]) -> dict[str, object]:
        """What these parts, and what belongs to none, are now."""

    def told(self, operation: str, details: Sequence[object]) -> list[Piece]:
        """What is told of an operation that was done just now, from what it emitted."""


@dataclass(slots=True)
class Seeing:
    """What a follower sees, and the parts that it has for that."""

    sight: Sight
    parts: frozenset[str]


class Item(NamedTuple):
    """An operation that was done; `pieces` None: nobody follows parts of the object."""

    position: int
    who: str
    operation: str
    told: list[object]
    pieces: list[Piece] | None = None


class Entry:
    """Changes of an object that are told together: packed once for all who are told the same.

    `state`: fields that go to those alone who follow the whole object.
    """

    def __init__(self, message: Message, items: Sequence[Item], state: Message) -> None:
        self._message = message
        self._state = state
        self._items = items
        self._touched = frozenset(
            piece.part for item in items for piece in item.pieces or () if piece.part
        )
        self._packed: dict[frozenset[str], bytes | None] = {}

    @property
    def is_of_parts(self) -> bool:
        """Whether something of some part has changed."""
        return bool(self._touched)

    def whole(self) -> bytes:
        """For who follows the whole object."""
        return self._pack([[*one[:3], one.told] for one in self._items], self._state)

    def of(self, parts: frozenset[str]) -> bytes | None:
        """For who follows these parts; None: there is nothing to tell."""
        some = parts & self._touched
        if some not in self._packed:
            items = [told for one in self._items if (told := _of_parts(one, some)) is not None]
            self._packed[some] = self._pack(items) if items else None
        return self._packed[some]

    def _pack(self, items: list[list[object]], state: Message | None = None) -> bytes:
        message = {**self._message, **(state or {})}
        message["items"] = items  # type: ignore[assignment]
        return pack(message)


def _of_parts(item: Item, parts: frozenset[str]) -> list[object] | None:
    """An item with the details of these parts; None when it has details, and none of them."""
    pieces = item.pieces or ()
    told = [piece.detail for piece in pieces if piece.part == EVERYWHERE or piece.part in parts]
    return [*item[:3], told] if told or not pieces else None
