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
