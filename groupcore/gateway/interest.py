"""Interest in parts of an object of a program's own class: what a page is told goes by its sight.

    class Meadow(Interest[Field]):
        def seen(self, sight): ...
        def shown(self, part): ...
        def touched(self, operation, details): ...

    SharedObjects(node, [Field], interest={Field: Meadow})

A page that opens a `Field` with a sight is given the parts that this meets, and then what each of
them has become whenever an operation touches it; who opens it without one follows the whole.

What goes wrong in the program's methods is logged, and costs nobody but the pages that follow parts
of that object: it is taken away from them, with the code `interest`.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Generic, TypeVar

from groupcore.gateway.errors import BadRequestError, InterestError
from groupcore.gateway.limits import PARTS_MAX
from groupcore.gateway.parts import Piece, Sight
from groupcore.shared.object import SharedObject
from groupcore.shared.plain import plain

T = TypeVar("T", bound=SharedObject)
R = TypeVar("R")
log = logging.getLogger(__name__)


class Interest(ABC, Generic[T]):
    """The parts of one object, by names of the program's own. `target` is the object at this node.

    All three are called by the node alone, at one place of the object's order; they must not change
    anything.
    """

    def __init__(self, target: T) -> None:
        self.target = target

    @abstractmethod
    def seen(self, sight: Sight) -> Iterable[str]:
        """The parts that are followed by who sees this rectangle: left, top, right, bottom.

        Give them one by one (`yield`): whoever looks says how large the rectangle is, and no more
        than PARTS_MAX are asked for.
        """

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

    def _ask(self, ask: Callable[[], R]) -> R:
        """What the program answers; InterestError."""
        try:
            return ask()
        except Exception as error:
            name = type(self._interest).__name__
            log.exception("%s has failed", name)
            raise InterestError(f"{name} has failed: {type(error).__name__}") from error

    def seen(self, sight: Sight) -> frozenset[str]:
        """What the program says; BadRequestError where that is more than PARTS_MAX."""
        seen = self._ask(lambda: frozenset(islice(self._interest.seen(sight), PARTS_MAX + 1)))
        if len(seen) > PARTS_MAX:
            raise BadRequestError("too_many_open", f"at most {PARTS_MAX} parts are seen at once")
        return seen

    def shown(self, parts: Iterable[str]) -> dict[str, object]:
        """The parts, in the order of their names."""
        return {"parts": [self._pair(part) for part in sorted(parts)]}

    def told(self, operation: str, details: Sequence[object]) -> list[Piece]:
        """What has become of the parts that were touched."""
        touched = self._ask(lambda: dict.fromkeys(self._interest.touched(operation, details)))
        return [Piece(part, self._pair(part)) for part in touched]

    def _pair(self, part: str) -> list[object]:
        return [part, self._ask(lambda: plain(self._interest.shown(part)))]
