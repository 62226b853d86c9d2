"""What is behind a shared object: its declaration, its undo journal, and where its calls go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from groupcore.sequencing.names import Process
from groupcore.shared.changes import Change
from groupcore.shared.declaration import Declaration, OperationSpec
from groupcore.shared.errors import ContextError, NestedOperationError
from groupcore.shared.journal import Journal
from groupcore.shared.operation_context import OperationContext
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.streams import Stream

Call: TypeAlias = tuple[OperationSpec, list[object]]
"""An operation and its arguments as they travel."""


class Caller(Protocol):
    """Where an object's calls go: to its replica's group, or straight to itself."""

    @property
    def process(self) -> Process:
        """The process that calls."""

    @property
    def members(self) -> tuple[Process, ...]:
        """The processes in the group, as far as this replica is."""

    @property
    def is_in(self) -> bool:
        """Whether the state is of now as far as its node is, not one that leads to it."""

    @property
    def wait(self) -> Wait:
        """How to wait for results here."""

    @property
    def time_s(self) -> float:
        """An estimate of the order's time, in seconds since 1970."""

    def changes(self, waiting_max: int) -> Stream[Change]:
        """A new stream of what happens to the object."""

    def close(self) -> Pending[None]:
        """Close the object; done when nothing more comes."""

    def order(self, calls: Sequence[Call], pendings: Sequence[Pending[object]]) -> None:
        """Order these calls as one message and give each its result, all or none."""


class Handle:
    """One object's inside; `context` and `details` are there while an operation runs."""

    __slots__ = ("_context", "caller", "declaration", "details", "journal")

    def __init__(self, declaration: Declaration, caller: Caller) -> None:
        self.declaration = declaration
        self.caller = caller
        self.journal = Journal()
        self.details: list[object] = []
        self._context: OperationContext | None = None

    @property
    def context(self) -> OperationContext:
        """The context of the operation that runs; ContextError while none does."""
        if self._context is None:
            raise ContextError("only an operation, while it runs, has a place in the order")
        return self._context

    def begin(self, context: OperationContext) -> None:
        """An operation starts."""
        self.journal.begin()
        self._context = context
        self.details = []

    def commit(self) -> None:
        """What the operation did stands."""
        self._context = None
        self.journal.commit()

    def rollback(self) -> None:
        """What the operation did is taken back."""
        self._context = None
        self.details = []
        self.journal.rollback()

    def call(self, name: str, places: tuple[object, ...], names: dict[str, object]) -> object:
        """Order one operation; gives its pending result."""
        prepared = self.prepare(name, places, names)
        pending: Pending[object] = Pending(self.caller.wait)
        self.caller.order((prepared,), (pending,))
        return pending

    def prepare(self, name: str, places: tuple[object, ...], names: dict[str, object]) -> Call:
        """Check and pack a call; ArgumentsError when an argument does not fit."""
        if self._context is not None:
            raise NestedOperationError(
                f"{name} is called inside an operation, where it would be ordered behind it; "
                "call a plain method that both use"
            )
        spec = self.declaration.operations[name]
        return spec, spec.encode(places, names)
