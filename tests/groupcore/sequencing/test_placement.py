"""Placement: what load is, and which moves are worth making."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.sequencing.choosing import within_bound
from groupcore.sequencing.commands import Drain, EnterStrict, Move
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import MoveBegan, OwnerMoved
from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.placement import PlannedMove, plan_balance
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.view import Address
from tests.groupcore.sequencing.directories import (
    NODES,
    SMOOTH,
    A,
    B,
    C,
    D,
    P,
    Q,
    Traffic,
    begin,
    create,
    directory,
    end,
    finish,
    only,
    report,
    strict,
    view,
)

OPTIONS = PlacementOptions()


def carry_out(made: Directory, planned: list[PlannedMove]) -> int:
    """Ask for the moves and let them all come to pass; returns how many groups have moved."""
    moved = 0
    for move in planned:
        for change in made.apply(Move(1, move.groups, move.target, move.reason), A):
            assert isinstance(change, MoveBegan), change
            done = finish(made, change.move)[0]
            assert isinstance(done, OwnerMoved)
            moved += len(done.groups)
    return moved


def rounds_until_rest(made: Directory, traffic: Traffic, rounds_max: int = 400) -> Counter[GroupId]:
    """Report and carry out until nothing is planned any more; how often each group has moved."""
    moves: Counter[GroupId] = Counter()
    quiet = 0
    for _ in range(rounds_max):
        report(made, traffic)
        planned = plan_balance(made)
        moves.update(group for move in planned for group in move.groups)
        carry_out(made, planned)
        quiet = 0 if planned else quiet + 1
        if quiet > OPTIONS.rest_reports + SMOOTH:  # nothing rests, all loads are smooth
            return moves
    raise AssertionError("the moves do not come to an end")


# --- drain ----------------------------------------------------------------------------------------


def test_a_node_that_drains_gives_all_its_groups_away() -> None:
    made = directory()
    moving = begin(made, (create(made, A),), C)
    pair = strict(made, A, P, Q), strict(made, A, P, Q)
    for _ in range(30):
        create(made, A)
    made.apply(Drain(1, "a", True), B)
    planned = plan_balance(made)
    assert {move.reason for move in planned} == {"drain"}
    finish(made, moving)
    carry_out(made, planned)
    assert A not in {entry.owner for entry in made.entries.values()}
    assert made.owner_of(pair[0]) == made.owner_of(pair[1])
    assert plan_balance(made) == []


def test_what_a_draining_node_has_goes_near_its_sender() -> None:
    made = directory()
    groups = [create(made, A) for _ in range(10)]
    for _ in range(4):
        report(made, dict.fromkeys(groups, (20, "c")))
    made.apply(Drain(1, "a", True), B)
    carry_out(made, plan_balance(made))
    assert {made.owner_of(group) for group in groups} == {C}


def test_where_all_nodes_drain_nothing_moves() -> None:
    made = directory(A, B)
    create(made, A)
    made.apply(Drain(1, "a", True), A)
    made.apply(Drain(1, "b", True), A)
    assert plan_balance(made) == []


# --- balance --------------------------------------------------------------------------------------


def test_what_is_balanced_is_left_alone() -> None:
    made = directory()
    traffic: Traffic = {}
    for node in (A, B, C):
        for _ in range(4):
            traffic[create(made, node)] = (2000, node.name)
    assert rounds_until_rest(made, traffic) == Counter()


def test_small_differences_are_not_worth_a_move() -> None:
    made = directory()
    traffic = {create(made, A): (300, "z"), create(made, A): (300, "z")}
    assert rounds_until_rest(made, traffic) == Counter()


def test_an_overloaded_node_gives_few_groups_to_the_idlest() -> None:
    made = directory()
    traffic: Traffic = {create(made, A): (3000, "z") for _ in range(12)}
    moves = rounds_until_rest(made, traffic)
    counts = Counter(made.owner_of(group) for group in traffic)
    assert set(counts.values()) <= {3, 4, 5}
    assert sum(moves.values()) <= 8  # no more than must go
    assert max(moves.values()) == 1  # and none twice


def test_a_burst_of_one_report_moves_nothing() -> None:
    made = directory()
    groups = [create(made, node) for node in (A, A, B, B, C, C)]
    for turn in range(120):
        burst = groups[turn % 5] if turn % 10 == 0 else None
        report(made, {group: (30_000 if group == burst else 3000, "z") for group in groups})
        assert plan_balance(made) == []


def test_what_must_leave_goes_where_it_is_sent_from() -> None:
    made = directory()
    traffic: Traffic = {create(made, A): (3000, "abc"[n % 3]) for n in range(12)}
    moves = rounds_until_rest(made, traffic)
    assert [made.owner_of(group) for group in traffic] == [A, B, C] * 4
    assert set(moves.values()) == {1}


def test_of_what_must_leave_nothing_takes_a_detour() -> None:
    made = directory(options=PlacementOptions(moves_max=1, groups_per_move=4))
    groups = [create(made, A) for _ in range(60)]
    carry_out(made, [PlannedMove(tuple(g for g in groups if made.owner_of(g) != A), A, "test")])
    moves = rounds_until_rest(made, {g: (1000, "abc"[g % 3]) for g in groups})
    assert set(moves.values()) == {1}
    assert {made.owner_of(group) for group in groups if group % 3 == 2} == {C}


def test_a_node_with_one_heavy_group_does_not_hide_another_that_is_overloaded() -> None:
    made = directory(*NODES)
    traffic: Traffic = {create(made, A): (60_000, "z")}
    traffic.update((create(made, B), (5_000, "z")) for _ in range(10))
    moves = rounds_until_rest(made, traffic)
    assert sum(moves.values()) >= 3
    assert {made.owner_of(group) for group in moves} <= {C, D}


def test_a_move_carries_no_more_groups_than_allowed() -> None:
    made = directory(A, B)
    groups = [create(made, A) for _ in range(300)]
    made.apply(Drain(1, "a", True), B)
    planned = plan_balance(made)
    assert {len(move.groups) for move in planned[:-1]} == {OPTIONS.groups_per_move}
    assert len(planned) <= OPTIONS.moves_max
    assert groups


def test_one_group_that_is_too_much_for_any_node_is_not_passed_around() -> None:
    made = directory()
    traffic: Traffic = {create(made, A): (100_000, "z")}
    assert rounds_until_rest(made, traffic) == Counter()


def test_a_strict_component_moves_whole() -> None:
    made = directory()
    pair = strict(made, A, P, Q), strict(made, A, P, Q)
    others = [create(made, A) for _ in range(2)]
    traffic: Traffic = dict.fromkeys((*pair, *others), (5000, "z"))
    rounds_until_rest(made, traffic)
    assert made.owner_of(pair[0]) == made.owner_of(pair[1])
    assert len({made.owner_of(group) for group in traffic}) == 3


def test_requests_that_wait_long_at_a_node_count_as_load() -> None:
    made = directory()
    traffic: Traffic = {create(made, node): (1000, "z") for node in (A, B, C) for _ in range(2)}
    report(made, traffic, {A: 5_000}, times=SMOOTH)
    planned = plan_balance(made)
    assert planned
    assert {(made.owner_of(move.groups[0]), move.reason) for move in planned} == {(A, "load")}


def test_a_group_that_has_moved_rests_for_some_reports() -> None:
    made = directory()
    group = create(made, A)
    report(made, {group: (100, "b")}, times=3)
    carry_out(made, plan_balance(made))
    assert made.owner_of(group) == B
    for _ in range(OPTIONS.rest_reports - 1):
        report(made, {group: (100, "c")})
        assert plan_balance(made) == []
    report(made, {group: (100, "c")})
    carry_out(made, plan_balance(made))
    assert made.owner_of(group) == C


def test_a_group_that_has_moved_rests_from_balance_as_well() -> None:
    made = directory()
    groups = [create(made, A) for _ in range(6)]
    report(made, dict.fromkeys(groups, (5000, "z")), times=SMOOTH)
    carry_out(made, plan_balance(made))
    moved = next(group for group in groups if made.owner_of(group) != A)
    beside = [group for group in groups if made.owner_of(group) == made.owner_of(moved)]
    for _ in range(OPTIONS.rest_reports - 1):
        report(made, dict.fromkeys(beside, (50_000, "z")))
        assert plan_balance(made) == []
    report(made, dict.fromkeys(beside, (50_000, "z")))
    assert plan_balance(made) != []


def test_no_more_moves_are_under_way_than_allowed() -> None:
    made = directory(options=PlacementOptions(moves_max=2, groups_per_move=1))
    traffic: Traffic = {create(made, A): (3000, "z") for _ in range(12)}
    report(made, traffic, times=SMOOTH)
    planned = plan_balance(made)
    assert len(planned) == 2
    begin(made, planned[0].groups, planned[0].target)
    assert len(plan_balance(made)) == 1
    begin(made, planned[1].groups, planned[1].target)
    assert plan_balance(made) == []


def test_groups_with_one_source_and_target_share_a_move() -> None:
    made = directory(A, B)
    traffic: Traffic = {create(made, A): (1000, "z") for _ in range(12)}
    report(made, traffic, times=SMOOTH)
    (move,) = plan_balance(made)
    assert len(move.groups) > 2


def test_what_moves_or_waits_for_its_streams_end_is_left_alone() -> None:
    made = directory(*NODES)
    traffic: Traffic = {create(made, D): (9000, "z") for _ in range(3)}
    begin(made, (1,), C)
    report(made, traffic, times=SMOOTH)
    assert all(1 not in move.groups for move in plan_balance(made))
    made.on_view(view(2, A, B, C), [D])
    assert plan_balance(made) == []
    end(made, D, holder=A)


def test_there_is_no_plan_before_the_first_view() -> None:
    assert plan_balance(Directory()) == []


# --- locality -------------------------------------------------------------------------------------


def test_a_group_goes_to_the_node_that_sends_most() -> None:
    made = directory()
    group = create(made, A)
    traffic: Traffic = {group: (20, "b")}
    report(made, traffic)
    assert plan_balance(made) == []  # once is not enough
    moves = rounds_until_rest(made, traffic)
    assert moves == {group: 1}
    assert made.owner_of(group) == B


def test_a_group_with_hardly_any_traffic_stays_where_it_is() -> None:
    made = directory()
    assert rounds_until_rest(made, {create(made, A): (5, "b")}) == Counter()


def test_a_group_does_not_go_to_its_sender_when_that_is_overloaded() -> None:
    made = directory()
    group = create(made, A)
    heavy = {create(made, B): (20_000, "b")}
    moves = rounds_until_rest(made, {group: (100, "b"), **heavy})
    assert moves == Counter()


def test_two_senders_that_take_turns_do_not_pull_a_group_about() -> None:
    made = directory()
    group = create(made, A)
    moved = 0
    for turn in range(60):
        report(made, {group: (100, "bc"[turn % 2])})
        moved += carry_out(made, plan_balance(made))
    assert moved <= 1


def test_a_strict_component_goes_where_most_of_it_is_sent() -> None:
    made = directory()
    pair = strict(made, A, P, Q), strict(made, A, P, Q)
    rounds_until_rest(made, {pair[0]: (500, "c"), pair[1]: (50, "b")})
    assert [made.owner_of(group) for group in pair] == [C, C]


# --- any loads ------------------------------------------------------------------------------------

traffics = st.lists(
    st.tuples(st.sampled_from((A, B, C)), st.integers(0, 20_000), st.sampled_from("abcz")),
    min_size=1,
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(traffics, st.lists(st.tuples(st.integers(1, 25), st.integers(1, 25)), max_size=4))
def test_whatever_the_loads_the_moves_come_to_an_end_and_none_is_left_to_make(
    given_groups: list[tuple[Address, int, str]], pairs: list[tuple[int, int]]
) -> None:
    made = directory()
    traffic: Traffic = {}
    for owner, count, sender in given_groups:
        traffic[create(made, owner, Order.STRICT)] = (count, sender)
    for number, pair in enumerate(pairs, 1):
        for group in set(pair) & set(traffic):
            for process in (P._replace(number=number), Q._replace(number=number)):
                made.apply(EnterStrict(1, group, process), process.node)
        while made.moves:
            finish(made, min(made.moves))
    moves = rounds_until_rest(made, traffic)
    assert all(count <= 4 for count in moves.values())
    state = made.state
    carried = {node: state.loads.node(node) for node in (A, B, C)}
    idlest = min(carried.values())
    for node, carries in carried.items():
        if not within_bound(carries, sum(carried.values()), 3, OPTIONS):
            units = {state.unit_of(g) for g in traffic if made.owner_of(g) == node}
            assert all(
                state.load_of(unit) >= carries - idlest
                for unit in units
                if any(group in state.loads.busy for group in unit)
            )


def test_the_plan_is_the_same_everywhere() -> None:
    made, again = directory(), Directory()
    traffic: Traffic = {create(made, A): (3000, "bcz"[n % 3]) for n in range(20)}
    report(made, traffic, times=SMOOTH)
    again.restore(made.snapshot())
    assert plan_balance(made) == plan_balance(again) != []


def test_a_plan_is_one_that_the_directory_takes() -> None:
    made = directory()
    traffic: Traffic = {create(made, A): (3000, "z") for _ in range(12)}
    report(made, traffic, times=SMOOTH)
    planned = plan_balance(made)
    assert planned
    for move in planned:
        only(made.apply(Move(1, move.groups, move.target, move.reason), B), MoveBegan)
