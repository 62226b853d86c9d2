"""Views: all that install one agree on it, they grow, and a stream that ended is behind its cut."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipeline.transforms.findings import any_of, findings, frame_of, rows_of


def view_agreement(views: DataFrame) -> DataFrame:
    """Findings `view`: two nodes install other members under one number of one history."""
    same = Window.partitionBy("lineage", "number").orderBy("node")
    rows = views.withColumn("first", F.first(F.struct("node", "members")).over(same))
    wrong = rows.where(F.col("members") != F.col("first.members")).withColumn(
        "node2", F.col("first.node")
    )
    return findings(
        wrong,
        "view",
        F.format_string("view %d has other members than at %s", "number", "node2"),
    )


def view_order(views: DataFrame) -> DataFrame:
    """Findings `view_order`: a node's views have growing numbers."""
    log = Window.partitionBy("node").orderBy("off")
    rows = views.withColumn("before", F.lag("number").over(log))
    return findings(
        rows.where(F.col("number") <= F.col("before")),
        "view_order",
        F.format_string("view %d is installed behind view %d", "number", "before"),
    )


def ended_streams(views: DataFrame) -> DataFrame:
    """sequencer, end: the last frame of each stream that a primary view has ended; `said`: who says
    so first, and which view stood before at that node.

    A view that was formed from disks ends streams where they were saved; what had been delivered
    behind that is forgotten, as its senders were not told that it is saved. The next view says
    the same cut again.
    """
    entries = views.where("primary").select(
        "members", "recovered", "number", "node", "previous", F.explode("cut").alias("entry")
    )
    ended = entries.where(~F.expr("array_contains(members, entry.sequencer)"))
    return (
        ended.groupBy(F.col("entry.sequencer").alias("sequencer"))
        .agg(
            F.min("entry.frame").alias("end"),
            F.max("recovered").alias("recovered"),
            F.min(F.struct("number", "node", "previous")).alias("said"),
        )
        .where("not recovered")
        .drop("recovered")
    )


def behind_the_cut(deliveries: DataFrame, ended: DataFrame) -> DataFrame:
    """Findings `view_synchrony`: a frame is delivered that the view's cut had left out.

    Who goes from one view to the next has the same of each stream that ended: what lies up to the
    cut is delivered by each in turn (`gap`), what lies behind it by nobody.
    """
    rows = deliveries.where(F.col("sequencer").isNotNull()).select(
        "node", "dno", "gid", "seq", "sequencer", "lseq", frame_of("lseq").alias("frame")
    )
    wrong = rows.join(F.broadcast(ended), "sequencer").where(F.col("frame") > F.col("end"))
    return findings(
        wrong.withColumn("node2", F.col("sequencer"))
        .withColumn("lseq2", F.col("lseq"))
        .drop("lseq")
        # The view before, if it was formed from disks.
        .withColumn(
            "needs",
            any_of(rows_of("view", F.col("said.node"), F.col("said.previous"), "said.previous")),
        ),
        "view_synchrony",
        F.format_string("the stream ended at frame %d, this is of frame %d", "end", "frame"),
    )
