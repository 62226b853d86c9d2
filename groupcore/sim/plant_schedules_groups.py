"""Schedules for planted bugs of the data plane that chance seldom shows."""

from __future__ import annotations

from groupcore.sequencing.names import Order
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.drawing import draw_groups
from groupcore.sim.groups.insider import INSIDER
from groupcore.sim.groups.lateness import LATE_ORDER
from groupcore.sim.groups.scenario import DELETE, JOIN, LEAVE, MOVE, SEND, Act, GroupScenario
from groupcore.sim.network import NetworkOptions

CAUSAL, STRICT = int(Order.CAUSALLY_TOTAL), int(Order.STRICT)


def join(at_ms: int, node: int, slot: int, *groups: int) -> Act:
    """The process in this seat joins groups."""
    return Act(at_ms * MILLISECOND, JOIN, node, slot, groups)


def move(at_ms: int, target: int, *groups: int) -> Act:
    """The first node asks for groups to be moved."""
    return Act(at_ms * MILLISECOND, MOVE, 0, groups=groups, target=target)


def sends(
    places: list[tuple[int, int, int]], first_ms: int, last_ms: int, every_ms: int
) -> list[Act]:
    """One message at a time, by turns from these nodes and seats to these groups."""
    times = range(first_ms, last_ms, every_ms)
    return [
        Act(at_ms * MILLISECOND, SEND, node, slot, (group,), (40,))
        for at_ms, (node, slot, group) in zip(times, places * len(times), strict=False)
    ]


def scenario(
    acts: list[Act],
    orders: tuple[int, ...],
    loss: float = 0.0,
    faults: tuple[Fault, ...] = (),
    length_s: int = 4,
    points: tuple[str, ...] = (),
    turn_us: int = 20,
) -> GroupScenario:
    """Three nodes, and what happens to them and is done on them."""
    return GroupScenario(
        seed=1,
        nodes=3,
        starts_ns=(0,) * 3,
        safety_ns=length_s * SECOND,
        network=NetworkOptions(loss=loss),
        faults=faults,
        orders=orders,
        slots=2,
        points=points,
        turn_us=turn_us,
        acts=tuple(sorted(acts, key=lambda act: act.at_ns)),
    )


STRICT_BEHIND_CAUSES = scenario(
    [
        *(join(1_000, node, 0, 0, 1, 2) for node in range(3)),
        move(1_400, 0, 0),
        move(1_400, 2, 1, 2),
        *sends([(2, 1, 0), (2, 1, 1), (1, 1, 2), (0, 1, 2)], 1_500, 3_500, 7),
    ],
    (CAUSAL, STRICT, STRICT),
    loss=0.15,
)
"""Messages of one strict group wait for causes in a third group, those of the other do not."""

STRICT_ON_THE_MOVE = scenario(
    [
        *(join(1_000, node, 0, 0, 1) for node in range(3)),
        *(move(1_500 + n * 120, n % 3, 0, 1) for n in range(16)),
        *sends([(0, 1, 0), (1, 1, 1), (2, 1, 0), (0, 1, 1), (1, 1, 0), (2, 1, 1)], 1_400, 3_600, 4),
    ],
    (STRICT, STRICT),
    loss=0.2,
)
"""Two strict groups move together, again and again, under load and loss."""

STATES_UNDER_CAUSES = scenario(
    [
        *(join(1_000, node, 0, 0, 1) for node in range(2)),
        move(1_300, 0, 0),
        move(1_300, 1, 1),
        *(
            Act((1_500 + n * 60) * MILLISECOND, kind, 2, n // 2 % 2, (n // 2 % 4 // 2,))
            for n, kind in enumerate([JOIN, LEAVE] * 17)
        ),
        *(join(1_400 + n * 250, 2, slot, 0, 1) for n in range(8) for slot in (0, 1)),
        *sends([(0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1)], 1_400, 3_600, 5),
    ],
    (CAUSAL, CAUSAL),
    loss=0.2,
    turn_us=2_000,
)
"""Processes come and go in two groups of which the messages of one are causes in the other."""

SILENT_HOLDER = scenario(
    [
        join(1_000, 2, 0, 0),
        move(1_050, 0, 0),
        *sends([(2, 0, 0)], 1_100, 1_200, 10),
        join(1_400, 1, 0, 0),
        join(1_500, 2, 1, 0),
        Act(1_700 * MILLISECOND, LEAVE, 2, 0, (0,)),
    ],
    (CAUSAL,),
    faults=(Fault(1_350 * MILLISECOND, "link", (1, 2), 600 * MILLISECOND),),
    points=("state-impatient",),
)
"""Who asks for a state hears nothing of the one that has it, whose first member has left."""

MOVED_AND_DEAD = scenario(
    [
        *(join(1_000, node, 0, 0, 1) for node in range(3)),
        move(1_300, 0, 0, 1),
        *sends([(0, 1, 0), (0, 0, 1)], 1_500, 2_500, 1),
        *(
            Act((2_000 + n) * MILLISECOND, MOVE, 0, groups=(n % 2,), target=1 + n % 2)
            for n in range(2)
        ),
    ],
    (CAUSAL, CAUSAL),
    loss=0.3,
    faults=(Fault(2_004 * MILLISECOND, "crash", (0,), SECOND),),
)
"""The source of two moves dies in the midst of them, under load and loss."""

LATE_FRAMES = scenario(
    [
        *(join(1_000, node, 0, 0, 1, 2, 3) for node in range(2)),
        move(1_300, 2, 0, 1, 2, 3),
        *sends([(n % 3, 1, n % 4) for n in range(12)], 1_500, 1_900, 3),
        *sends([(2, 1, group) for group in range(4)], 1_960, 2_095, 3),
        *sends([(n % 2, 1, n // 2) for n in range(8)], 2_950, 3_600, 3),
    ],
    (CAUSAL,) * 4,
    faults=(
        Fault(1_950 * MILLISECOND, "one-way", (2, 0), 2 * SECOND),
        Fault(1_950 * MILLISECOND, "one-way", (2, 1), 1_400 * MILLISECOND, 1, "jam"),
        Fault(2_100 * MILLISECOND, "crash", (2,), 3 * SECOND),
        Fault(2_930 * MILLISECOND, "one-way", (0, 1), SECOND, 800, "slow"),
    ),
)
"""What a sequencer sent before it died is held up until the others have gone on without it."""

PORTIONS = scenario(
    [
        *(join(1_000, node, 0, 0, 1, 2, 3) for node in range(2)),
        move(1_300, 2, 0, 1, 2, 3),
        *sends([(n % 2, 0, n % 4) for n in range(8)], 3_200, 3_500, 9),
    ],
    (CAUSAL,) * 4,
    faults=(Fault(2_000 * MILLISECOND, "crash", (2,), SECOND),),
    points=("placement-slow",),
)
"""The sequencer of four quiet groups dies; they are inherited one by one, and then used."""

SKIPPED = draw_groups(7683822496240622564)
"""One as drawn, with a number that a member lacks for long while others come."""

DELETED_IN_USE = scenario(
    [
        *(join(800, node, 0, 0, 1) for node in range(3)),
        *sends([(2, 0, 0), (2, 0, 1), (1, 0, 0), (1, 0, 1)], 1_000, 2_000, 1),
        *(Act(at_ms * MILLISECOND, DELETE, 0, groups=(0,)) for at_ms in range(1_100, 2_000, 100)),
    ],
    (CAUSAL, CAUSAL),
    loss=0.05,
)
"""Two send to two groups by turns, of which one is deleted again and again, and made anew."""

BETRAYED = scenario(
    [
        *(join(900, node, 0, 0, 1) for node in range(3)),
        *sends([(n % 3, 0, n % 2) for n in range(12)], 1_200, 3_000, 15),
    ],
    (CAUSAL, STRICT),
    faults=(Fault(1_000 * MILLISECOND, INSIDER, (2,), 2 * SECOND, 20),),
)
"""A member orders bytes that are none, and wrong commands, while all send."""

UNREADABLE = scenario(
    [
        *(join(900, node, 0, 0, 1) for node in range(3)),
        move(1_300, 1, 0),
        move(1_300, 0, 1),
        *sends([(2, 0, 0), (2, 0, 1)], 2_000, 2_040, 20),
    ],
    (CAUSAL, CAUSAL),
    faults=(
        Fault(1_000 * MILLISECOND, INSIDER, (2,), 900 * MILLISECOND, 10),
        Fault(1_950 * MILLISECOND, "one-way", (2, 1), 200 * MILLISECOND),
    ),
)
"""A member puts frames into its stream that nobody can read; then what it sends to b is late, and
what it sends to a behind that is not."""

DELETED_UNHEARD = scenario(
    [
        *(join(1_000, node, 0, 0, 1) for node in range(3)),
        move(1_400, 1, 0),
        move(1_400, 0, 1),
        *sends([(0, 0, 0)], 1_998, 2_004, 2),
        Act(2_000 * MILLISECOND, DELETE, 0, groups=(0,)),
        *sends([(0, 0, 1)], 2_010, 2_100, 10),
    ],
    (CAUSAL, CAUSAL),
    faults=(
        Fault(1_900 * MILLISECOND, LATE_ORDER, (1,), 400 * MILLISECOND, 400),
        Fault(1_900 * MILLISECOND, LATE_ORDER, (2,), 400 * MILLISECOND, 400),
        Fault(1_900 * MILLISECOND, "one-way", (0, 1), 200 * MILLISECOND, 60, "slow"),
    ),
)
"""A group is deleted with a message on its way to its sequencer; neither that nor a member hears.

Its sender goes on in another group.
"""
