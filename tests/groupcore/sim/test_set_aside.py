"""An insider in simulated clusters: what all nodes make of it in all lives, and the checker."""

from __future__ import annotations

from dataclasses import replace

from groupcore.sim.checkers.set_aside import SetAsideAlike
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.groups.cluster import group_cluster
from groupcore.sim.groups.drawing import draw_durable, draw_sequencing
from groupcore.sim.groups.insider import INSIDER
from groupcore.sim.plant_schedules_groups import BETRAYED
from groupcore.sim.plants import PLANTS
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import Verdict, run_cluster
from groupcore.sim.trace import Trace
from groupcore.sim.trace_set_aside import OrderApplied


def record(n: str, command: int, aside: str = "", directory: str = "x") -> OrderApplied:
    return OrderApplied(command, n, 1, 1, command, aside, directory)


def breaches(*records: OrderApplied) -> list[str]:
    trace = Trace()
    for one in records:
        trace.add(one)
    return [violation.text for violation in SetAsideAlike().check(trace)]


def test_who_makes_something_else_of_a_place_is_found() -> None:
    assert not breaches(record("a", 1, "bad_command"), record("b", 1, "bad_command"))
    (text,) = breaches(record("a", 1, "bad_command"), record("b", 1))
    assert text == "b#1 makes 'a command' of command 1 of view 1, a#1 made 'bad_command' of it"


def test_who_has_another_directory_behind_a_place_is_found() -> None:
    (text,) = breaches(record("a", 1), record("b", 1, "", "y"), record("b", 2, "", "y"))
    assert text == "b#1 has another directory behind command 1 of view 1 than a#1"


def test_a_command_that_makes_the_directory_raise_is_found_even_where_all_agree() -> None:
    assert len(breaches(record("a", 1, "fault"), record("b", 1, "fault"))) == 2


def applied(verdict: Verdict) -> list[OrderApplied]:
    return verdict.trace.of(OrderApplied)


def test_what_an_insider_orders_is_set_aside_by_all_and_everybody_goes_on() -> None:
    verdict = PROFILES["sequencing"].play(BETRAYED)
    assert not verdict.violations
    asides = {(one.view, one.command): one.aside for one in applied(verdict) if one.aside}
    assert len(asides) > 20
    assert "bad_command" in asides.values()
    assert {one.n for one in applied(verdict) if one.aside} == {"a", "b", "c"}


def test_after_a_power_cut_all_nodes_have_set_the_same_places_aside_and_serve_on() -> None:
    cut = Fault(2_500 * MILLISECOND, "crash-all", (), SECOND // 2)
    scenario = replace(BETRAYED, durable=True, faults=(*BETRAYED.faults, cut))
    verdict = PROFILES["durable"].play(scenario)
    assert not verdict.violations
    lives = {(one.n, one.inc) for one in applied(verdict)}
    assert len(lives) == 6, "three nodes before the cut, and three behind it"


def test_a_share_of_the_schedules_has_an_insider() -> None:
    for draw in (draw_sequencing, draw_durable):
        drawn = [draw(seed) for seed in range(60)]
        betrayed = [one for one in drawn if any(f.kind == INSIDER for f in one.faults)]
        assert 4 <= len(betrayed) <= 25


def test_that_set_aside_is_decided_by_local_state_is_found() -> None:
    plant = PLANTS["g-set-aside-locally"]
    with plant.planted():
        cluster = group_cluster(BETRAYED, PROFILES["sequencing"].make_stack)
        verdict = run_cluster(cluster, (SetAsideAlike,))
    assert {violation.number for violation in verdict.violations} == {29}
