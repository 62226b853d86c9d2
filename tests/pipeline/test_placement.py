"""Placement: S2 is never broken, drained nodes end empty, loads come together, little moves."""

from __future__ import annotations

import json
import random
import time

from hypothesis import given
from hypothesis import strategies as st

from groupcore.sequencing.plan import FORMAT
from pipeline.placement import PLAN_FORMAT, Bounds, Placement, Unit, imbalance, place

NODES = ("a", "b", "c")


def lone(gid: int, node: str, load: float, sender: str | None = None) -> Unit:
    return Unit(gid, {gid: node}, {gid: load}, sender)


def homes(units: list[Unit], placement: Placement) -> dict[int, str]:
    """Where each group is in the end."""
    at = {gid: node for unit in units for gid, node in unit.at.items()}
    return at | {gid: move.target for move in placement.moves for gid in move.groups}


@st.composite
def clusters(draw: st.DrawFn) -> list[Unit]:
    units, gid = [], 0
    for name in range(draw(st.integers(1, 25))):
        size = draw(st.integers(1, 4))
        gids = range(gid, gid + size)
        gid += size
        at = {g: draw(st.sampled_from((*NODES, "gone"))) for g in gids}
        loads = {g: float(draw(st.integers(0, 500))) for g in gids}
        sender = draw(st.sampled_from((*NODES, None)))
        units.append(Unit(name, at, loads, sender, draw(st.booleans())))
    return units


@given(clusters(), st.sets(st.sampled_from(NODES), max_size=2), st.integers(0, 5))
def test_components_stay_whole_and_drained_nodes_end_empty(
    units: list[Unit], draining: set[str], budget: int
) -> None:
    placement = place(units, NODES, Bounds(draining=frozenset(draining), moves=budget))
    ends = homes(units, placement)
    for unit in units:
        assert len({ends[gid] for gid in unit.at}) == 1
    assert not draining & set(ends.values())
    assert "gone" not in ends.values()
    for node in NODES:
        carried = sum(u.loads[g] for u in units for g in u.at if ends[g] == node)
        assert abs(placement.after[node] - carried) < 1e-6
    free = [move for move in placement.moves if move.reason in ("load", "locality")]
    assert len(free) <= budget


@given(clusters())
def test_balance_does_not_make_the_fullest_fuller(units: list[Unit]) -> None:
    # What has to come together, and nothing else.
    forced = place(units, NODES, Bounds(moves=0)).after
    nearer = [Unit(u.name, u.at, u.loads, None, u.resting) for u in units]
    balanced = place(nearer, NODES).after
    if all(node in NODES for u in units for node in u.at.values()):
        assert max(balanced.values()) <= max(forced.values()) + 1e-6


def test_what_is_well_placed_stays() -> None:
    units = [lone(i, NODES[i % 3], 100.0) for i in range(30)]
    assert place(units, NODES).moves == []


def test_a_skewed_load_comes_to_the_bound_with_few_moves() -> None:
    draw = random.Random(1)
    units = [
        lone(i, "a" if i < 700 else NODES[i % 3], draw.paretovariate(1.3)) for i in range(1000)
    ]
    placement = place(units, NODES)
    assert imbalance(placement.before) > 1.8
    assert imbalance(placement.after) <= 1.05
    assert len(placement.moves) < 300


def test_what_one_node_sends_goes_there_while_there_is_room() -> None:
    units = [lone(i, NODES[i % 3], 100.0) for i in range(30)]
    units[0], units[1] = lone(0, "a", 1.0, sender="b"), lone(1, "b", 10.0)
    (move,) = place(units, NODES).moves
    assert (move.unit, move.target, move.reason) == (0, "b", "locality")


def test_a_resting_unit_moves_only_if_it_must() -> None:
    units = [Unit(1, {1: "a"}, {1: 100.0}, None, True), Unit(2, {2: "a"}, {2: 90.0}, None, True)]
    assert place(units, NODES).moves == []
    drained = place(units, NODES, Bounds(draining=frozenset("a")))
    assert sorted(move.target for move in drained.moves) == ["b", "c"]


def test_what_cannot_be_is_said_with_its_reason() -> None:
    heavy = Unit(7, {1: "a", 2: "a"}, {1: 600.0, 2: 600.0})
    (problem,) = place([heavy], NODES, Bounds(capacity=1000.0)).infeasible
    assert "Component 7 (2 groups) needs 1,200" in problem
    everywhere = [lone(i, "a", 900.0) for i in range(4)]
    (problem,) = place(everywhere, NODES, Bounds(capacity=1000.0)).infeasible
    assert "Add nodes" in problem
    nowhere = place(everywhere, NODES, Bounds(draining=frozenset(NODES)))
    assert (nowhere.moves, len(nowhere.infeasible)) == ([], 1)


def test_the_plan_names_components_whole_in_the_service_s_format() -> None:
    units = [Unit(1, {1: "a", 2: "b"}, {1: 10.0, 2: 5.0})]
    placement = place(units, NODES, Bounds(moves=0))
    assert PLAN_FORMAT == FORMAT
    assert json.loads(json.dumps(placement.plan())) == {
        "plan": 1,
        "groups": {"1": "a", "2": "a"},
        "reasons": {"1": "strict", "2": "strict"},
    }
    assert placement.moves[0].reason == "strict"


def test_a_hundred_thousand_components_take_a_second_of_processor_time() -> None:
    draw = random.Random(2)
    nodes = [f"n{i}" for i in range(16)]
    units = [
        lone(i, nodes[int(16 * draw.random() ** 2)], draw.paretovariate(1.5))
        for i in range(100_000)
    ]
    started = time.process_time()
    placement = place(units, nodes, Bounds(moves=100_000))
    assert imbalance(placement.after) <= 1.06
    assert time.process_time() - started < 3
