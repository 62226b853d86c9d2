"""Observers: in as many strict groups as they like, and none of these fuse on their account."""

from __future__ import annotations

import pytest
from msgpack import packb, unpackb

from groupcore.sequencing.commands import DeleteGroup, EnterStrict, ExitStrict, ObserveStrict
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import EntryAllowed
from groupcore.sequencing.directory_snapshot import BEFORE_OBSERVERS, BEFORE_TENURES
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.placement_options import PlacementOptions
from tests.groupcore.sequencing.directories import (
    NODES,
    A,
    B,
    C,
    D,
    P,
    Q,
    R,
    S,
    create,
    directory,
    refusal,
    strict,
    view,
)
from tests.groupcore.sequencing.world import World

BOT, ARCHIVER = Process(C, 100), Process(D, 101)


def town(count: int, options: PlacementOptions | None = None) -> tuple[Directory, list[GroupId]]:
    """Strict groups at three sequencers, each with two members of its own."""
    made = directory(*NODES, options=options or PlacementOptions())
    groups = []
    for number in range(count):
        pair = (Process(A, 10 + number), Process(B, 10 + number))
        groups.append(strict(made, (A, B, C)[number % 3], *pair))
    return made, groups


def test_two_observers_of_all_groups_fuse_none() -> None:
    made, groups = town(9, PlacementOptions(strict_groups_max=4))
    owners = [made.owner_of(group) for group in groups]
    for watcher in (BOT, ARCHIVER):
        for request, group in enumerate(groups):
            command = ObserveStrict(request, group, watcher)
            allowed = EntryAllowed(group, watcher, watcher.node, request)
            assert made.apply(command, watcher.node) == [allowed]  # however many there are
            assert made.has_entered(watcher, group, request)
    assert made.state.overlap.components() == []
    assert not made.moves
    assert [made.owner_of(group) for group in groups] == owners


def test_two_who_do_not_say_so_fuse_all_groups_until_there_are_too_many() -> None:
    made, groups = town(9, PlacementOptions(strict_groups_max=4))
    for watcher in (BOT, ARCHIVER):
        for request, group in enumerate(groups[:4]):
            made.apply(EnterStrict(request, group, watcher), watcher.node)
    assert made.state.overlap.components() == [tuple(groups[:4])]
    assert made.moves
    again = made.apply(EnterStrict(9, groups[4], BOT), C)
    assert refusal(again) == "too_many_strict_groups"


def test_who_observes_one_group_counts_in_the_others() -> None:
    made = directory(*NODES)
    one, two, three = strict(made, A, P, Q), strict(made, A, Q), strict(made, A, P, Q)
    made.apply(ObserveStrict(5, two, P), P.node)
    assert made.component(one) == (one, three)
    assert made.component(two) == (two,)


def test_an_observer_that_leaves_may_come_back_as_a_member() -> None:
    made = directory(*NODES)
    one, two = strict(made, A, P, Q), strict(made, A, Q)
    made.apply(ObserveStrict(5, two, P), P.node)
    made.apply(ExitStrict(two, P), P.node)
    assert not made.has_entered(P, two, 5)
    made.apply(EnterStrict(6, two, P), P.node)
    assert made.component(one) == (one, two)
    # Who counts goes on counting, whatever is said behind that.
    assert made.has_entered(P, two, 6)
    assert EntryAllowed(two, P, P.node, 7) in made.apply(ObserveStrict(7, two, P), P.node)
    assert made.component(one) == (one, two)
    assert made.state.observers.entries() == []


def test_observers_go_with_their_nodes_and_their_groups() -> None:
    made = directory(*NODES)
    one, two = strict(made, A, R), strict(made, B, S)
    for group in (one, two):
        made.apply(ObserveStrict(5, group, ARCHIVER), D)
        made.apply(ObserveStrict(6, group, BOT), C)
    made.on_view(view(2, A, B, C), [D])
    assert made.state.observers.entries() == [(BOT, [(one, 6), (two, 6)])]
    made.apply(ExitStrict(one, R), R.node)
    made.apply(DeleteGroup(7, one), A)
    assert made.state.observers.entries() == [(BOT, [(two, 6)])]


def test_what_cannot_be_observed_is_refused() -> None:
    made = directory(*NODES)
    causal = create(made)
    assert refusal(made.apply(ObserveStrict(1, 99, P), A)) == "unknown_group"
    assert refusal(made.apply(ObserveStrict(1, causal, P), A)) == "bad_order"
    group = strict(made, A)
    gone = Process(D._replace(incarnation=77), 1)
    assert refusal(made.apply(ObserveStrict(1, group, gone), A)) == "unknown_node"


OVERLAP = 11
"""Where a snapshot has who is in which strict groups."""


def test_a_snapshot_of_a_former_version_is_read() -> None:
    made = directory(*NODES)
    strict(made, A, P, Q)
    value = unpackb(made.snapshot(), raw=False)
    for row in value[OVERLAP]:
        row[2] = [group for group, _ in row[2]]
    assert value.pop() == [], "arriving"
    assert value.pop() == [], "tenures"
    value[0] = BEFORE_TENURES
    again = Directory()
    again.restore(packb(value))
    assert again.component(1) == made.component(1)
    assert value.pop() == [], "observers"
    value[0] = BEFORE_OBSERVERS
    older = Directory()
    older.restore(packb(value))
    assert older.snapshot() == again.snapshot()


# --- on nodes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_observers_are_given_each_group_s_order_while_all_stay_where_they_are(seed: int) -> None:
    """Two observers, at nodes that sequence themselves, are in all groups of three sequencers."""
    world = World("abc", seed)
    groups = [world.create(f"group {node}", Order.STRICT) for node in "abc"]
    world.run(50)
    for group, node in zip(groups, "abc", strict=True):
        world.move(group, node)
    world.run(50)
    watchers = [world.open("a"), world.open("b")]
    for watcher in watchers:
        for group in groups:
            world.join(watcher, group, observes=True)
    members = {group: [world.open("a"), world.open("c")] for group in groups}
    for group, pair in members.items():
        for process in pair:
            world.join(process, group)
    for turn in range(20):
        for group in groups:
            sender = (*members[group], *watchers)[turn % 4]
            world.send(sender, group, b"%d.%d" % (group, turn))
        world.run(turn % 3)
    world.run(300)
    assert [world.own(group) for group in groups] == list("abc")
    for group in groups:
        logs = [
            [payload for at, payload in world.hosts[process.node].log[process] if at == group]
            for process in (*members[group], *watchers)
        ]
        assert len(logs[0]) == 20
        assert all(log == logs[0] for log in logs), group
    # The same two as members bring all three to one sequencer.
    for watcher in watchers:
        for group in groups:
            world[watcher.node.name].service.leave(watcher, group, world.now)
    world.run(100)
    for watcher in watchers:
        for group in groups:
            world.join(watcher, group)
    assert len({world.own(group) for group in groups}) == 1
