"""Traces written by hand, for the tests of the checkers."""

from __future__ import annotations

from groupcore.sim.checkers import check_all
from groupcore.sim.trace import (
    HEALED,
    Accepted,
    Delivered,
    Ended,
    Happened,
    Lived,
    Mid,
    Record,
    Sent,
    Trace,
    Viewed,
)
from groupcore.view import Address

A, B, C = Address("a", 1), Address("b", 1), Address("c", 1)
LINEAGE = 77


class Story:
    """A trace written by hand; time goes on by one with every record."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def add(self, record: Record) -> Story:
        self.records.append(record)
        return self

    @property
    def t(self) -> int:
        return len(self.records)

    def view(
        self,
        who: Address,
        number: int,
        *members: Address,
        after: tuple[int, tuple[Address, ...]] | None = None,
        fresh: bool = False,
        position: int = 0,
        lineage: int = LINEAGE,
        t: int | None = None,
        epoch: int = 1,
        floor: int = 0,
        by: tuple[Address, ...] | None = None,
    ) -> Story:
        """A view is installed; `by` have accepted it before (default: all of its predecessor)."""
        previous_number, previous = after if after is not None else (0, None)
        for voter in by or previous or ():
            self.add(Accepted(0, *voter, number, lineage, members))
        return self.add(
            Viewed(
                self.t if t is None else t,
                *who,
                number=number,
                epoch=epoch,
                lineage=lineage,
                members=members,
                previous=previous,
                previous_number=previous_number,
                fresh=fresh,
                position=position,
                floor=floor,
                recovered=epoch > 1,
                holders=(),
            )
        )

    def send(self, who: Address, lseq: int, to: Address | None = None, h: int = 0) -> Story:
        return self.add(Sent(self.t, *who, Mid(*who, lseq), h, to))

    def deliver(
        self,
        who: Address,
        position: int,
        origin: Address,
        lseq: int,
        h: int = 0,
        epoch: int = 1,
        view: int = 1,
    ) -> Story:
        return self.add(Delivered(self.t, *who, epoch, position, Mid(*origin, lseq), h, view))

    def live(self, who: Address, what: str) -> Story:
        return self.add(Lived(self.t, *who, what, ""))

    def end(
        self, who: Address, *members: Address, position: int = 0, sh: str = "", primary: bool = True
    ) -> Story:
        return self.add(Ended(self.t, *who, 1, LINEAGE, members, primary, 1, position, sh))

    def healed(self) -> Story:
        return self.add(Happened(self.t, HEALED, ""))

    def breached(self) -> list[int]:
        """The numbers of the invariants that do not hold, each once."""
        return sorted({violation.number for violation in check_all(Trace(self.records))})


def begun() -> Story:
    """A and B in a view; A has sent two messages."""
    story = Story().view(A, 1, A, B, fresh=True).view(B, 1, A, B, fresh=True)
    return story.send(A, 1).send(A, 2)
