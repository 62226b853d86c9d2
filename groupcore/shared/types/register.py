"""A register: one value, and who wrote it."""

from __future__ import annotations

from typing import Generic, TypeVar

from groupcore.sequencing.names import Process
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation, query

T = TypeVar("T")


class Register(SharedObject, Generic[T]):
    """`Register[T]`: one value of type T, None before the first write; the last write stands.

    `writer` is the process that wrote it.
    """

    value: T | None = None
    writer: Process | None = None

    @operation
    def set(self, value: T | None) -> T | None:
        """Write; gives the value before."""
        return self._write(value)

    @operation
    def compare_and_set(self, old: T | None, new: T | None) -> bool:
        """Write `new` if the value is `old`; says whether it was. Of several, one wins."""
        if self.value != old:
            return False
        self._write(new)
        return True

    @query
    def get(self) -> T | None:
        """The value, as a copy of its own."""
        return self.value

    def _write(self, value: T | None) -> T | None:
        old, self.value = self.value, value
        self.writer = self.context.process
        return old
