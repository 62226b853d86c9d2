"""Comparing: whose log goes on when all come from their disks.

Idea. Membership knows how much of the order each node has stored, and lets those go on that hold
most. But a view is no message: of two that hold as much of the order one may have lived through a
view more, and the directory depends on views as well. So in a view that was formed from disk its
holders tell each other with which view their logs end. Those with the latest go on; the others take
the state of one of them, and keep their frames.

Source. Decision 0026; reliability.md, row 38.

Invariants.
  I1  All that go on have the same directory.
  I2  Somebody goes on: whoever is not heard of any more is not in the view for long.
"""

from __future__ import annotations

from groupcore.events import ViewInstalled
from groupcore.sequencing.plane import Plane
from groupcore.view import Address


class Comparing:
    """What this node knows of the others' logs in a view that was formed from disk."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._holders: tuple[Address, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is not known yet who goes on."""
        return bool(self._holders)

    def begin(self, event: ViewInstalled, basis: int) -> None:
        """A view that was formed from disk; this node's log ends with view `basis`."""
        self._plane.basis = (event.view.number, basis)

    def ask(self, event: ViewInstalled) -> None:
        """This node is one of the holders: it has to know of the others."""
        self._holders = event.holders

    def verdict(self) -> bool | None:
        """Whether this node's log goes on; None while somebody has not told."""
        plane = self._plane
        number, mine = plane.basis
        latest = mine
        for holder in self._holders:
            if holder == plane.me or not plane.in_view(holder):
                continue
            told_of, basis = plane.bases.get(holder, (0, 0))
            if told_of != number:
                return None
            latest = max(latest, basis)
        self._holders = ()
        return mine == latest
