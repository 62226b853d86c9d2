"""An audit goes on where the last one has ended, and comes to what a whole one comes to."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from groupcore.trace import FRAME_STAMPS
from tests.pipeline.cluster import Cluster
from tests.pipeline.faults import before_its_cause
from tests.pipeline.growing import Growing, Rows, divided, numbered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def rows() -> Rows:
    """A cluster whose groups move, whose processes come and go, and of which a node fails."""
    cluster = Cluster(7)
    cluster.run(400)
    cluster.fail("n1#1")
    cluster.run(200, changes=False)
    return numbered(cluster)


def test_it_goes_on_where_it_was_and_comes_to_the_same(
    spark: SparkSession, tmp_path: Path, rows: Rows
) -> None:
    growing = Growing(spark, tmp_path)
    judged, wholes = [], []
    for part in divided(rows, 3):
        growing.add(part)
        audited, whole = growing.audit()
        assert audited.clean, audited.violations.collect()
        judged.append(sum(one.rows for one in audited.ranges.values()))
        wholes.append(whole)
    assert wholes == [True, False, False]
    assert judged[0] < judged[1] < judged[2] == len(rows["delivery"])
    once, _ = growing.audit(whole=True)
    assert (once.clean, once.ranges, once.held) == (True, audited.ranges, 0)


def test_what_is_new_is_held_against_what_was_judged(spark: SparkSession, tmp_path: Path) -> None:
    cluster = Cluster(2)
    cluster.run(500, changes=False)
    rows = numbered(cluster)
    broken = {kind: [dict(row) for row in of_kind] for kind, of_kind in rows.items()}
    expected = before_its_cause(broken, random.Random(1))
    for row in broken["delivery"]:
        row["off"] = row["dno"] - 1
    growing = Growing(spark, tmp_path)
    # Everything up to between the two that have changed places is judged first.
    (node, dno), cut = changed(rows, broken)
    first: Rows = {}
    rest: Rows = {}
    for kind, of_kind in broken.items():
        for row in of_kind:
            late = kind == "delivery" and row["node"] == node and row["dno"] >= dno
            (rest if late else first).setdefault(kind, []).append(row)
    assert cut[0] == node
    growing.add(first)
    audited, _ = growing.audit()
    assert audited.clean
    growing.add(rest)
    audited, whole = growing.audit()
    assert whole
    assert Counter({rule: n for rule, n in audited.counts.items() if n}) == expected


def changed(rows: Rows, broken: Rows) -> tuple[tuple[str, int], tuple[str, int]]:
    """The second of the two neighbours that have changed places, and the first."""
    pairs = [
        (new["node"], new["dno"])
        for old, new in zip(rows["delivery"], broken["delivery"], strict=True)
        if old["lseq"] // FRAME_STAMPS != new["lseq"] // FRAME_STAMPS or old["gid"] != new["gid"]
    ]
    assert len(pairs) == 2
    return max(pairs, key=lambda pair: pair[1]), min(pairs, key=lambda pair: pair[1])
