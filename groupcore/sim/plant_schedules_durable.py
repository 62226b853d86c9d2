"""Schedules for planted bugs of what is on disk that chance seldom shows."""

from __future__ import annotations

from dataclasses import replace

from groupcore.sim.clock import MICROSECOND, MILLISECOND, SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.scenario import DELETE, SEND, Act
from groupcore.sim.plant_schedules_groups import CAUSAL, join, move, scenario, sends

LOST_DISKS = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *sends([(0, 0, 0), (1, 0, 0), (2, 0, 0)], 1_500, 8_500, 20),
        ],
        (CAUSAL,),
        faults=(
            Fault(3 * SECOND, "isolate", (1,), 2 * SECOND),
            Fault(5 * SECOND, "isolate", (0,), 4 * SECOND),
            Fault(5 * SECOND, "wipe", (2,), SECOND // 10),
        ),
        length_s=9,
    ),
    durable=True,
)
"""With logs: a and c go on without b; then c, whose disk is lost, meets b, and a is cut off."""

OLDER_FOLDER = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *sends([(1, 0, 0), (2, 0, 0)], 1_500, 7_000, 40),
        ],
        (CAUSAL,),
        faults=(
            Fault(3_700 * MILLISECOND, "put-back", (2,), 3_300 * MILLISECOND, 500),
            Fault(5 * SECOND, "crash", (0,), 2_500 * MILLISECOND),
            Fault(7 * SECOND, "crash-keep", (1,), 5 * SECOND),
        ),
        length_s=18,
    ),
    durable=True,
)
"""With logs: a was away when b and c saved; c's folder of before that is put back, and a and c
start without b. a has stored that c's folder had gone further."""

SHORTENED = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *sends([(0, 0, 0), (2, 0, 0)], 1_500, 4_000, 20),
        ],
        (CAUSAL,),
        faults=(
            Fault(2 * SECOND, "disk-slow", (1,), 3 * SECOND, 30_000),
            Fault(4 * SECOND, "isolate", (0,), 4 * SECOND),
            Fault(4 * SECOND, "crash-all", (), SECOND // 5),
            Fault(4 * SECOND + SECOND // 10, "damage", (2,), SECOND // 5),
        ),
        length_s=8,
    ),
    durable=True,
)
"""With logs: b's disk is slow when the power is cut, c's log is damaged, and a is cut off."""

ONE_DISK = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *sends([(0, 0, 0)], 1_500, 2_900, 20),
        ],
        (CAUSAL,),
        faults=(
            Fault(2 * SECOND, "disk-slow", (1,), 2 * SECOND, 30_000),
            Fault(2 * SECOND, "disk-slow", (2,), 2 * SECOND, 30_000),
            Fault(3 * SECOND, "isolate", (0,), 4 * SECOND),
            Fault(3 * SECOND, "crash-all", (), SECOND // 5),
        ),
        length_s=7,
    ),
    durable=True,
)
"""With logs: only a's disk stores when the power is cut; a is cut off when the others are back."""

DROPPED = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *(Act((2_020 + 5 * n) * MILLISECOND, SEND, 1, 0, (0,), (1_500,)) for n in range(30)),
        ],
        (CAUSAL,),
        faults=(
            Fault(2_000 * MILLISECOND, "disk-full", (0,), 300 * MILLISECOND),
            Fault(2_250 * MILLISECOND, "crash-all", (), SECOND // 5),
            Fault(2_250 * MILLISECOND, "isolate", (2,), 4 * SECOND),
        ),
        length_s=5,
    ),
    durable=True,
    core=True,
)
"""With logs: a, whose disk was full, gets what it lacks from the log of one other node or never."""

UNKNOWN_FRAMES = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *sends([(2, 0, 0)], 1_600, 3_500, 20),
            join(4_000, 2, 0, 1),
        ],
        (CAUSAL, CAUSAL),
        faults=(
            Fault(1_900 * MILLISECOND, "crash", (0,), 400 * MILLISECOND),
            Fault(3_900 * MILLISECOND, "disk-slow", (1,), 400 * MILLISECOND, 800),
            Fault(3_900 * MILLISECOND, "disk-slow", (2,), 400 * MILLISECOND, 800),
            Fault(3_999 * MILLISECOND, "one-way", (1, 0), 300 * MILLISECOND),
            Fault(4_004 * MILLISECOND, "crash", (1,), 600 * MILLISECOND),
            Fault(4_004 * MILLISECOND, "crash", (2,), 3 * SECOND),
        ),
        length_s=8,
    ),
    durable=True,
)
"""With logs: c creates a group, whose frames reach a before the command, which b orders; b and c
crash and have stored neither, and c comes back late."""

LEFT_OUT = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(5)),
            move(1_300, 4, 0),
            *sends([(4, 0, 0)], 1_600, 1_900, 20),
            join(2_020, 0, 0, 1),
            *sends([(4, 0, 0)], 2_060, 2_082, 2),
        ],
        (CAUSAL, CAUSAL),
        faults=(
            Fault(1_700 * MILLISECOND, "disk-full", (1,), SECOND // 2),
            Fault(2_000 * MILLISECOND, "one-way", (0, 4), 300 * MILLISECOND),
            Fault(2_000 * MILLISECOND, "one-way", (1, 4), 300 * MILLISECOND),
            Fault(2_045 * MILLISECOND, "disk-full", (0,), 140 * MILLISECOND),
            Fault(2_082 * MILLISECOND, "disk-full", (4,), 110 * MILLISECOND),
            Fault(2_090 * MILLISECOND, "crash-all", (), SECOND // 5),
            Fault(2_090 * MILLISECOND, "isolate", (2,), 4 * SECOND),
            Fault(2_090 * MILLISECOND, "isolate", (3,), 4 * SECOND),
        ),
        length_s=8,
    ),
    nodes=5,
    starts_ns=(0,) * 5,
    durable=True,
)
"""With logs: c, d and e have stored messages of e when the power is cut, and a a command that
neither b nor e has. Of a, b and e, who come back, a is the source, and has room for one of the
others in the view.
"""

UNHEARD = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            move(1_400, 0, 0),
            Act(2_000 * MILLISECOND, SEND, 1, 0, (1,), (40,)),
            *(
                Act(2_005 * MILLISECOND + n * 300 * MICROSECOND, SEND, 1, 0, (1 - n % 2,), (40,))
                for n in range(20)
            ),
        ],
        (CAUSAL, CAUSAL),
        faults=(
            Fault(1_999 * MILLISECOND, "one-way", (0, 2), 5 * MILLISECOND),
            Fault(2_000_300 * MICROSECOND, "one-way", (1, 0), 4 * MILLISECOND),
            Fault(2_015 * MILLISECOND, "crash-all", (), SECOND // 5),
            Fault(2_015 * MILLISECOND, "isolate", (1,), 3 * SECOND),
        ),
        length_s=6,
    ),
    durable=True,
)
"""With logs: b has created a group and sequences it, c has not heard of that, and often nor has a.
A process of b sends to it and to a group of a by turns; b is cut off when the power comes back.
"""

ONE_BEHIND = replace(
    scenario(
        [
            *(join(1_000, node, 0, 0) for node in range(3)),
            *sends([(0, 0, 0), (1, 0, 0)], 1_500, 2_990, 20),
            *(move(2_100 + 100 * number, number % 2, 0) for number in range(8)),
            *sends([(0, 0, 0), (2, 0, 0)], 7_000, 11_000, 40),
        ],
        (CAUSAL,),
        faults=(
            Fault(2_300 * MILLISECOND, "disk-full", (2,), 750 * MILLISECOND),
            Fault(3 * SECOND, "crash-all", (), SECOND // 5),
        ),
        length_s=12,
    ),
    durable=True,
)
"""With logs: when the power is cut c has not stored the last of what was ordered, so a and b are
those with the state in the view that is formed from disk."""

HOLDER_LOST = replace(
    ONE_BEHIND,
    faults=(
        *ONE_BEHIND.faults,
        Fault(3_700_800 * MICROSECOND, "one-way", (0, 1), 300 * MILLISECOND),
        Fault(3_700_800 * MICROSECOND, "one-way", (0, 2), 300 * MILLISECOND),
        Fault(3_703_500 * MICROSECOND, "lose", (0,), SECOND // 2),
    ),
)
"""The same: a has decided that view, and begun it; before anybody else hears of that, a's disk is
lost."""

DELETED_AND_QUIET = replace(
    scenario(
        [
            *(join(1_000, node, 0, 1) for node in range(3)),
            *sends([(0, 0, 0), (1, 0, 1)], 1_500, 2_500, 20),
            Act(2_600 * MILLISECOND, DELETE, 1, groups=(0,)),
        ],
        (CAUSAL, CAUSAL),
        length_s=4,
    ),
    durable=True,
)
"""With logs: a group that people write in is deleted, and nothing happens behind it."""
