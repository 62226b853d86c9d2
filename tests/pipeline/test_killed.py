"""A job that is killed between its output and its commit has neither lost nor doubled anything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.ingest import ingest
from pipeline.loading import days_to_load, load_days, newest_days
from pipeline.schemas import raw
from pipeline.store import Store
from tests.pipeline.cluster import Cluster
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
KILLED_AT = """
import os, signal, sys
from pipeline.store import Store
put = Store._put
def killed(store, snapshot):
    if snapshot.number == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return put(store, snapshot)
Store._put = killed
from pipeline.__main__ import main
sys.exit(main(sys.argv[2:]))
"""
"""`load`, and the process is killed when all is written and nothing of it counts yet."""


def load(killed_at: int, trace: Path, store: Path) -> int:
    """The exit code of a process that is killed at this commit."""
    words = ["load", "--trace", str(trace), "--out", str(store), "--master", "local[2]"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT, str(killed_at), *words, "--memory", "1g"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    return done.returncode


@pytest.mark.parametrize("commit", [1, 2])
def test_killed_before_a_commit(
    spark: SparkSession, tmp_path: Path, commit: int
) -> None:  # 1: of what was taken in; 2: of the load tables
    cluster = Cluster(3, nodes=2, groups=3, strict=1)
    cluster.run(150)
    rows = {kind: cluster.rows[kind] for kind in ("accept", "delivery", "frame", "membership")}
    write_segments(tmp_path / "trace", rows)
    store = Store(str(tmp_path / "store"))
    assert load(commit, tmp_path / "trace", tmp_path / "store") == -signal.SIGKILL
    left = {path.parent.name for path in (tmp_path / "store").rglob("_SUCCESS")}
    assert any(f"commit={commit:012d}" in str(p) for p in (tmp_path / "store").rglob("_SUCCESS"))
    assert (store.snapshot().number, bool(left)) == (commit - 1, True)

    ingest(spark, store, str(tmp_path / "trace"))
    snapshot = load_days(spark, store, store.snapshot())
    assert days_to_load(snapshot) == []
    for kind, of_kind in rows.items():
        taken = store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0))
        assert taken.count() == len(of_kind)
    groups, origins = newest_days(spark, store, snapshot, 1)
    messages = sum(row["count"] for row in rows["accept"])
    for table in (groups, origins):
        (total,) = table.selectExpr("sum(messages) as n").collect()
        assert total["n"] == messages
