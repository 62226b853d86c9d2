"""The logs themselves: are all rows there, and if some are missing, does the trace say so?"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipeline.transforms.findings import findings


def log_holes(facts: DataFrame) -> DataFrame:
    """node (id), kind, epoch, segment, missing: where a log's row numbers jump.

    `facts` is the table `segment`. A log that begins late was pruned; that is no hole.
    """
    log = Window.partitionBy("node", "kind", "epoch").orderBy("n")
    rows = facts.where(~F.col("skipped") & (F.col("rows") > 0)).withColumn(
        "due", F.lag("last_off").over(log) + 1
    )
    inside = F.col("last_off") - F.col("first_off") + 1 - F.col("rows")
    before = F.coalesce(F.col("first_off") - F.col("due"), F.lit(0))
    return rows.withColumn("missing", inside + before).where(F.col("missing") != 0)


def unsound_nodes(holes: DataFrame, gaps: DataFrame, facts: DataFrame) -> DataFrame:
    """id, why: nodes whose logs are said to lack rows, so what rests on them cannot be judged.

    `gaps` is the table `log_gap`. Rows that are missing without a word are no excuse: these are
    findings themselves (`missing_records`).
    """
    told = gaps.where(F.col("reason") != "sampled").select(
        F.substring_index("node", "#", 1).alias("id"), F.col("reason").alias("why")
    )
    passed = facts.where("skipped").select(F.col("node").alias("id"), F.lit("damaged").alias("why"))
    return told.unionByName(passed).groupBy("id").agg(F.min("why").alias("why"))


def missing_records(holes: DataFrame, unsound: DataFrame) -> DataFrame:
    """Findings `missing_records`: a log lacks rows, or has some twice, and does not say so."""
    silent = holes.join(unsound, holes["node"] == unsound["id"], "left_anti")
    return findings(
        silent,
        "missing_records",
        F.format_string(
            "%s: %d rows of %s are missing before or in it", "segment", "missing", "kind"
        ),
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
        rows.where(F.col("dno") != F.col("before") + 1),
        "delivery_numbers",
        F.format_string("delivery %d stands behind delivery %d", "dno", "before"),
    )
