"""Load: what each sequencer, group and node carries in windows of time, and how long people wait.

Percentiles cannot be averaged, so windows carry KLL sketches beside them: of any set of windows the
sketches can be merged, and asked for any percentile.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.transforms.findings import frame_of

WINDOW_S: Final = 60
"""The windows' length, where nothing else is asked for."""

GROUP_LOAD: Final = (
    "w_start timestamp, sequencer string, gid bigint, messages bigint, bytes bigint, runs bigint,"
    " senders bigint, nodes bigint, load_us double, window_s int"
)
"""Columns of `group_load`; in earlier tables `window_s` is null."""
ORIGIN: Final = "gid bigint, sender string, messages bigint, runs bigint"
"""Columns of `origins`; `runs` is null in tables of before it was counted."""
ROUND: Final = (
    "w_start timestamp, node string, sequencer string, near boolean, bucket int, queue int,"
    " runs bigint"
)
"""Columns of `rounds`; in earlier tables `sequencer` and `queue` are null."""
BUSY: Final = "w_start timestamp, node string, seconds double, cpu_us bigint"
"""Columns of `busy`."""
BUCKETS: Final = 8
"""Buckets of `rounds` for each doubling: two of one bucket differ by 9 % at most."""

_PERCENTILES: Final = (50, 95, 99)

MESSAGE_NS, FAN_OUT_NS, KILOBYTE_NS = 1_000, 500, 400
"""The weights of decision 0019; a test holds them equal to the directory's."""


def group_load(accepts: DataFrame, fan_out: DataFrame, window_s: int = WINDOW_S) -> DataFrame:
    """w_start, sequencer, gid, messages, bytes, runs, senders, nodes, load_us, window_s.

    `fan_out`: gid, nodes (as of `group_nodes`). `load_us`: us of processor time a second at the
    sequencer, by the formula of decision 0019.
    """
    per = accepts.groupBy(_start(window_s), F.col("node").alias("sequencer"), "gid").agg(
        F.sum("count").alias("messages"),
        F.sum("bytes").alias("bytes"),
        F.count("*").alias("runs"),
        F.countDistinct("sender").alias("senders"),
    )
    joined = per.join(fan_out, "gid", "left").na.fill(0, ["nodes"])
    return joined.select(
        "w_start",
        "sequencer",
        "gid",
        "messages",
        "bytes",
        "runs",
        "senders",
        "nodes",
        load_us("messages", "bytes", "nodes", window_s).alias("load_us"),
        F.lit(window_s).cast("int").alias("window_s"),
    )


def _start(window_s: int) -> Column:
    """The beginning of the window that a row is in."""
    return F.window("t", f"{window_s} seconds")["start"].alias("w_start")


def load_us(messages: str, size: str, nodes: str, window_s: int) -> Column:
    """The load formula over a window of so many seconds: us a second."""
    weight = F.lit(MESSAGE_NS) + F.col(nodes) * FAN_OUT_NS
    total_ns = F.col(messages) * weight + F.col(size) * KILOBYTE_NS / 1024
    return total_ns / 1000 / window_s


def group_nodes(membership: DataFrame) -> DataFrame:
    """gid, nodes: how many nodes have taken the group's state and not released it."""
    turns = membership.where(F.col("op").isin("state", "released"))
    last = turns.groupBy("gid", "node").agg(F.max_by("op", F.struct("dno", "off")).alias("op"))
    return last.where(F.col("op") == "state").groupBy("gid").agg(F.count("*").alias("nodes"))


def sequencer_load(frames: DataFrame, window_s: int = WINDOW_S) -> DataFrame:
    """w_start, sequencer, frames, messages, bytes, queue_us_p50, _p95, _p99, queue_kll."""
    return frames.groupBy(_start(window_s), F.col("node").alias("sequencer")).agg(
        F.count("*").alias("frames"),
        F.sum("messages").alias("messages"),
        F.sum("bytes").alias("bytes"),
        *_percentiles("queue_us"),
        F.expr("kll_sketch_agg_bigint(queue_us)").alias("queue_kll"),
    )


def latency(deliveries: DataFrame, accepts: DataFrame, window_s: int = WINDOW_S) -> DataFrame:
    """w_start, node, deliveries, delay_us_p50, _p95, _p99, delay_kll: from number to delivery.

    Only at the node that gave the number: two nodes' clocks are never compared.
    """
    own = deliveries.where(F.col("node") == F.col("sequencer")).select(
        "node", "lseq", F.col("t").alias("given")
    )
    both = own.join(accepts.select("node", "lseq", "t"), ["node", "lseq"])
    delay = both.withColumn("delay_us", F.unix_micros("given") - F.unix_micros("t"))
    return delay.groupBy(_start(window_s), "node").agg(
        F.count("*").alias("deliveries"),
        *_percentiles("delay_us"),
        F.expr("kll_sketch_agg_bigint(delay_us)").alias("delay_kll"),
    )


def rounds(deliveries: DataFrame, frames: DataFrame, window_s: int = WINDOW_S) -> DataFrame:
    """w_start, node, sequencer, near, bucket, queue, runs: from sending to one's own delivery.

    `node` (its id) is the sender's, which has timed it; `near`: it has sequenced it, too. A bucket
    b is of times from 2^(b / BUCKETS) us on: counts of any windows and nodes may be added, and
    weighed, which percentiles may not. `queue`: the bucket of what the run has waited within that
    at `sequencer` (an id) for its number, by its frame; null where that is not known.
    """
    waited = frames.select(F.col("node").alias("by"), "frame", "queue_us")
    own = deliveries.where(F.col("round_us").isNotNull()).select(
        "t", "node", F.col("sequencer").alias("by"), frame_of("lseq").alias("frame"), "round_us"
    )
    timed = own.join(waited, ["by", "frame"], "left")
    return timed.groupBy(
        _start(window_s),
        F.substring_index("node", "#", 1).alias("node"),
        F.substring_index("by", "#", 1).alias("sequencer"),
        (F.col("node") == F.col("by")).alias("near"),
        _bucket("round_us").alias("bucket"),
        _bucket("queue_us").alias("queue"),
    ).agg(F.count("*").alias("runs"))


def _bucket(column: str) -> Column:
    """The bucket of a time in us."""
    bucket = F.floor(F.log2(F.greatest(F.col(column), F.lit(1))) * BUCKETS).cast("int")
    return F.when(F.col(column).isNotNull(), bucket)


def busy(samples: DataFrame, window_s: int = WINDOW_S) -> DataFrame:
    """w_start, node (its id), seconds, cpu_us: what processor time the nodes took in how long."""
    told = samples.where(F.col("cpu_us").isNotNull())
    node = F.substring_index("node", "#", 1).alias("node")
    return told.groupBy(_start(window_s), node).agg(
        F.sum("seconds").alias("seconds"), F.sum("cpu_us").alias("cpu_us")
    )


def group_peaks(loads: DataFrame) -> DataFrame:
    """gid, load_us: the 95th percentile of its windows; what a plan counts with.

    A window in which nothing was sent has no row and counts as nothing: a group that is busy for
    one minute a day is no load for a plan.
    """
    span = loads.agg((F.count_distinct("w_start")).alias("windows"))
    per = loads.groupBy("gid").agg(F.sort_array(F.collect_list("load_us"), asc=False).alias("high"))
    # Of n windows the one that is exceeded by one in twenty.
    place = F.floor(F.col("windows") / 20).cast("int")
    return per.crossJoin(F.broadcast(span)).select(
        "gid", F.coalesce(F.get("high", place), F.lit(0.0)).alias("load_us")
    )


def hot_senders(accepts: DataFrame, count: int) -> DataFrame:
    """sender, messages, bytes, groups: who sends most."""
    return (
        accepts.groupBy("sender")
        .agg(
            F.sum("count").alias("messages"),
            F.sum("bytes").alias("bytes"),
            F.countDistinct("gid").alias("groups"),
        )
        .orderBy(F.desc("messages"), "sender")
        .limit(count)
    )


def origins(accepts: DataFrame) -> DataFrame:
    """gid, sender, messages, runs: how much of a group's comes from which node (its id)."""
    return accepts.groupBy("gid", F.substring_index("sender", "#", 1).alias("sender")).agg(
        F.sum("count").alias("messages"), F.count("*").alias("runs")
    )


def main_senders(sent: DataFrame, share: float) -> DataFrame:
    """gid, sender: the id of the node whose processes send at least this share of a group's.

    `sent`: as of `origins`, of one day or several.
    """
    per = sent.groupBy("gid", "sender").agg(F.sum("messages").alias("messages"))
    most = per.groupBy("gid").agg(
        F.sum("messages").alias("all"), F.max(F.struct("messages", "sender")).alias("most")
    )
    return most.where(F.col("most.messages") >= share * F.col("all")).select(
        "gid", F.col("most.sender").alias("sender")
    )


def _percentiles(column: str) -> list[Column]:
    """Three percentiles, exact to one in 10,000."""
    return [
        F.percentile_approx(column, p / 100, 10_000).alias(f"{column}_p{p}") for p in _PERCENTILES
    ]
