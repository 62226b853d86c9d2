"""The invariants of the data plane, in the order of their numbers."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker
from groupcore.sim.checkers.group_causality import GroupCausalOrder
from groupcore.sim.checkers.group_deletions import DeletedIsGone, NothingOfDeleted
from groupcore.sim.checkers.group_ends import GroupExactlyOnce, GroupLiveness
from groupcore.sim.checkers.group_members import (
    GroupNoZombies,
    GroupSelfDelivery,
    GroupStateTransfer,
)
from groupcore.sim.checkers.group_observers import ObserversBindNothing
from groupcore.sim.checkers.group_order import (
    GroupFifo,
    GroupGapFreedom,
    GroupIntegrity,
    GroupNoDuplication,
    GroupSlotAgreement,
    GroupTotalOrder,
)
from groupcore.sim.checkers.group_owners import MigrationAtomicity, OneSequencer
from groupcore.sim.checkers.group_real_time import RealTimeOrder
from groupcore.sim.checkers.group_strict import StampOrder, StrictOrder
from groupcore.sim.checkers.group_volatile import GroupVolatileLatest

GROUP_CHECKERS: tuple[type[Checker], ...] = (
    GroupIntegrity,
    GroupNoDuplication,
    GroupSlotAgreement,
    GroupTotalOrder,
    GroupGapFreedom,
    GroupFifo,
    GroupVolatileLatest,
    GroupCausalOrder,
    StrictOrder,
    StampOrder,
    OneSequencer,
    MigrationAtomicity,
    GroupSelfDelivery,
    GroupNoZombies,
    GroupStateTransfer,
    RealTimeOrder,
    GroupExactlyOnce,
    GroupLiveness,
    NothingOfDeleted,
    DeletedIsGone,
    ObserversBindNothing,
)
"""What holds for groups, of which a trace has the records of `trace_groups`."""
