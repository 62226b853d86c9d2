"""A component that hung together by processes of nodes that are gone has two sequencers at once.

b and c go in one view. Their processes were all that made one component of g0, g2 and g3, which c
sequenced; S2 does not count them any more, so d inherits g3 and a the others. What has waited for
d gets its numbers behind the LEAVEs of those processes, as they still count in the group before.

The schedule is kept as it was found. Since three voters are kept (decision 0087) a and d form no
view without the two, so it does not come to that any more: `test_enrolment.py` has the rule at a
node, and sees it broken where it is planted away.
"""

from __future__ import annotations

from groupcore.sequencing.names import Order
from groupcore.sim.fault import Fault
from groupcore.sim.groups.scenario import (
    GIVE_UP,
    JOIN,
    LEAVE,
    MOVE,
    OBSERVE,
    SEND,
    Act,
    GroupScenario,
)
from groupcore.sim.network import NetworkOptions
from groupcore.sim.profiles import PROFILES

FAULTS = (
    Fault(394098705, "link", (2, 0), 83000000, 20, "slow"),
    Fault(410649057, "crash", (1,), 769000000),
    Fault(1528324339, "crash", (1,), 140000000),
    Fault(1823329266, "isolate", (0,), 736000000),
    Fault(2783714490, "isolate", (2,), 240000000),
)
ACTS = (
    Act(710000000, JOIN, 1, 0, (0,)),
    Act(722000000, JOIN, 3, 0, (2,)),
    Act(731000000, JOIN, 0, 0, (0,)),
    Act(731000000, JOIN, 0, 0, (1,)),
    Act(732000000, JOIN, 2, 0, (3,)),
    Act(743000000, MOVE, 1, 0, (1,), target=2),
    Act(752000000, JOIN, 2, 0, (0,)),
    Act(775000000, MOVE, 3, 0, (3,), target=2),
    Act(782000000, MOVE, 2, 0, (0,), target=2),
    Act(784000000, MOVE, 0, 0, (2,), target=3),
    Act(1015982225, JOIN, 0, 0, (0,)),
    Act(1030982225, SEND, 0, 0, (2,), (102, 41, 55), 1),
    Act(1043982225, SEND, 1, 0, (3,), (60,), 1),
    Act(1054982225, MOVE, 1, 0, (0,), target=0),
    Act(1075982225, SEND, 1, 0, (3,), (85,)),
    Act(1075982225, SEND, 0, 0, (3,), (108, 96, 113), 1),
    Act(1095982225, GIVE_UP, 0, 0, (0,)),
    Act(1487815878, OBSERVE, 1, 0, (3,)),
    Act(1490815878, JOIN, 1, 0, (2,)),
    Act(1490815878, SEND, 1, 0, (2,), (72, 47, 81)),
    Act(1493815878, JOIN, 1, 0, (3,)),
    Act(2196061553, JOIN, 1, 0, (3,)),
    Act(2199061553, GIVE_UP, 1, 0, (3,)),
    Act(2218061553, MOVE, 0, 0, (0, 2), target=3),
    Act(2233272436, OBSERVE, 0, 0, (2,)),
    Act(2234272436, JOIN, 0, 0, (3,)),
    Act(2239272436, SEND, 0, 0, (3,), (51, 103, 84)),
    Act(2250272436, SEND, 0, 0, (3,), (101,), 1),
    Act(2264272436, JOIN, 0, 0, (2,)),
    Act(2297257211, SEND, 0, 0, (3,), (84, 108, 98), 1),
    Act(2490693401, LEAVE, 1, 0, (2,)),
    Act(2493693401, SEND, 2, 0, (2,), (86,)),
)

SCENARIO = GroupScenario(
    seed=1840093956854641363,
    nodes=4,
    starts_ns=(71573954, 291308907, 146330123, 72654842),
    safety_ns=3629115780,
    network=NetworkOptions(delay_mean_us=1_000),
    core=True,
    rest=("isolate", "deaf", "mute"),
    tight=("suspicion",),
    faults=FAULTS,
    orders=(int(Order.STRICT),) * 4,
    slots=1,
    shape="churn",
    k=0,
    turn_us=300,
    acts=ACTS,
)


def test_the_schedule_that_showed_it_breaks_nothing() -> None:
    assert PROFILES["strict-churn"].play(SCENARIO).violations == []
