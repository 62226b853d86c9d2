"""Several operations on one object as one message: one place in the order, all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from groupcore.shared.handle import Call, Handle
from groupcore.shared.pending import Pending

T = TypeVar("T")


class Recorder:
    """Stands in for the object inside `async with`: notes operations down, reads nothing."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.calls: list[Call] = []
        self.pendings: list[Pending[object]] = []

    def __getattr__(self, name: str) -> Callable[..., Pending[object]]:
        if name not in self._handle.declaration.operations:
            raise AttributeError(
                f"{name} is no operation; inside a transaction read from the object itself"
            )

        def note(*places: object, **names: object) -> Pending[object]:
            self.calls.append(self._handle.prepare(name, places, names))
            self.pendings.append(Pending(self._handle.caller.wait))
            return self.pendings[-1]

        return note


class Transaction(Generic[T]):
    """Operations that are ordered together when the block ends.

    ```
    async with bank.transaction() as both:
        both.withdraw("ann", 5)
        left = both.deposit("bob", 5)
    print(left.result())
    ```

    When one of them raises at its place, none has changed anything, and the block raises that.
    When the block itself raises, nothing is sent. A transaction is used once.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._recorder = Recorder(handle)

    async def __aenter__(self) -> T:
        return cast("T", self._recorder)

    async def __aexit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        recorder = self._recorder
        if kind is None and recorder.calls:
            self._handle.caller.order(recorder.calls, recorder.pendings)
            await recorder.pendings[-1]
