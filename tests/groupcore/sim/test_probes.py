"""Probes: each is met by the situation that it is named after, and not by a calm schedule."""

from __future__ import annotations

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import COORDINATOR, Fault, Send
from groupcore.sim.jobs import Outcome
from groupcore.sim.probes import COUNTER_PROBES, GROUP_PROBES, PROBES, TRACE_PROBES, met
from groupcore.sim.probes_groups import GROUP_COUNTER_PROBES, GROUP_TRACE_PROBES
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import run_scenario
from groupcore.sim.scenario import Scenario
from groupcore.sim.tally import PROBED_LEAST, Tally
from groupcore.sim.trace import Trace


def probes_of(*faults: Fault, nodes: int = 3, core: bool = False) -> set[str]:
    """What three seconds of sending meet with these faults."""
    sends = [Send(n * 30 * MILLISECOND, n % nodes, (24, 100)) for n in range(25, 100)]
    scenario = Scenario(
        5, nodes, (0,) * nodes, 4 * SECOND, faults=faults, sends=tuple(sends), core=core
    )
    verdict = run_scenario(scenario, PROFILES["stack"].make_stack)
    assert verdict.violations == []
    return set(met(verdict.trace, verdict.counters))


def test_a_calm_schedule_meets_hardly_any_and_a_core_is_met_where_there_is_one() -> None:
    assert probes_of() <= {"repaired", "counter-too-old"}
    assert "core-healed-first" in probes_of(nodes=5, core=True)


def test_the_crash_of_a_coordinator_is_met_also_together_with_its_successor() -> None:
    one = Fault(2 * SECOND, "crash", (COORDINATOR,), SECOND)
    assert "coordinator-crashed" in probes_of(one)
    other = Fault(2100 * MILLISECOND, "crash", (1,), SECOND)
    both = probes_of(Fault(2 * SECOND, "crash", (0,), SECOND), other)
    assert "coordinator-and-another-crashed-together" in both or "coordinator-crashed" not in both


def test_exclusion_disk_loss_and_recovery_from_disk_are_met() -> None:
    assert "excluded-while-away" in probes_of(Fault(SECOND, "pause", (2,), 2 * SECOND))
    assert "disk-lost-and-rebuilt" in probes_of(Fault(2 * SECOND, "wipe", (1,), SECOND))
    assert "epoch-recovered-from-disk" in probes_of(Fault(2 * SECOND, "crash-all", (), SECOND))


def test_a_jam_is_met_when_it_has_let_datagrams_go() -> None:
    jam = Fault(2 * SECOND, "link", (0, 1), 300 * MILLISECOND, manner="jam")
    assert "jam-released" in probes_of(jam)


def test_counters_are_met_when_one_of_them_is_above_zero() -> None:
    for name, sources in COUNTER_PROBES.items():
        for source in sources:
            assert name in met(Trace(), {source: 1})
    assert met(Trace(), {}) == ()
    for name, sources in GROUP_COUNTER_PROBES.items():
        for source in sources:
            assert name in met(Trace(), {source: 1})
    assert set(PROBES) == {
        *TRACE_PROBES,
        *COUNTER_PROBES,
        *GROUP_TRACE_PROBES,
        *GROUP_COUNTER_PROBES,
    }


def test_a_probe_that_a_long_run_never_met_is_named() -> None:
    tally = Tally()
    for index in range(PROBED_LEAST):
        assert tally.unmet == []
        tally.add(Outcome(index, "stack", "hash", 1, 1.0, [], tuple(PROBES[1:])))
    assert tally.unmet == [PROBES[0]]


def test_probes_of_groups_are_expected_where_there_are_groups() -> None:
    tally = Tally()
    for index in range(PROBED_LEAST):
        tally.add(Outcome(index, "sequencing", "hash", 1, 1.0, [], ()))
    assert tally.unmet == list(GROUP_PROBES)
    tally.add(Outcome(0, "total", "hash", 1, 1.0, [], ()))
    assert tally.unmet == list(PROBES)
