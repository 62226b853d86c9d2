"""Coroutines on virtual time: the test kit's stand-in for an event loop, one step at a time."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Coroutine, Generator
from typing import Generic, TypeVar, cast

from groupcore.shared.errors import SharedError
from groupcore.shared.pending import Pending, Signal, Wait
from groupcore.shared.runtime import elapse

R = TypeVar("R")

LIMIT_S = 24 * 3600.0
"""Virtual time that a program may take."""


class StuckError(SharedError):
    """The program waits for something that will not come: nothing is under way any more."""


def wait(signal: Signal) -> Generator[object, None, None]:
    """Hand the signal to the scheduler, which goes on when it is done."""
    yield signal


class Task(Generic[R]):
    """A coroutine that runs; `outcome` is its result."""

    def __init__(self, schedule: Schedule, coroutine: Coroutine[object, None, R]) -> None:
        self.outcome: Pending[R] = Pending(wait)
        self._schedule = schedule
        self._coroutine = coroutine

    def step(self) -> None:
        """Run until it waits again, or ends."""
        try:
            signal = self._coroutine.send(None)
        except StopIteration as stop:
            self.outcome.resolve(stop.value)
        except Exception as error:
            self._schedule.failed.append(self._raise_unless_asked)
            self.outcome.fail(error)
        else:
            assert isinstance(signal, Signal), (
                f"{signal!r} cannot be awaited on virtual time; use the world's own sleep"
            )
            signal.when_done(lambda: self._schedule.after(0.0, self.step))

    def _raise_unless_asked(self) -> None:
        if not self.outcome.asked:
            self.outcome.result()


class Schedule:
    """Callbacks at virtual times; those of one time come in an order drawn by the seed.

    A `Runtime` for the coroutines of the library.
    """

    wait: Wait = staticmethod(wait)

    def __init__(self, draw: random.Random) -> None:
        self.now_s = 0.0
        self.failed: list[Callable[[], None]] = []
        self._draw = draw
        self._heap: list[tuple[float, float, int, Callable[[], None]]] = []
        self._count = 0

    def after(self, delay_s: float, callback: Callable[[], None]) -> None:
        """Call back so much later."""
        self._count += 1
        item = (self.now_s + delay_s, self._draw.random(), self._count, callback)
        heapq.heappush(self._heap, item)

    @property
    def steady_s(self) -> float:
        """See `Runtime`."""
        return self.now_s

    def soon(self, callback: Callable[[], None]) -> Callable[[], None]:
        """See `Runtime`."""
        return self.alarm(0.0, callback)

    def alarm(self, delay_s: float, callback: Callable[[], None]) -> Callable[[], None]:
        """See `Runtime`."""
        called_off: list[bool] = []
        self.after(max(0.0, delay_s), lambda: None if called_off else callback())
        return lambda: called_off.append(True)

    def spawn(self, coroutine: Coroutine[object, None, R]) -> Pending[R]:
        """Start a coroutine; gives its outcome."""
        task = Task(self, coroutine)
        self.after(0.0, task.step)
        return task.outcome

    def elapse(self, delay_s: float) -> Pending[None]:
        """Something to await that takes so long."""
        return elapse(self, delay_s)

    @property
    def next_s(self) -> float:
        """When something is to happen next; infinity when nothing is."""
        return self._heap[0][0] if self._heap else math.inf

    def advance(self, until_s: float, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Do what is to happen up to a time, or until it is enough; for who runs no coroutine."""
        while self._heap and self._heap[0][0] <= until_s and not is_enough():
            self.now_s, _tie, _count, callback = heapq.heappop(self._heap)
            callback()
        if not is_enough():
            self.now_s = until_s
            self._raise_failed()

    def _raise_failed(self) -> None:
        failed, self.failed = self.failed, []
        for raise_unless_asked in failed:
            raise_unless_asked()

    def run(self, coroutine: Coroutine[object, None, R]) -> R:
        """Run a coroutine to its end, and whatever else goes on meanwhile.

        Raises StuckError when it waits and nothing is under way, or for more than LIMIT_S. What
        a spawned coroutine has raised, and nobody has awaited, is raised at the end.
        """
        outcome = self.spawn(coroutine)
        while not outcome.done and self._heap and self._heap[0][0] <= LIMIT_S:
            self.now_s, _tie, _count, callback = heapq.heappop(self._heap)
            callback()
        result = outcome.result() if outcome.done else None
        self._raise_failed()
        if not outcome.done:
            at = f"after {LIMIT_S:.0f} s" if self._heap else "and nothing is under way"
            raise StuckError(f"the program still waits, {at} (virtual time {self.now_s:.3f} s)")
        return cast("R", result)
