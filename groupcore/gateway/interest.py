"""Interest in parts of an object of a program's own class: what a page is told goes by its sight.

    class Meadow(Interest[Field]):
        def seen(self, sight): ...
        def shown(self, part): ...
        def touched(self, operation, details): ...

    SharedObjects(node, [Field], interest={Field: Meadow})

A page that opens a `Field` with a sight is given the parts that this meets, and then what each of
them has become whenever an operation touches it; who opens it without one follows the whole.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from groupcore.gateway.parts import Piece, Sight
from groupcore.shared.object import SharedObject
from groupcore.shared.plain import plain

T = TypeVar("T", bound=SharedObject)


class Interest(ABC, Generic[T]):
    """The parts of one object, by names of the program's own. `target` is the object at this node.

    All three are called by the node alone, at one place of the object's order; they must not change
    anything.
    """

    def __init__(self, target: T) -> None:
        self.target = target

    @abstractmethod
    def seen(self, sight: Sight) -> Iterable[str]:
        """The parts that are followed by who sees this rectangle: left, top, right, bottom."""

    @abstractmethod
    def shown(self, part: str) -> object:
        """What this part is now, of types that messages may have; None: there is nothing in it."""

    @abstractmethod
    def touched(self, operation: str, details: Sequence[object]) -> Iterable[str]:
        """The parts that an operation has changed, which was done just now and emitted this."""


class InterestParts:
    """See `groupcore.gateway.parts`: a part is told as a whole whenever it was touched."""

    def __init__(self, interest: Interest[T]) -> None:
        self._interest = interest

    def seen(self, sight: Sight) -> frozenset[str]:
        """What the program says."""
        return frozenset(self._interest.seen(sight))

    def shown(self, parts: Iterable[str]) -> dict[str, object]:
        """The parts, in the order of their names."""
        return {"parts": [self._pair(part) for part in sorted(parts)]}

    def told(self, operation: str, details: Sequence[object]) -> list[Piece]:
        """What has become of the parts that were touched."""
        touched = dict.fromkeys(self._interest.touched(operation, details))
        return [Piece(part, self._pair(part)) for part in touched]

    def _pair(self, part: str) -> list[object]:
        return [part, plain(self._interest.shown(part))]
