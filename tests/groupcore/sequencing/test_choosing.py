"""Which node is given a new group, and how rendezvous spreads them."""

from __future__ import annotations

from collections import Counter

from groupcore.sequencing.choosing import score
from groupcore.sequencing.commands import DeleteGroup, Drain
from tests.groupcore.sequencing.directories import NODES, A, B, C, D, create, directory, load


def test_new_groups_stay_with_their_creator_while_that_is_within_the_bound() -> None:
    made = directory()
    owners = [made.owner_of(create(made, A)) for _ in range(10)]
    assert owners == [A] * 10
    load(made, A, g1=100_000)
    assert made.owner_of(create(made, A)) != A


def test_many_new_groups_of_one_node_are_spread() -> None:
    made = directory()
    owners = Counter(made.owner_of(create(made, A)) for _ in range(900))
    assert owners[A] < 420
    assert min(owners.values()) > 200


def test_nodes_that_carry_alike_are_chosen_by_rendezvous() -> None:
    made = directory(*NODES)
    made.apply(Drain(1, "a", True), B)
    for _ in range(10):
        group = create(made, A)
        assert made.owner_of(group) == max((B, C, D), key=lambda node: score(group, node.name))
        made.apply(DeleteGroup(1, group), A)


def test_rendezvous_spreads_evenly_and_moves_little_when_a_node_goes() -> None:
    names = "abcd"
    before = {g: max(names, key=lambda name: score(g, name)) for g in range(2000)}
    after = {g: max(names[:3], key=lambda name: score(g, name)) for g in range(2000)}
    counts = Counter(before.values())
    assert all(400 < counts[name] < 600 for name in names)
    assert all(after[group] == name for group, name in before.items() if name != "d")
