"""The exhaustive search: complete in its bounds, no state lost to the reduction, bugs found."""

from __future__ import annotations

from functools import cache
from json import loads

import pytest

from groupcore.sim.explore.__main__ import main
from groupcore.sim.explore.copying import duplicate
from groupcore.sim.explore.keying import key_of
from groupcore.sim.explore.scopes import SCOPES, Action, Scope, send
from groupcore.sim.explore.search import Found, Search
from groupcore.sim.explore.steps import Step, World
from groupcore.sim.explore.world import Budget, State
from groupcore.sim.plants import PLANTS
from groupcore.sim.trace import Delivered, Viewed

ONE = Scope("one", "one message", send(1))


@cache
def explore(scope: Scope) -> Found[Step]:
    """What comes of the code as it is: several tests look at the same search."""
    return explore_anew(scope)


def explore_anew(scope: Scope) -> Found[Step]:
    return Search(World(scope)).run()


def begin(scope: Scope) -> State:
    return World(scope).begin()


def walk(state: State, *kinds: str) -> State:
    """Take the first step of each of these kinds in turn."""
    world = World(ONE)
    for kind in kinds:
        step = next(step for step in world.steps(state) if step.kind == kind)
        state, _ = world.apply(state, step)
    return state


@pytest.mark.parametrize("name", [scope.name for scope in SCOPES.values() if scope.quick])
def test_no_behaviour_of_a_quick_scope_breaks_an_invariant(name: str) -> None:
    found = explore(SCOPES[name])
    assert found.violations == []
    assert found.complete
    assert found.ends > 1


def test_the_search_begins_with_the_founders_in_one_view() -> None:
    state = begin(ONE)
    assert state.idle
    assert {node.view for node in state.nodes} == {state.newest}
    assert state.newest is not None
    assert len(state.newest.members) == 3
    assert [step.kind for step in World(ONE).steps(state)] == ["do"]


def test_a_step_changes_the_next_state_and_not_the_one_before() -> None:
    before = begin(ONE)
    key = before.key()
    after = walk(before, "do", "deliver")
    assert before.key() == key != after.key()
    assert not any(isinstance(record, Delivered) for record in before.past.records())
    assert any(isinstance(record, Delivered) for record in walk(after, "deliver").past.records())


def test_two_orders_of_independent_steps_lead_to_one_state() -> None:
    world = World(ONE)
    state = walk(begin(ONE), "do", "deliver")  # b's message is at a, which has sent it to both
    one, other = (step for step in world.steps(state) if step.kind == "deliver")
    assert one.commutes(other)
    left, _ = world.apply(world.apply(state, one)[0], other)
    right, _ = world.apply(world.apply(state, other)[0], one)
    assert left.key() == right.key()


@pytest.mark.slow
@pytest.mark.parametrize("scope", [SCOPES["order"], SCOPES["loss"]], ids=lambda scope: scope.name)
def test_leaving_out_orders_leaves_out_no_state(
    scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    reduced = explore(scope)
    monkeypatch.setattr(Step, "commutes", lambda self, other: False)
    whole = explore_anew(scope)
    assert (reduced.states, reduced.ends) == (whole.states, whole.ends)
    assert reduced.transitions < whole.transitions


def test_steps_of_one_node_or_one_link_do_not_commute() -> None:
    packet = Step("deliver", 1, (0, 1))
    assert packet.commutes(Step("deliver", 2, (0, 2)))
    assert not packet.commutes(Step("deliver", 1, (2, 1)))
    assert not packet.commutes(Step("disk", 1))
    assert not packet.commutes(Step("lose", -1, (0, 1)))
    assert not Step("lose", -1, (0, 1)).commutes(Step("lose", -1, (0, 2)))
    assert not packet.commutes(Step("time"))


def test_a_copy_of_a_stack_behaves_alike_and_shares_nothing_that_changes() -> None:
    node = begin(ONE).nodes[0]
    assert node.stack is not None
    copied = duplicate(node.stack)
    now = node.stack.next_wake() or 0.0
    assert key_of(copied, now) == key_of(node.stack, now)
    copied.wake(now)
    copied.end_turn(now)
    assert key_of(copied, now) != key_of(node.stack, now)


def test_a_crash_comes_with_and_without_what_the_node_has_just_sent_or_stored() -> None:
    scope = Scope("crash", "", send(0), Budget(crashes=1), may_crash=(0,))
    world = World(scope)
    state, _ = world.apply(begin(scope), Step("do", 0, None, 0))
    crashes = [step.what for step in world.steps(state) if step.kind == "crash"]
    assert crashes == [(0, ()), (0, (1,)), (0, (2,)), (0, (1, 2))]


def test_a_member_that_leaves_is_let_go_and_the_others_go_on() -> None:
    scope = Scope("leave", "", (Action("leave", 2),))
    state, world = begin(scope), World(scope)
    while steps := world.steps(state):
        state, _ = world.apply(state, steps[0])
    views = [record for record in state.past.records() if isinstance(record, Viewed)]
    assert [member.name for member in views[-1].members] == ["a", "b"]
    assert state.nodes[2].stack is None


@pytest.mark.parametrize(
    ("plant", "scope", "number"), [("delivers-at-once", "crash", 14), ("not-resent", "crash", 25)]
)
def test_the_search_finds_a_planted_bug(plant: str, scope: str, number: int) -> None:
    with PLANTS[plant].planted():
        found = explore_anew(SCOPES[scope])
    assert found.violations[0].number == number
    assert found.path


def test_the_command_ends_with_the_figures_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scope", "loss-2"]) == 0
    (figures,) = loads(capsys.readouterr().out.splitlines()[-1])
    assert (figures["scope"], figures["complete"], figures["violations"]) == ("loss-2", True, 0)
    assert main(["--scope", "loss-2", "--states-max", "20"]) == 0
    assert "NOT COMPLETE" in capsys.readouterr().out


def test_the_command_tells_the_way_to_what_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--scope", "crash", "--plant", "delivers-at-once"]) == 1
    assert "14 same-view-delivery" in (said := capsys.readouterr().out)
    assert "by these steps: do b 0" in said
