"""Groups that are written to in turn: counted, reported, and brought to one sequencer."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.sequencing import ties as tying
from groupcore.sequencing.clusters import Clusters
from groupcore.sequencing.commands import DeleteGroup, Drain, ReportTies, Tie
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.placement import plan_balance
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.sequencing.ties import RATE_MAX, SCALE, TieBook, TieMeter
from groupcore.view import Address
from tests.groupcore.sequencing.directories import (
    SMOOTH,
    A,
    B,
    C,
    P,
    Q,
    R,
    begin,
    create,
    directory,
    finish,
    report,
    strict,
    view,
)
from tests.groupcore.sequencing.test_placement import carry_out, rounds_until_rest, traffics
from tests.groupcore.sequencing.world import World


def tie(made: Directory, by: Address, turns: int, *groups: GroupId) -> None:
    """`by` reports so many turns a second between each two that follow each other."""
    pairs = [sorted(pair) for pair in itertools.pairwise(groups)]
    ties = tuple(Tie(one, other, SCALE * turns) for one, other in pairs)
    for _ in range(SMOOTH):
        made.apply(ReportTies(ties), by)


def owners(made: Directory, *groups: GroupId) -> set[Address | None]:
    return {made.owner_of(group) for group in groups}


def settle(made: Directory) -> int:
    """Carry out what is planned until nothing is; how many groups have moved."""
    moved = 0
    while planned := plan_balance(made):
        moved += carry_out(made, planned)
    return moved


def test_a_node_that_drains_gives_away_what_is_tied_to_a_group_that_rests_elsewhere() -> None:
    made = directory()
    one, other = create(made, A), create(made, B)
    finish(made, begin(made, (one,), C))
    made.apply(Drain(1, "c", True), A)
    assert one in made.state.loads.resting  # for long: somebody has put it there
    tie(made, A, 100, one, other)
    assert Clusters(made.state).of(one) == (one, other)
    carry_out(made, plan_balance(made))
    assert made.owner_of(one) == B  # beside what it is tied to
    assert plan_balance(made) == []


def test_a_tie_grows_and_fades_by_the_same_share_and_goes() -> None:
    book = TieBook(smoothing=4)
    groups = {1, 2, 3}
    seen = []
    for rate in (100, 100, 0, 0, 0, 0):
        said = [Tie(1, 2, rate)] if rate else []
        book.report(A, [*said, Tie(2, 3, 8)], groups)
        seen.append(dict(book.by_node[A]))
    assert [one[2, 3] for one in seen] == [2, 3, 4, 5, 5, 5]
    assert [one.get((1, 2), 0) for one in seen] == [25, 43, 32, 24, 18, 13]
    for _ in range(20):
        book.report(A, [Tie(2, 3, 8)], groups)
    assert set(book.by_node[A]) == {(2, 3)}
    book.report(A, [], groups)
    assert not book.by_node


# --- counting -------------------------------------------------------------------------------------


def test_i1_only_turns_that_wait_are_counted() -> None:
    world = World("ab")
    one, other = world.create("one"), world.create("other")
    process = world.open("b")
    ties = world["b"].service.sender.tie_meter
    for group in (one, other):
        world.send(process, group, b"x")
        world.run(20)
    assert not ties.turns
    send = world["b"].service.send
    send(process, one, [b"x"], world.now)
    send(process, other, [b"x"], world.now)
    send(process, other, [b"y"], world.now)
    world.turn()
    world.send(process, one, b"z")
    assert ties.turns == {(one, other): 2}


def test_i1_the_turns_of_two_processes_tie_nothing() -> None:
    world = World("ab")
    one, other = world.create("one"), world.create("other")
    for group in (one, other):
        world.hosts[world["b"].address].service.send(world.open("b"), group, [b"x"], world.now)
    world.turn()
    assert not world["b"].service.sender.tie_meter.turns


def test_a_report_is_a_rate_of_both_ways_together() -> None:
    meter = TieMeter()
    for _ in range(3):
        meter.count(7, 8)
        meter.count(8, 7)
    meter.count(7, 9)
    assert meter.take(2.0) == (Tie(7, 8, 3_000), Tie(7, 9, 500))
    assert meter.take(2.0) == ()


def test_i2_pairs_are_bounded_where_they_are_counted_and_where_they_are_reported() -> None:
    meter = TieMeter()
    for _ in range(2):
        for other in range(2, tying.COUNTED_MAX + 50):
            meter.count(1, other)
    assert len(meter.turns) == tying.COUNTED_MAX
    meter.count(1, 2)
    said = meter.take(1.0)
    assert len(said) == tying.REPORTED_MAX
    assert said[0] == Tie(1, 2, 3_000)


# --- the book -------------------------------------------------------------------------------------


def test_i3_a_report_changes_a_rate_by_a_quarter_and_an_empty_one_ends_it() -> None:
    book, known = TieBook(4), {1, 2, 3}
    book.report(A, (Tie(1, 2, 1_000),), known)
    assert book.rates() == {(1, 2): 250}
    book.report(B, (Tie(1, 2, 400), Tie(1, 3, 40)), known)
    assert book.rates() == {(1, 2): 350, (1, 3): 10}
    book.report(B, (Tie(1, 3, 40),), known)
    assert book.rates() == {(1, 2): 325, (1, 3): 17}
    book.report(A, (), known)
    assert book.rates() == {(1, 2): 75, (1, 3): 17}


def test_what_a_report_says_is_bounded_and_of_groups_that_there_are() -> None:
    book = TieBook(1)
    book.report(A, (Tie(1, 2, 10 * RATE_MAX), Tie(2, 1, 5), Tie(1, 9, 5), Tie(1, 1, 5)), {1, 2})
    assert book.rates() == {(1, 2): RATE_MAX}


def test_what_a_deleted_group_or_a_node_that_is_gone_had_is_forgotten() -> None:
    made = directory()
    groups = [create(made) for _ in range(3)]
    tie(made, A, 100, *groups)
    tie(made, C, 100, *groups[:2])
    made.apply(DeleteGroup(1, groups[2]), A)
    assert set(made.state.ties.rates()) == {(groups[0], groups[1])}
    made.on_view(view(2, A, B), [C])
    assert set(made.state.ties.by_node) == {A}


def test_a_snapshot_has_the_ties() -> None:
    made = directory()
    groups = [create(made, by) for by in (A, B, C)]
    tie(made, B, 30, *groups)
    other = Directory()
    other.restore(made.snapshot())
    assert other.state.ties.by_node == made.state.ties.by_node
    assert other.fingerprint() == made.fingerprint()


# --- clusters -------------------------------------------------------------------------------------


def test_groups_that_are_tied_come_to_the_one_that_carries_most_of_them() -> None:
    made = directory()
    groups = [create(made, by) for by in (A, B, C, B)]
    alone = create(made, C)
    report(made, {groups[2]: (900, "z"), groups[0]: (100, "z")}, times=SMOOTH)
    tie(made, B, 20, *groups)
    assert settle(made) == 3
    assert owners(made, *groups) == {C}
    assert made.owner_of(alone) == C
    assert settle(made) == 0


def test_what_is_seldom_written_to_in_turn_is_not_tied() -> None:
    made = directory()
    one, other = create(made, A), create(made, B)
    rate = PlacementOptions().tied_rate
    for _ in range(SMOOTH):
        made.apply(ReportTies((Tie(one, other, rate - 1),)), A)
    assert plan_balance(made) == []
    for _ in range(SMOOTH):
        made.apply(ReportTies((Tie(one, other, rate + 3),)), A)
    assert len(plan_balance(made)) == 1


def test_a_tie_that_costs_less_than_the_lighter_side_carries_does_not_overload_a_node() -> None:
    made = directory()
    groups = [create(made, by) for by in (A, B, C)]
    traffic = dict.fromkeys(groups, (20_000, "z"))
    report(made, traffic, times=SMOOTH)
    tie(made, A, 20, *groups)
    assert plan_balance(made) == []
    tie(made, A, 1_000, *groups)
    assert settle(made) == 2
    assert len(owners(made, *groups)) == 1


def test_what_is_tied_is_not_torn_apart_for_load() -> None:
    made = directory()
    groups = [create(made, A) for _ in range(9)]
    tie(made, B, 500, *groups)
    report(made, dict.fromkeys(groups, (5_000, "z")), times=SMOOTH)
    assert made.state.loads.is_heavy(A)
    assert settle(made) == 0
    for by in (A, B):
        made.apply(ReportTies(()), by)
    assert settle(made) > 0


def test_a_strict_component_goes_whole_and_stays_whole() -> None:
    made = directory()
    one = strict(made, B, P, Q)
    other = strict(made, B, P, Q)
    third = create(made, A)
    report(made, {third: (2_000, "z")}, times=SMOOTH)
    tie(made, C, 50, third, other)
    assert Clusters(made.state).of(one) == tuple(sorted((one, other, third)))
    settle(made)
    assert owners(made, one, other, third) == {A}


def test_a_strict_component_alone_is_no_cluster() -> None:
    made = directory()
    groups = [strict(made, B, P, Q, R) for _ in range(3)]
    tie(made, C, 50, *groups)
    assert Clusters(made.state).several() == []


def test_nothing_is_brought_to_a_node_that_drains_and_what_moves_is_left_alone() -> None:
    made = directory()
    groups = [create(made, by) for by in (A, B, C)]
    report(made, {groups[0]: (900, "z")}, times=SMOOTH)
    tie(made, B, 20, *groups)
    begin(made, (groups[2],), B)
    made.apply(Drain(1, "a", True), A)
    planned = plan_balance(made)
    assert {move.target for move in planned} <= {B, C}
    assert all(groups[2] not in move.groups for move in planned)


def test_what_has_been_moved_rests_before_it_is_brought_together() -> None:
    made = directory()
    groups = [create(made, by) for by in (A, B)]
    report(made, {groups[0]: (900, "z")}, times=SMOOTH)
    made.state.loads.rest(groups[1], "plan")
    tie(made, B, 20, *groups)
    assert plan_balance(made) == []


turns = st.lists(
    st.tuples(st.integers(1, 25), st.integers(1, 25), st.integers(0, 20_000_000)), max_size=12
)


@settings(max_examples=60, deadline=None)
@given(traffics, turns)
def test_whatever_the_loads_and_ties_the_moves_come_to_an_end(
    given_groups: list[tuple[Address, int, str]], tied: list[tuple[int, int, int]]
) -> None:
    made = directory()
    traffic = {create(made, owner): (count, sender) for owner, count, sender in given_groups}
    ties = {(one, other): rate for one, other, rate in tied if one < other}
    said = ReportTies(tuple(Tie(one, other, rate) for (one, other), rate in ties.items()))
    for _ in range(SMOOTH):
        made.apply(said, B)
    moves = rounds_until_rest(made, traffic)
    assert all(count <= 6 for count in moves.values())
    for cluster in Clusters(made.state).several():
        assert len(owners(made, *cluster)) == 1
