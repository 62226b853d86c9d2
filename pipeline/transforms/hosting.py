"""Which process of a node is given which group, from where to where; none behind its LEAVE."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from groupcore.trace import GONE, LEFT
from pipeline.transforms.findings import any_of, findings, rows_of

FOR_EVER: Final = 2**62
"""`out_dno` of a process that is still given its group."""


def hosted_intervals(membership: DataFrame) -> DataFrame:
    """node, gid, process, in_dno, out_dno: it is given the rows with in_dno < dno <= out_dno."""
    log = Window.partitionBy("node", "gid", "process").orderBy("off")
    turns = membership.where(F.col("op").isin("in", "out")).select(
        "node", "gid", "process", "op", "dno", F.lead("dno").over(log).alias("next_dno")
    )
    return turns.where(F.col("op") == "in").select(
        "node",
        "gid",
        "process",
        F.col("dno").alias("in_dno"),
        F.coalesce("next_dno", F.lit(FOR_EVER)).alias("out_dno"),
    )


def after_leave(deliveries: DataFrame, hosted: DataFrame) -> DataFrame:
    """Findings `after_leave`: a process is given a row behind its own LEAVE."""
    leaves = deliveries.where(F.col("what").isin(LEFT, GONE)).select(
        "node", "gid", F.col("sender").alias("process"), F.col("dno").alias("left_dno")
    )
    staying = (
        hosted.join(leaves, ["node", "gid", "process"])
        .where((F.col("in_dno") < F.col("left_dno")) & (F.col("left_dno") < F.col("out_dno")))
        .groupBy("node", "gid", "process", "in_dno", "out_dno")
        .agg(F.min("left_dno").alias("left_dno"))
    )
    given = (
        deliveries.select("node", "gid", "dno", "seq")
        .join(F.broadcast(staying), ["node", "gid"])
        .where((F.col("dno") > F.col("left_dno")) & (F.col("dno") <= F.col("out_dno")))
    )
    first = given.groupBy("node", "gid", "process", "in_dno", "left_dno").agg(
        F.min(F.struct("dno", "seq")).alias("first")
    )
    return findings(
        first.select(
            "node",
            "gid",
            "process",
            "first.dno",
            "first.seq",
            F.col("node").alias("node2"),
            F.col("left_dno").alias("dno2"),
            any_of(rows_of("membership", "node", "in_dno", F.col("first.dno") - 1)),
        ),
        "after_leave",
        F.format_string("%s was given this behind its LEAVE", "process"),
    )
