"""Lost ranges of nodes' logs, looked up in a store's tables: where they lay, what they touch.

The ranges come from the table `segment` and from `log_gap`; both are small. Where they lay is asked
of the big tables only where something is lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from groupcore.trace import CONTENT
from pipeline.lost import END, Hole, Log, Lost, Seen, Span, Told, lost_ranges, spans_of
from pipeline.schemas import SPAN
from pipeline.transforms import records
from pipeline.transforms.findings import frame_of

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

    from pipeline.audit import Logs

PLACES: Final = {
    "delivery": {"delivery": "dno"},
    "accept": {"accept": "lseq"},
    "membership": {"membership": "dno", "change": "lseq"},
    "frame": {"frame": "frame"},
    "view": {"view": "number"},
    "verdict": {"verdict": "dno"},
}
"""The tables whose rows explain findings: kinds of spans, and the columns of their places."""

NOTED: Final = {
    "membership": ("delivery", "dno"),
    "verdict": ("delivery", "dno"),
    "change": ("accept", "lseq"),
}
"""Rows of these kinds are written before those of this table that were noted later."""

Located = dict[Lost, list[Span]]


def find_lost(logs: Logs, known: Iterable[Lost] = ()) -> tuple[list[Lost], list[Hole]]:
    """The lost ranges of all logs, and the holes that nothing names.

    `known`: those that an audit of all rows has found, where the logs are not whole.
    """
    earlier = list(known)
    holes: list[Hole] = []
    for row in records.log_holes(logs.segment).collect():
        log: Log = (row["node"], row["kind"], row["epoch"])
        if row["before"] > 0:
            due = row["first_off"] - row["before"]
            holes.append(Hole(log, due, row["first_off"] - 1, row["segment"]))
        if row["inside"] or row["before"] < 0:
            holes += _inside(logs, log, row.asDict(), earlier)
    bounds = {
        (row["node"], row["kind"], row["epoch"]): (row["first"], row["last"] + 1)
        for row in logs.segment.where(~F.col("skipped") & (F.col("rows") > 0))
        .groupBy("node", "kind", "epoch")
        .agg(F.min("first_off").alias("first"), F.max("last_off").alias("last"))
        .collect()
    }
    return lost_ranges(holes, [*_told(logs.log_gap), *_damaged(logs.segment)], bounds)


def _inside(
    logs: Logs, log: Log, row: Mapping[str, Any], earlier: Iterable[Lost]
) -> Iterable[Hole]:
    """The holes within a segment. Of a table that the audit does not read, or where rows are there
    twice, only how many: as if they stood at its end."""
    frame: DataFrame | None = getattr(logs, log[1], None)
    missing, segment = row["inside"], row["segment"]
    own = [
        Hole(log, one.from_off, one.to_off, segment)
        for one in earlier
        if one[:3] == log
        and one.to_off is not None
        and row["first_off"] < one.from_off <= one.to_off < row["last_off"]
    ]
    if own and sum(one.last - one.first + 1 for one in own) == missing:
        return own
    if frame is not None and logs.before is None and missing > 0:
        offs = frame.where(F.col("segment") == segment).select("off")
        before = F.lag("off").over(Window.orderBy("off"))
        jumps = offs.withColumn("before", before).where("off > before + 1").collect()
        return [Hole(log, at["before"] + 1, at["off"] - 1, segment) for at in jumps]
    last = row["last_off"]
    if missing > 0:
        return [Hole(log, last - missing, last - 1, segment)]
    # Rows that are there twice: nothing that is lost explains them.
    return [Hole(log, -1, -1, segment)]


def _told(gaps: DataFrame) -> Iterable[Told]:
    for row in gaps.where("reason != 'sampled'").collect():
        log: Log = (row["node"].partition("#")[0], row["kind"], row["epoch"])
        yield Told(log, row["from_off"] or 0, row["to_off"], row["reason"])


def _damaged(facts: DataFrame) -> Iterable[Told]:
    """Of each damaged segment the rows between its neighbours."""
    of_log = F.col("n")
    if facts.where("skipped").isEmpty():
        return
    logs = facts.where("skipped").select("node", "kind", "epoch").distinct()
    rows = facts.join(F.broadcast(logs), ["node", "kind", "epoch"]).orderBy(of_log).collect()
    groups: dict[Log, list[Mapping[str, int]]] = defaultdict(list)
    for row in rows:
        groups[row["node"], row["kind"], row["epoch"]].append(row.asDict())
    for log, own in groups.items():
        due = 0
        begun: int | None = None
        for one in own:
            if one["skipped"]:
                begun = due if begun is None else begun
            elif one["rows"]:
                if begun is not None and begun < one["first_off"]:
                    yield Told(log, begun, one["first_off"] - 1, "damaged")
                begun, due = None, one["last_off"] + 1
        if begun is not None:
            yield Told(log, begun, None, "damaged")


# --- where they lay -------------------------------------------------------------------------------


def locate(logs: Logs, lost: Sequence[Lost]) -> Located:
    """Of each lost range where its rows can have been, in the lives of its node."""
    asked = [one for one in lost if one.kind in PLACES]
    if not asked:
        return {}
    lives = _lives(logs, {one.node for one in asked})
    behind = _behind(logs, asked)
    found: Located = {}
    for kind, columns in PLACES.items():
        own = [one for one in asked if one.kind == kind]
        if not own:
            continue
        seen = _seen(logs, own, kind, columns)
        for one in own:
            log = (one.node, one.epoch)
            known = lives.get(log, [])
            found[one] = [
                span
                for name in columns
                for span in spans_of(one, name, seen[one, name], known, behind.get((*log, name)))
            ]
    return found


def _epoch() -> Column:
    """The writer's epoch of a raw row, out of its segment's name."""
    return F.regexp_extract("segment", r"-(\d{8,})-\d{12}\.arrows$", 1).cast("bigint")


def _of(frame: DataFrame, ids: Iterable[str]) -> DataFrame:
    """The rows that nodes of these ids have written, with `id` and `epoch`."""
    rows = frame.withColumn("id", F.substring_index("node", "#", 1))
    return rows.where(F.col("id").isin(*ids)).withColumn("epoch", _epoch())


def _lives(logs: Logs, ids: set[str]) -> dict[tuple[str, int], list[str]]:
    """Of each node's epochs its lives, in turn; behind them those that others saw, and whose own
    rows are all lost."""
    kinds = (logs.view, logs.membership, logs.delivery, logs.accept, logs.frame, logs.group)
    rows = reduce(
        DataFrame.unionByName,
        [
            _of(frame, ids).groupBy("id", "epoch", "node").agg(F.min("t").alias("t"))
            for frame in kinds
        ],
    )
    first = rows.groupBy("id", "epoch", "node").agg(F.min("t").alias("t"))
    lives: dict[tuple[str, int], list[str]] = defaultdict(list)
    for row in sorted(first.collect(), key=lambda row: row["t"]):
        lives[row["id"], row["epoch"]].append(row["node"])
    known = {life for of_epoch in lives.values() for life in of_epoch}
    members = logs.view.select(F.explode("members").alias("node")).distinct().collect()
    for life in sorted({row["node"] for row in members} - known):
        for (node, _), of_epoch in lives.items():
            if node == life.partition("#")[0]:
                of_epoch.append(life)
    return lives


def _behind(logs: Logs, asked: Sequence[Lost]) -> dict[tuple[str, int, str], tuple[str, int]]:
    """Of a writer's epoch that ended with a crash, and a kind of span: the life and the place there
    behind which all was noted that is missing. The next life says it; if it does not, it is the
    last row of a segment that was completed: `accept` and `delivery` are completed behind what
    these kinds are in.
    """
    found: dict[tuple[str, int, str], tuple[str, int]] = {}
    for row in logs.log_gap.where("life is not null").collect():
        node = row["node"].partition("#")[0]
        for kind, (_, column) in NOTED.items():
            if row[column] is not None:
                found[node, row["epoch"], kind] = (row["life"], row[column])
    crashed = {(one.node, one.epoch) for one in asked if one.to_off is None}
    for table, column in sorted(set(NOTED.values())):
        kinds = [kind for kind, noted in NOTED.items() if noted == (table, column)]
        wanted = {log for log in crashed if any((*log, kind) not in found for kind in kinds)}
        last = _last_completed(logs, table, column, wanted)
        for (node, epoch), place in last.items():
            for kind in kinds:
                found.setdefault((node, epoch, kind), place)
    return found


def _last_completed(
    logs: Logs, table: str, column: str, wanted: set[tuple[str, int]]
) -> dict[tuple[str, int], tuple[str, int]]:
    """Of logs of a table the life and the place of the last row in a segment that was completed."""
    whole = logs.segment.where(
        (F.col("kind") == table) & ~F.col("skipped") & ~F.col("recovered") & (F.col("rows") > 0)
    )
    last = whole.groupBy("node", "epoch").agg(F.max("last_off").alias("off")).collect()
    offs = [(r["node"], r["epoch"], r["off"]) for r in last if (r["node"], r["epoch"]) in wanted]
    if not offs:
        return {}
    names = logs.log_gap.sparkSession.createDataFrame(offs, "id string, epoch bigint, off bigint")
    frame: DataFrame = getattr(logs, table)
    rows = _of(frame.select("node", "off", column, "segment"), {one[0] for one in offs})
    found = rows.join(F.broadcast(names), ["id", "epoch", "off"]).collect()
    return {(row["id"], row["epoch"]): (row["node"], row[column]) for row in found}


def _seen(
    logs: Logs, lost: Sequence[Lost], kind: str, columns: Mapping[str, str]
) -> dict[tuple[Lost, str], list[Seen]]:
    """What stands around lost ranges of a kind, in each life, by kinds of spans."""
    frame: DataFrame = getattr(logs, kind)
    if kind == "verdict":
        frame = _placed_verdicts(frame, logs.delivery)
    spark = logs.log_gap.sparkSession
    ranges = spark.createDataFrame(
        [
            (at, one.node, one.epoch, one.from_off, END if one.to_off is None else one.to_off)
            for at, one in enumerate(lost)
        ],
        "at int, id string, epoch bigint, low bigint, high bigint",
    )
    rows = _of(frame, {one.node for one in lost}).select(
        "id", "epoch", "node", "off", *set(columns.values())
    )
    before, after = F.col("off") < F.col("low"), F.col("off") > F.col("high")
    sides = [
        F.max(F.when(before, F.col("off"))).alias("off_before"),
        F.min(F.when(after, F.col("off"))).alias("off_after"),
    ]
    for name, column in columns.items():
        sides += [
            F.max(F.when(before, F.col(column))).alias(f"{name}_before"),
            F.min(F.when(after, F.col(column))).alias(f"{name}_after"),
        ]
    found = rows.join(F.broadcast(ranges), ["id", "epoch"]).groupBy("at", "node").agg(*sides)
    seen: dict[tuple[Lost, str], list[Seen]] = defaultdict(list)
    for row in found.collect():
        for name in columns:
            around = [row[side] for side in ("off_before", "off_after")]
            around += [row[f"{name}_{side}"] for side in ("before", "after")]
            seen[lost[row["at"]], name].append(Seen(row["node"], *around))
    return seen


def _placed_verdicts(refused: DataFrame, deliveries: DataFrame) -> DataFrame:
    """Verdicts with the delivery of what they refuse."""
    rows = refused.select("node", "off", "t", "gid", F.col("seq").alias("at"), "segment")
    given = deliveries.where(F.col("what") == CONTENT).select("node", "gid", "seq", "count", "dno")
    inside = (F.col("at") >= F.col("seq")) & (F.col("at") < F.col("seq") + F.col("count"))
    return rows.join(given, ["node", "gid"], "left").where(inside | F.col("dno").isNull())


# --- what they touch ------------------------------------------------------------------------------


def spans_frame(spark: SparkSession, spans: Iterable[Span]) -> DataFrame:
    """Spans as a frame: node, kind, low, high."""
    return spark.createDataFrame([tuple(span) for span in spans], SPAN)


def unproved(deliveries: DataFrame, spans: Sequence[Span]) -> dict[str, int]:
    """Of each node's life how many of these deliveries rest on rows that are lost.

    Its stamp or its frame is in a lost range; or what its node said of its groups' processes, or
    refused, at that place is.
    """
    if not spans:
        return {}
    at_node = [one for one in spans if one.kind in ("membership", "verdict")]
    at_sequencer = [one for one in spans if one.kind in ("accept", "change", "frame")]
    spark = deliveries.sparkSession
    rows = deliveries.select("node", "dno", "sequencer", "lseq", "what")
    found = []
    if at_node:
        own = F.broadcast(spans_frame(spark, at_node))
        inside = (F.col("dno") > F.col("low")) & (F.col("dno") <= F.col("high"))
        found.append(rows.join(own, "node").where(inside).select("node", "dno"))
    if at_sequencer:
        theirs = F.broadcast(
            spans_frame(spark, at_sequencer).withColumnRenamed("node", "sequencer")
        )
        place = F.when(F.col("kind") == "frame", frame_of("lseq")).otherwise(F.col("lseq"))
        concerned = (
            (F.col("kind") == "frame")
            | ((F.col("kind") == "accept") & (F.col("what") == CONTENT))
            | ((F.col("kind") == "change") & (F.col("what") != CONTENT))
        )
        inside = concerned & (place >= F.col("low")) & (place <= F.col("high"))
        found.append(rows.join(theirs, "sequencer").where(inside).select("node", "dno"))
    touched = reduce(DataFrame.unionByName, found).distinct().groupBy("node").count()
    return {row["node"]: row["count"] for row in touched.collect()}
