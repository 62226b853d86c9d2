"""Verdicts of the access list: all replicas refuse the same messages, for the same reason."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from groupcore.trace import CONTENT
from pipeline.transforms.findings import any_of, findings, rows_of

_REFUSAL = ("gid", "seq", "principal", "operation", "code")


def verdicts(deliveries: DataFrame, refused: DataFrame) -> DataFrame:
    """Findings `verdict`: a node has delivered a message and not refused it as another one did."""
    said = (
        refused.groupBy(*_REFUSAL).agg(F.min("node").alias("node2")).withColumnRenamed("seq", "at")
    )
    rows = deliveries.where(F.col("what") == CONTENT).select("node", "dno", "gid", "seq", "count")
    concerned = rows.join(F.broadcast(said), "gid").where(
        (F.col("at") >= F.col("seq")) & (F.col("at") < F.col("seq") + F.col("count"))
    )
    own = refused.select("node", *_REFUSAL).withColumnRenamed("seq", "at")
    missing = concerned.join(
        own, ["node", "gid", "at", "principal", "operation", "code"], "left_anti"
    )
    return findings(
        missing.drop("seq")
        .withColumnRenamed("at", "seq")
        .withColumn("needs", any_of(rows_of("verdict", "node", "dno", "dno"))),
        "verdict",
        F.format_string(
            "%s has refused number %d as %s, this node has not", "node2", "seq", "code"
        ),
    )
