"""Overlap: both ways to the edges, and both through them, agree with the definition."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.articulation import articulations
from pipeline.components import by_labels, by_stars, components
from pipeline.overlap import find_overlap
from pipeline.transforms import overlap

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Edges = list[tuple[int, int]]


def obvious_components(edges: Edges) -> dict[int, int]:
    """By walking."""
    near: dict[int, set[int]] = defaultdict(set)
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    found: dict[int, int] = {}
    for start in sorted(near):
        todo = [start] if start not in found else []
        while todo:
            vertex = todo.pop()
            if vertex not in found:
                found[vertex] = start
                todo += near[vertex]
    return found


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=60))
def test_labels_are_the_smallest_of_each_component(edges: Edges) -> None:
    a, b = (np.array([edge[i] for edge in edges], dtype=np.int64) for i in (0, 1))
    vertices, labels = by_labels(a, b)
    assert dict(zip(vertices.tolist(), labels.tolist(), strict=True)) == obvious_components(edges)


def test_a_long_chain_is_one_component() -> None:
    order = np.random.default_rng(1).permutation(20_000)
    _, labels = by_labels(order[:-1], order[1:])
    assert set(labels.tolist()) == {0}


def memberships(seed: int) -> list[tuple[int, str]]:
    """Many small teams that share people, and a process that is in most groups."""
    draw = random.Random(seed)
    rows = set()
    for gid in range(60):
        team = draw.randrange(25)
        for _ in range(draw.randint(1, 5)):
            rows.add((gid, f"p{team * 3 + draw.randrange(5)}"))
        if draw.random() < 0.3:
            rows.add((gid, "hub"))
    return sorted(rows)


def obvious_pairs(rows: list[tuple[int, str]]) -> dict[tuple[int, int], int]:
    """Common processes of each pair of groups with two or more."""
    groups: dict[int, set[str]] = defaultdict(set)
    for gid, process in rows:
        groups[gid].add(process)
    counts = {(a, b): len(groups[a] & groups[b]) for a, b in combinations(sorted(groups), 2)}
    return {pair: n for pair, n in counts.items() if n > 1}


def test_both_ways_find_the_components_of_strong_intersection(spark: SparkSession) -> None:
    rows = memberships(3)
    frame = overlap.that_matter(spark.createDataFrame(rows, "gid bigint, process string"))
    pairs = obvious_pairs(rows)
    found = overlap.strong_pairs(frame).collect()
    assert {(row["a"], row["b"]): row["common"] for row in found} == pairs
    wanted = obvious_components(list(pairs))
    stars = overlap.star_edges(frame)
    labelled = {row["gid"]: row["component"] for row in components(stars).collect()}
    assert labelled == wanted
    primal = by_stars(overlap.strong_pairs(frame))
    assert {row["gid"]: row["component"] for row in primal.collect()} == wanted


def test_what_one_process_holds_it_finds_as_joins_of_any_size_do(spark: SparkSession) -> None:
    draw = random.Random(5)
    joined = [(gid, process, draw.random() < 0.1) for gid, process in memberships(4)]
    changes = [
        (gid, process, "join", 1, at, sees) for at, (gid, process, sees) in enumerate(joined)
    ]
    gone = draw.sample(changes, 30)
    changes += [(gid, process, "leave", 1, 1000, sees) for gid, process, _, _, _, sees in gone]
    changes += [(gid, process, "join", 2, 0, False) for gid, process, *_ in gone[:10]]
    raw = "gid bigint, process string, op string, epoch bigint, seq bigint, observes boolean"
    membership = spark.createDataFrame(changes, raw)
    promises = [(gid, "strict" if gid % 7 else "causal") for gid in range(60)]
    groups = spark.createDataFrame(promises, "gid bigint, promise string")
    here, there = (find_overlap(membership, groups, 12, driver_changes_max=n) for n in (1000, 0))
    found = [one.components.collect() for one in (here, there)]
    labels = [{row["gid"]: row["component"] for row in rows} for rows in found]
    assert labels[0] == labels[1]
    assert len(set(labels[0].values())) > 2
    assert set(here.observers) == {"hub"}
    for name in ("observers", "declared", "way"):
        assert getattr(here, name) == getattr(there, name), name
    names = sorted(set(labels[0].values()))
    for rows_max in (6, 10_000):
        assert here.members_of(names, rows_max) == there.members_of(names, rows_max)
    assert len(here.members_of(names, 6)) < len(names) == len(here.members_of(names, 10_000))


def test_costs_are_the_pairs_that_are_looked_at(spark: SparkSession) -> None:
    rows = [(1, "p"), (1, "q"), (1, "r"), (2, "p"), (2, "q"), (3, "p")]
    row = overlap.costs(spark.createDataFrame(rows, "gid bigint, process string")).first()
    assert row is not None
    assert (row["primal"], row["dual"]) == (3 + 1, 3 + 1)


def test_members_are_who_joined_last_and_observers_are_in_too_many(spark: SparkSession) -> None:
    changes = [
        (1, "p", "join", 1, 1, None),
        (1, "q", "join", 1, 2, False),
        (1, "q", "leave", 1, 3, False),
        (1, "r", "join", 1, 4, False),
        (1, "r", "gone", 1, 5, False),
        (1, "r", "join", 2, 6, False),
        (1, "s", "in", None, 4, None),
        (1, "bot", "join", 2, 7, True),
        (1, "back", "join", 2, 8, True),
        (1, "back", "leave", 2, 9, False),
        (1, "back", "join", 2, 10, False),
        (2, "p", "join", 1, 1, False),
    ]
    raw = "gid bigint, process string, op string, epoch bigint, seq bigint, observes boolean"
    found = overlap.members(spark.createDataFrame(changes, raw))
    rows = {(row["gid"], row["process"], row["observes"]) for row in found.collect()}
    assert rows == {
        (1, "p", False),
        (1, "r", False),
        (1, "bot", True),
        (1, "back", False),
        (2, "p", False),
    }
    assert [tuple(row) for row in overlap.observers(found, 1).collect()] == [("p", 2)]


def test_whose_leaving_would_part_groups() -> None:
    # p and q hold 1 and 2 together, p and r hold 2 and 3; 3 and 4 have three in common.
    members = {1: "pq", 2: "pqr", 3: "prst", 4: "rst"}
    found = {one.process: (one.parts, one.largest) for one in articulations(members)}
    assert found == {"p": (3, 2), "q": (2, 3), "r": (2, 2)}


@given(st.dictionaries(st.integers(0, 8), st.sets(st.sampled_from("pqrstu")), max_size=8))
def test_articulations_are_those_of_the_definition(members: dict[int, set[str]]) -> None:
    # One component only: that is what is asked about.
    rows = [(gid, process) for gid, own in members.items() for process in own]
    whole = obvious_components(list(obvious_pairs(rows)))
    chosen = (
        {gid for gid, label in whole.items() if label == min(whole.values())} if whole else set()
    )
    own = {gid: members[gid] for gid in chosen}
    expected = {}
    for process in "pqrstu":
        left = [(g, p) for g, ps in own.items() for p in ps if p != process]
        parts = obvious_components(list(obvious_pairs(left)))
        count = len(set(parts.values())) + len(own) - len(parts)
        if count > 1:
            expected[process] = count
    assert {one.process: one.parts for one in articulations(own)} == expected
