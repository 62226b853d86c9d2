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


def reached(deliveries: DataFrame) -> DataFrame:
    """gid, reached: the highest number of each group that somebody was given."""
    return deliveries.groupBy("gid").agg(F.max(F.col("seq") + F.col("count") - 1).alias("reached"))


def up_to(numbers: DataFrame, bounds: DataFrame) -> DataFrame:
    """The numbers that somebody was given, or that are below such.

    Who was given a number was given all before it, so their frames are in the logs. Behind that a
    former sequencer's log may not be there yet, and its successor's is.
    """
    within = numbers.join(bounds, "gid").where(F.col("seq") <= F.col("reached"))
    return within.drop("reached")


def memories(frames: DataFrame, views: DataFrame) -> DataFrame:
    """node, frame, memory: the epoch of the view in which a sequencer made a frame.

    It grows where a quorum has lost its memory (decision 0007): what was not saved is forgotten
    there, and a group's numbers, and even its epochs, may mean something else from then on.
    """
    installed = views.select("node", F.col("number").alias("view"), F.col("epoch").alias("memory"))
    made = frames.select("node", "frame", "view").join(installed.distinct(), ["node", "view"])
    return made.select("node", "frame", "memory").distinct()


def remembered(found: DataFrame, memory: DataFrame) -> DataFrame:
    """Findings about two stamps, without those between which memory was lost."""
    one, two = (
        memory.select(
            F.col("node").alias(f"node{end}"),
            F.col("frame").alias(f"frame{end}"),
            F.col("memory").alias(f"memory{end}"),
        )
        for end in ("", "2")
    )
    both = (
        found.withColumn("frame", frame_of("lseq"))
        .withColumn("frame2", frame_of("lseq2"))
        .join(one, ["node", "frame"], "left")
        .join(two, ["node2", "frame2"], "left")
    )
    forgotten = F.coalesce(F.col("memory") != F.col("memory2"), F.lit(False))
    return both.where(~forgotten).select(*found.columns)


def doubts(numbers: DataFrame) -> DataFrame:
    """One row, `again` and `several`: whether any number can have been given by two epochs, and
    whether an epoch has several sequencers. Null where nothing has been given numbers."""
    epochs = numbers.groupBy("gid", "epoch").agg(
        F.min("seq").alias("start"),
        F.max("end").alias("end"),
        (F.min("node") != F.max("node")).alias("several"),
    )
    later = Window.partitionBy("gid").orderBy("epoch").rowsBetween(1, Window.unboundedFollowing)
    again = F.col("end") >= F.min("start").over(later)
    return epochs.select("several", again.alias("again")).agg(
        F.max("again").alias("again"), F.max("several").alias("several")
    )


def epoch_owners(numbers: DataFrame, memory: DataFrame) -> DataFrame:
    """Findings `two_sequencers`: a group has two of them in one epoch."""
    several = (
        numbers.groupBy("gid", "epoch")
        .agg(F.countDistinct("node").alias("nodes"))
        .where("nodes > 1")
    )
    firsts = (
        numbers.join(several, ["gid", "epoch"], "left_semi")
        .withColumn("frame", frame_of("lseq"))
        .join(memory, ["node", "frame"], "left")
        .groupBy("gid", "epoch", "memory", "node")
        .agg(F.min(F.struct("lseq", "seq")).alias("first"))
    )
    # A stamp whose frame is not in the trace is taken to be of the newest memory.
    known = F.max("memory").over(Window.partitionBy("gid", "epoch"))
    epoch = Window.partitionBy("gid", "epoch", "memory").orderBy("node")
    rows = firsts.withColumn("memory", F.coalesce("memory", known)).select(
        "gid",
        "epoch",
        "node",
        "first.lseq",
        "first.seq",
        F.first("node").over(epoch).alias("node2"),
        F.first("first.lseq").over(epoch).alias("lseq2"),
    )
    return findings(
        rows.where(F.col("node") != F.col("node2")),
        "two_sequencers",
        F.format_string("in epoch %d both %s and %s number the group", "epoch", "node", "node2"),
    )


def numbers_in_turn(numbers: DataFrame) -> DataFrame:
    """Findings `numbering`: what a sequencer gives in an epoch goes on by one, stamps grow.

    An epoch begins at or before the number behind its predecessor's last.
    """
    epoch = Window.partitionBy("gid", "epoch", "node").orderBy("lseq")
    rows = (
        numbers.withColumn("before", F.lag("end").over(epoch))
        .withColumn("node2", F.col("node"))
        .withColumn("lseq2", F.lag("lseq").over(epoch))
    )
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
    """node, lseq, gid, seq, epoch: stamps whose number some later epoch gave again."""
    starts = numbers.groupBy("gid", "epoch").agg(F.min("seq").alias("start"))
    later = Window.partitionBy("gid").orderBy("epoch").rowsBetween(1, Window.unboundedFollowing)
    bounds = starts.select("gid", "epoch", F.min("start").over(later).alias("bound"))
    return (
        numbers.join(bounds.where("bound is not null"), ["gid", "epoch"])
        .where("seq >= bound")
        .select("node", "lseq", "gid", "seq", "epoch")
    )


def lost(suspects: DataFrame, numbers: DataFrame, memory: DataFrame) -> DataFrame:
    """Of the superseded ones those that were lost: it was a later epoch within the same memory.

    Adds `next_epoch`. Where memory was lost in between, nothing is said about either of the two.
    """
    known = F.max("memory").over(Window.partitionBy("gid"))
    rows = (
        numbers.join(suspects.select("gid").distinct(), "gid", "left_semi")
        .withColumn("frame", frame_of("lseq"))
        .join(memory, ["node", "frame"], "left")
        # A stamp whose frame is not in the trace is taken to be of the newest memory.
        .withColumn("memory", F.coalesce("memory", known))
        .select("node", "lseq", "gid", "seq", "epoch", "memory")
    )
    starts = rows.groupBy("gid", "memory", F.col("epoch").alias("next_epoch")).agg(
        F.min("seq").alias("start")
    )
    return (
        rows.join(suspects.select("node", "lseq"), ["node", "lseq"], "left_semi")
        .join(starts, ["gid", "memory"])
        .where((F.col("next_epoch") > F.col("epoch")) & (F.col("seq") >= F.col("start")))
        .groupBy("node", "lseq", "gid", "seq", "epoch")
        .agg(F.min("next_epoch").alias("next_epoch"))
    )


def floors(deliveries: DataFrame, gone: DataFrame) -> DataFrame:
    """Findings `floor`: a number that was delivered is given again by a later epoch.

    A group moves, or is inherited, with all that anybody has delivered of it. `gone` as of `lost`.
    """
    delivered = deliveries.where(F.col("sequencer").isNotNull()).select(
        "node", "dno", "gid", "seq", F.col("sequencer").alias("node2"), F.col("lseq").alias("lseq2")
    )
    stamps = gone.select(F.col("node").alias("node2"), F.col("lseq").alias("lseq2"), "next_epoch")
    return findings(
        delivered.join(F.broadcast(stamps), ["node2", "lseq2"]),
        "floor",
        F.format_string("epoch %d gives number %d again", "next_epoch", "seq"),
    )


def sender_order(numbers: DataFrame, gone: DataFrame | None) -> DataFrame:
    """Findings `fifo`: what a sender sends to a group has its numbers in that order, all of it.

    What was lost with its sequencer (`gone`, as of `lost`) is left out: its sender has sent it
    again.
    """
    kept = numbers.where(F.col("first").isNotNull())
    if gone is not None:
        kept = kept.join(gone.select("node", "lseq"), ["node", "lseq"], "left_anti")
    sent = Window.partitionBy("gid", "sender").orderBy("seq", "epoch")
    rows = (
        kept.withColumn("due", F.lag(F.col("first") + F.col("end") - F.col("seq") + 1).over(sent))
        .withColumn("node2", F.lag("node").over(sent))
        .withColumn("lseq2", F.lag("lseq").over(sent))
    )
    return findings(
        rows.where(F.col("first") != F.col("due")),
        "fifo",
        F.format_string("message %d of %s is due, it is message %d", "due", "sender", "first"),
    )
