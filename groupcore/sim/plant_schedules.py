"""Schedules for planted bugs that chance seldom shows; several plants share one."""

from __future__ import annotations

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.disk import DiskOptions
from groupcore.sim.fault import Fault, Send
from groupcore.sim.network import NetworkOptions
from groupcore.sim.scenario import Scenario

LEAVES_UNDER_LOSS = Scenario(
    seed=1,
    nodes=4,
    starts_ns=(0,) * 4,
    safety_ns=6 * SECOND,
    # A promise that is long on its way to the disk leaves time between it and the flush.
    disk=DiskOptions(tail=0.3, tail_mean_ms=100),
    network=NetworkOptions(loss=0.2),
    faults=tuple(Fault(at * SECOND, "leave", (3,), SECOND // 4) for at in range(2, 6)),
    sends=tuple(Send(SECOND + n * 10 * MILLISECOND, n % 4, (40,) * 3) for n in range(480)),
)
"""A member leaves and comes back, under loss and load, on disks that are slow at times."""

CUT_OFF_BY_TURNS = Scenario(
    seed=1,
    nodes=4,
    starts_ns=(0,) * 4,
    safety_ns=9 * SECOND,
    faults=tuple(
        Fault((2_000 + n * 2_500) * MILLISECOND, "isolate", (n,), 1_500 * MILLISECOND)
        for n in range(3)
    ),
    sends=tuple(Send(SECOND + n * 20 * MILLISECOND, n % 4, (40,) * 2) for n in range(390)),
)
"""One member after the other, the coordinator first, is cut off for longer than is tolerated."""

GONE_ON_WITHOUT = Scenario(
    seed=3,
    nodes=2,
    starts_ns=(0, 0),
    safety_ns=17 * SECOND,
    faults=(
        Fault(3 * SECOND, "crash", (1,), 3 * SECOND),
        Fault(5 * SECOND, "crash", (0,), 7 * SECOND),
        Fault(7 * SECOND, "waive", (1, 0), 3 * SECOND),
    ),
    sends=tuple(Send(SECOND + n * 40 * MILLISECOND, n % 2, (40,)) for n in range(20)),
)
"""a, the first of [a b], has gone on alone in [a]. b goes on without it; then it comes back."""

CUT_APART_AND_WAIVED = Scenario(
    seed=5,
    nodes=4,
    starts_ns=(0, 0, 0, 0),
    safety_ns=22 * SECOND,
    faults=(
        Fault(2 * SECOND, "crash-keep", (0,), 18 * SECOND),
        Fault(2 * SECOND, "crash-keep", (1,), 18 * SECOND),
        Fault(3 * SECOND, "crash-keep", (2,), SECOND),
        Fault(3 * SECOND, "crash-keep", (3,), SECOND),
        Fault(5 * SECOND, "isolate", (3,), 8 * SECOND),
        Fault(6 * SECOND, "waive", (2, 0, 1), 14 * SECOND),
        Fault(6 * SECOND, "waive", (3, 0, 1), 14 * SECOND),
    ),
    sends=tuple(Send(SECOND + n * 40 * MILLISECOND, n % 4, (40,)) for n in range(20)),
)
"""c and d are told to go on without a and b, while they are cut off from each other."""
