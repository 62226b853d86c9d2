"""Load in windows: the formula of the directory, percentiles that can be merged, who is hot."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.trace import TABLES
from pipeline.transforms import load

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = datetime(2026, 11, 22, 7, tzinfo=UTC)


def table(spark: SparkSession, kind: str, rows: list[dict[str, object]]) -> DataFrame:
    """Rows of a raw table; what is not given is null."""
    names = [column.name for column in TABLES[kind].columns]
    full = [tuple(row.get(name) for name in names) for row in rows]
    return spark.createDataFrame(full, TABLES[kind].ddl)


def accept(second: int, gid: int, sender: str, count: int, lseq: int = 1) -> dict[str, object]:
    t = T + timedelta(seconds=second)
    return {
        "node": "a#1",
        "t": t,
        "gid": gid,
        "count": count,
        "bytes": 1024 * count,
        "sender": sender,
        "lseq": lseq,
    }


def test_the_weights_are_those_of_the_directory() -> None:
    options = PlacementOptions()
    weights = (options.message_ns, options.fan_out_ns, options.kilobyte_ns)
    assert weights == (load.MESSAGE_NS, load.FAN_OUT_NS, load.KILOBYTE_NS)


def test_groups_are_counted_by_minute(spark: SparkSession) -> None:
    accepts = table(
        spark,
        "accept",
        [
            accept(1, 7, "a#1/1", 100),
            accept(59, 7, "b#1/2", 500),
            accept(60, 7, "b#1/2", 6),
            accept(61, 8, "a#1/1", 60),
        ],
    )
    turns = [("a#1", "state"), ("b#1", "state"), ("c#1", "state"), ("c#1", "released")]
    nodes = load.group_nodes(
        table(
            spark,
            "membership",
            [
                {"node": node, "off": i, "op": op, "gid": 7, "seq": 0, "dno": i}
                for i, (node, op) in enumerate(turns)
            ],
        )
    )
    per = load.group_load(accepts, nodes)
    rows = {(row["gid"], row["w_start"].minute): row for row in per.collect()}
    assert set(rows) == {(7, 0), (7, 1), (8, 1)}
    first = rows[7, 0]
    assert (first["messages"], first["runs"], first["senders"], first["nodes"]) == (600, 2, 2, 2)
    # 600 messages of 1 KiB to two nodes in a minute: 10 a second at 1 + 2 * 0.5 + 0.4 us.
    assert abs(first["load_us"] - 24.0) < 1e-9
    assert rows[8, 1]["nodes"] == 0
    peaks = {row["gid"]: row["load_us"] for row in load.group_peaks(per).collect()}
    assert abs(peaks[7] - 24.0) < 1e-9
    near = {
        row["gid"]: row["sender"] for row in load.main_senders(load.origins(accepts), 0.6).collect()
    }
    assert near == {7: "b", 8: "a"}
    hot = [tuple(row) for row in load.hot_senders(accepts, 1).collect()]
    assert hot == [("b#1/2", 506, 506 * 1024, 1)]


def test_waits_have_percentiles_and_sketches_that_merge(spark: SparkSession) -> None:
    frames = table(
        spark,
        "frame",
        [
            {
                "node": "a#1",
                "t": T + timedelta(seconds=i // 2),
                "messages": 1,
                "bytes": 10,
                "queue_us": i,
            }
            for i in range(200)
        ],
    )
    per = load.sequencer_load(frames).cache()
    rows = sorted(per.collect(), key=lambda row: row["w_start"])
    assert [(row["frames"], row["queue_us_p50"], row["queue_us_p99"]) for row in rows] == [
        (120, 59, 118),
        (80, 159, 199),
    ]
    merged = per.selectExpr(
        "kll_sketch_get_quantile_bigint(kll_merge_agg_bigint(queue_kll), 0.5D) as p50"
    ).first()
    assert merged is not None
    assert abs(merged["p50"] - 100) <= 2


def test_rounds_are_counted_near_and_far_with_what_was_waited(spark: SparkSession) -> None:
    given = [("a#1", "a#1", 1_000), ("a#1", "a#1", 1_001), ("a#1", "b#1", 4_100), ("b#1", "a#1", 0)]
    rows: list[dict[str, object]] = [
        {
            "node": node,
            "sequencer": by,
            "lseq": 4096 + i,
            "t": T + timedelta(seconds=3 * i),
            "round_us": us,
        }
        for i, (node, by, us) in enumerate(given)
    ]
    rows.append({"node": "b#1", "sequencer": "a#1", "t": T})  # another's
    frames = table(spark, "frame", [{"node": "a#1", "frame": 1, "t": T, "queue_us": 64}])
    found = load.rounds(table(spark, "delivery", rows), frames, window_s=5).collect()
    counted = {
        (r["w_start"].second, r["node"], r["sequencer"], r["near"]): (
            r["bucket"],
            r["queue"],
            r["runs"],
        )
        for r in found
    }
    assert counted == {
        (0, "a", "a", True): (79, 48, 2),
        (5, "a", "b", False): (96, None, 1),
        (5, "b", "a", False): (0, 48, 1),
    }


def test_how_busy_nodes_are_is_added_up(spark: SparkSession) -> None:
    rows: list[dict[str, object]] = [
        {"node": node, "t": T + timedelta(seconds=i), "seconds": 1.0, "cpu_us": cpu_us}
        for i, (node, cpu_us) in enumerate((("a#1", 5), ("a#2", 7), ("b#1", 9), ("b#1", None)))
    ]
    found = load.busy(table(spark, "seq_load", rows), window_s=60).collect()
    told = {row["node"]: (row["seconds"], row["cpu_us"]) for row in found}
    assert told == {"a": (2.0, 12), "b": (1.0, 9)}


def test_delivery_is_timed_by_one_clock_only(spark: SparkSession) -> None:
    accepts = table(spark, "accept", [accept(1, 7, "a#1/1", 1, lseq=5)])
    given = [("a#1", 1_500), ("b#1", 900_000)]
    deliveries = table(
        spark,
        "delivery",
        [
            {
                "node": node,
                "sequencer": "a#1",
                "lseq": 5,
                "t": T + timedelta(seconds=1, microseconds=us),
            }
            for node, us in given
        ],
    )
    (row,) = load.latency(deliveries, accepts).collect()
    assert (row["node"], row["deliveries"], row["delay_us_p99"]) == ("a#1", 1, 1_500)
