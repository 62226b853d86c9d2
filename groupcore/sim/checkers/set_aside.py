"""Invariant 29: what is no command is set aside by all nodes at the same place.

Judged where an insider speaks; else nodes do not write down what they make of the order.
"""

from __future__ import annotations

from groupcore.sequencing.judging import FAULT
from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.trace import Trace
from groupcore.sim.trace_set_aside import OrderApplied

Place = tuple[int, int]


class SetAsideAlike(Checker):
    """29: of each place of the order all nodes have one verdict, and one directory behind it.

    In all their lives, from the order, from a log or a state. And no command is a fault of ours.
    """

    number, name = 29, "set-aside-alike"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """The first node that comes to a place says what the others have to make of it."""
        first: dict[Place, OrderApplied] = {}
        for record in trace.of(OrderApplied):
            who, place = life(record.n, record.inc), (record.view, record.command)
            at = f"command {record.command} of view {record.view}"
            if record.aside == FAULT:
                text = f"{who}: {at} made the directory raise"
                found.append(self.breach(record.t, (record.n,), text))
            known = first.setdefault(place, record)
            other = life(known.n, known.inc)
            if known.aside != record.aside:
                made = f"{who} makes {record.aside or 'a command'!r} of {at}"
                text = f"{made}, {other} made {known.aside or 'a command'!r} of it"
            elif known.directory != record.directory:
                text = f"{who} has another directory behind {at} than {other}"
            else:
                continue
            found.append(self.breach(record.t, (known.n, record.n), text))
