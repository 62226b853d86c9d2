"""Order across groups: causal (CT2), strict (T2), and within a frame, for each process.

A process is given what its node delivers of its groups, so what is out of order for a process is so
for its node; not the other way round, where no process is in both groups. One window over (node,
sequencer) finds candidates by running maxima; then only these are looked at process by process.

  causal    behind a row in a frame whose context has <S, f>, a process is given nothing of S's
            frames up to f.
  strict    of one sequencer's strict groups a process is given the rows with growing stamps. What a
            former sequencer has stamped is in the context of what its successor stamps.
  in_frame  the same for the rows of one frame, whatever groups they are of.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.transforms.findings import any_of, findings, frame_of, rows_of
from pipeline.transforms.sorting import presorted
from pipeline.transforms.sweeping import BEHIND, TOLD, behind

_STREAM = ("node", "sequencer")


def stamped(deliveries: DataFrame, promises: DataFrame) -> DataFrame:
    """Deliveries with a stamp, of groups whose order goes across groups.

    Columns: node, sequencer, dno, gid, seq, lseq, frame, strict. `promises`: gid, promise.
    """
    ordered = promises.where(F.col("promise").isin("causal", "strict"))
    return (
        deliveries.where(F.col("sequencer").isNotNull())
        .select("node", "sequencer", "dno", "gid", "seq", "lseq")
        .join(ordered, "gid")
        .select(
            *_STREAM,
            "dno",
            "gid",
            "seq",
            "lseq",
            frame_of("lseq").alias("frame"),
            (F.col("promise") == "strict").alias("strict"),
        )
    )


def contexts(frames: DataFrame) -> DataFrame:
    """An entry a row: (sequencer, frame) is to be delivered behind `reach` of stream `of`."""
    return frames.select(
        F.col("node").alias("sequencer"), "frame", F.explode("context").alias("entry")
    ).select(
        "sequencer",
        "frame",
        F.col("entry.sequencer").alias("of"),
        F.col("entry.frame").alias("reach"),
    )


def candidates(rows: DataFrame, entries: DataFrame) -> DataFrame:
    """stream, dno, is_causal, is_strict, is_in_frame: of rows that are out of order for their node.

    `rows` as of `stamped`, `entries` as of `contexts`; `identified` says which rows these are.
    """
    # Few numbers a row, hashes of names among them: an audit has most of these to move and to sort.
    # Two streams with one hash have more candidates, and nobody is given anything by both. What
    # a `value` is at even places and at odd ones, `sweeping.TOLD` says.
    hashed = rows.select(
        *(F.xxhash64(name).alias(name) for name in _STREAM), "frame", "dno", "lseq", "strict"
    )
    firsts = hashed.groupBy(*_STREAM, "frame").agg(F.min("dno").alias("dno"))
    reaches = entries.select(
        F.xxhash64("sequencer").alias("sequencer"), "frame", F.xxhash64("of").alias("of"), "reach"
    )
    needs = firsts.join(reaches, ["sequencer", "frame"]).select(
        F.xxhash64("node", "of").alias("stream"),
        (2 * F.col("dno") + 1).alias("at"),
        F.col("reach").alias("value"),
    )
    slim = hashed.select(
        F.xxhash64(*_STREAM).alias("stream"),
        (2 * F.col("dno")).alias("at"),
        F.shiftleft("lseq", 1).bitwiseOR(F.col("strict").cast("bigint")).alias("value"),
    )
    told = slim.unionByName(needs).na.drop()
    return presorted(told, "stream", "at").select(*TOLD).mapInArrow(behind, BEHIND)


def identified(found: DataFrame, rows: DataFrame, *, few: bool) -> DataFrame:
    """The rows that `candidates` has found, with what is wrong; `few`: they fit anywhere."""
    known = rows.withColumn("stream", _stream())
    return known.join(F.broadcast(found) if few else found, ["stream", "dno"]).drop("stream")


def _stream() -> Column:
    return F.xxhash64(*(F.xxhash64(name) for name in _STREAM)).alias("stream")


def causal_order(
    suspects: DataFrame, rows: DataFrame, entries: DataFrame, hosted: DataFrame
) -> DataFrame:
    """`causal` findings among the candidates; `hosted` as of `transforms.hosting`."""
    late = given(suspects.where("is_causal"), hosted)
    bounds = late.groupBy("node", "sequencer").agg(
        F.min("frame").alias("low"), F.max("dno").alias("high")
    )
    needs = (
        rows.select("node", "gid", "dno", "sequencer", "frame", "lseq")
        .join(entries, ["sequencer", "frame"])
        .select(
            "node",
            "gid",
            "dno",
            "lseq",
            F.col("sequencer").alias("by"),
            F.col("of").alias("sequencer"),
            "reach",
        )
        .join(F.broadcast(bounds), ["node", "sequencer"])
        .where((F.col("reach") >= F.col("low")) & (F.col("dno") < F.col("high")))
        .drop("low", "high")
    )
    key = ("node", "process", "sequencer")
    evidence = given(needs, hosted).join(late.select(*key).distinct(), list(key), "left_semi")
    found = _behind(late, evidence, key, "reach").where(F.col("best.reach") >= F.col("frame"))
    return findings(
        _against(found),
        "causal",
        F.format_string(
            "%s was given this behind a message that was sent with knowledge of its frame %d",
            "process",
            "frame",
        ),
    )


def strict_order(suspects: DataFrame, rows: DataFrame, hosted: DataFrame) -> DataFrame:
    """`strict` findings among the candidates."""
    late = given(suspects.where("is_strict"), hosted)
    key = ("node", "process", "sequencer")
    evidence = _higher(late, rows.where("strict"), hosted, key)
    found = _behind(late, evidence, key, "lseq").where(F.col("best.lseq") > F.col("lseq"))
    return findings(
        _against(found),
        "strict",
        F.format_string("%s was given this behind a later one of its sequencer", "process"),
    )


def frame_order(suspects: DataFrame, rows: DataFrame, hosted: DataFrame) -> DataFrame:
    """`in_frame` findings among the candidates."""
    frames = suspects.where("is_in_frame").select("node", "sequencer", "frame").distinct()
    both = rows.join(frames, ["node", "sequencer", "frame"], "left_semi")
    inside = Window.partitionBy("node", "sequencer", "frame").orderBy("dno")
    wrong = both.withColumn(
        "top", F.max("lseq").over(inside.rowsBetween(Window.unboundedPreceding, -1))
    ).where(F.col("lseq") < F.col("top"))
    late = given(wrong.drop("top"), hosted)
    key = ("node", "process", "sequencer", "frame")
    evidence = _higher(late, both, hosted, key)
    found = _behind(late, evidence, key, "lseq").where(F.col("best.lseq") > F.col("lseq"))
    return findings(
        _against(found),
        "in_frame",
        F.format_string("%s was given this behind a later one of its frame", "process"),
    )


def given(rows: DataFrame, hosted: DataFrame) -> DataFrame:
    """The rows once for each process that is given them; `in_dno`: since when it is."""
    inside = (F.col("dno") > F.col("in_dno")) & (F.col("dno") <= F.col("out_dno"))
    return rows.join(hosted, ["node", "gid"]).where(inside).drop("out_dno")


def _higher(late: DataFrame, rows: DataFrame, hosted: DataFrame, key: tuple[str, ...]) -> DataFrame:
    """What the late rows' processes were given of the same stream with higher stamps, before."""
    bounds = late.groupBy("node", "sequencer").agg(
        F.min("lseq").alias("low"), F.max("dno").alias("high")
    )
    near = (
        rows.join(F.broadcast(bounds), ["node", "sequencer"])
        .where((F.col("lseq") > F.col("low")) & (F.col("dno") < F.col("high")))
        .drop("low", "high")
    )
    return given(near, hosted).join(late.select(*key).distinct(), list(key), "left_semi")


def _behind(late: DataFrame, evidence: DataFrame, key: tuple[str, ...], most: str) -> DataFrame:
    """The late rows; `best`: of the evidence before each in its process's log, that with most."""
    before = (
        Window.partitionBy(*key).orderBy("dno", "rank").rowsBetween(Window.unboundedPreceding, -1)
    )
    # What a row requires, it requires of what is behind it: evidence stands behind its own row.
    seen = evidence.select(
        *key, "dno", F.lit(1).alias("rank"), F.struct(most, "dno", "in_dno").alias("seen")
    )
    together = late.withColumn("rank", F.lit(0)).unionByName(seen, allowMissingColumns=True)
    return together.withColumn("best", F.max("seen").over(before)).where(F.col("rank") == 0)


def _against(found: DataFrame) -> DataFrame:
    """With the other row's name.

    Both rows are there; a process that had been taken out of one of the groups, in a row of
    `membership` that is lost, was not given them in this order.
    """
    given_since = F.least("in_dno", "best.in_dno")
    return (
        found.withColumn("node2", F.col("node"))
        .withColumn("dno2", F.col("best.dno"))
        .withColumn("needs", any_of(rows_of("membership", "node", given_since, F.col("dno") - 1)))
    )
