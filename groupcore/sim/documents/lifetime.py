"""Coroutines of a program on a simulated node: they run on virtual time, and stop with it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from inspect import CORO_CREATED, getcoroutinestate
from random import Random
from typing import TypeVar

from groupcore.errors import GroupcoreError
from groupcore.shared.pending import Pending
from groupcore.shared.tasks import Schedule
from groupcore.sim.clock import SECOND, Clock
from groupcore.sim.node import Node

R = TypeVar("R")


class Lifetime(Schedule):
    """The loop of one program, until `is_over`. While its node is paused nothing runs."""

    def __init__(self, clock: Clock, node: Node, random: Random) -> None:
        super().__init__(random)
        self.is_over = False
        self._clock = clock
        self._node = node
        self._held: list[Callable[[], None]] = []
        self._begun: list[Coroutine[object, None, object]] = []

    @property
    def steady_s(self) -> float:
        """See `Runtime`."""
        return self._clock.now_ns / SECOND

    def after(self, delay_s: float, callback: Callable[[], None]) -> None:
        """See `Schedule`. Behind its end nothing is: coroutines are collected at any time."""
        if not self.is_over:
            # What is due a little later is never due now: who waits for it would wait for ever.
            delay_ns = int(delay_s * SECOND) or int(delay_s > 0)
            self._clock.after(delay_ns, self._run, callback)

    def spawn(self, coroutine: Coroutine[object, None, R]) -> Pending[R]:
        """See `Schedule`. Behind its end nothing is begun, either."""
        if self.is_over:
            coroutine.close()
            return Pending(self.wait)
        self._begun = [one for one in self._begun if getcoroutinestate(one) == CORO_CREATED]
        self._begun.append(coroutine)
        return super().spawn(coroutine)

    def end(self) -> None:
        """Nothing runs any more."""
        self.is_over = True
        for coroutine in self._begun:
            if getcoroutinestate(coroutine) == CORO_CREATED:
                coroutine.close()

    def _run(self, callback: Callable[[], None]) -> None:
        if self.is_over:
            return
        if self._node.paused:
            self._held.append(callback)
        else:
            callback()

    def resume(self) -> None:
        """The node runs (again): so does what was held back meanwhile."""
        held, self._held = self._held, []
        for callback in held:
            self._clock.after(0, self._run, callback)

    def raise_unexpected(self) -> None:
        """Raise what a coroutine has raised that nobody waited for, and that no program expects."""
        for raise_unless_asked in self.failed:
            try:
                raise_unless_asked()
            except GroupcoreError:
                continue
