"""What coroutines of the library need of what runs them: an asyncio loop, or virtual time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Protocol, TypeVar

from groupcore.shared.pending import Pending, Signal, Wait

R = TypeVar("R")


class Runtime(Protocol):
    """Where coroutines run. What is awaited there is a `Pending` of its `wait`."""

    @property
    def wait(self) -> Wait:
        """How a coroutine waits here."""

    @property
    def steady_s(self) -> float:
        """Seconds of a clock that only goes forward, from whenever it began."""

    def spawn(self, coroutine: Coroutine[object, None, R]) -> Pending[R]:
        """Run a coroutine beside the others; its outcome, which nobody has to look at."""

    def soon(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back when what is done now is over; what this gives calls it off."""

    def alarm(self, delay_s: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back so much later; what this gives calls it off."""


def elapse(runtime: Runtime, delay_s: float) -> Pending[None]:
    """Something to await that takes so long, from now on."""
    over: Pending[None] = Pending(runtime.wait)
    runtime.alarm(delay_s, lambda: over.resolve(None))
    return over


async def done_within(runtime: Runtime, signal: Signal, delay_s: float) -> bool:
    """Wait until it is done, but no longer than that; whether it is."""
    over: Pending[None] = Pending(runtime.wait)

    def end() -> None:
        if not over.done:
            over.resolve(None)

    signal.when_done(end)
    call_off = runtime.alarm(delay_s, end)
    await over
    call_off()
    return signal.done
