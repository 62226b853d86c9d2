"""The exhaustive search of the data plane: three services, groups that move, nodes that crash."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from groupcore.batch import Batch
from groupcore.sequencing import moving
from groupcore.sequencing.chains import Chains
from groupcore.sequencing.conductor import Conductor
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.keeper import Keeper
from groupcore.sequencing.names import BEGINNING
from groupcore.sequencing.ownership import Takeover
from groupcore.sequencing.reaches import Reaches
from groupcore.sequencing.receiver import Receiver
from groupcore.sequencing.record import Record
from groupcore.sequencing.resending import Resending
from groupcore.sequencing.sections import Section
from groupcore.sequencing.sender import Sender
from groupcore.sequencing.sequencer import Sequencer
from groupcore.sequencing.states import States
from groupcore.sequencing.telling import Telling
from groupcore.sequencing.wishes import Wishes
from groupcore.sim.explore.copying import duplicate
from groupcore.sim.explore.group_scopes import GROUP_SCOPES, GroupScope, move, send
from groupcore.sim.explore.group_steps import GroupWorld
from groupcore.sim.explore.group_turning import SINK
from groupcore.sim.explore.group_world import GroupState
from groupcore.sim.explore.search import Found, Search
from groupcore.sim.explore.steps import Step
from groupcore.sim.explore.world import Budget
from groupcore.sim.planting import Patch
from groupcore.sim.plants_places import at_once, by_who
from groupcore.sim.trace_groups import GroupDelivered, GroupOwned
from groupcore.view import Address

ONE = GroupScope("one", "", (0, 1), (send(2),))
MOVE = GroupScope("move", "", (0, 0), (move(1),))
CRASH = GroupScope("crash", "", (0, 0), (send(2), move(1)), Budget(crashes=1), (0,))


@cache
def explore(scope: GroupScope) -> Found[Step]:
    """What comes of the code as it is: several tests look at the same search."""
    return explore_anew(scope)


def explore_anew(scope: GroupScope) -> Found[Step]:
    return Search(GroupWorld(scope), 100_000).run()


def run_on(world: GroupWorld, state: GroupState, *kinds: str) -> GroupState:
    """Take the first step of these kinds as long as there is one; of none but those."""
    while True:
        steps = [step for kind in kinds for step in world.steps(state) if step.kind == kind]
        if not steps:
            return state
        state, _ = world.apply(state, steps[0])


@pytest.mark.parametrize("name", [one.name for one in GROUP_SCOPES.values() if one.quick])
def test_no_behaviour_of_a_quick_scope_breaks_an_invariant(name: str) -> None:
    found = explore(GROUP_SCOPES[name])
    assert found.violations == []
    assert found.complete
    assert found.ends > 1


def test_the_search_begins_with_groups_members_and_nothing_on_its_way() -> None:
    state = GroupWorld(ONE).begin()
    assert state.idle
    for node, alive in state.living():
        plane = alive.service.plane
        owners = [plane.owner(group) for group in (1, 2)]
        assert [owner.name for owner in owners if owner] == ["a", "b"]
        assert all(len(record.members) == 3 for record in plane.records.values())
        assert node.taken == len(state.order)
    assert [step.kind for step in GroupWorld(ONE).steps(state)] == ["do"]


def test_a_step_changes_the_next_state_and_not_the_one_before() -> None:
    world = GroupWorld(ONE)
    before = world.begin()
    key = before.key()
    after, touched = world.apply(before, Step("do", 2, None, 0))
    assert before.key() == key != after.key()
    assert touched == {2}
    end = run_on(world, after, "deliver", "time")
    delivered = [one for one in end.past.records() if isinstance(one, GroupDelivered)]
    assert sorted(record.n for record in delivered) == ["a", "b", "c"]
    assert world.is_settled(end)


def test_two_orders_of_independent_steps_lead_to_one_state() -> None:
    world = GroupWorld(MOVE)
    state, _ = world.apply(world.begin(), Step("do", 2, None, 0))
    state, _ = world.apply(state, Step("agree", 2))
    one, other, _ = (step for step in world.steps(state) if step.kind == "take")
    assert one.commutes(other)
    first, touched = world.apply(state, one)
    second, others = world.apply(state, other)
    assert touched.isdisjoint(others)
    assert world.apply(first, other)[0].key() == world.apply(second, one)[0].key()


@pytest.mark.parametrize("scope", [MOVE, GROUP_SCOPES["g-acks"], GROUP_SCOPES["g-cause"]])
def test_leaving_out_orders_leaves_out_no_state(
    scope: GroupScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    reduced = explore(scope)
    monkeypatch.setattr(Step, "commutes", lambda self, other: False)
    whole = explore_anew(scope)
    assert (reduced.states, reduced.ends) == (whole.states, whole.ends)
    assert reduced.transitions <= whole.transitions


def test_a_copy_of_a_service_shares_nothing_that_changes() -> None:
    world = GroupWorld(ONE)
    (node, alive), *_ = world.begin().living()
    key = node.keyed(1_000.0).key
    copied = duplicate(alive.service)
    process = copied.open_process()
    copied.send(process, 1, [b"x"], 1_000.0)
    copied.end_turn(1_000.0)
    SINK.records.clear()  # what it has put down is of no search's history
    assert node.keyed(1_000.0).key == key
    assert process not in alive.service.sender.locals


def test_a_crash_comes_at_every_step_with_and_without_what_is_on_its_way() -> None:
    world = GroupWorld(CRASH)
    state, _ = world.apply(world.begin(), Step("do", 2, None, 0))
    state, _ = world.apply(state, world.steps(state)[0])
    crashes = [step.what for step in world.steps(state) if step.kind == "crash"]
    assert crashes == [(), (1,), (2,), (1, 2)]


def test_a_view_comes_when_all_who_run_have_its_cut_and_the_groups_have_new_sequencers() -> None:
    world = GroupWorld(CRASH)
    state, _ = world.apply(world.begin(), Step("crash", 0, None, ()))
    assert state.view_is_due()
    assert [step.kind for step in world.steps(state) if step.kind != "do"] == ["stop", "stop"]
    state = run_on(world, state, "stop", "take", "deliver", "view")
    assert state.view is not None
    assert [member.name for member in state.view.members] == ["b", "c"]
    state = run_on(world, state, "take", "agree", "deliver", "time")
    owned = [one for one in state.past.records() if isinstance(one, GroupOwned) and one.epoch == 2]
    assert {record.group for record in owned} == {1, 2}


def test_a_second_crash_comes_in_the_next_view_and_where_the_other_can_go_on() -> None:
    world = GroupWorld(GROUP_SCOPES["g-two-crashes"])
    state, _ = world.apply(world.begin(), Step("crash", 0, None, ()))
    assert not [step for step in world.steps(state) if step.kind == "crash"]
    state = run_on(world, state, "stop", "take", "deliver", "view")
    assert {step.node for step in world.steps(state) if step.kind == "crash"} == {2}
    other, _ = world.apply(world.begin(), Step("crash", 2, None, ()))
    other = run_on(world, other, "stop", "take", "deliver", "view")
    assert not [step for step in world.steps(other) if step.kind == "crash"], "b is no quorum"


def nothing(*_: object) -> None:
    """What a function does that has been forgotten."""


def received_is_held(self: Reaches, stream: object) -> int:
    said = self._received.get(stream)  # type: ignore[call-overload]
    return max(said.values()) if said else 0


def always(*_: object) -> bool:
    return True


def none_lost(*_: object) -> list[object]:
    return []


def apply_no_queue(self: Receiver, record: Record) -> None:
    assert record.hold is not None
    record.hold.waiting_for_state, record.hold.queue = False, None
    self._plane.progress += 1


def placeless(self: Section, me: Address) -> Batch:
    self.place = BEGINNING
    return LEAVES(self, me)


LEAVES = Section.batch
BY_WHO = (Directory, "has_entered", by_who)
PLANTS: dict[str, list[Patch]] = {
    "given before the deletion": [(Section, "batch", placeless)],
    "answers dropped": [(Wishes, "allow", nothing)],
    "entered by who, at once": [BY_WHO, (Enrolment, "_is_reached", at_once)],
    "no context": [(Sender, "context_of", lambda *_: {}), (Chains, "add_place", nothing)],
    "nothing asked for again": [(Keeper, "ask", nothing)],
    "nothing sent again": [(Resending, "wake", nothing)],
    "source not suspended": [(Sequencer, "suspend", nothing)],
    "target begins at once": [(Takeover, "ready", always)],
    "lost target, and the move goes on": [(moving, "cancel_lost", none_lost)],
    "held by one": [(Reaches, "held", received_is_held)],
    "what came before the state forgotten": [(Receiver, "apply_queue", apply_no_queue)],
    "no state asked for again": [(States, "wake", nothing)],
    "nothing acknowledged": [(Telling, "tell", nothing)],
    "nothing sent to the next": [(Conductor, "send_again", nothing), (Resending, "wake", nothing)],
}


FOUND = [
    ("nothing acknowledged", "g-acks", 25),
    ("nothing acknowledged", "g-words", 25),
    ("no context", "g-order", 7),
    ("no context", "g-cause", 7),
    ("nothing asked for again", "g-loss", 25),
    ("nothing sent again", "g-loss", 25),
    ("nothing sent again", "g-move-loss", 25),
    ("source not suspended", "g-move", 11),
    ("target begins at once", "g-move", 11),
    ("source not suspended", "g-move-one", 11),
    ("held by one", "g-move-source", 11),
    ("lost target, and the move goes on", "g-move-target", 25),
    ("source not suspended", "g-move-asker", 11),
    ("held by one", "g-failover", 11),
    ("nothing sent to the next", "g-failover", 25),
    ("nothing sent to the next", "g-failover-one", 25),
    ("held by one", "g-two-crashes", 11),
    ("nothing sent to the next", "g-two-crashes", 25),
    ("held by one", "g-strict-failover", 11),
    ("what came before the state forgotten", "g-join", 25),
    ("no state asked for again", "g-join-loss", 25),
    ("given before the deletion", "g-delete", 7),
    ("given before the deletion", "g-delete-other", 7),
    ("answers dropped", "g-strict-join", 25),
    ("entered by who, at once", "g-strict-rejoin", 11),
    ("entered by who, at once", "g-observe", 11),
    ("answers dropped", "g-strict-again", 25),
    ("answers dropped", "g-observe-again", 25),
]


@pytest.mark.parametrize(("plant", "name", "number"), FOUND)
def test_a_planted_bug_is_found(
    plant: str, name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = GroupWorld(GROUP_SCOPES[name])
    beginning = world.begin()  # made by the code as it is
    monkeypatch.setattr(world, "begin", lambda: beginning)
    for owner, attribute, value in PLANTS[plant]:
        monkeypatch.setattr(owner, attribute, value)
    found = Search(world, 10_000).run()
    assert found.violations[0].number == number
    assert found.path


def test_in_every_scope_a_planted_bug_is_found() -> None:
    assert {name for _, name, _ in FOUND} == set(GROUP_SCOPES)


def test_a_copy_goes_on_by_itself_with_what_it_waits_for() -> None:
    """Who takes a state has said what is to be done with it: in the copy, with what is there."""

    class Waiting:
        def __init__(self) -> None:
            self.had: list[int] = []
            self.done: Callable[[int], None] = lambda item: self.had.append(item)

    first = Waiting()
    second = duplicate(first)
    second.done(1)
    assert (first.had, second.had) == ([], [1])
