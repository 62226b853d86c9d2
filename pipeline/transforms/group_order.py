"""Each group at each node: every number once, in turn, from the state on until it is released.

A first pass looks at neighbours only, one window over (node, group). Where something is out of turn
a second one, over those groups at those nodes alone, says what it is.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.transforms.findings import any_of, findings, rows_of
from pipeline.transforms.sorting import presorted

_LOG = ("node", "gid")
_IN_ORDER = ("dno", "rank", "off")


def group_events(deliveries: DataFrame, membership: DataFrame) -> DataFrame:
    """What happens to a group at a node, to be ordered by dno, rank, off.

    `op` is `row` for a delivery of the numbers `seq` to `end`, or `state` or `released`, which
    stand behind the delivery whose `dno` they name.
    """
    rows = deliveries.select(
        "node",
        "gid",
        "dno",
        F.lit(0).alias("rank"),
        F.lit(0).cast("bigint").alias("off"),
        "seq",
        (F.col("seq") + F.col("count") - 1).alias("end"),
        F.lit("row").alias("op"),
    )
    turns = membership.where(F.col("op").isin("state", "released")).select(
        "node",
        "gid",
        "dno",
        F.lit(1).alias("rank"),
        "off",
        "seq",
        F.col("seq").alias("end"),
        "op",
    )
    return rows.unionByName(turns)


def going_on(events: DataFrame, places: DataFrame, judged: DataFrame) -> DataFrame:
    """The events behind what was judged: a group's state is what it was there.

    `places`: node, gid, dno, seq, of the groups that had a state; `judged`: node, dno.
    """
    known = judged.select("node", F.col("dno").alias("known"))
    behind = F.col("known").isNull() | (F.col("dno") > F.col("known"))
    # What stands behind the last delivery that was judged may have been written since.
    open_end = (F.col("op") != "row") & (F.col("dno") == F.col("known"))
    fresh = events.join(F.broadcast(known), "node", "left").where(behind | open_end).drop("known")
    begun = places.select(
        "node",
        "gid",
        "dno",
        F.lit(0).alias("rank"),
        F.lit(-1).cast("bigint").alias("off"),
        "seq",
        F.col("seq").alias("end"),
        F.lit("state").alias("op"),
    )
    return begun.unionByName(fresh)


def out_of_turn(events: DataFrame) -> DataFrame:
    """`log`, as of `_log`, of the logs in which a row does not follow its neighbour.

    Rows are as narrow as can be, and numbers only: they are what an audit has most of to sort. Two
    logs with one hash look out of turn, and are looked at.
    """
    slim = events.select(
        _log(),
        (2 * F.col("dno") + F.col("rank")).alias("at"),
        "off",
        "seq",
        F.when(F.col("op") != "released", F.col("end") + 1).alias("due"),
        (F.col("op") == "row").alias("is_row"),
    )
    log = Window.partitionBy("log").orderBy("at", "off")
    slim = presorted(slim, "log", "at")
    follows = F.col("seq").eqNullSafe(F.lag("due").over(log))
    found = slim.select("log", "is_row", follows.alias("follows"))
    return found.where(F.col("is_row") & ~F.col("follows")).select("log").distinct()


def _log() -> Column:
    return F.xxhash64(*_LOG).alias("log")


def group_order(events: DataFrame, suspects: DataFrame) -> DataFrame:
    """Findings in the logs of `suspects`: `gap`, `duplicate`, `late` and `not_hosted`.

    `late`: its number is below one that was delivered before, which is against the total order of
    the group. A number that comes late leaves no gap.
    """
    log = Window.partitionBy(*_LOG).orderBy(*_IN_ORDER)
    stint = (*_LOG, "stint")
    earlier = Window.partitionBy(*stint).orderBy(*_IN_ORDER)
    rows = (
        events.withColumn("log", _log())
        .join(F.broadcast(suspects), "log", "left_semi")
        .drop("log")
        .withColumn("stint", F.sum(F.when(F.col("op") != "row", 1).otherwise(0)).over(log))
        .withColumn("opened", F.first("op").over(earlier))
        .withColumn("since", F.when(F.col("stint") > 0, F.first("dno").over(earlier)).otherwise(0))
        .withColumn(
            "top",
            F.max(F.struct("end", "dno")).over(earlier.rowsBetween(Window.unboundedPreceding, -1)),
        )
        .withColumn("before", F.col("top.end"))
        .withColumn("before_dno", F.col("top.dno"))
        .drop("top")
        .withColumn(
            "times",
            F.row_number().over(Window.partitionBy(*stint, "seq", "op").orderBy("dno")),
        )
        .where(F.col("op") == "row")
    )
    hosted = (F.col("stint") > 0) & (F.col("opened") == "state")
    again = hosted & (F.col("seq") <= F.col("before"))
    # A lost `state` behind the row that stands before it would begin the numbers anew.
    between = rows_of("membership", "node", "before_dno", F.col("dno") - 1)
    late = rows.where(again & (F.col("times") == 1))
    ahead = rows.where(hosted & (F.col("seq") > F.col("before") + 1))
    return (
        findings(
            rows.where(~hosted).withColumn(
                "needs", any_of(rows_of("membership", "node", "since", F.col("dno") - 1))
            ),
            "not_hosted",
            F.lit("the node delivers a group whose state it has not taken, or has released"),
        )
        .unionByName(
            findings(
                rows.where(again & (F.col("times") > 1)).withColumn("needs", any_of(between)),
                "duplicate",
                F.format_string("number %d of the group was delivered before", "seq"),
            )
        )
        .unionByName(
            findings(
                late.withColumn("needs", any_of(between)),
                "late",
                F.format_string("number %d is delivered behind number %d", "seq", "before"),
            )
        )
        .unionByName(_gaps(ahead, late))
    )


def _gaps(ahead: DataFrame, late: DataFrame) -> DataFrame:
    """Numbers that are left out and do not come later either."""
    stint = (*_LOG, "stint")
    comers = late.select(
        *stint,
        F.col("seq").alias("late_seq"),
        (F.col("end") - F.col("seq") + 1).alias("late_count"),
    )
    within = (F.col("late_seq") > F.col("before")) & (F.col("late_seq") < F.col("seq"))
    joined = ahead.join(comers, list(stint), "left")
    missing = (
        joined.groupBy(*stint, "dno", "seq", "before", "before_dno")
        .agg(F.sum(F.when(within, F.col("late_count")).otherwise(0)).alias("come"))
        .where(F.col("seq") - F.col("before") - 1 > F.col("come"))
        .withColumn(
            "needs",
            any_of(
                rows_of("delivery", "node", F.col("before_dno") + 1, F.col("dno") - 1),
                rows_of("membership", "node", "before_dno", F.col("dno") - 1),
            ),
        )
    )
    return findings(
        missing,
        "gap",
        F.format_string(
            "numbers %d to %d of the group are missing before this one",
            F.col("before") + 1,
            F.col("seq") - 1,
        ),
    )
