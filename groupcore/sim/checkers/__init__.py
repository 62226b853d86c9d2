"""The invariants, one class each: what may never be seen in a trace.

The numbers are those of the reliability catalogue. Each check is one pass or two over the trace.
"""

from __future__ import annotations

from groupcore.sim.checkers.authenticity import Authenticity
from groupcore.sim.checkers.base import Checker, Violation
from groupcore.sim.checkers.causality import CausalOrder
from groupcore.sim.checkers.groups import GROUP_CHECKERS
from groupcore.sim.checkers.liveness import (
    AllIsWell,
    LivenessAfterHealing,
    LivenessWithoutOrder,
    OneViewAfterMerging,
    SelfDelivery,
)
from groupcore.sim.checkers.order import (
    FifoPerOrigin,
    GapFreedom,
    GapFreedomInEachLineage,
    Integrity,
    NoDuplication,
    SlotAgreement,
    TotalOrder,
)
from groupcore.sim.checkers.safety import BoundedMemory, SavedIsSafe, StateTransfer
from groupcore.sim.checkers.synchrony import (
    NoZombies,
    SameViewDelivery,
    VirtualSynchrony,
    VirtualSynchronyInEpochs,
)
from groupcore.sim.checkers.views import ViewAgreement
from groupcore.sim.checkers.voters import VotersDecide, VotersKnow
from groupcore.sim.trace import Trace

CHECKERS: tuple[type[Checker], ...] = (
    Integrity,
    NoDuplication,
    SlotAgreement,
    TotalOrder,
    GapFreedom,
    FifoPerOrigin,
    CausalOrder,
    ViewAgreement,
    VotersKnow,
    VirtualSynchrony,
    SameViewDelivery,
    SelfDelivery,
    NoZombies,
    StateTransfer,
    SavedIsSafe,
    Authenticity,
    BoundedMemory,
    AllIsWell,
    LivenessAfterHealing,
)
"""Every checker, in the order of the invariants' numbers."""


_STRICTER = (
    TotalOrder,
    CausalOrder,
    VotersKnow,
    VirtualSynchrony,
    NoZombies,
    LivenessAfterHealing,
)

UNORDERED: tuple[type[Checker], ...] = (
    *(checker for checker in CHECKERS if checker not in _STRICTER),
    VotersDecide,
    VirtualSynchronyInEpochs,
    LivenessWithoutOrder,
)
"""What holds in a stack that keeps each sender's order and no other.

Without a state who joins votes at once, as a rule. Nor does it hold multicasts back until a quorum
has them (RESILIENCE): a member that was cut off has delivered what nobody agrees to, so it counts
as a zombie until it knows.
"""

PARTITIONABLE: tuple[type[Checker], ...] = (
    Integrity,
    NoDuplication,
    SlotAgreement,
    TotalOrder,
    GapFreedomInEachLineage,
    FifoPerOrigin,
    VirtualSynchrony,
    SameViewDelivery,
    SelfDelivery,
    Authenticity,
    OneViewAfterMerging,
)
"""What holds where components without a quorum go on and merge: no chain, no one state."""


def check_all(trace: Trace, checkers: tuple[type[Checker], ...] = CHECKERS) -> list[Violation]:
    """What these checkers (default: all) have to say of the trace, in their order."""
    return [violation for checker in checkers for violation in checker().check(trace)]


__all__ = [
    "CHECKERS",
    "GROUP_CHECKERS",
    "PARTITIONABLE",
    "UNORDERED",
    "AllIsWell",
    "Authenticity",
    "BoundedMemory",
    "CausalOrder",
    "Checker",
    "FifoPerOrigin",
    "GapFreedom",
    "GapFreedomInEachLineage",
    "Integrity",
    "LivenessAfterHealing",
    "LivenessWithoutOrder",
    "NoDuplication",
    "NoZombies",
    "OneViewAfterMerging",
    "SameViewDelivery",
    "SavedIsSafe",
    "SelfDelivery",
    "SlotAgreement",
    "StateTransfer",
    "TotalOrder",
    "ViewAgreement",
    "Violation",
    "VirtualSynchrony",
    "VirtualSynchronyInEpochs",
    "VotersDecide",
    "VotersKnow",
    "check_all",
]
