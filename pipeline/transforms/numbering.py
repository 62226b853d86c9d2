"""What sequencers gave numbers to: one sequencer an epoch, no hole, FIFO of senders, floors."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipeline.transforms.findings import findings, frame_of


def numbered(accepts: DataFrame, membership: DataFrame) -> DataFrame:
    """All that takes numbers: runs and changes. `sender` and `first` are null for a change.

    Columns: node (the sequencer), gid, epoch, lseq, seq, end, sender, first.
    """
    runs = accepts.select(
        "node",
        "gid",
        "epoch",
        "lseq",
        "seq",
        (F.col("seq") + F.col("count") - 1).alias("end"),
        "sender",
        "first",
    )
    changes = membership.where(F.col("op").isin("join", "leave", "gone")).select(
        "node", "gid", "epoch", "lseq", "seq", F.col("seq").alias("end")
    )
    return runs.unionByName(changes, allowMissingColumns=True)


def epoch_owners(numbers: DataFrame) -> DataFrame:
    """Findings `two_sequencers`: a group has two of them in one epoch."""
    epoch = Window.partitionBy("gid", "epoch").orderBy("node", "lseq")
    rows = numbers.withColumn("node2", F.first("node").over(epoch)).withColumn(
        "times", F.row_number().over(Window.partitionBy("gid", "epoch", "node").orderBy("lseq"))
    )
    wrong = rows.where((F.col("node") != F.col("node2")) & (F.col("times") == 1))
    return findings(
        wrong,
        "two_sequencers",
        F.format_string("in epoch %d both %s and %s number the group", "epoch", "node", "node2"),
    )


def numbers_in_turn(numbers: DataFrame) -> DataFrame:
    """Findings `numbering`: what a sequencer gives in an epoch goes on by one, stamps grow.

    An epoch begins at or before the number behind its predecessor's last.
    """
    epoch = Window.partitionBy("gid", "epoch", "node").orderBy("lseq")
    rows = numbers.withColumn("before", F.lag("end").over(epoch))
    inside = findings(
        rows.where(F.col("seq") != F.col("before") + 1),
        "numbering",
        F.format_string("number %d is given behind number %d", "seq", "before"),
    )
    spans = numbers.groupBy("gid", "epoch").agg(
        F.min(F.struct("seq", "node", "lseq")).alias("first"), F.max("end").alias("last")
    )
    group = Window.partitionBy("gid").orderBy("epoch")
    begun = spans.withColumn("before", F.lag("last").over(group))
    holes = begun.where(F.col("first.seq") > F.col("before") + 1).select(
        "gid", "epoch", "before", "first.seq", "first.node", "first.lseq"
    )
    return inside.unionByName(
        findings(
            holes,
            "numbering",
            F.format_string("epoch %d begins at %d behind number %d", "epoch", "seq", "before"),
        )
    )


def superseded(numbers: DataFrame) -> DataFrame:
    """node, lseq, gid, seq, epoch, next_epoch: stamps whose number a later epoch gave again."""
    starts = numbers.groupBy("gid", "epoch").agg(F.min("seq").alias("start"))
    later = Window.partitionBy("gid").orderBy("epoch").rowsBetween(1, Window.unboundedFollowing)
    floors = starts.select(
        "gid",
        "epoch",
        F.min(F.struct("start", F.col("epoch").alias("next_epoch"))).over(later).alias("later"),
    ).where(F.col("later").isNotNull())
    return (
        numbers.join(floors, ["gid", "epoch"])
        .where(F.col("seq") >= F.col("later.start"))
        .select(
            "node", "lseq", "gid", "seq", "epoch", F.col("later.next_epoch").alias("next_epoch")
        )
    )


def floors(
    deliveries: DataFrame, lost: DataFrame, numbers: DataFrame, frames: DataFrame, views: DataFrame
) -> DataFrame:
    """Findings `floor`: a number that was delivered is given again by a later epoch.

    A group moves, or is inherited, with all that anybody has delivered of it. Only where a quorum
    has lost its memory (the view's own epoch has grown since) numbers may be taken back.
    """
    delivered = deliveries.where(F.col("sequencer").isNotNull()).select(
        "node", "dno", "gid", "seq", F.col("sequencer").alias("node2"), F.col("lseq").alias("lseq2")
    )
    stamps = lost.select(
        F.col("node").alias("node2"), F.col("lseq").alias("lseq2"), "epoch", "next_epoch"
    )
    found = delivered.join(F.broadcast(stamps), ["node2", "lseq2"])
    memory = views.groupBy("number").agg(F.max("epoch").alias("memory"))
    made = frames.join(F.broadcast(memory), frames["view"] == memory["number"]).select(
        "node", "frame", "memory"
    )
    then = made.select(
        F.col("node").alias("node2"), F.col("frame").alias("frame2"), F.col("memory").alias("then")
    )
    since = (
        numbers.join(
            found.select("gid", F.col("next_epoch").alias("epoch")).distinct(),
            ["gid", "epoch"],
            "left_semi",
        )
        .withColumn("frame", frame_of("lseq"))
        .join(made, ["node", "frame"])
        .groupBy("gid", F.col("epoch").alias("next_epoch"))
        .agg(F.min("memory").alias("since"))
    )
    judged = (
        found.withColumn("frame2", frame_of("lseq2"))
        .join(then, ["node2", "frame2"], "left")
        .join(since, ["gid", "next_epoch"], "left")
    )
    forgotten = F.coalesce(F.col("since") > F.col("then"), F.lit(False))
    return findings(
        judged.where(~forgotten),
        "floor",
        F.format_string("epoch %d gives number %d again", "next_epoch", "seq"),
    )


def sender_order(numbers: DataFrame, lost: DataFrame) -> DataFrame:
    """Findings `fifo`: what a sender sends to a group has its numbers in that order, all of it.

    What was lost with its sequencer is left out: its sender has sent it again.
    """
    kept = numbers.where(F.col("first").isNotNull()).join(
        lost.select("node", "lseq"), ["node", "lseq"], "left_anti"
    )
    sent = Window.partitionBy("gid", "sender").orderBy("seq", "epoch")
    rows = kept.withColumn(
        "due", F.lag(F.col("first") + F.col("end") - F.col("seq") + 1).over(sent)
    )
    return findings(
        rows.where(F.col("first") != F.col("due")),
        "fifo",
        F.format_string("message %d of %s is due, it is message %d", "due", "sender", "first"),
    )
