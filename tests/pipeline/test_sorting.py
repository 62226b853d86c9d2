"""Rows of a log are brought together, and into their order."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from pipeline.transforms.sorting import presorted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_rows_of_a_log_are_together_and_in_order(spark: SparkSession) -> None:
    chance = Random(1)
    logs = [chance.getrandbits(64) - (1 << 63) for _ in range(20)]
    rows = [(log, place) for log in logs for place in range(50)]
    chance.shuffle(rows)
    frame = spark.createDataFrame(rows, "log bigint, place bigint").repartition(3)
    found = presorted(frame, "log", "place").select(
        "log", "place", F.spark_partition_id().alias("part"), F.monotonically_increasing_id()
    )
    parts: dict[int, set[int]] = defaultdict(set)
    places: dict[int, list[int]] = defaultdict(list)
    for log, place, part, _ in sorted(found.collect(), key=lambda row: row[3]):
        parts[log].add(part)
        places[log].append(place)
    assert all(len(own) == 1 for own in parts.values())
    assert places == {log: list(range(50)) for log in logs}
