"""A run that asks a sequencer for its numbers by itself, apart from its section."""

from __future__ import annotations

from groupcore.context import Ids, Numbers
from groupcore.sequencing.names import GroupId, Process
from groupcore.view import Address


class Asked:
    """A run that asks for its numbers by itself."""

    __slots__ = ("first", "group", "ids", "numbers", "origin", "payloads", "process")

    def __init__(
        self,
        origin: Address,
        process: int,
        numbers: Numbers,
        ids: Ids,
        group: GroupId,
        first: int,
        payloads: list[bytes],
    ) -> None:
        self.origin = origin
        self.process = process
        self.numbers = numbers
        self.ids = ids
        self.group = group
        self.first = first
        self.payloads = payloads

    @property
    def sender(self) -> Process:
        """Whose it is."""
        return Process(self.origin, self.process)

    @property
    def last(self) -> int:
        """The sender's own number of its last message."""
        return self.first + len(self.payloads) - 1
