"""A plan is carried out some moves at a time, and every step of it is told."""

from __future__ import annotations

from collections import Counter
from itertools import count
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.sequencing.commands import (
    CancelMove,
    CreateGroup,
    DeleteGroup,
    Drain,
    EnterStrict,
    Move,
)
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import Change, OwnerMoved
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.placement import plan_balance
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.sequencing.plan import Plan
from groupcore.sequencing.plan_run import ATTEMPTS_MAX, PlanProgress, PlanRun
from groupcore.sequencing.plan_steps import Step, StepState
from groupcore.view import Address
from tests.groupcore.sequencing.directories import (
    NODES,
    A,
    B,
    C,
    D,
    P,
    Q,
    begin,
    create,
    directory,
    end,
    finish,
    report,
    strict,
    view,
)

OPTIONS = PlacementOptions()


class Runner:
    """A run of a plan in a directory that does what is asked, when `turn` says so.

    At its end the steps say what the numbers count.
    """

    def __init__(self, made: Directory, targets: dict[GroupId, str], at_once: int = 4) -> None:
        self.made = made
        self.run = PlanRun(Plan(targets), made, A, at_once)
        self.numbers = count(1000)
        self.steps: dict[GroupId, Step] = {}

    def ask(self) -> list[Move]:
        """Ask for the next moves and have them ordered at once."""
        moves = self.run.next_moves(lambda: next(self.numbers))
        for move in moves:
            self.note(self.made.apply(move, A))
        return moves

    def note(self, changes: list[Change]) -> None:
        for change in changes:
            self.run.note(change)

    def look(self) -> dict[GroupId, StepState]:
        """How far each group is; the steps agree with the progress."""  # I4
        self.steps.update({step.group: step for step in self.run.take_steps()})
        assert self.run.take_steps() == ()
        states = {group: step.state for group, step in self.steps.items()}
        progress = self.run.progress()
        failed = {group for group, state in states.items() if state is StepState.FAILED}
        assert failed == set(progress.failed)
        assert all(self.steps[group].why == why for group, why in progress.failed.items())
        counted = Counter(states.values())
        assert len(states) == progress.total
        assert counted[StepState.DONE] == progress.done
        assert counted[StepState.MOVING] == progress.under_way
        if progress.finished:
            assert counted[StepState.WAITING] == 0
        return states

    def finish_all(self) -> None:
        for number in sorted(self.made.moves):
            self.note(finish(self.made, number))

    def to_the_end(self, turns_max: int = 50) -> PlanProgress:
        for _ in range(turns_max):
            self.ask()
            self.look()
            self.finish_all()
            self.look()
            if self.run.progress().finished:
                return self.run.progress()
        raise AssertionError("the run does not end")


def test_a_plan_is_carried_out_step_by_step() -> None:
    made = directory(*NODES)
    groups = [create(made, A) for _ in range(3)] + [create(made, B)]
    runner = Runner(made, dict(zip(groups, "bcda", strict=True)), at_once=2)
    assert len(runner.ask()) == 2
    assert runner.run.progress() == PlanProgress(4, 0, 2, {}, (), False)
    assert runner.ask() == []  # I1
    runner.finish_all()
    assert runner.run.progress() == PlanProgress(4, 2, 0, {}, (), False)
    progress = runner.to_the_end()
    assert (progress.done, progress.failed) == (4, {})
    assert [made.owner_of(group) for group in groups] == [B, C, D, A]


def test_groups_with_one_source_and_target_go_together() -> None:
    made = directory()
    groups = [create(made, A) for _ in range(10)]
    (move,) = Runner(made, dict.fromkeys(groups, "b")).ask()
    assert (move.groups, move.target, move.reason) == (tuple(groups), B, "plan")


def test_what_is_there_already_is_done() -> None:
    made = directory()
    runner = Runner(made, {create(made, A): "a"})
    assert runner.ask() == []
    assert runner.run.progress().finished


def test_another_node_goes_on_with_a_plan_where_it_was() -> None:
    made = directory(options=PlacementOptions(groups_per_move=6))
    groups = [create(made, A) for _ in range(10)]
    targets = dict.fromkeys(groups, "b")
    runner = Runner(made, targets, at_once=1)
    runner.ask()
    runner.finish_all()
    again = PlanRun(Plan(targets), made, C)
    assert again.progress().done == 6
    (move,) = again.next_moves(lambda: 1)
    assert move.groups == tuple(groups[6:])


def test_a_cancelled_run_asks_for_nothing_more_and_calls_off_what_is_under_way() -> None:  # I3
    made = directory()
    first, second = create(made, A), create(made, A)
    runner = Runner(made, {first: "b", second: "c"}, at_once=1)
    runner.ask()
    assert runner.look() == {first: "moving", second: "waiting"}
    assert runner.run.cancel(lambda: 7) == [CancelMove(7, 1)]
    assert not runner.run.progress().finished
    assert runner.look() == {first: "moving", second: "left"}
    runner.note(made.apply(CancelMove(7, 1), A))
    assert runner.run.progress() == PlanProgress(2, 0, 0, {}, (), True)
    assert runner.run.progress().finished
    assert runner.look() == {first: "left", second: "left"}
    assert runner.ask() == []


def test_a_move_that_somebody_calls_off_is_not_asked_for_again() -> None:  # I2, I3
    made = directory()
    group, other = create(made, A), create(made, A)
    runner = Runner(made, {group: "b", other: "c"}, at_once=1)
    assert len(runner.ask()) == 1
    (number,) = made.moves
    runner.note(made.apply(CancelMove(1, number), C))
    assert runner.run.progress().failed == {group: "its move was called off"}
    (move,) = runner.ask()  # the rest of the plan goes on
    assert move.groups == (other,)
    assert runner.look() == {group: "failed", other: "moving"}


def test_a_move_whose_target_is_gone_again_and_again_fails() -> None:  # I2
    made = directory()
    group = create(made, A)
    runner = Runner(made, {group: "b"})
    for attempt in range(ATTEMPTS_MAX):
        assert len(runner.ask()) == 1
        runner.note(made.on_view(view(2 * attempt + 2, A, C), [B]))
        assert runner.ask() == []
        runner.note(made.on_view(view(2 * attempt + 3, A, B, C), []))
    assert runner.ask() == []
    progress = runner.run.progress()
    assert progress.finished
    assert progress.failed == {group: "its source or its target was gone"}
    assert runner.look() == {group: "failed"}


def test_a_node_that_is_away_is_waited_for() -> None:
    made = directory()
    runner = Runner(made, {create(made, A): "c"})
    runner.note(made.on_view(view(2, A, B), [C]))
    assert runner.ask() == []
    assert runner.run.progress() == PlanProgress(1, 0, 0, {}, ("c",), False)
    runner.note(made.on_view(view(3, A, B, C._replace(incarnation=2)), []))
    assert runner.to_the_end().done == 1


def test_groups_whose_owner_is_gone_are_waited_for() -> None:
    made = directory()
    groups = [create(made, C) for _ in range(10)]
    runner = Runner(made, dict.fromkeys(groups, "b"))
    runner.note(made.on_view(view(2, A, B), [C]))
    assert runner.ask() == []
    runner.note(end(made, C, holder=A))
    there = [group for group in groups if made.owner_of(group) == B]
    assert runner.run.progress().done == len(there) > 0  # failover has brought them there
    assert runner.to_the_end() == PlanProgress(10, 10, 0, {}, (), False)


def test_what_is_asked_for_is_not_asked_for_again() -> None:
    made = directory()
    run = PlanRun(Plan({create(made, A): "b"}), made, A)
    assert len(run.next_moves(lambda: 1)) == 1
    assert run.next_moves(lambda: 2) == []


def test_groups_that_another_move_takes_are_waited_for() -> None:
    made = directory()
    group = create(made, A)
    other = begin(made, (group,), C)
    runner = Runner(made, {group: "b"})
    assert runner.ask() == []
    runner.note(finish(made, other))
    assert runner.to_the_end().done == 1


def test_what_others_ask_for_and_get_does_not_concern_a_run() -> None:
    made = directory()
    group, other = create(made, A), create(made, A)
    runner = Runner(made, {group: "b"}, at_once=1)
    runner.run.next_moves(lambda: 5)
    changes = made.apply(Move(5, (other,), C, "plan"), B)  # the same number, by another node
    changes += made.apply(CreateGroup(5, "", 0), B)
    changes += made.apply(Move(5, (99,), C, "plan"), B)
    runner.note(changes)
    assert runner.run.progress().under_way == 1


def test_groups_that_have_got_different_owners_meanwhile_arrive_all_the_same() -> None:
    made = directory()
    first, second = create(made, A), create(made, A)
    runner = Runner(made, {first: "b", second: "b"})
    (late,) = runner.run.next_moves(lambda: 5)
    runner.note(finish(made, begin(made, (second,), C)))
    changes = made.apply(late, A)
    assert len(changes) == 2  # one move for each source
    runner.note(changes)
    runner.finish_all()
    assert runner.to_the_end() == PlanProgress(2, 2, 0, {}, (), False)


def test_a_move_that_comes_too_late_is_asked_for_again() -> None:
    made = directory()
    group = create(made, A)
    runner = Runner(made, {group: "b"})
    (late,) = runner.run.next_moves(lambda: 5)
    other = begin(made, (group,), C, by=B)
    assert runner.look() == {group: "moving"}
    runner.note(made.apply(late, A))  # refused: it moves
    assert runner.run.progress().under_way == 0
    assert runner.look() == {group: "waiting"}
    assert runner.steps[group].why.startswith("moving: ")
    runner.note(finish(made, other))
    assert runner.to_the_end().done == 1


def test_a_deleted_group_is_done_with() -> None:
    made = directory()
    group = create(made, A)
    runner = Runner(made, {group: "b"})
    runner.note(made.apply(DeleteGroup(1, group), C))
    assert runner.run.progress().finished
    assert runner.look() == {group: "done"}
    assert runner.steps[group].why == "it has been deleted"


def test_what_has_been_done_is_not_done_again() -> None:  # I2
    made = directory()
    first, second = create(made, A), create(made, A)
    runner = Runner(made, {first: "b", second: "c"}, at_once=1)
    runner.ask()
    runner.finish_all()
    begin(made, (first,), A)
    runner.finish_all()
    runner.to_the_end()
    assert made.owner_of(first) == A


def test_a_group_that_has_come_to_intersect_others_fails_alone() -> None:
    made = directory()
    planned, other, free = strict(made, A, P, Q), strict(made, A, P), create(made, A)
    runner = Runner(made, {planned: "b", free: "b"})
    made.apply(EnterStrict(1, other, Q), B)
    progress = runner.to_the_end()
    assert progress.failed.keys() == {planned}
    assert f"stay with {other}" in progress.failed[planned]
    assert made.owner_of(free) == B


def test_only_what_is_to_blame_fails_when_several_are_refused_together() -> None:
    made = directory()
    planned, other, free = strict(made, A, P, Q), strict(made, A, P), create(made, A)
    runner = Runner(made, {planned: "b", free: "b"})
    (late,) = runner.run.next_moves(lambda: 5)
    made.apply(EnterStrict(1, other, Q), B)  # ordered before the move
    runner.note(made.apply(late, A))
    progress = runner.to_the_end()
    assert progress.failed.keys() == {planned}
    assert made.owner_of(free) == B


def test_a_move_to_a_node_that_has_begun_to_drain_fails() -> None:
    made = directory()
    group = create(made, A)
    runner = Runner(made, {group: "b"})
    made.apply(Drain(1, "b", True), C)
    assert "draining" in runner.to_the_end().failed[group]


def test_placement_leaves_alone_what_a_plan_has_moved() -> None:
    made = directory()
    groups = [create(made, A) for _ in range(12)]
    Runner(made, dict.fromkeys(groups, "b")).to_the_end()
    for _ in range(OPTIONS.plan_rest_reports - 1):
        report(made, dict.fromkeys(groups, (3000, "c")))
        assert plan_balance(made) == []  # neither for load nor for locality
    report(made, dict.fromkeys(groups, (3000, "c")))
    assert plan_balance(made) != []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from((A, B, C)), st.sampled_from("abc")), min_size=1, max_size=30
    ),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_any_plan_comes_to_its_end(
    wishes: list[tuple[Address, str]], at_once: int, random: Random
) -> None:
    made = directory()
    targets = {create(made, owner): name for owner, name in wishes}
    runner = Runner(made, targets, at_once)
    for _ in range(200):
        runner.ask()
        assert len(made.moves) <= at_once  # I1
        if made.moves:
            number = random.choice(sorted(made.moves))
            changes = finish(made, number)
            assert isinstance(changes[0], OwnerMoved)
            runner.note(changes)
        if runner.run.progress().finished:
            break
    assert {group: made.entries[group].owner.name for group in targets} == targets
