"""Plans from outside: checked whole, and carried out some moves at a time."""

from __future__ import annotations

import json
from itertools import count
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.errors import PlanError
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
from groupcore.sequencing.plan import PLAN_BYTES_MAX, Plan, check_plan
from groupcore.sequencing.plan_run import ATTEMPTS_MAX, PlanProgress, PlanRun
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


def written(**groups: str) -> str:
    return json.dumps({"plan": 1, "groups": groups})


# --- checking -------------------------------------------------------------------------------------


def test_a_plan_names_groups_by_name_or_number() -> None:
    made = directory()
    create(made, name="prices")
    create(made, name="7")
    create(made)
    assert check_plan(written(**{"prices": "b", "3": "c"}), made) == Plan({1: "b", 3: "c"})
    assert check_plan(written(**{"7": "b"}), made) == Plan({2: "b"})  # a name counts first
    assert check_plan(written(prices="a").encode(), made) == Plan({1: "a"})


BAD_PLANS: list[tuple[str | bytes, str, str]] = [
    ("", "the plan", "no JSON"),
    (b"\xff", "the plan", "no JSON"),
    ("[" * 100_000, "the plan", "no JSON"),
    ("[]", "the plan", "no object"),
    ('{"plan": 1}', "the plan", "no object"),
    ('{"plan": 1, "groups": {"1": "b"}, "more": 1}', "the plan", "no object"),
    ('{"plan": 2, "groups": {"1": "b"}}', "plan", "format"),
    ('{"plan": true, "groups": {"1": "b"}}', "plan", "format"),
    ('{"plan": 1, "groups": {}}', "groups", "no group"),
    ('{"plan": 1, "groups": ["1"]}', "groups", "no group"),
    ('{"plan": 1, "groups": {"1": "b", "1": "c"}}', "'1'", "twice"),
    ('{"plan": 1, "groups": {"1": "b", "prices": "c"}}', "'prices'", "twice"),
    ('{"plan": 1, "groups": {"other": "b"}}', "'other'", "no group"),
    ('{"plan": 1, "groups": {"99": "b"}}', "'99'", "no group"),
    ('{"plan": 1, "groups": {"-1": "b"}}', "'-1'", "no group"),
    ('{"plan": 1, "groups": {"\\u0661": "b"}}', "'\u0661'", "no group"),
    ('{"plan": 1, "groups": {"1": "x"}}', "'1'", "no node"),
    ('{"plan": 1, "groups": {"1": 2}}', "'1'", "no text"),
    ('{"plan": 1, "groups": {"1": "c"}}', "'1'", "drained"),
]


@pytest.mark.parametrize(("text", "item", "problem"), BAD_PLANS)
def test_what_is_wrong_with_a_plan_is_named(text: str | bytes, item: str, problem: str) -> None:
    made = directory()
    create(made, name="prices")
    made.apply(Drain(1, "c", True), A)
    before = made.fingerprint()
    with pytest.raises(PlanError, match=problem) as caught:
        check_plan(text, made)
    assert caught.value.item == item
    assert caught.value.remedy
    assert made.fingerprint() == before


def test_a_plan_is_bounded() -> None:
    with pytest.raises(PlanError, match="bytes"):
        check_plan(" " * (PLAN_BYTES_MAX + 1), directory())


def test_an_unknown_node_is_answered_with_those_that_there_are() -> None:
    made = directory()
    create(made)
    with pytest.raises(PlanError, match="name one of a, b, c"):
        check_plan(written(**{"1": "x"}), made)


def test_a_plan_that_splits_a_component_names_what_must_go_along() -> None:
    made = directory()
    strict(made, A, P, Q)
    strict(made, A, P, Q)
    for targets in ({"1": "b"}, {"1": "b", "2": "c"}):
        with pytest.raises(PlanError, match="S2") as caught:
            check_plan(written(**targets), made)
        assert caught.value.item == "group 1"
        assert caught.value.remedy == "give 2 to b as well"
    assert check_plan(written(**{"1": "b", "2": "b"}), made).targets == {1: "b", 2: "b"}
    assert check_plan(written(**{"1": "a"}), made).targets == {1: "a"}  # 2 is there


# --- carrying out ---------------------------------------------------------------------------------


class Runner:
    """A run of a plan in a directory that does what is asked, when `turn` says so."""

    def __init__(self, made: Directory, targets: dict[GroupId, str], at_once: int = 4) -> None:
        self.made = made
        self.run = PlanRun(Plan(targets), made, A, at_once)
        self.numbers = count(1000)

    def ask(self) -> list[Move]:
        """Ask for the next moves and have them ordered at once."""
        moves = self.run.next_moves(lambda: next(self.numbers))
        for move in moves:
            self.note(self.made.apply(move, A))
        return moves

    def note(self, changes: list[Change]) -> None:
        for change in changes:
            self.run.note(change)

    def finish_all(self) -> None:
        for number in sorted(self.made.moves):
            self.note(finish(self.made, number))

    def to_the_end(self, turns_max: int = 50) -> PlanProgress:
        for _ in range(turns_max):
            self.ask()
            self.finish_all()
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
    assert runner.run.cancel(lambda: 7) == [CancelMove(7, 1)]
    assert not runner.run.progress().finished
    runner.note(made.apply(CancelMove(7, 1), A))
    assert runner.run.progress() == PlanProgress(2, 0, 0, {}, (), True)
    assert runner.run.progress().finished
    assert runner.ask() == []


def test_a_move_that_is_called_off_again_and_again_fails() -> None:  # I2
    made = directory()
    group = create(made, A)
    runner = Runner(made, {group: "b"})
    for _ in range(ATTEMPTS_MAX):
        assert len(runner.ask()) == 1
        (number,) = made.moves
        runner.note(made.apply(CancelMove(1, number), C))
    assert runner.ask() == []
    progress = runner.run.progress()
    assert progress.finished
    assert progress.failed == {group: "its moves were called off"}


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
    runner.note(made.apply(late, A))  # refused: it moves
    assert runner.run.progress().under_way == 0
    runner.note(finish(made, other))
    assert runner.to_the_end().done == 1


def test_a_deleted_group_is_done_with() -> None:
    made = directory()
    group = create(made, A)
    runner = Runner(made, {group: "b"})
    runner.note(made.apply(DeleteGroup(1, group), C))
    assert runner.run.progress().finished


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
