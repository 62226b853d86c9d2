"""The undo journal of one object: what makes an operation all or nothing.

While an operation runs, every change of a field or of a container in one is written down with
what takes it back. When the operation raises, all is taken back, in reverse. Outside of an
operation there is no journal open, and changing anything raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from groupcore.shared.errors import ReadOnlyError

Undo: TypeAlias = tuple[Callable[..., object], tuple[object, ...]]
"""A function and its arguments: calling it takes one change back."""


class Journal:
    """Undo steps of the operation that runs; `steps` is None while none does."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps: list[Undo] | None = None

    @property
    def is_open(self) -> bool:
        """Whether an operation runs."""
        return self.steps is not None

    def begin(self) -> None:
        """An operation starts."""
        assert self.steps is None, "one operation at a time"
        self.steps = []

    def commit(self) -> bool:
        """The operation stands; says whether it has changed anything."""
        steps, self.steps = self.steps, None
        return bool(steps)

    def rollback(self) -> None:
        """Take everything back that was done since `begin`."""
        steps, self.steps = self.steps, None
        assert steps is not None
        for undo, arguments in reversed(steps):
            undo(*arguments)

    def open_steps(self) -> list[Undo]:
        """Where to write an undo step; ReadOnlyError while no operation runs."""
        if self.steps is None:
            raise ReadOnlyError(
                "a shared object is changed in its operations only; put this into one (@operation)"
            )
        return self.steps
