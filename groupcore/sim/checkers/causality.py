"""Invariant 7: no effect is delivered before its cause."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation, life, message
from groupcore.sim.trace import Delivered, Mid, Process, Sent, Trace, Viewed

Knowledge = dict[Process, int]
"""For each process the number of its last multicast that is known: a vector clock."""


class CausalOrder(Checker):
    """7: if a process sent m2 after it had sent or delivered m1, nobody delivers m1 behind m2.

    The vector clocks are rebuilt from the trace. A process that starts from a state knows what
    that state holds, as if it had delivered it. What was lost behind the floor of a later epoch
    counts for nobody (invariant 3).
    """

    number, name = 7, "causal-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass in the order of events, with one vector a process and one a message."""
        multicasts = trace.multicasts()
        knows: dict[Process, Knowledge] = {}
        behind: dict[Process, Knowledge] = {}
        causes: dict[Mid, Knowledge] = {}
        for record in trace.records:
            if type(record) is Sent:
                if record.to is None:
                    mine = knows.setdefault((record.n, record.inc), {})
                    causes[record.mid] = dict(mine)
                    mine[record.n, record.inc] = record.mid.lseq
            elif type(record) is Delivered:
                if record.mid not in multicasts or not trace.stands(
                    (record.epoch, record.position)
                ):
                    continue
                process, mid = (record.n, record.inc), record.mid
                origin = (mid.origin, mid.inc)
                passed = behind.setdefault(process, {})
                if mid.lseq <= passed.get(origin, 0):
                    text = (
                        f"{life(*process)} delivers {message(mid)} behind a message that its "
                        f"sender sent after it knew of {message(mid)}"
                    )
                    found.append(self.breach(record.t, (record.n,), text, mid))
                mine = knows.setdefault(process, {})
                cause = causes.get(mid, {})
                _learn(mine, cause)
                # What its own sender sent before it is the matter of invariant 6.
                _learn(passed, {p: number for p, number in cause.items() if p != origin})
                mine[origin] = max(mid.lseq, mine.get(origin, 0))
            elif type(record) is Viewed and record.fresh and record.position:
                mine = knows.setdefault((record.n, record.inc), {})
                for entry in trace.canonical()[: record.position]:
                    if entry is not None:
                        mid = entry[0]
                        _learn(mine, {(mid.origin, mid.inc): mid.lseq})


def _learn(mine: Knowledge, others: Knowledge) -> None:
    for process, number in others.items():
        if number > mine.get(process, 0):
            mine[process] = number
