"""Rows 28 to 30 of the fault matrix: groups that move, as they must, or as somebody wants."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest

from groupcore.context import Numbers
from groupcore.sequencing.commands import Move, Moved
from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.sequencer import Sequencer
from groupcore.sim.run import Verdict
from groupcore.sim.trace_groups import (
    GroupOwned,
)
from groupcore.view import Address
from tests.groupcore.sim.rows.playing_groups import (
    GroupPlay,
    delays_s,
    delivered_by_all,
    given,
    join,
    leave,
    longest_gap_s,
    members,
    moves,
    percentile,
    sequencers_of_components,
    traffic,
)

ALL = "a0 b0 c0"
PLACES = [("a0", 0), ("b0", 0), ("c0", 0)]


def owners(play: GroupPlay, groups: int) -> set[str]:
    """Who sequences these groups, as node a knows it."""
    return {play.owner(group) for group in range(groups)}


def test_row_28_groups_that_become_strongly_intersecting_get_one_sequencer() -> None:
    """Two processes that are in one group each join the other's, at once (the paper's race)."""
    before: set[str] = set()
    play = GroupPlay(
        members({0: "a0 b0", 1: "a1 c0"}),
        moves(1.6, "a", 0),
        moves(1.6, "b", 1, by="b"),
        traffic(2.5, 4.0, 0.004, [("a0", 0), ("a1", 1), ("b0", 0), ("c0", 1)]),
        traffic(2.99, 3.03, 0.0001, [("a0", 0), ("a1", 1)]),  # in any moment that one is open
        join(3.0, "b0", 1),
        join(3.0, "c0", 0),
        order=Order.STRICT,
    )
    play.at(2.9, lambda: before.update(owners(play, 2)))
    verdict = play.run()
    assert before == {"a", "b"}
    assert len(owners(play, 2)) == 1
    pair = frozenset(play.cluster.ids[group] for group in range(2))
    assert len(sequencers_of_components(verdict)[pair]) == 1  # from the JOIN that links them on
    one, other = given(verdict, "b0"), given(verdict, "c0")
    common = set(one) & set(other)
    assert {mid.group for mid in common} == pair
    assert len(common) > 300
    assert [mid for mid in one if mid in common] == [mid for mid in other if mid in common]


def test_row_28_several_pairs_become_strongly_intersecting_by_one_join() -> None:
    """The paper's footnote 2: G1 = {p, q}, G2 = {p, r}, G = {q, r}, and p joins G."""
    play = GroupPlay(
        members({0: "a0 b0", 1: "a0 c0", 2: "b0 c0"}),
        moves(1.6, "a", 0),
        moves(1.6, "b", 1),
        moves(1.6, "c", 2),
        traffic(2.5, 4.0, 0.004, [("a0", 0), ("a0", 1), ("b0", 2), ("c0", 2), ("b0", 0)]),
        traffic(2.99, 3.03, 0.0001, [("a0", 0), ("a0", 1), ("b0", 2)]),
        join(3.0, "a0", 2),
        groups=3,
        order=Order.STRICT,
    )
    before: set[str] = set()
    play.at(2.9, lambda: before.update(owners(play, 3)))
    verdict = play.run()
    assert before == {"a", "b", "c"}
    assert len(owners(play, 3)) == 1
    all_three = frozenset(play.cluster.ids[group] for group in range(3))
    assert len(sequencers_of_components(verdict)[all_three]) == 1
    for other in ("b0", "c0"):  # each is in two groups of the three with a0
        sides = given(verdict, "a0"), given(verdict, other)
        common = set(sides[0]) & set(sides[1])
        assert len({mid.group for mid in common}) == 2
        first, second = ([mid for mid in side if mid in common] for side in sides)
        assert first == second


def test_row_28_leaving_lets_groups_part_again() -> None:
    play = GroupPlay(
        members({0: "a0 b0", 1: "a0 b0"}),
        traffic(2.0, 5.0, 0.01, [("a0", 0), ("b0", 1)]),
        leave(3.0, "b0", 1),
        moves(3.5, "b", 0),
        moves(3.6, "c", 1),
        order=Order.STRICT,
    )
    together: set[str] = set()
    play.at(2.9, lambda: together.update(owners(play, 2)))
    play.run()
    assert len(together) == 1
    assert owners(play, 2) == {"b", "c"}


STEPS = (
    ("asked", Move, "c"),
    ("ordered", Move, "a"),
    ("ordered", Move, "b"),
    ("asked", Moved, "a"),
    ("ordered", Moved, "a"),
    ("ordered", Moved, "b"),
)
"""A migration from a to b that c has asked for: what happens where."""
QUICK = ((STEPS[1], "a"), (STEPS[3], "a"), (STEPS[5], "b"), (STEPS[5], "a"))
DEATHS = [
    pytest.param(*death, marks=() if death in QUICK else pytest.mark.slow)
    for death in product(STEPS, "abc")
]
CUTS = [pytest.param(step, marks=() if step == STEPS[3] else pytest.mark.slow) for step in STEPS]


def migration() -> GroupPlay:
    """It begins at 3 s, under traffic."""
    return GroupPlay(
        members({0: ALL, 1: ALL}),
        moves(1.6, "a", 0, 1),
        moves(3.0, "b", 0, 1, by="c"),
        traffic(2.6, 4.6, 0.01, [*PLACES, ("a0", 1), ("b0", 1), ("c0", 1)]),
        length_s=5.0,
    )


Switch = tuple[str, Address]
"""A sequencer suspends a group ("off"), resumes it after all ("on"), or takes it up ("own")."""


def switches(monkeypatch: pytest.MonkeyPatch) -> dict[GroupId, list[Switch]]:
    """What the sequencers do with each group that matters to a migration, as it happens."""
    found: dict[GroupId, list[Switch]] = {}
    suspend, unsuspend, own = Sequencer.suspend, Sequencer.unsuspend, Sequencer.own

    def note(what: str, sequencer: Sequencer, groups: Iterable[GroupId]) -> None:
        for group in groups:
            found.setdefault(group, []).append((what, sequencer._plane.me))

    def suspended(self: Sequencer, groups: tuple[GroupId, ...]) -> None:
        note("off", self, groups)
        suspend(self, groups)

    def unsuspended(self: Sequencer, groups: tuple[GroupId, ...]) -> None:
        note("on", self, groups)
        unsuspend(self, groups)

    def owns(self: Sequencer, last: dict[GroupId, int], behind: Numbers, cause: str) -> None:
        note("own", self, last)
        own(self, last, behind, cause)

    monkeypatch.setattr(Sequencer, "suspend", suspended)
    monkeypatch.setattr(Sequencer, "unsuspend", unsuspended)
    monkeypatch.setattr(Sequencer, "own", owns)
    return found


def check_switches(switched: dict[GroupId, list[Switch]], group: GroupId) -> int:
    """Each suspension ends: its source goes on after all, or somebody takes the group up.

    Gives how often it was suspended since the source of the migration has it.
    """
    off: Address | None = None
    times = 0
    source = next(node for _, node in switched[group] if node.name == "a")
    after = switched[group].index(("own", source))
    for what, node in switched[group][after:]:
        if what == "off":
            assert off is None, "suspended twice, and not resumed in between"
            off, times = node, times + 1
        elif what == "on":
            assert off == node, "resumed without having been suspended"
            off = None
        else:
            off = None
    assert off is None, "suspended for ever"
    return times


def check_epochs(verdict: Verdict, group: GroupId) -> None:
    """Each epoch of a group has one owner at most: who dies before it begins has never been one."""
    epochs = [r.epoch for r in verdict.trace.of(GroupOwned) if r.group == group]
    assert epochs == sorted(set(epochs))
    assert len(epochs) >= 2


@pytest.mark.parametrize(("step", "victim"), DEATHS)
def test_row_29_one_owner_is_left_whoever_dies_at_whichever_step_of_a_migration(
    step: tuple[str, type[Move] | type[Moved], str], victim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = migration()
    happened, kind, where = step
    crashed = play.on_command(2.9, happened, kind, where, play.crash(victim))
    switched = switches(monkeypatch)
    verdict = play.run()
    assert len(crashed) == 1
    survivors = [name for name in "abc" if name != victim]
    delivered_by_all(verdict, *survivors)
    for group in (play.cluster.ids[0], play.cluster.ids[1]):
        for name in survivors:
            assert longest_gap_s(verdict, name, 2.6, 4.6, group) <= 2
        check_epochs(verdict, group)
        check_switches(switched, group)


@pytest.mark.parametrize("step", CUTS)
def test_row_29_a_migration_ends_though_source_and_target_are_cut_off_from_each_other(
    step: tuple[str, type[Move] | type[Moved], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    play = migration()
    cuts = [play.on_command(2.9, *step, play.cut(ends[0], ends[1], 0.3)) for ends in ("ab", "ba")]
    switched = switches(monkeypatch)
    verdict = play.run()
    assert [len(cut) for cut in cuts] == [1, 1]
    delivered_by_all(verdict, "a", "b", "c")
    assert len(owners(play, 2)) == 1
    for group in (play.cluster.ids[0], play.cluster.ids[1]):
        for name in "abc":
            assert longest_gap_s(verdict, name, 2.6, 4.6, group) <= 2
        check_epochs(verdict, group)
        assert check_switches(switched, group) == 1


def test_row_30_a_storm_of_migrations_pauses_a_group_for_50_ms_at_most() -> None:
    """Twenty a second, over chains of intersections; nothing is lost, order is kept."""
    chains = {0: "a0 b0", 1: "b0 c0", 2: "c0 a1", 3: "a1 b1"}
    places = [(p, group) for group, ps in chains.items() for p in ps.split()]
    storm = [moves(2.0 + n * 0.05, "abc"[n % 3], n % 4, by="abc"[(n + 1) % 3]) for n in range(60)]
    play = GroupPlay(
        members(chains), traffic(1.8, 5.0, 0.005, places), storm, groups=4, length_s=6.0
    )
    verdict = play.run()
    assert len(verdict.trace.of(GroupOwned)) > 40
    assert percentile(list(delays_s(verdict).values()), 99) <= 0.05


def test_row_30_a_storm_of_migrations_of_strict_chains_keeps_their_order() -> None:
    chains = {0: "a0 b0", 1: "a0 b0 c0", 2: "b0 c0 a1", 3: "c0 a1"}
    places = [(p, group) for group, ps in chains.items() for p in ps.split()]
    storm = [
        moves(2.0 + n * 0.05, "abc"[n % 3], *range(4), by="abc"[(n + 1) % 3]) for n in range(60)
    ]
    play = GroupPlay(
        members(chains),
        traffic(1.8, 5.0, 0.01, places),
        storm,
        groups=4,
        order=Order.STRICT,
        length_s=6.0,
    )
    verdict = play.run()
    assert len(verdict.trace.of(GroupOwned)) > 40
    delivered_by_all(verdict, "a", "b", "c")
