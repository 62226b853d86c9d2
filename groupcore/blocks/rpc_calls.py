"""A call under way: who is asked, who has answered, and when that is enough.

Pure bookkeeping, no time and no messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from groupcore.blocks.errors import (
    NoAnswerError,
    RemoteError,
    RequestRefusedError,
    SuspectedError,
)
from groupcore.blocks.rpc_messages import RAISED, RETURNED, Answer
from groupcore.errors import GroupcoreError
from groupcore.view import Address


class Gather(Enum):
    """When a call ends: which answers it waits for."""

    FIRST = "first"
    """One member has run the function, to its end or to an exception."""
    MAJORITY = "majority"
    """More than half of those asked have."""
    ALL = "all"
    """Everybody asked has, or has left the view."""
    NONE = "none"
    """Nobody is waited for, and nobody answers."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call at one member: a value, or the error that stands for it.

    `error` is a RemoteError (the function raised), a RequestRefusedError (it was not run), a
    SuspectedError (the member left the view) or a NoAnswerError; None when there is a value.
    """

    member: Address
    value: object = None
    error: GroupcoreError | None = None

    def get(self) -> object:
        """The value; raises the error when there is none."""
        if self.error is not None:
            raise self.error
        return self.value

    @property
    def ran(self) -> bool:
        """Whether the member has told that the function ran."""
        return self.error is None or type(self.error) is RemoteError


def outcome_of(member: Address, answer: Answer) -> Outcome:
    """An answer as an outcome."""
    if answer.how == RETURNED:
        return Outcome(member, answer.value)
    error = RemoteError if answer.how == RAISED else RequestRefusedError
    return Outcome(member, error=error(member, answer.kind, answer.text))


@dataclass(slots=True)
class Call:
    """One call. `expected` is who runs it; None until an ordered call has its place.

    `wanted` limits that to some members; None means all.
    """

    gather: Gather
    wanted: tuple[Address, ...] | None
    expected: frozenset[Address] | None = None
    outcomes: dict[Address, Outcome] = field(default_factory=dict)

    def expect(self, members: Iterable[Address]) -> None:
        """These members of the view run it, as far as they are wanted."""
        present = frozenset(members)
        wanted = present if self.wanted is None else frozenset(self.wanted)
        self.expected = wanted
        for member in wanted - present:
            self.suspect(member)
        for member in self.outcomes.keys() - wanted:
            del self.outcomes[member]  # it answered a call that was not for it

    def on_answer(self, outcome: Outcome) -> str:
        """Note an answer; the reason when it does not count, else an empty text."""
        if self.expected is not None and outcome.member not in self.expected:
            return "unasked_answers"
        if outcome.member in self.outcomes:
            return "duplicate_answers"
        self.outcomes[outcome.member] = outcome
        return ""

    def on_view(self, members: Iterable[Address]) -> None:
        """Whoever has left the view does not answer any more."""
        if self.expected is not None:
            for member in self.open() - frozenset(members):
                self.suspect(member)

    def open(self) -> frozenset[Address]:
        """Who is asked and has not answered."""
        return (self.expected or frozenset(self.wanted or ())) - self.outcomes.keys()

    def is_over(self) -> bool:
        """Whether the answers are those that the call waits for, or no more can come."""
        if self.expected is None:
            return False
        if not self.open():
            return True
        ran = sum(outcome.ran for outcome in self.outcomes.values())
        if self.gather is Gather.FIRST:
            return ran >= 1
        return self.gather is Gather.MAJORITY and 2 * ran > len(self.expected)

    def results(self) -> dict[Address, Outcome]:
        """The outcomes of all who were asked; who has not answered is told as such."""
        silent = {
            member: Outcome(member, error=NoAnswerError(f"{member.name} has not answered"))
            for member in sorted(self.open())
        }
        return {**self.outcomes, **silent}

    def suspect(self, member: Address) -> None:
        """This member has left the view, so it will not answer."""
        if member not in self.outcomes:
            error = SuspectedError(f"{member.name} is not in the view; call one of its members")
            self.outcomes[member] = Outcome(member, error=error)
