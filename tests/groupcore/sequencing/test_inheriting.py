"""Groups of a node that is gone get new sequencers some at a time, those first that are needed."""

from __future__ import annotations

import pytest

from groupcore.sequencing.commands import DeleteGroup, EnterStrict, Inherit, Move
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import Inherited, StreamEnded
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.placement import plan_balance
from groupcore.sequencing.placement_options import PlacementOptions
from tests.groupcore.sequencing.directories import (
    A,
    B,
    C,
    P,
    Q,
    create,
    directory,
    load,
    only,
    refusal,
    strict,
    view,
)
from tests.groupcore.sequencing.world import World

FEW = PlacementOptions(inherited_at_once=2, count_slack=100)


def after_the_end_of_c(made: Directory) -> StreamEnded:
    """C is gone, and its stream has ended."""
    made.on_view(view(2, A, B), [C])
    *_, ended = made.end_streams({C: 50}, A)  # behind the moves that are off
    assert isinstance(ended, StreamEnded)
    return ended


def theirs(made: Directory) -> list[GroupId]:
    """What is still C's."""
    return [group for group, entry in made.entries.items() if entry.owner == C]


# --- the directory --------------------------------------------------------------------------------


def test_where_they_are_few_all_are_given_with_the_end_of_the_stream() -> None:
    made = directory()
    groups = [create(made, C) for _ in range(20)]
    assert after_the_end_of_c(made).groups == tuple(groups)
    assert made.heirless == 0


def test_busy_ones_used_strict_ones_and_those_on_the_move_do_not_wait() -> None:
    made = directory(options=FEW)
    groups = [create(made, C) for _ in range(12)]
    used, unused = strict(made, C, P), strict(made, C)
    load(made, C, g9=100, g11=300)
    made.apply(Move(1, (groups[5],), A, "plan"), A)
    ended = after_the_end_of_c(made)
    assert set(ended.groups) == {groups[0], groups[1], groups[5], groups[8], groups[10], used}
    assert ended.owners[ended.groups.index(groups[5])] == A
    assert unused in theirs(made)
    assert made.heirless == len(theirs(made)) == 8


def test_the_others_follow_portion_by_portion_in_their_order() -> None:
    made = directory(options=FEW)
    groups = [create(made, C) for _ in range(7)]
    after_the_end_of_c(made)
    for expected in (groups[2:4], groups[4:6], groups[6:]):
        inherited = only(made.apply(Inherit(()), A), Inherited)
        assert inherited.groups == tuple(expected)
        assert (inherited.stream, inherited.frame) == (C, 50)
        assert set(inherited.owners) <= {A, B}
        assert set(inherited.epochs) == {2}
    assert made.heirless == 0
    assert made.apply(Inherit(()), A) == []


def test_who_asks_for_one_gets_it_at_once_and_what_others_have_is_left_out() -> None:
    made = directory(options=FEW)
    groups = [create(made, C) for _ in range(7)]
    mine = create(made, A)
    after_the_end_of_c(made)
    asked = (groups[6], groups[0], mine, 99)
    assert only(made.apply(Inherit(asked), B), Inherited).groups == (groups[6],)
    assert made.apply(Inherit(asked), B) == []
    assert only(made.apply(Inherit(()), A), Inherited).groups == tuple(groups[2:4])


def test_two_gone_nodes_are_inherited_of_one_after_the_other() -> None:
    made = directory(A, B, C, options=FEW)
    of_c, of_b = [create(made, C) for _ in range(5)], [create(made, B) for _ in range(4)]
    made.on_view(view(2, A), [B, C])
    made.end_streams({C: 50, B: 20}, A)
    asked = made.apply(Inherit((of_c[4], of_b[3])), A)
    assert [one.groups for one in asked if isinstance(one, Inherited)] == [(of_b[3],), (of_c[4],)]
    portions = [only(made.apply(Inherit(()), A), Inherited) for _ in range(2)]
    assert [(one.stream, one.frame, one.groups) for one in portions] == [
        (B, 20, (of_b[2],)),
        (C, 50, tuple(of_c[2:4])),
    ]
    assert made.heirless == 0


def test_a_component_is_given_whole_and_an_entry_waits_for_it() -> None:
    made = directory(options=FEW)
    quiet = [create(made, C) for _ in range(4)]
    group = strict(made, C)
    after_the_end_of_c(made)
    assert quiet
    assert made.apply(EnterStrict(4, group, Q), B) == []
    changes = made.apply(Inherit((group,)), B)
    assert [type(change).__name__ for change in changes] == ["Inherited", "EntryAllowed"]


def test_what_waits_moves_nowhere_and_may_be_deleted() -> None:
    made = directory(options=FEW)
    groups = [create(made, C) for _ in range(4)]
    after_the_end_of_c(made)
    assert refusal(made.apply(Move(1, (groups[3],), A, "plan"), A)) == "moving"
    assert plan_balance(made) == []
    made.apply(DeleteGroup(1, groups[3]), A)
    assert made.heirless == 1
    made.apply(DeleteGroup(1, groups[2]), A)
    assert made.heirless == 0
    assert made.state.ended == {}


def test_a_snapshot_has_what_waits() -> None:
    made = directory(options=FEW)
    for _ in range(7):
        create(made, C)
    after_the_end_of_c(made)
    other = Directory()
    other.restore(made.snapshot())
    assert other.fingerprint() == made.fingerprint()
    for each in (made, other):
        each.apply(Inherit(()), A)
    assert other.fingerprint() == made.fingerprint()


# --- the nodes ------------------------------------------------------------------------------------


def world_of(count: int) -> tuple[World, list[GroupId], dict[str, Process]]:
    """So many groups of node c, and a process of each node that is in none."""
    world = World("abc", options=ServiceOptions(placement=FEW))
    groups = [world.create(f"g{n}", at="c") for n in range(count)]
    assert {world.own(group) for group in groups} == {"c"}
    return world, groups, {name: world.open(name) for name in "ab"}


def test_i1_all_groups_have_a_sequencer_in_the_end() -> None:
    world, groups, _ = world_of(11)
    world.crash("c")
    assert world["a"].service.plane.directory.heirless == 9
    world.run(100)
    assert {world.own(group) for group in groups} <= {"a", "b"}
    assert world["a"].service.inheriting.next_wake() is None


def test_i1_a_portion_s_request_that_is_lost_with_a_view_is_made_again() -> None:
    world, groups, _ = world_of(11)
    world.crash("c")
    world.now += 1
    world.hosts[A].service.end_turn(world.now)
    world.now += 1
    world.hosts[A].service.end_turn(world.now)
    assert len(world.hosts[A].service.take().commands) == 1  # and it is ordered nowhere
    world.run(50)
    assert world["a"].service.plane.directory.heirless == 9
    world.add("d")
    world.run(200)
    assert {world.own(group) for group in groups} <= {"a", "b", "d"}


@pytest.mark.parametrize("name", ["a", "b"])
def test_i2_who_sends_to_one_or_joins_it_waits_for_no_portion(name: str) -> None:
    world, groups, processes = world_of(40)
    world.crash("c")
    world.send(processes[name], groups[39], b"x")
    assert world.own(groups[39]) in {"a", "b"}
    world.hosts[processes[name].node].service.join(processes[name], groups[38], world.now)
    world.turn()
    assert world.own(groups[38]) in {"a", "b"}
    assert world["a"].service.plane.directory.heirless > 30
    world.run(60)
    assert processes[name] in world[name].members[groups[38]]
    assert world["a"].service.plane.records[groups[39]].seqno == 1


def test_what_was_sent_to_one_before_its_node_went_is_sent_again_when_it_has_a_sequencer() -> None:
    world, groups, processes = world_of(40)
    world.join(processes["b"], groups[39])
    world.send(processes["a"], groups[39], b"x")
    world.packets.clear()
    world.crash("c")
    world.run(60)
    assert world["b"].state[groups[39]] == [b"x"]


def test_a_strict_group_that_nobody_used_can_be_joined() -> None:
    world = World("abc", options=ServiceOptions(placement=FEW))
    groups = [world.create(f"g{n}", Order.STRICT, at="c") for n in range(12)]
    world.crash("c")
    process = world.open("b")
    world.join(process, groups[11])
    world.run(100)
    assert world["a"].service.plane.directory.heirless == 0
