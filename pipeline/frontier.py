"""Where an audit has ended, and the logs from there on: what is new, and what is old and matters.

An audit that goes on looks at new rows, and at the few old ones without which it could not judge
them: of each group at each node the last delivery of each stream; those whose context reaches
further than any behind them; frames of which a node has yet to deliver something; of each group,
and of each sender there, the last numbers. A context's reach and a stamp grow within a group, so
there is about one such row a group, node and stream.

That is enough to see that something is wrong with new rows, and to find nothing where nothing is;
it need not be enough to say what. Where it finds something, everything is judged from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from groupcore.trace import FRAME_STAMPS, GONE, LEFT
from pipeline.audit import KINDS, Audited, Before, Logs, with_before
from pipeline.few import at_hand
from pipeline.schemas import NUMBERED, PLACE, SEGMENT_FACTS, raw
from pipeline.transforms import group_order, hosting, numbering, stream_order
from pipeline.transforms.findings import frame_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.store import Snapshot, Store

HELD, OPEN, LAST, SENDER = "held", "open", "last", "sender"
"""What a row is kept for: not judged yet; its frame is not at an end; others are held against it,
as the last of something; as the last of its sender."""

FRONTIER: Final = {
    "audit_delivery": f"{raw('delivery')}, why string",
    "audit_frame": raw("frame"),
    "audit_number": f"{NUMBERED}, why string",
    "audit_place": PLACE,
}
"""Tables of the store: what the last audit has left for the next one."""


@dataclass(frozen=True)
class Frontier:
    """How far an audit has come: the commit whose rows it has seen, and of each node's life the
    last delivery that it has judged."""

    commit: int
    judged: Mapping[str, int]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Frontier | None:
        """That of the last audit of a store; None if there was none."""
        said: dict[str, Any] | None = snapshot.positions.get("audit_frontier")
        return None if said is None else cls(said["commit"], said["judged"])

    def position(self) -> dict[str, Any]:
        """As the store keeps it."""
        return {"commit": self.commit, "judged": dict(self.judged)}


def advanced(former: Frontier | None, audited: Audited, commit: int) -> Frontier:
    """The frontier behind an audit of everything up to a commit."""
    judged = dict(former.judged) if former else {}
    judged |= {node: one.last for node, one in audited.ranges.items()}
    return Frontier(commit, judged)


# --- what an audit leaves -------------------------------------------------------------------------


def left_behind(logs: Logs, audited: Audited, frontier: Frontier) -> dict[str, DataFrame]:
    """The tables of `FRONTIER` behind an audit of these logs."""
    spark = logs.delivery.sparkSession
    cuts = spark.createDataFrame(list(audited.cuts.items()), "node string, cut bigint")
    divided = logs.delivery.join(F.broadcast(cuts), "node", "left")
    is_held = F.col("cut").isNotNull() & (F.col("dno") >= F.col("cut"))
    judged = divided.where(~is_held).drop("cut")
    held = divided.where(is_held).drop("cut").withColumn("why", F.lit(HELD))
    places = at_hand(_places(judged, logs, frontier))
    rows = with_before(judged, logs)
    kept = at_hand(_that_matter(rows, places, logs))
    needed = kept.select(F.col("sequencer").alias("node"), frame_of("lseq").alias("frame"))
    ends = logs.frame.groupBy("node").agg(F.max("frame").alias("frame"))
    frames = logs.frame.join(
        F.broadcast(needed.unionByName(ends).distinct()), ["node", "frame"], "left_semi"
    ).dropDuplicates(["node", "frame"])
    return {
        "audit_delivery": held.unionByName(kept),
        "audit_frame": frames,
        "audit_number": _numbers(rows, logs, all_kept=not audited.sampled),
        "audit_place": places,
    }


def _places(judged: DataFrame, logs: Logs, frontier: Frontier) -> DataFrame:
    """node, gid, dno, seq: where the groups stand that have a state."""
    events = group_order.group_events(judged, logs.membership)
    if logs.before is not None:
        events = group_order.going_on(events, logs.before.places, logs.before.judged)
    known = _judged(judged.sparkSession, frontier)
    past = events.join(F.broadcast(known.withColumnRenamed("dno", "known")), "node").where(
        "dno <= known"
    )
    last = Window.partitionBy("node", "gid").orderBy(F.desc("dno"), F.desc("rank"), F.desc("off"))
    newest = past.withColumn("age", F.row_number().over(last)).where("age = 1")
    return newest.where("op != 'released'").select("node", "gid", "dno", F.col("end").alias("seq"))


def _that_matter(rows: DataFrame, places: DataFrame, logs: Logs) -> DataFrame:
    """Of the deliveries that were judged those that later ones are held against, with `why`."""
    of_stream = Window.partitionBy("node", "gid", "sequencer").orderBy(F.desc("dno"))
    last = (
        rows.withColumn("age", F.row_number().over(of_stream))
        .where("age = 1")
        .select("node", "dno", F.lit(LAST).alias("why"))
    )
    chosen = [last, _reaching(rows, logs), _open(rows, places, logs), _leaves(rows, logs)]
    # A row may be kept for several reasons: `open` says most.
    whys = (
        reduce(DataFrame.unionByName, chosen).groupBy("node", "dno").agg(F.max("why").alias("why"))
    )
    return rows.join(whys, ["node", "dno"]).select(*rows.columns, "why")


def _reaching(rows: DataFrame, logs: Logs) -> DataFrame:
    """Rows whose frame's context reaches further in a stream than those of later rows."""
    entries = stream_order.contexts(logs.frame.dropDuplicates(["node", "frame"]))
    reaching = rows.select("node", "gid", "dno", "sequencer", frame_of("lseq").alias("frame")).join(
        entries, ["sequencer", "frame"]
    )
    later = (
        Window.partitionBy("node", "gid", "of")
        .orderBy("dno")
        .rowsBetween(1, Window.unboundedFollowing)
    )
    highest = reaching.withColumn("later", F.max("reach").over(later))
    return highest.where(F.col("later").isNull() | (F.col("reach") > F.col("later"))).select(
        "node", "dno", F.lit(LAST).alias("why")
    )


def _open(rows: DataFrame, places: DataFrame, logs: Logs) -> DataFrame:
    """Rows of frames of which their node has yet to deliver something."""
    coming = (
        logs.accept.select(F.col("node").alias("sequencer"), "lseq", "gid", "seq")
        .join(places.select("node", "gid", F.col("seq").alias("place")), "gid")
        .where(F.col("seq") > F.col("place"))
        .select("node", "sequencer", frame_of("lseq").alias("frame"))
        .distinct()
    )
    return (
        rows.select("node", "dno", "sequencer", frame_of("lseq").alias("frame"))
        .join(coming, ["node", "sequencer", "frame"], "left_semi")
        .select("node", "dno", F.lit(OPEN).alias("why"))
    )


def _leaves(rows: DataFrame, logs: Logs) -> DataFrame:
    """LEAVEs of processes that their nodes have not said to be out."""
    hosted = hosting.hosted_intervals(logs.membership).withColumnRenamed("process", "sender")
    leaves = rows.where(F.col("what").isin(LEFT, GONE)).select("node", "gid", "sender", "dno")
    staying = leaves.join(hosted, ["node", "gid", "sender"]).where(
        (F.col("in_dno") < F.col("dno")) & (F.col("dno") < F.col("out_dno"))
    )
    return staying.select("node", "dno", F.lit(LAST).alias("why"))


def _numbers(rows: DataFrame, logs: Logs, *, all_kept: bool) -> DataFrame:
    """What is held of the numbers, and the last of each group and of each sender in it."""
    fresh = logs.numbered
    if fresh is None:
        fresh = numbering.numbered(logs.accept, logs.membership)
    numbers, said = fresh, fresh
    if logs.before is not None:
        numbers = fresh.unionByName(logs.before.number)
        said = fresh.unionByName(logs.before.sender)
    kept = said.join(
        numbering.superseded(numbers).select("node", "lseq"), ["node", "lseq"], "left_anti"
    )
    held = fresh.limit(0)
    if all_kept:
        reached = numbering.reached(rows)
        bounds = F.col("reached").isNull() | (F.col("seq") > F.col("reached"))
        held = fresh.join(reached, "gid", "left").where(bounds).drop("reached")
        numbers, kept = numbering.up_to(numbers, reached), numbering.up_to(kept, reached)
    newest = Window.partitionBy("gid").orderBy(F.desc("epoch"), F.desc("seq"))
    of_sender = Window.partitionBy("gid", "sender").orderBy(F.desc("seq"), F.desc("epoch"))
    last = numbers.withColumn("age", F.row_number().over(newest)).where("age = 1").drop("age")
    senders = (
        kept.where(F.col("first").isNotNull())
        .withColumn("age", F.row_number().over(of_sender))
        .where("age = 1")
        .drop("age")
    )
    return (
        held.withColumn("why", F.lit(HELD))
        .unionByName(last.withColumn("why", F.lit(LAST)))
        .unionByName(senders.withColumn("why", F.lit(SENDER)))
    )


# --- from where the next one goes on --------------------------------------------------------------


def logs_since(spark: SparkSession, store: Store, snapshot: Snapshot, frontier: Frontier) -> Logs:
    """The logs from a frontier on."""

    def table(kind: str, commit: int = 0) -> DataFrame:
        return store.read(spark, kind, raw(kind), snapshot.parts_since(kind, commit))

    def left(name: str) -> DataFrame:
        return store.read(spark, name, FRONTIER[name], snapshot.parts_since(name, 0))

    whole = {kind: table(kind) for kind in KINDS}
    kept, numbers = at_hand(left("audit_delivery")), at_hand(left("audit_number"))
    delivery = table("delivery", frontier.commit).unionByName(
        kept.where(F.col("why") == HELD).drop("why")
    )
    fresh = numbering.numbered(
        table("accept", frontier.commit), table("membership", frontier.commit)
    ).unionByName(numbers.where(F.col("why") == HELD).drop("why"))
    rests = _rests_on(delivery.unionByName(kept.where(F.col("why") == OPEN).drop("why")))
    stamps, frames = _bounds(rests, fresh)
    archived = not delivery.where(F.col("sequencer").isNull()).isEmpty()
    judged_before = kept.where(F.col("why") != HELD).drop("why")
    refused = table("verdict", frontier.commit)
    before = Before(
        _judged(spark, frontier),
        judged_before.unionByName(_concerned(whole["delivery"], refused, frontier)),
        left("audit_place"),
        numbers.where(F.col("why") == LAST).drop("why"),
        numbers.where(F.col("why") == SENDER).drop("why"),
    )
    return Logs(
        **{
            **whole,
            "accept": whole["accept"] if archived else whole["accept"].where(stamps),
            "delivery": delivery,
            "frame": left("audit_frame").unionByName(whole["frame"].where(frames)),
        },
        segment=store.read(spark, "segment", SEGMENT_FACTS, snapshot.parts_since("segment", 0)),
        before=before,
        numbered=fresh,
    )


def _rests_on(deliveries: DataFrame) -> dict[str, int]:
    """Of each sequencer the lowest stamp that these rest on."""
    rows = deliveries.where(F.col("sequencer").isNotNull()).groupBy("sequencer")
    return {r["sequencer"]: r["low"] for r in rows.agg(F.min("lseq").alias("low")).collect()}


def _bounds(stamps: Mapping[str, int], numbers: DataFrame) -> tuple[Column, Column]:
    """Conditions for rows of `accept` and of `frame`; as texts they reach Parquet's own filters."""
    lowest = {n: low // FRAME_STAMPS for n, low in stamps.items()}
    for row in numbers.groupBy("node").agg(F.min(frame_of("lseq")).alias("low")).collect():
        lowest[row["node"]] = min(row["low"], lowest.get(row["node"], row["low"]))
    return _from(stamps, "lseq"), _from(lowest, "frame")


def _from(low: Mapping[str, int], name: str) -> Column:
    wanted = [(F.col("node") == node) & (F.col(name) >= least) for node, least in low.items()]
    return reduce(Column.__or__, wanted, F.lit(False))


def _concerned(deliveries: DataFrame, refused: DataFrame, frontier: Frontier) -> DataFrame:
    """What was judged, and what a verdict has come of since."""
    rows = refused.groupBy("gid").agg(F.min("seq").alias("low"), F.max("seq").alias("high"))
    spans = [(row["gid"], row["low"], row["high"]) for row in rows.collect()]
    wanted = [
        (F.col("gid") == gid) & (F.col("seq") <= high) & (F.col("seq") + F.col("count") > low)
        for gid, low, high in spans
    ]
    judged = _judged(deliveries.sparkSession, frontier).withColumnRenamed("dno", "known")
    found = deliveries.where(reduce(Column.__or__, wanted, F.lit(False)))
    return found.join(F.broadcast(judged), "node").where("dno <= known").drop("known")


def _judged(spark: SparkSession, frontier: Frontier) -> DataFrame:
    return spark.createDataFrame(list(frontier.judged.items()), "node string, dno bigint")
