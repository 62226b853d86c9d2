"""Invariant 26: a log that is read again is what was written, or its node knows that it is not."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation
from groupcore.sim.trace import DISK_LOST, Lived, Trace
from groupcore.sim.trace_streams import LogRecovered


class LogIntegrity(Checker):
    """26: what a node recovers is a prefix of what it wrote, with all that was said to be stored.

    The world knows both, byte by byte. A tail that was never said to be stored may be missing. A
    node that finds its log damaged begins with an empty disk, and with nothing of it: so it has no
    vote before it is rebuilt, which 12 and 18 judge.
    """

    number, name = 26, "log-integrity"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each reading, and what the node did behind one that has found damage."""
        damaged: dict[str, LogRecovered] = {}
        for record in trace.records:
            if type(record) is LogRecovered:
                if record.damaged:
                    damaged[record.n] = record
                elif not record.right:
                    text = f"{record.n} takes {record.kept} parts for its log, which it never wrote"
                    found.append(self.breach(record.t, (record.n,), text + _why(record)))
                elif record.kept < record.stored:
                    text = f"{record.n} takes {record.kept} of {record.stored} stored parts for all"
                    found.append(self.breach(record.t, (record.n,), text + _why(record)))
            elif type(record) is Lived and record.what == DISK_LOST:
                damaged.pop(record.n, None)
            elif type(record) is Lived and record.what == "start" and record.n in damaged:
                text = f"{record.n} starts with a log that it has found damaged"
                found.append(self.breach(record.t, (record.n,), text + _why(damaged[record.n])))


def _why(record: LogRecovered) -> str:
    return f" ({record.spoilt})" if record.spoilt else ""
