"""Python's collector of cycles, told to leave alone what lives long.

A full collection looks at every object that there is. A node with a hundred thousand groups has
some hundred thousand, and stands still for a third of a second each time that there are a quarter
more. Nearly all of them live as long as the node, and none is in a cycle. So what has survived a
collection that took long is put aside (`gc.freeze`): the next one looks at what came since.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

LONG_S = 0.01
"""A full collection that takes longer is the last one that looks at these objects."""


class Collections:
    """Watches the collections of this process; `frozen` counts how often it has put aside."""

    def __init__(
        self,
        clock_s: Callable[[], float] = time.perf_counter,
        freeze: Callable[[], None] = gc.freeze,
    ) -> None:
        self._clock_s = clock_s
        self._freeze = freeze
        self._began_s = 0.0
        self.frozen = 0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        """A collection begins or has ended, as `gc.callbacks` say it."""
        if phase == "start":
            self._began_s = self._clock_s()
        elif info["generation"] == 2 and self._clock_s() - self._began_s > LONG_S:
            self._freeze()
            self.frozen += 1


def keep_collections_short() -> Collections:
    """Have no collection of this process look again at what many others have looked at.

    For programs of their own, as `allocator.keep_freed_memory` is. A cycle that has become garbage
    after it was put aside is kept for ever: an object graph that is rebuilt again and again does
    not belong into such a process.
    """
    watch = Collections()
    gc.callbacks.append(watch)
    return watch
