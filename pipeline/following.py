"""Following a trace: a job is done again each time that nodes have completed segments.

Spark's structured streaming says when: its stream is how far the logs are complete, its checkpoint
lies in the store. What a batch does is what the job does without it, by the store's own positions.
So a batch that is done again, since the process was killed before Spark noted its end, finds
nothing new; and a segment that comes late, whatever day it is of, is new when it comes: nothing is
behind a watermark.
"""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from pipeline.errors import PipelineError
from pipeline.ingest import ingest
from pipeline.session import FEW_BYTES, suit
from pipeline.source import GrowthSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pipeline.store import Store

T = TypeVar("T")

TRIES_MAX: Final = 10
"""So often a step is begun again because another job has written to the store meanwhile."""
LOOK_S: Final = 0.5
"""How often it is looked whether the stream has failed."""


def add_follow_arguments(parser: ArgumentParser) -> None:
    """What a job takes that can follow a trace."""
    parser.add_argument(
        "--follow",
        action="store_true",
        help="go on with what nodes write to --trace, until SIGTERM or SIGINT",
    )
    parser.add_argument(
        "--every", type=float, default=10.0, help="seconds between looks at it (%(default)s)"
    )


def stop_when_asked() -> threading.Event:
    """What SIGTERM and SIGINT set from now on."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *given: stop.set())
    return stop


@dataclass(frozen=True)
class Following:
    """A job that follows a trace. `name`: of its checkpoint, one for each job of a store.

    `every_s`: the least time from the beginning of a batch to that of the next one.
    """

    spark: SparkSession
    store: Store
    trace: str
    name: str
    every_s: float
    skip_damaged: bool = False

    def run(self, work: Callable[[], object], stop: threading.Event) -> None:
        """Do `work` behind each batch until `stop` is set; a batch is finished then.

        Raises what has ended it: PipelineError as `ingest`, and what `work` raises.
        """
        self.spark.dataSource.register(GrowthSource)
        working = threading.Lock()
        failed: list[Exception] = []

        def on_batch(grown: DataFrame, number: int) -> None:
            if not working.acquire(blocking=False):
                raise InterruptedError("it is being stopped")
            try:
                self._do(grown, work)
            except Exception as error:
                failed.append(error)
                raise
            finally:
                working.release()

        query = (
            self.spark.readStream.format(GrowthSource.name())
            .option("trace", self.trace)
            .load()
            .writeStream.foreachBatch(on_batch)
            .option("checkpointLocation", f"{self.store.root}/checkpoint/{self.name}")
            .trigger(processingTime=f"{self.every_s:g} seconds")
            .start()
        )
        try:
            while query.isActive and not stop.wait(LOOK_S):
                pass
        finally:
            with working:
                asked = query.isActive
                query.stop()
        if failed:
            raise failed[0]
        error = query.exception()
        if error is not None and not asked:
            raise error

    def _do(self, grown: DataFrame, work: Callable[[], object]) -> None:
        """Take in what a batch has, and work on it."""
        ends = {row["log"]: [row["epoch"], row["n"]] for row in grown.collect()}
        again(
            lambda: ingest(
                self.spark, self.store, self.trace, skip_damaged=self.skip_damaged, ends=ends
            )
        )
        suit(self.spark, few=self.store.is_small(self.store.snapshot(), FEW_BYTES))
        again(work)
        # What jobs keep in memory they keep for as long as they run.
        self.spark.catalog.clearCache()


def again(step: Callable[[], T]) -> T:
    """What a step returns, which is begun again while others write to the store."""
    for _ in range(TRIES_MAX - 1):
        try:
            return step()
        except PipelineError as error:
            if error.code != "store_busy":
                raise
    return step()


def trace_to_follow(trace: str | None) -> str:
    """The trace that is named. Raises PipelineError `no_trace` without one."""
    if not trace:
        raise PipelineError("no_trace", "There is no trace to follow.", "Name it with --trace.")
    return trace
