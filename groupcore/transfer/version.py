"""Versions: which transfer a copy of the state belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.view import Address


@dataclass(frozen=True, slots=True)
class StateVersion:
    """The name of one copy of the state: all who made a copy under it copied the same state.

    State-transfer paper, 2.8: a major number, the view in which it was asked for, and a minor one.
    `counter` grows with every version of one initiator, so the newest is known; `initiator` is
    who multicast it, so that transfers of different initiators do not meet.
    """

    view: int
    counter: int
    initiator: Address

    def __str__(self) -> str:
        return f"{self.view}.{self.counter} of {self.initiator}"
