"""Giving findings their names, messages and segments; excusing what cannot be judged."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pipeline.few import settled
from pipeline.schemas import VIOLATION

_COLUMNS = [part.split()[0] for part in VIOLATION.split(", ")]


def excuse(found: DataFrame, spans: DataFrame) -> DataFrame:
    """With `excused`, without `needs`: whether a lost range could hold rows that explain it.

    `found` is computed once; `spans` as of `pipeline.lost.Span`, few.
    """
    named = found.withColumn("id", F.monotonically_increasing_id())
    named = settled(named)
    needs = named.where("needs is not null").select("id", F.explode("needs").alias("need"))
    wanted = needs.select(
        "id",
        F.col("need.node").alias("node"),
        F.col("need.kind").alias("kind"),
        F.col("need.low").alias("from"),
        F.col("need.high").alias("to"),
    ).where(F.col("from") <= F.col("to"))
    inside = (F.col("from") <= F.col("high")) & (F.col("to") >= F.col("low"))
    hit = wanted.join(F.broadcast(spans), ["node", "kind"]).where(inside).select("id").distinct()
    excused = hit.withColumn("excused", F.lit(True))
    return (
        named.join(F.broadcast(excused), "id", "left")
        .withColumn("excused", F.coalesce("excused", F.lit(False)))
        .drop("id", "needs")
    )


def count(found: DataFrame) -> DataFrame:
    """rule, excused, n."""
    return found.groupBy("rule", "excused").agg(F.count("*").alias("n"))


def unnamed(found: DataFrame) -> DataFrame:
    """No findings, in the columns of violations."""
    return found.select(
        *[
            F.col(name) if name in found.columns else F.lit(None).alias(name)
            for name in (part.split()[0] for part in VIOLATION.split(", "))
        ]
    )


def named(found: DataFrame, deliveries: DataFrame, accepts: DataFrame) -> DataFrame:
    """Violations: findings with what is known of both rows."""
    rows = found.withColumn("id", F.xxhash64(*found.columns))
    for suffix in ("", "2"):
        given = _looked_up(rows, deliveries, suffix, "dno")
        stamped = _looked_up(rows, accepts, suffix, "lseq")
        rows = rows.join(given, "id", "left").join(stamped, "id", "left")
        for name in ("message", "segment"):
            rows = rows.withColumn(
                f"{name}{suffix}", F.coalesce(f"{name}_dno", f"{name}_lseq")
            ).drop(f"{name}_dno", f"{name}_lseq")
        place = [F.coalesce(f"{name}_dno", f"{name}_lseq") for name in ("gid", "seq")]
        if suffix:
            rows = rows.withColumn("gid2", place[0]).withColumn("seq2", place[1])
        else:
            rows = rows.withColumn("gid", F.coalesce("gid", place[0])).withColumn(
                "seq", F.coalesce("seq", place[1])
            )
        rows = rows.drop("gid_dno", "seq_dno", "gid_lseq", "seq_lseq")
    return rows.withColumn("process2", F.lit(None).cast("string")).select(*_COLUMNS)


def _looked_up(found: DataFrame, rows: DataFrame, suffix: str, key: str) -> DataFrame:
    """Of each finding's row, by node and `key`: id, message, segment, gid, seq."""
    wanted = found.where(F.col(f"{key}{suffix}").isNotNull()).select(
        "id", F.col(f"node{suffix}").alias("node"), F.col(f"{key}{suffix}").alias(key)
    )
    return (
        rows.join(F.broadcast(wanted), ["node", key])
        .groupBy("id")
        .agg(
            F.min(_message()).alias(f"message_{key}"),
            F.min("segment").alias(f"segment_{key}"),
            F.min("gid").alias(f"gid_{key}"),
            F.min("seq").alias(f"seq_{key}"),
        )
    )


def _message() -> Column:
    """A run's messages as their sender numbers them: `<process>:<first>-<last>`."""
    last = F.col("first") + F.col("count") - 1
    return F.concat(
        F.col("sender"),
        F.when(
            F.col("first").isNotNull(),
            F.concat(
                F.lit(":"),
                F.col("first"),
                F.when(F.col("count") > 1, F.concat(F.lit("-"), last)).otherwise(F.lit("")),
            ),
        ).otherwise(F.lit("")),
    )
