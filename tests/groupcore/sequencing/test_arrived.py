"""A node that has yet to take the state is given no groups: nobody waits for what it numbers."""

from __future__ import annotations

import pytest

from groupcore.sequencing.commands import Arrived, Move
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import MoveBegan, StreamEnded
from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.placement import plan_balance
from groupcore.view import Address
from tests.groupcore.sequencing.directories import (
    NODES,
    A,
    B,
    C,
    D,
    create,
    directory,
    end,
    load,
    only,
    refusal,
    view,
)
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.test_resuming import Cluster

ANSWERED_ROUNDS = 150
"""Rounds in which a quorum without the joiner answers: some 0.2 s of the world's time."""


def joined() -> Directory:
    """A, B and C, and D that takes their state."""
    made = directory()
    made.on_view(view(2, *NODES), [], [D])
    return made


def test_new_groups_and_those_of_a_lost_node_go_to_nodes_with_the_state() -> None:
    made = joined()
    groups = [create(made, D) for _ in range(20)] + [create(made, A) for _ in range(60)]
    assert D not in {made.owner_of(group) for group in groups}
    made.on_view(view(3, B, C, D), [A], [D])
    ended = only(end(made, A, holder=B), StreamEnded)
    assert set(ended.owners) == {B, C}


def test_a_node_that_has_arrived_is_given_groups() -> None:
    made = joined()
    for _ in range(60):
        create(made, A)
    made.apply(Arrived(), D)
    assert made.owner_of(create(made, D)) == D
    made.on_view(view(3, B, C, D), [A], [D])  # it has not stored the state yet, and works
    assert set(only(end(made, A, holder=B), StreamEnded).owners) == {B, C, D}


def test_no_move_goes_to_a_node_without_the_state() -> None:
    made = joined()
    group = create(made, A)
    assert refusal(made.apply(Move(3, (group,), D, "plan"), A)) == "arriving"
    load(made, A, **{f"g{create(made, A)}": 50_000 for _ in range(6)})
    assert D not in {move.target for move in plan_balance(made)}
    made.apply(Arrived(), D)
    assert only(made.apply(Move(3, (group,), D, "plan"), A), MoveBegan).target == D


def test_where_nobody_else_is_left_they_are_given_to_whom_there_is() -> None:
    made = joined()
    group = create(made, A)
    made.on_view(view(3, D), [A, B, C], [])
    end(made, A, holder=D)
    assert made.owner_of(group) == D


def test_who_takes_the_state_is_in_snapshots() -> None:
    made, again = joined(), Directory()
    again.restore(made.snapshot())
    assert again.fingerprint() == made.fingerprint()
    assert again.state.candidates() == [A, B, C]
    made.on_view(view(3, A, B, C), [D])
    assert made.state.arriving == {}


def fingerprints(world: DurableWorld) -> set[str]:
    """Of the directories of all nodes."""
    return {host.service.plane.directory.fingerprint() for host in world.hosts.values()}


def test_a_log_says_who_took_the_state_in_each_view() -> None:
    cluster = Cluster()
    cluster.until_given(0.3)
    b = cluster.world["b"]
    known = b.service.plane.directory
    assert [node.name for node in known.state.arriving] == ["d"]
    again = b.make_service(Address("b", 9), cluster.world.options).plane.directory
    assert again.fingerprint() == known.fingerprint()


def answered(cluster: Cluster) -> bool:
    """Whether all that is said in each group comes back, though d has not got the state."""
    given = cluster.world["c"].given
    before = {group: len(given[cluster.process, group]) for group in cluster.groups}
    for group in cluster.groups:
        cluster.say(group)
    cluster.world.run(ANSWERED_ROUNDS)
    assert not cluster.world["d"].service.plane.ready, "the state would still be on its way"
    return all(len(given[cluster.process, group]) > before[group] for group in cluster.groups)


def test_people_wait_for_no_joiner_when_its_giver_dies() -> None:
    cluster = Cluster()
    assert cluster.until_given(0.4) == "a"
    cluster.silent.add("d")  # as if the rest took long
    cluster.world.crash("a")
    assert answered(cluster)
    cluster.silent.clear()
    cluster.ends()
    assert len(fingerprints(cluster.world)) == 1
    assert not cluster.world["d"].service.plane.directory.state.arriving


def test_the_planted_bug_that_gives_groups_to_a_joiner_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def everybody(state: DirectoryState) -> list[Address]:
        assert state.view is not None
        return sorted(state.view.members)

    monkeypatch.setattr(DirectoryState, "candidates", everybody)
    cluster = Cluster()
    cluster.until_given(0.4)
    cluster.silent.add("d")
    cluster.world.crash("a")
    assert not answered(cluster)
