"""The logs themselves: are all rows there, and if some are missing, does the trace say so?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipeline.lost import Hole
from pipeline.transforms.findings import any_of, findings, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def log_holes(facts: DataFrame) -> DataFrame:
    """Where a log's row numbers jump: the columns of `facts`, with `before` and `inside`.

    `before`: how many rows are missing between a segment and the one before it; `inside`: within
    it; less than 0: so many are there twice. `facts` is the table `segment`. A log that begins late
    was pruned; that is no hole.
    """
    log = Window.partitionBy("node", "kind", "epoch").orderBy("n")
    rows = facts.where(~F.col("skipped") & (F.col("rows") > 0)).withColumn(
        "due", F.lag("last_off").over(log) + 1
    )
    inside = F.col("last_off") - F.col("first_off") + 1 - F.col("rows")
    before = F.coalesce(F.col("first_off") - F.col("due"), F.lit(0))
    counted = rows.withColumn("inside", inside).withColumn("before", before)
    return counted.where((F.col("inside") != 0) | (F.col("before") != 0))


def missing_records(spark: SparkSession, silent: Iterable[Hole]) -> DataFrame:
    """Findings `missing_records`: a log lacks rows, or has some twice, and does not say so."""
    said = [(hole.log[0], _said(hole)) for hole in silent]
    frame = spark.createDataFrame(said, "node string, text string")
    return findings(frame, "missing_records", F.col("text"))


def _said(hole: Hole) -> str:
    _, kind, epoch = hole.log
    if hole.first < 0:
        return f"{hole.before}: rows of {kind} are there twice"
    return (
        f"{hole.before}: rows {hole.first} to {hole.last} of {kind}, epoch {epoch}, are missing"
        " before or in it"
    )


def delivery_numbers(deliveries: DataFrame, judged: DataFrame | None = None) -> DataFrame:
    """Findings `delivery_numbers`: a node's deliveries are numbered 1, 2, ... without holes.

    `judged`: node, dno, what the deliveries stand behind.
    """
    numbers = deliveries.select("node", "dno", "gid", "seq")
    if judged is not None:
        known = judged.select("node", "dno")
        numbers = numbers.unionByName(known, allowMissingColumns=True)
    spans = numbers.groupBy("node").agg(
        F.count("*").alias("rows"), (F.max("dno") - F.min("dno") + 1).alias("span")
    )
    wrong = spans.where(F.col("rows") != F.col("span")).select("node")
    log = Window.partitionBy("node").orderBy("dno")
    rows = numbers.join(F.broadcast(wrong), "node", "left_semi").withColumn(
        "before", F.lag("dno").over(log)
    )
    return findings(
        rows.where(F.col("dno") != F.col("before") + 1).withColumn(
            "needs",
            any_of(rows_of("delivery", "node", F.col("before") + 1, F.col("dno") - 1)),
        ),
        "delivery_numbers",
        F.format_string("delivery %d stands behind delivery %d", "dno", "before"),
    )
