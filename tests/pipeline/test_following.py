"""Jobs that follow a trace: what nodes complete is in the results, whatever day it is of."""

from __future__ import annotations

import threading
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from queue import Empty, Queue
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from pipeline.errors import PipelineError
from pipeline.following import again, trace_to_follow
from pipeline.jobs import audit as audit_job
from pipeline.jobs import load as load_job
from pipeline.loading import newest_days
from pipeline.running import Report
from pipeline.source import GrowthPartition, GrowthReader
from pipeline.store import Store
from tests.pipeline.cluster import Cluster
from tests.pipeline.growing import Rows, divided, numbered
from tests.pipeline.segments import write_segments

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOK_S = 1.0
WAIT_S = 1_800.0
"""What hangs ends with this; beside the other tests a job gets a small part of one core."""
COMMON = {"master": "", "memory": "", "partitions": 2, "json": True, "skip_damaged": False}
WINDOWS = {"since": None, "until": None, "window": 60, "output": None}
"""What `load` is asked for beside that."""


@pytest.fixture
def rows() -> Rows:
    cluster = Cluster(3, nodes=2, groups=3, strict=1)
    cluster.run(200)
    return numbered(cluster)


class Follower:
    """A job that follows a trace, in a thread; `said` are its results."""

    def __init__(
        self,
        job: ModuleType,
        spark: SparkSession,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        **own: object,
    ) -> None:
        self.trace, self.store = folder / "trace", Store(str(folder / "store"))
        self.stop = threading.Event()
        self.said: Queue[Mapping[str, Any]] = Queue()
        self.n = 0
        self._asked = Namespace(
            store=self.store.root, trace=str(self.trace), follow=True, every=0.1, **COMMON, **own
        )
        self._job = job
        self._pool = ThreadPoolExecutor(1)
        self.done: Future[int]
        monkeypatch.setattr(job, "spark_session", lambda *given: nullcontext(spark))
        monkeypatch.setattr(job, "stop_when_asked", lambda: self.stop)
        monkeypatch.setattr(Report, "result", lambda report, values: self.said.put(values))

    def write(self, rows: Rows) -> None:
        for kind, of_kind in rows.items():
            write_segments(self.trace, {kind: of_kind}, size=10_000, first=self.n)
        self.n += 1

    def start(self) -> None:
        self.stop.clear()
        self.done = self._pool.submit(self._job.run, self._asked)

    def result(self, **wanted: object) -> Mapping[str, Any]:
        """The next one that says this.

        While segments are written a batch may find some of them: then there is one more.
        """
        end_s = time.monotonic() + WAIT_S
        while not self.done.done() and time.monotonic() < end_s:
            with suppress(Empty):
                said = self.said.get(timeout=LOOK_S)
                if all(said[name] == value for name, value in wanted.items()):
                    return said
        pytest.fail(f"no result says {wanted}; the job: {self.done}")

    def end(self) -> int:
        """The exit code."""
        self.stop.set()
        return self.done.result(WAIT_S)


def test_load_is_computed_again_for_the_days_of_what_comes(
    spark: SparkSession, tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower(load_job, spark, tmp_path, monkeypatch, top=3, days=7, **WINDOWS)
    first, second = divided(rows, 2)
    follower.write(first)
    follower.start()
    try:
        assert follower.result()["computed"] == ["2026-11-22"]
        follower.write(second)
        assert follower.result(computed=["2026-11-22"])
        # A node that was cut off hands in what it has written the day before.
        late = {**rows["accept"][0], "node": "n9#1", "off": 0}
        late["t"] -= timedelta(days=1)
        follower.write({"accept": [late]})
        assert follower.result(computed=["2026-11-21", "2026-11-22"])
    finally:
        assert follower.end() == 0
    again_late = {**late, "off": 1}
    follower.write({"accept": [again_late]})  # while nobody looks
    follower.start()
    try:
        assert follower.result(computed=["2026-11-21", "2026-11-22"])
    finally:
        assert follower.end() == 0
    groups, *_ = newest_days(spark, follower.store, follower.store.snapshot(), 2)
    (total,) = groups.selectExpr("sum(messages) as n").collect()
    assert total["n"] == sum(row["count"] for row in (*rows["accept"], late, again_late))


def test_an_audit_says_what_is_broken_when_it_comes(
    spark: SparkSession,
    tmp_path: Path,
    rows: Rows,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = {"certificate": None, "key": None, "full": False, "limit": 10}
    follower = Follower(audit_job, spark, tmp_path, monkeypatch, **own)
    first, second = divided(rows, 2)
    wrong = [row for row in second["delivery"] if row["what"] == 0][-1]
    wrong["crc"] ^= 1
    follower.write(first)
    follower.start()
    try:
        assert (follower.result()["result"], capsys.readouterr().out) == ("kept", "")
        follower.write(second)
        assert follower.result(deliveries=len(rows["delivery"]))["violations"] == 1
        assert '"content"' in capsys.readouterr().out
    finally:
        assert follower.end() == audit_job.BROKEN


def test_what_ends_a_batch_ends_the_job(
    spark: SparkSession, tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    follower = Follower(load_job, spark, tmp_path, monkeypatch, top=3, days=7, **WINDOWS)
    follower.write({"accept": rows["accept"]})
    follower.start()
    follower.result()
    (written,) = write_segments(tmp_path, {"frame": rows["frame"][:1]}, first=9)
    whole = (tmp_path / written.path).read_bytes()
    (tmp_path / written.path).write_bytes(whole[:-8])
    (tmp_path / written.path).rename(follower.trace / written.path)
    with pytest.raises(PipelineError, match=written.path) as error:
        follower.done.result(WAIT_S)
    assert error.value.code == "damaged_segment"


def test_growth_is_how_far_each_log_is_complete(tmp_path: Path, rows: Rows) -> None:
    reader = GrowthReader(str(tmp_path))
    write_segments(tmp_path, {"accept": rows["accept"]}, size=20)
    first = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    write_segments(tmp_path, {"view": rows["view"]})
    second = reader.latestOffset(first, ReadAllAvailable())
    assert second.keys() - first.keys() == {"n0/view", "n1/view"}
    assert second["n0/accept"] == first["n0/accept"] == [1, -1 + -(-own(rows, "n0#1") // 20)]
    (partition,) = reader.partitions(first, second)
    assert isinstance(partition, GrowthPartition)
    assert {log: [epoch, n] for log, epoch, n in reader.read(partition)} == second


def own(rows: Rows, node: str) -> int:
    return sum(row["node"] == node for row in rows["accept"])


def test_a_step_is_begun_again_while_others_write() -> None:
    asked: list[int] = []

    def step(code: str, times: int) -> Callable[[], int]:
        def tried() -> int:
            asked.append(1)
            if len(asked) < times:
                raise PipelineError(code, "", "")
            return len(asked)

        return tried

    assert again(step("store_busy", 3)) == 3
    asked.clear()
    with pytest.raises(PipelineError):
        again(step("damaged_segment", 2))
    with pytest.raises(PipelineError, match="no trace"):
        trace_to_follow(None)
