"""The order audit: every rule over everything that a store has of the trace.

What is audited is a prefix of each node's log, never a span of time: a row may be there before what
it rests on, where another node's segment has not been taken in yet. A node's log is *held* from the
first delivery on whose frame its sequencer's log does not have yet, as long as that one goes on.
Numbers are judged as far as somebody was given them, as the log of a former sequencer may end
before that of its successor.

An audit can go on where another one ended (`pipeline.frontier`): then the logs are what is new, and
what is old and still matters is in `Logs.before`.

Big tables are passed over once for each kind of rule, by windows that look for what could be wrong;
who is to blame is asked of these rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from pipeline.few import at_hand, settled
from pipeline.losing import Located, find_lost, locate, spans_frame, unproved
from pipeline.lost import Lost
from pipeline.schemas import SEGMENT_FACTS, raw
from pipeline.session import adapts
from pipeline.transforms import contents as content_rules
from pipeline.transforms import group_order as group_rules
from pipeline.transforms import hosting, naming, numbering, records, verdicts, views
from pipeline.transforms import stream_order as stream_rules
from pipeline.transforms.findings import FINDING, frame_of

if TYPE_CHECKING:
    from pyspark.sql import Column, Row, SparkSession

    from pipeline.store import Snapshot, Store

KINDS = (
    "accept",
    "delivery",
    "frame",
    "group",
    "log_gap",
    "membership",
    "verdict",
    "view",
)
"""The raw tables that the audit reads, beside `segment`."""

RULES = {
    "gap": "each node delivers every number of a group, from the state that it took on",
    "duplicate": "no number is delivered twice",
    "late": "the numbers of a group are delivered in their order, at every node the same",
    "not_hosted": "a node delivers only groups whose state it has taken",
    "causal": "nothing is given to a process behind what was sent with knowledge of it (CT2)",
    "strict": "strict groups: processes that share two of them see one order (T2)",
    "in_frame": "what a sequencer packed together is given in its order",
    "content": "what is delivered is what was stamped: number, sender, messages",
    "phantom": "nothing is delivered that no sequencer stamped",
    "after_leave": "no process is given anything behind its LEAVE",
    "two_sequencers": "a group has one sequencer in an epoch",
    "numbering": "sequencers give consecutive numbers, across migrations and failovers",
    "floor": "no number that was delivered is given again",
    "fifo": "the messages of a sender to a group have their numbers in its order, all of them",
    "view": "nodes agree on the members of a view",
    "view_order": "the views of a node have growing numbers",
    "view_synchrony": "of a stream that ended nothing is delivered behind the view's cut",
    "verdict": "all nodes refuse the same messages",
    "delivery_numbers": "a node's deliveries are numbered without holes",
    "missing_records": "no log lacks rows without saying so",
}
"""The rules, as the certificate says them."""

BROADCAST_ROWS_MAX = 1_000_000
"""So many suspects are handed to all of Spark's workers."""


@dataclass(frozen=True)
class Before:
    """What was judged before, and matters to what is judged now.

    `judged`: node, dno, the last delivery that was judged. `delivery`: raw rows of these, of which
    the order across groups is held against; `places`: node, gid, dno, seq, where groups stood.
    `number`, `sender`: as of `numbering.numbered`, of each group its last numbers, and those of
    each of its senders.
    """

    judged: DataFrame
    delivery: DataFrame
    places: DataFrame
    number: DataFrame
    sender: DataFrame


@dataclass(frozen=True)
class Logs:
    """The raw tables, whole; or, with `before`, `delivery` and `numbered` what is not judged yet,
    `accept` and `frame` what that rests on.

    `numbered`: what was given numbers, if it is not all that is in `accept` and `membership`.
    """

    accept: DataFrame
    delivery: DataFrame
    frame: DataFrame
    group: DataFrame
    log_gap: DataFrame
    membership: DataFrame
    verdict: DataFrame
    view: DataFrame
    segment: DataFrame
    before: Before | None = None
    numbered: DataFrame | None = None


class Range(NamedTuple):
    """What was judged of a node's life: the first and last delivery, by their numbers, and how many
    rows; from when to when, by the node's clock, us since 1970: None, not known.

    `unproved`: how many of these rows rest on rows of logs that are lost, so that not every rule
    could be held against them.
    """

    first: int
    last: int
    rows: int
    since_us: int | None = None
    until_us: int | None = None
    unproved: int = 0

    @property
    def missing(self) -> int:
        """How many deliveries up to the last one are not in the trace."""
        return max(0, self.last - self.rows)


@dataclass
class Audited:
    """What an audit has found. `violations` has the columns of `schemas.VIOLATION`.

    `excused`: findings, by rule, that rows explain which the logs say that they lack: they prove
    nothing. `lost`: these ranges of rows, with the lives and places where they lay. `ranges`: what
    was judged of each node's life. `held`: rows that wait for other nodes' logs. `sampled`: ids of
    nodes whose deliveries are sampled. `unchecked`: segments that have no checksum.
    """

    violations: DataFrame
    counts: dict[str, int]
    excused: dict[str, int]
    lost: Located
    ranges: dict[str, Range]
    held: int
    sampled: tuple[str, ...]
    cuts: dict[str, int]
    unchecked: int = 0

    @property
    def clean(self) -> bool:
        """Whether no rule is broken."""
        return not any(self.counts.values())

    @property
    def whole(self) -> bool:
        """Whether every rule was held against every row that was judged, and no row is missing."""
        ranges = self.ranges.values()
        return not (
            self.lost
            or self.sampled
            or any(self.excused.values())
            or any(one.unproved or one.missing for one in ranges)
        )


def read_logs(spark: SparkSession, store: Store, snapshot: Snapshot) -> Logs:
    """The tables of a store as of a snapshot."""
    tables = {
        kind: store.read(spark, kind, raw(kind), snapshot.parts_since(kind, 0)) for kind in KINDS
    }
    facts = store.read(spark, "segment", SEGMENT_FACTS, snapshot.parts_since("segment", 0))
    return Logs(**tables, segment=facts)  # type: ignore[arg-type]


def audit(
    logs: Logs,
    phase: Callable[[str], object] = lambda name: None,
    *,
    known: Located | None = None,
) -> Audited:
    """Judge everything; `phase` is told what is being looked at.

    `known`: where the lost ranges lay, if that is known; else it is looked up, for which all of the
    logs must be there.
    """
    phase("how far each log goes")
    sampled = _sampled(logs)
    ranges, cut, held, archived = _ranges(logs)
    deliveries = _until(logs.delivery, cut)
    complete = deliveries
    if sampled:
        complete = deliveries.where(~F.substring_index("node", "#", 1).isin(*sampled))
    rows = with_before(deliveries, logs)
    found = [
        *_group_rules(phase, complete, logs),
        *_stream_rules(phase, rows, logs),
        *_content_rules(phase, deliveries, logs, archived=archived),
        *_sequencer_rules(phase, rows, logs, all_kept=not sampled),
    ]
    phase("views, verdicts, the logs themselves")
    hosted = hosting.hosted_intervals(logs.membership)
    spark = logs.delivery.sparkSession
    lost, silent = find_lost(logs, known or ())
    located = _located(logs, lost, known)
    found += [
        hosting.after_leave(rows, hosted),
        views.view_agreement(logs.view),
        views.view_order(logs.view),
        views.behind_the_cut(rows, views.ended_streams(logs.view)),
        verdicts.verdicts(rows, logs.verdict),
        records.missing_records(spark, silent),
    ]
    if logs.before or any(one.last - one.first + 1 != one.rows for one in ranges.values()):
        judged = logs.before.judged if logs.before else None
        found.append(records.delivery_numbers(complete, judged))
    spans = [span for of_range in located.values() for span in of_range]
    both = settled(naming.excuse(_together(found), spans_frame(spark, spans)))
    counts = {(r["rule"], r["excused"]): r["n"] for r in naming.count(both).collect()}
    phase("names")
    violations = both.where(~F.col("excused")).drop("excused")
    if not all(excused for _, excused in counts):
        violations = naming.named(violations, logs.delivery, logs.accept)
    else:
        violations = naming.unnamed(violations)
    return Audited(
        violations,
        {rule: counts.get((rule, False), 0) for rule in RULES},
        {rule: n for (rule, excused), n in counts.items() if excused},
        located,
        _with_unproved(ranges, unproved(deliveries, spans)),
        held,
        sampled,
        cut,
        _unchecked(logs),
    )


def _located(logs: Logs, lost: Iterable[Lost], known: Located | None) -> Located:
    """Where each lost range lay; those of tables that no rule reads lay nowhere."""
    ranges = list(lost)
    found = locate(logs, ranges) if known is None else known
    return {one: list(found.get(one, ())) for one in ranges}


def _with_unproved(ranges: dict[str, Range], counts: Mapping[str, int]) -> dict[str, Range]:
    return {node: one._replace(unproved=counts.get(node, 0)) for node, one in ranges.items()}


def _unchecked(logs: Logs) -> int:
    """Segments whose rows were taken in without a checksum."""
    return logs.segment.where("not skipped and not coalesce(checked, false)").count()


def with_before(deliveries: DataFrame, logs: Logs) -> DataFrame:
    """The deliveries, with those that were judged before and matter to them."""
    return deliveries if logs.before is None else deliveries.unionByName(logs.before.delivery)


def _group_rules(
    phase: Callable[[str], object], deliveries: DataFrame, logs: Logs
) -> Iterable[DataFrame]:
    phase("numbers of each group at each node")
    events = group_rules.group_events(deliveries, logs.membership)
    if logs.before is not None:
        events = group_rules.going_on(events, logs.before.places, logs.before.judged)
    suspects = at_hand(group_rules.out_of_turn(events))
    if not suspects.isEmpty():
        yield group_rules.group_order(events, suspects)


def _stream_rules(
    phase: Callable[[str], object], deliveries: DataFrame, logs: Logs
) -> Iterable[DataFrame]:
    phase("order across groups")
    promises = logs.group.groupBy("gid").agg(F.max("promise").alias("promise"))
    rows = stream_rules.stamped(deliveries, F.broadcast(promises))
    entries = stream_rules.contexts(logs.frame)
    found = at_hand(stream_rules.candidates(rows, entries))
    ways = {"causal": "is_causal", "strict": "is_strict", "in_frame": "is_in_frame"}
    counted = found.agg(
        *[F.coalesce(F.sum(F.col(c).cast("int")), F.lit(0)).alias(w) for w, c in ways.items()]
    ).first()
    assert counted is not None
    few = sum(counted) < BROADCAST_ROWS_MAX
    suspects = at_hand(stream_rules.identified(found, rows, few=few))
    hosted = hosting.hosted_intervals(logs.membership)
    if counted["causal"]:
        yield stream_rules.causal_order(suspects, rows, entries, hosted)
    if counted["strict"]:
        yield stream_rules.strict_order(suspects, rows, hosted)
    if counted["in_frame"]:
        yield stream_rules.frame_order(suspects, rows, hosted)


def _content_rules(
    phase: Callable[[str], object], deliveries: DataFrame, logs: Logs, *, archived: bool
) -> Iterable[DataFrame]:
    phase("deliveries against what was stamped")
    likes = at_hand(content_rules.unlike(deliveries, logs.accept))
    if odd := likes.count():
        suspects = content_rules.with_hashes(deliveries, likes, few=odd < BROADCAST_ROWS_MAX)
        yield content_rules.contents(suspects, logs.accept)
    yield content_rules.changes(deliveries, logs.membership)
    if archived:
        yield content_rules.archived(deliveries, logs.accept)


def _sequencer_rules(
    phase: Callable[[str], object], deliveries: DataFrame, logs: Logs, *, all_kept: bool
) -> Iterable[DataFrame]:
    phase("what sequencers have given numbers to")
    fresh = logs.numbered
    if fresh is None:
        fresh = numbering.numbered(logs.accept, logs.membership)
    fresh = at_hand(fresh)
    numbers, said = fresh, fresh
    if logs.before is not None:
        numbers = fresh.unionByName(logs.before.number)
        said = fresh.unionByName(logs.before.sender)
    memory = at_hand(numbering.memories(logs.frame, logs.view))
    doubt = numbering.doubts(numbers).first()
    assert doubt is not None
    gone: DataFrame | None = None
    if doubt["again"]:
        suspects = at_hand(numbering.superseded(numbers))
        gone = settled(numbering.lost(suspects, numbers, memory))
        yield numbering.floors(deliveries, gone)
    if doubt["several"]:
        yield numbering.epoch_owners(numbers, memory)
    if all_kept:
        reached = at_hand(numbering.reached(deliveries))
        numbers, said = (numbering.up_to(rows, reached) for rows in (numbers, said))
    for found in (numbering.numbers_in_turn(numbers), numbering.sender_order(said, gone)):
        odd = at_hand(found)
        if not odd.isEmpty():
            owners = at_hand(_owners(numbers, logs.group, deliveries))
            yield numbering.remembered(numbering.explained(odd, owners, numbers), memory)


def _owners(numbers: DataFrame, groups: DataFrame, deliveries: DataFrame) -> DataFrame:
    """gid, node: who has sequenced a group, by anybody's word."""
    given = deliveries.where(F.col("sequencer").isNotNull()).select(
        "gid", F.col("sequencer").alias("node")
    )
    said = groups.where("op = 'owned'").select("gid", "node")
    return numbers.select("gid", "node").unionByName(said).unionByName(given).distinct()


def _together(found: Iterable[DataFrame]) -> DataFrame:
    """The findings of all rules."""
    alike = [one.select(*FINDING) for one in found]
    if adapts(alike[0].sparkSession):
        alike = [settled(one) for one in alike]
    return reduce(DataFrame.unionByName, alike)


def _sampled(logs: Logs) -> tuple[str, ...]:
    """Ids of nodes that have left deliveries out because they were told to."""
    rows = logs.segment.where((F.col("kind") == "delivery") & (F.col("every") > 1))
    return tuple(sorted({row["node"] for row in rows.select("node").collect()}))


def _ends(logs: Logs) -> DataFrame:
    """sequencer, seen: the last frame that is here of each log that goes on.

    A log goes on until its node has another life, which says what is missing of it.
    """
    lives = (
        logs.view.select(F.explode("members").alias("sequencer"), "number")
        .groupBy("sequencer")
        .agg(F.max("number").alias("last"))
    )
    newest = Window.partitionBy(F.substring_index("sequencer", "#", 1)).orderBy(
        F.desc("last"), F.desc("sequencer")
    )
    going_on = lives.withColumn("age", F.row_number().over(newest)).where("age = 1")
    seen = logs.frame.groupBy(F.col("node").alias("sequencer")).agg(F.max("frame").alias("seen"))
    return going_on.join(seen, "sequencer", "left").na.fill(0, ["seen"]).select("sequencer", "seen")


def _ranges(logs: Logs) -> tuple[dict[str, Range], dict[str, int], int, bool]:
    """What is judged of each node; where what is held begins, how many rows that is; and whether
    any row is from an archive.

    Held is what stands from a node's first delivery on whose frame is not in its sequencer's log,
    which goes on.
    """
    rows = logs.delivery.select("node", "dno", "t", "sequencer", frame_of("lseq").alias("frame"))
    waits = F.col("frame") > F.col("seen")
    found = (
        rows.join(F.broadcast(_ends(logs)), "sequencer", "left")
        .groupBy("node")
        .agg(
            *_range_columns(),
            F.min(F.when(waits, F.col("dno"))).alias("cut"),
            F.max(F.col("sequencer").isNull()).alias("archived"),
        )
        .collect()
    )
    ranges = {row["node"]: _range(row) for row in found}
    cut = {row["node"]: row["cut"] for row in found if row["cut"] is not None}
    held = 0
    if cut:  # of few nodes, and seldom
        judged = _until(logs.delivery.where(F.col("node").isin(*cut)), cut).groupBy("node")
        left = {row["node"]: _range(row) for row in judged.agg(*_range_columns()).collect()}
        for node in cut:
            held += ranges.pop(node).rows
            if node in left:
                ranges[node] = left[node]
                held -= left[node].rows
    return ranges, cut, held, any(row["archived"] for row in found)


def _range_columns() -> list[Column]:
    """Columns of `Range`, over a node's rows."""
    return [
        F.min("dno").alias("first"),
        F.max("dno").alias("last"),
        F.count("*").alias("rows"),
        F.unix_micros(F.min("t")).alias("since_us"),
        F.unix_micros(F.max("t")).alias("until_us"),
    ]


def _range(row: Row) -> Range:
    return Range(*(row[name] for name in Range._fields if name != "unproved"))


def _until(deliveries: DataFrame, cut: Mapping[str, int]) -> DataFrame:
    """What stands before the cuts."""
    if not cut:
        return deliveries
    cuts = deliveries.sparkSession.createDataFrame(list(cut.items()), "node string, cut bigint")
    joined = deliveries.join(F.broadcast(cuts), "node", "left")
    return joined.where(F.col("cut").isNull() | (F.col("dno") < F.col("cut"))).drop("cut")
