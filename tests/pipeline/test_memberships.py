"""Memberships in one process: each step agrees with what its words say, and both ways with S2."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memberships
from pipeline.components import by_labels
from pipeline.memberships import Memberships, members

Rows = set[tuple[int, str]]
ROWS = st.sets(st.tuples(st.integers(0, 12), st.sampled_from("pqrstu")), max_size=40)
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 4), st.sampled_from("pqr"), st.booleans(), st.booleans(), st.integers(1, 3)
    ),
    max_size=30,
)


def made(rows: Rows) -> Memberships:
    """In no order."""
    some = list(rows)
    names = sorted({process for _, process in some}, reverse=True)
    return Memberships(
        np.array([gid for gid, _ in some], np.int64),
        np.array([names.index(process) for _, process in some], np.int64),
        pa.array(names, pa.string()),
    )


def rows_of(found: Memberships) -> Rows:
    """As they were given."""
    names = [name.as_py() for name in found.names]
    return {(gid, names[at]) for gid, at in zip(found.gid.tolist(), found.process, strict=True)}


def obvious_pairs(rows: Rows) -> set[tuple[int, int]]:
    """Groups with two or more common processes."""
    groups: dict[int, set[str]] = defaultdict(set)
    for gid, process in rows:
        groups[gid].add(process)
    return {(a, b) for a, b in combinations(sorted(groups), 2) if len(groups[a] & groups[b]) > 1}


def labels(a: list[int], b: list[int]) -> dict[int, int]:
    """The least vertex of each component."""
    gids, least = by_labels(np.array(a, np.int64), np.array(b, np.int64))
    return dict(zip(gids.tolist(), least.tolist(), strict=True))


@given(ROWS)
def test_both_ways_find_the_components_of_strong_intersection(rows: Rows) -> None:
    matter = made(rows).that_matter()
    assert rows_of(matter) <= rows
    pairs = obvious_pairs(rows)
    a, b = matter.strong_pairs()
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == pairs
    wanted = labels(*([pair[i] for pair in pairs] for i in (0, 1)))
    stars = matter.star_edges()
    assert labels(*(side.tolist() for side in stars)) == wanted
    assert matter.costs()["primal"] == len(memberships._pairs(matter.process, matter.gid)[0])
    assert matter.costs()["dual"] == len(memberships._pairs(matter.gid, matter.process)[0])


@given(ROWS, st.integers(0, 5))
def test_who_is_in_more_groups_only_watches(rows: Rows, groups_max: int) -> None:
    counts: dict[str, int] = defaultdict(int)
    for _, process in rows:
        counts[process] += 1
    left, watching = made(rows).observers(groups_max)
    assert watching == {name: n for name, n in counts.items() if n > groups_max}
    assert rows_of(left) == {row for row in rows if row[1] not in watching}


@given(CHANGES, st.sets(st.integers(0, 4)))
def test_members_are_who_joined_last(
    changes: list[tuple[int, str, bool, bool, int]], strict: set[int]
) -> None:
    now: dict[tuple[int, str], tuple[tuple[int, int], bool, bool]] = {}
    for seq, (gid, process, joins, observes, epoch) in enumerate(changes):
        place, _, _ = now.get((gid, process), ((0, 0), False, False))
        if (epoch, seq) > place:
            now[gid, process] = (epoch, seq), joins, observes
    table = pa.table(
        {
            "gid": pa.array([one[0] for one in changes], pa.int64()),
            "process": pa.array([one[1] for one in changes], pa.string()),
            "joins": pa.array([one[2] for one in changes], pa.bool_()),
            "observes": pa.array([one[3] for one in changes], pa.bool_()),
            "epoch": pa.array([one[4] for one in changes], pa.int64()),
            "seq": pa.array(range(len(changes)), pa.int64()),
        }
    )
    found, declared = members(table, strict)
    inside = {at: sees for at, (_, joins, sees) in now.items() if joins and at[0] in strict}
    assert rows_of(found) == {at for at, sees in inside.items() if not sees}
    assert declared == len({process for (_, process), sees in inside.items() if sees})
    own = {gid: {name for at, name in rows_of(found) if at == gid} for gid, _ in rows_of(found)}
    assert found.of(np.array(sorted(strict), np.int64)) == own
