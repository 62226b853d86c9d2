"""What sequencers gave numbers to: one sequencer an epoch, no hole, FIFO of senders, floors."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from pipeline.lost import END
from pipeline.transforms.findings import FINDING, any_of, findings, frame_of, rows_of


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
    there, and a group's numbers, and even its epochs, may mean something else from then on. The row
    without a frame is for those whose own row is lost: where all views that a life was in, by
    anybody's word, are of one memory.
    """
    installed = views.select("node", F.col("number").alias("view"), F.col("epoch").alias("memory"))
    made = frames.select("node", "frame", "view").join(installed.distinct(), ["node", "view"])
    lives = views.select(F.explode("members").alias("node"), "epoch").groupBy("node")
    only = lives.agg(F.min("epoch").alias("memory"), F.max("epoch").alias("other"))
    sure = only.where(F.col("memory") == F.col("other")).select(
        "node", F.lit(None).cast("bigint").alias("frame"), "memory"
    )
    return made.select("node", "frame", "memory").distinct().unionByName(sure)


def with_memory(rows: DataFrame, memory: DataFrame, suffix: str = "") -> DataFrame:
    """Rows with the memory of the frame that `node` and `frame` name, or null; all three with a
    suffix."""
    node, frame, own = (f"{name}{suffix}" for name in ("node", "frame", "memory"))
    exact = memory.where("frame is not null").select(
        F.col("node").alias(node), F.col("frame").alias(frame), F.col("memory").alias(own)
    )
    sure = memory.where("frame is null").select(
        F.col("node").alias(node), F.col("memory").alias("by_life")
    )
    both = rows.join(exact, [node, frame], "left").join(F.broadcast(sure), node, "left")
    return both.withColumn(own, F.coalesce(own, "by_life")).drop("by_life")


def remembered(found: DataFrame, memory: DataFrame) -> DataFrame:
    """Findings about two stamps, without those between which memory was lost."""
    framed = found.withColumn("frame", frame_of("lseq")).withColumn("frame2", frame_of("lseq2"))
    both = with_memory(with_memory(framed, memory), memory, "2")
    forgotten = F.coalesce(F.col("memory") != F.col("memory2"), F.lit(False))
    needs = F.concat(
        F.coalesce("needs", _nothing()),
        F.when(F.col("memory").isNull(), _memory_of("node", "frame")).otherwise(_nothing()),
        F.when(F.col("memory2").isNull(), _memory_of("node2", "frame2")).otherwise(_nothing()),
    )
    return both.where(~forgotten).withColumn("needs", needs).select(*found.columns)


def _nothing() -> Column:
    """No needs."""
    return F.array().cast(FINDING["needs"])


def _memory_of(node: str, frame: str) -> Column:
    """What says in which memory a frame was made: its row, and that of its view."""
    return any_of(rows_of("frame", node, frame, frame), rows_of("view", node, 0))


def around_numbers(found: DataFrame, owners: DataFrame, numbers: DataFrame) -> DataFrame:
    """`found` with `needs`: the stamps that could have given the numbers `low` to `high` of `gid`.

    `owners`: gid, node, who has sequenced the group. Such a stamp lies between the last one that
    the node gave below `low` and the first one that it gave above `high`.
    """
    asked = found.select("gid", "low", "high").distinct()
    held = numbers.select("gid", "node", "lseq", "seq", "end")
    bounds = (
        asked.join(owners, "gid")
        .join(held, ["gid", "node"], "left")
        .groupBy("gid", "low", "high", "node")
        .agg(
            F.max(F.when(F.col("end") < F.col("low"), F.col("lseq"))).alias("below"),
            F.min(F.when(F.col("seq") > F.col("high"), F.col("lseq"))).alias("above"),
        )
    )
    first = F.coalesce(F.col("below") + 1, F.lit(0))
    last = F.coalesce(F.col("above") - 1, F.lit(END))
    entries = any_of(*(rows_of(kind, "node", first, last) for kind in ("accept", "change")))
    needs = (
        bounds.withColumn("entries", entries)
        .groupBy("gid", "low", "high")
        .agg(F.flatten(F.collect_list("entries")).alias("needs"))
    )
    return found.drop("needs").join(needs, ["gid", "low", "high"], "left")


def missing_numbers(numbers: DataFrame, gids: DataFrame) -> DataFrame:
    """gid, low, high: numbers of these groups that are in nobody's log, below others that are."""
    group = Window.partitionBy("gid").orderBy("seq", "end")
    before = F.max("end").over(group.rowsBetween(Window.unboundedPreceding, -1))
    rows = numbers.join(gids, "gid", "left_semi").withColumn("before", before)
    return rows.where(F.col("seq") > F.col("before") + 1).select(
        "gid", (F.col("before") + 1).alias("low"), (F.col("seq") - 1).alias("high")
    )


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
        .transform(with_memory, memory)
        .groupBy("gid", "epoch", "memory", "node")
        .agg(F.min(F.struct("lseq", "seq")).alias("first"))
        .withColumn(
            "unsure",
            F.when(
                F.col("memory").isNull(),
                any_of(
                    rows_of("frame", "node", frame_of("first.lseq"), frame_of("first.lseq")),
                    rows_of("view", "node", 0),
                ),
            ).otherwise(_nothing()),
        )
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
        F.concat("unsure", F.first("unsure").over(epoch)).alias("needs"),
    )
    return findings(
        rows.where(F.col("node") != F.col("node2")),
        "two_sequencers",
        F.format_string("in epoch %d both %s and %s number the group", "epoch", "node", "node2"),
    )


def numbers_in_turn(numbers: DataFrame) -> DataFrame:
    """Findings `numbering`: what a sequencer gives in an epoch goes on by one, stamps grow.

    An epoch begins at or before the number behind its predecessor's last. `low` to `high` are the
    numbers between two epochs; null within one.
    """
    epoch = Window.partitionBy("gid", "epoch", "node").orderBy("lseq")
    rows = (
        numbers.withColumn("before", F.lag("end").over(epoch))
        .withColumn("node2", F.col("node"))
        .withColumn("lseq2", F.lag("lseq").over(epoch))
    )
    ahead = F.col("seq") > F.col("before") + 1
    between = any_of(
        *(
            rows_of(kind, "node", F.col("lseq2") + 1, F.col("lseq") - 1)
            for kind in ("accept", "change")
        )
    )
    inside = findings(
        rows.where(F.col("seq") != F.col("before") + 1).withColumn("needs", F.when(ahead, between)),
        "numbering",
        F.format_string("number %d is given behind number %d", "seq", "before"),
        *(F.lit(None).cast("bigint").alias(name) for name in ("low", "high")),
    )
    spans = numbers.groupBy("gid", "epoch").agg(
        F.min(F.struct("seq", "node", "lseq")).alias("first"), F.max("end").alias("last")
    )
    group = Window.partitionBy("gid").orderBy("epoch")
    begun = spans.withColumn("before", F.lag("last").over(group))
    holes = begun.where(F.col("first.seq") > F.col("before") + 1).select(
        "gid",
        "epoch",
        "before",
        "first.seq",
        "first.node",
        "first.lseq",
        (F.col("before") + 1).alias("low"),
        (F.col("first.seq") - 1).alias("high"),
    )
    return inside.unionByName(
        findings(
            holes,
            "numbering",
            F.format_string("epoch %d begins at %d behind number %d", "epoch", "seq", "before"),
            F.col("low"),
            F.col("high"),
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

    Adds `next_epoch`, and in `needs` the rows that would say otherwise. Where memory was lost in
    between, nothing is said about either of the two.
    """
    known = F.max("memory").over(Window.partitionBy("gid"))
    rows = (
        numbers.join(suspects.select("gid").distinct(), "gid", "left_semi")
        .withColumn("frame", frame_of("lseq"))
        .transform(with_memory, memory)
        .withColumn("unsure", F.when(F.col("memory").isNull(), _memory_of("node", "frame")))
        # A stamp whose frame is not in the trace is taken to be of the newest memory.
        .withColumn("memory", F.coalesce("memory", known))
        .select("node", "lseq", "gid", "seq", "epoch", "memory", "unsure")
    )
    starts = rows.groupBy("gid", "memory", F.col("epoch").alias("next_epoch")).agg(
        F.min("seq").alias("start"), F.flatten(F.collect_set("unsure")).alias("unsure2")
    )
    return (
        rows.join(suspects.select("node", "lseq"), ["node", "lseq"], "left_semi")
        .join(starts, ["gid", "memory"])
        .where((F.col("next_epoch") > F.col("epoch")) & (F.col("seq") >= F.col("start")))
        .groupBy("node", "lseq", "gid", "seq", "epoch")
        .agg(
            F.min("next_epoch").alias("next_epoch"),
            F.flatten(F.collect_list(F.concat(F.coalesce("unsure", _nothing()), "unsure2"))).alias(
                "needs"
            ),
        )
    )


def floors(deliveries: DataFrame, gone: DataFrame) -> DataFrame:
    """Findings `floor`: a number that was delivered is given again by a later epoch.

    A group moves, or is inherited, with all that anybody has delivered of it. `gone` as of `lost`.
    """
    delivered = deliveries.where(F.col("sequencer").isNotNull()).select(
        "node", "dno", "gid", "seq", F.col("sequencer").alias("node2"), F.col("lseq").alias("lseq2")
    )
    stamps = gone.select(
        F.col("node").alias("node2"), F.col("lseq").alias("lseq2"), "next_epoch", "needs"
    )
    return findings(
        delivered.join(F.broadcast(stamps), ["node2", "lseq2"]),
        "floor",
        F.format_string("epoch %d gives number %d again", "next_epoch", "seq"),
    )


def sender_order(numbers: DataFrame, gone: DataFrame | None) -> DataFrame:
    """Findings `fifo`: what a sender sends to a group has its numbers in that order, all of it.

    What was lost with its sequencer (`gone`, as of `lost`) is left out: its sender has sent it
    again. `low` to `high` are the numbers between the two messages; null where the later one has
    the lower number of its sender.
    """
    kept = numbers.where(F.col("first").isNotNull())
    if gone is not None:
        kept = kept.join(gone.select("node", "lseq"), ["node", "lseq"], "left_anti")
    sent = Window.partitionBy("gid", "sender").orderBy("seq", "epoch")
    rows = (
        kept.withColumn("due", F.lag(F.col("first") + F.col("end") - F.col("seq") + 1).over(sent))
        .withColumn("node2", F.lag("node").over(sent))
        .withColumn("lseq2", F.lag("lseq").over(sent))
        .withColumn("end2", F.lag("end").over(sent))
        .withColumn("epoch2", F.lag("epoch").over(sent))
    )
    # The rows with which the later epoch began would say that it gave numbers again.
    begun = any_of(*(rows_of(kind, "node", 0, F.col("lseq") - 1) for kind in ("accept", "change")))
    odd = rows.where(F.col("first") != F.col("due")).withColumn(
        "needs",
        F.when((F.col("first") < F.col("due")) & (F.col("epoch") > F.col("epoch2")), begun),
    )
    ahead = F.col("first") > F.col("due")
    return findings(
        odd,
        "fifo",
        F.format_string("message %d of %s is due, it is message %d", "due", "sender", "first"),
        F.when(ahead, F.col("end2") + 1).alias("low"),
        F.when(ahead, F.col("seq") - 1).alias("high"),
    )


def explained(found: DataFrame, owners: DataFrame, numbers: DataFrame) -> DataFrame:
    """Findings of `numbers_in_turn` or `sender_order`, and which stamps would explain them.

    Between two epochs those of the numbers `low` to `high`; between two messages of a sender those
    of the numbers there that nobody's log has. `owners`: gid, node, who has sequenced the group.
    """
    asked = found.where("low is not null").select("rule", "gid", "low", "high").distinct()
    holes = missing_numbers(numbers, asked.select("gid").distinct()).select(
        "gid", F.col("low").alias("from"), F.col("high").alias("to")
    )
    of_fifo = asked.where("rule = 'fifo'").join(holes, "gid")
    inside = of_fifo.where((F.col("from") <= F.col("high")) & (F.col("to") >= F.col("low")))
    of_epochs = asked.where("rule = 'numbering'").select(
        "*", F.col("low").alias("from"), F.col("high").alias("to")
    )
    wanted = inside.select(*of_epochs.columns).unionByName(of_epochs)
    wanted = wanted.withColumnsRenamed({"low": "asked_low", "high": "asked_high"})
    wanted = wanted.withColumnsRenamed({"from": "low", "to": "high"})
    absent = (
        around_numbers(wanted, owners, numbers)
        .groupBy("rule", "gid", F.col("asked_low").alias("low"), F.col("asked_high").alias("high"))
        .agg(F.flatten(F.collect_list("needs")).alias("absent"))
    )
    both = found.join(absent, ["rule", "gid", "low", "high"], "left")
    return both.withColumn("needs", F.coalesce("needs", "absent")).select(*FINDING)
