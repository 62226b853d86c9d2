"""The only one that has a group's state goes while another node takes it, in memory."""

from __future__ import annotations

import pytest

from groupcore.sequencing.handing import Handing
from groupcore.sequencing.names import Order
from groupcore.sequencing.record import Record
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.scenario import JOIN, LEAVE, SEND, Act, GroupScenario
from groupcore.sim.network import NetworkOptions
from groupcore.sim.profiles import PROFILES
from groupcore.sim.trace_groups import GroupState

GOES_MS = 2_045
MESSAGES = 2_000
"""Sent five at a time: so many that their state is still on its way when who has it goes."""


def states(
    node_leaves: bool, holders: int = 1, goes_ms: int = GOES_MS
) -> list[tuple[str, int, bool]]:
    """Who took a state at which number, anew or not, while a, and b if it has it, too, go."""
    acts = [Act(SECOND, JOIN, 0, 0, (0,)), Act(2 * SECOND, JOIN, 2, 0, (0,))]
    acts += [
        Act((1_100 + 2 * n) * MILLISECOND, SEND, 0, 0, (0,), (40,) * 5)
        for n in range(MESSAGES // 5)
    ]
    acts += [Act(1_050 * MILLISECOND, JOIN, 1, 0, (0,))][: holders - 1]
    if not node_leaves:
        acts += [Act(goes_ms * MILLISECOND, LEAVE, node, 0, (0,)) for node in range(holders)]
    faults = (Fault(goes_ms * MILLISECOND, "leave", (0,), 2 * SECOND),) if node_leaves else ()
    scenario = GroupScenario(
        seed=1,
        nodes=3,
        starts_ns=(0,) * 3,
        safety_ns=3 * SECOND,
        network=NetworkOptions(delay_min_us=5_000, delay_mean_us=2_000),
        faults=faults,
        orders=(int(Order.CAUSALLY_TOTAL),),
        points=("state-pieces",),
        turn_us=20,
        acts=tuple(sorted(acts, key=lambda act: act.at_ns)),
    )
    verdict = PROFILES["sequencing"].play(scenario)
    assert verdict.violations == []
    return [(one.n, one.seqno, one.anew) for one in verdict.trace.of(GroupState)]


@pytest.mark.parametrize("node_leaves", [True, False])
def test_who_leaves_hands_the_state_over_first(node_leaves: bool) -> None:
    (first, second, *_) = states(node_leaves)
    assert first == ("a", 0, True)
    assert second == ("c", MESSAGES + 2, False), "all that was said, and both JOINs"


def test_when_two_that_have_it_leave_at_once_the_state_is_handed_over() -> None:
    """They have both heard of the newcomer, and it has not asked anybody yet."""
    (first, second, third, *_) = states(node_leaves=False, holders=2, goes_ms=2_017)
    assert [first, second[0], third[0]] == [("a", 0, True), "b", "c"]
    assert not second[2]
    assert not third[2], "it begins anew nowhere else"


def test_without_that_the_group_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self: Handing, record: Record, now: float) -> bool:
        return False

    monkeypatch.setattr(Handing, "owes", nothing)
    assert ("c", MESSAGES + 1, True) in states(node_leaves=True)
