"""The invariants, one class each: what may never be seen in a trace.

The numbers are those of the reliability catalogue. Each check is one pass or two over the trace.
"""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation
from groupcore.sim.checkers.liveness import LivenessAfterHealing, SelfDelivery
from groupcore.sim.checkers.order import (
    FifoPerOrigin,
    GapFreedom,
    Integrity,
    NoDuplication,
    SlotAgreement,
    TotalOrder,
)
from groupcore.sim.checkers.views import ViewAgreement
from groupcore.sim.trace import Trace

CHECKERS: tuple[type[Checker], ...] = (
    Integrity,
    NoDuplication,
    SlotAgreement,
    TotalOrder,
    GapFreedom,
    FifoPerOrigin,
    ViewAgreement,
    SelfDelivery,
    LivenessAfterHealing,
)
"""Every checker, in the order of the invariants' numbers."""


def check_all(trace: Trace) -> list[Violation]:
    """What every checker has to say of the trace, in the order of their numbers."""
    return [violation for checker in CHECKERS for violation in checker().check(trace)]


__all__ = [
    "CHECKERS",
    "Checker",
    "FifoPerOrigin",
    "GapFreedom",
    "Integrity",
    "LivenessAfterHealing",
    "NoDuplication",
    "SelfDelivery",
    "SlotAgreement",
    "TotalOrder",
    "ViewAgreement",
    "Violation",
    "check_all",
]
