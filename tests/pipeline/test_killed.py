"""A job that is killed between its output and its commit has neither lost nor doubled anything.

The process that is killed is a Python of its own, which drives the tests' Java: a Java of its own
would take most of the time, and writes no commit.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipeline.ingest import ingest
from pipeline.jobs import audit as audit_job
from pipeline.loading import days_to_load, load_days, newest_days
from pipeline.schemas import raw
from pipeline.store import Store
from tests.pipeline.cluster import Cluster
from tests.pipeline.growing import Growing, divided, numbered
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
KILLED_AT = """
import os, signal, sys
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession
import pipeline.session
from pipeline.store import Store

def attached(options, name):
    gateway = launch_gateway()
    java = gateway.jvm.org.apache.spark
    context = java.api.java.JavaSparkContext.fromSparkContext(java.SparkContext.getOrCreate())
    conf = SparkConf(_jvm=gateway.jvm, _jconf=context.getConf())
    return SparkSession(SparkContext(gateway=gateway, jsc=context, conf=conf))

put = Store._put
def killed(store, snapshot):
    if snapshot.number == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    return put(store, snapshot)

pipeline.session.make_session = attached
Store._put = killed
from pipeline.__main__ import main
sys.exit(main(sys.argv[2:]))
"""
"""A job whose process is killed when all is written and nothing of it counts yet."""


def run_killed(spark: SparkSession, job: str, commit: int, trace: Path, store: Path) -> None:
    """Run a job in a process that is killed at this commit."""
    java = spark.sparkContext._gateway.gateway_parameters  # type: ignore[union-attr]
    words = [job, "--trace", str(trace), "--out", str(store), "--debug"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT, str(commit), *words],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYSPARK_GATEWAY_PORT": str(java.port),
            "PYSPARK_GATEWAY_SECRET": java.auth_token,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    written = [str(path) for path in store.rglob("*.parquet")]
    assert any(f"commit={commit:012d}" in path for path in written)
    assert Store(str(store)).snapshot().number == commit - 1


@pytest.mark.parametrize("commit", [1, 2])
def test_load_that_is_killed_before_a_commit(
    spark: SparkSession, tmp_path: Path, commit: int
) -> None:  # 1: of what was taken in; 2: of the load tables
    cluster = Cluster(3, nodes=2, groups=3, strict=1)
    cluster.run(150)
    rows = {kind: cluster.rows[kind] for kind in ("accept", "delivery", "frame", "membership")}
    write_segments(tmp_path / "trace", rows)
    store = Store(str(tmp_path / "store"))
    run_killed(spark, "load", commit, tmp_path / "trace", tmp_path / "store")

    ingest(spark, store, str(tmp_path / "trace"))
    snapshot = load_days(spark, store, store.snapshot())
    assert days_to_load(snapshot) == []
    for kind, of_kind in rows.items():
        taken = store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0))
        assert taken.count() == len(of_kind)
    loads = newest_days(spark, store, snapshot, 1)
    messages = sum(row["count"] for row in rows["accept"])
    for table in (loads.groups, loads.origins):
        (total,) = table.selectExpr("sum(messages) as n").collect()
        assert total["n"] == messages


def test_an_audit_that_goes_on_and_is_killed_before_its_commit(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster = Cluster(3, nodes=2, groups=3, strict=1)
    cluster.run(200)
    rows = numbered(cluster)
    first, second = divided(rows, 2)
    growing = Growing(spark, tmp_path)
    growing.add(first)
    audited, _ = growing.audit()
    assert (audited.clean, growing.store.snapshot().number) == (True, 2)
    growing.write(second)
    run_killed(spark, "audit", 4, growing.trace, tmp_path / "store")

    monkeypatch.setattr(audit_job, "spark_session", lambda *given: nullcontext(spark))
    common = {"master": "", "memory": "", "partitions": 2, "json": True, "skip_damaged": False}
    asked = Namespace(
        store=growing.store.root,
        trace=str(growing.trace),
        certificate=None,
        key=None,
        limit=10,
        full=False,
        follow=False,
        **common,
    )
    assert audit_job.run(asked) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["deliveries"], result["from_the_start"]) == (len(rows["delivery"]), False)
    for kind, of_kind in rows.items():
        parts = growing.store.snapshot().parts_since(kind, 0)
        assert growing.store.read(spark, kind, raw(kind), parts).count() == len(of_kind)
