"""Results that come later, from their place in the order, without an event loop of their own.

`await pending` works under any runtime: how to wait is given to the constructor. asyncio's face
waits with a future, the test kit hands the pending to its scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Generic, TypeVar, cast

from groupcore.shared.errors import NotDoneError, SharedError

R = TypeVar("R")


class Signal:
    """Something that is done once; `when_done` callbacks run in the order in which they came."""

    __slots__ = ("_callbacks", "done")

    def __init__(self) -> None:
        self.done = False
        self._callbacks: list[Callable[[], None]] = []

    def when_done(self, callback: Callable[[], None]) -> None:
        """Call back when it is done, at once if it is."""
        if self.done:
            callback()
        else:
            self._callbacks.append(callback)

    def _finish(self) -> None:
        assert not self.done, "a result comes once"
        self.done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()


Wait = Callable[[Signal], Generator[object, None, None]]
"""How a coroutine of the runtime waits for a signal: returns when it is done."""


def wait_never(signal: Signal) -> Generator[object, None, None]:
    """The wait of what is done as soon as it is called."""
    if not signal.done:
        raise SharedError("this result cannot be waited for: the object is not open at a node")
    yield from ()


class Pending(Signal, Generic[R]):
    """The result of an operation: awaited, or asked for with `result` once `done`.

    An exception that the operation raised is raised by both. `asked`: somebody has had it.
    """

    __slots__ = ("_error", "_value", "_wait", "asked")

    def __init__(self, wait: Wait = wait_never) -> None:
        super().__init__()
        self._wait = wait
        self._value: object = None
        self._error: Exception | None = None
        self.asked = False

    def resolve(self, value: R) -> None:
        """It is done and this is the result."""
        self._value = value
        self._finish()

    def fail(self, error: Exception) -> None:
        """It is done and this was raised."""
        self._error = error
        self._finish()

    @property
    def error(self) -> Exception | None:
        """What was raised; None while it is not done, and when nothing was."""
        return self._error

    def result(self) -> R:
        """The result, or the exception raised; NotDoneError before."""
        if not self.done:
            raise NotDoneError("the operation has not come to its place in the order; await it")
        self.asked = True
        if self._error is not None:
            raise self._error
        return cast("R", self._value)

    def __await__(self) -> Generator[object, None, R]:
        if not self.done:
            yield from self._wait(self)
        return self.result()
