"""An audit of a store: from where the last one has ended, or of everything; and what it leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pipeline.audit import KINDS, RULES, Audited, Range, audit, read_logs
from pipeline.certificate import described_ranges
from pipeline.frontier import FRONTIER, Frontier, advanced, left_behind, logs_since
from pipeline.lost import read_described
from pipeline.schemas import names_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.audit import Logs
    from pipeline.store import Snapshot, Store


def judge(
    spark: SparkSession,
    store: Store,
    snapshot: Snapshot,
    phase: Callable[[str], object] = lambda name: None,
    *,
    whole: bool = False,
) -> tuple[Audited, Logs, bool]:
    """Judge what is new in the store since its last audit, or everything if that finds anything,
    or `whole` says so. The result is that of an audit of everything; the logs are those that were
    judged; and whether these were all.
    """
    frontier = Frontier.of(snapshot)
    if frontier is not None and not whole:
        logs = logs_since(spark, store, snapshot, frontier)
        certificate = snapshot.positions["audit"]
        known = read_described(certificate.get("lost", ()))
        audited = audit(logs, phase, known=known)
        if audited.clean and not audited.excused and audited.lost.keys() == known.keys():
            return _added(audited, certificate), logs, False
        phase("what is new is not in order: everything from the start")
    logs = read_logs(spark, store, snapshot)
    return audit(logs, phase), logs, True


def has_news(snapshot: Snapshot) -> bool:
    """Whether the store has rows that no audit has judged."""
    frontier = Frontier.of(snapshot)
    commit = 0 if frontier is None else frontier.commit
    return any(snapshot.parts_since(kind, commit) for kind in (*KINDS, "segment"))


def keep(
    store: Store, snapshot: Snapshot, audited: Audited, logs: Logs
) -> tuple[dict[str, str], Frontier]:
    """Write what the next audit needs; the parts, and how far this one has come."""
    frontier = advanced(Frontier.of(snapshot), audited, snapshot.number)
    parts = {
        name: store.write(frame.select(*names_of(FRONTIER[name])), name, snapshot, files=2)
        for name, frame in left_behind(logs, audited, frontier).items()
    }
    return parts, frontier


def _added(audited: Audited, before: Mapping[str, Any]) -> Audited:
    """What was found now with what was found before; `before`: its certificate."""
    rules = before["rules"]
    ranges = described_ranges(before)
    for node, new in audited.ranges.items():
        if node in ranges:
            old = ranges[node]
            new = Range(
                old.first,
                new.last,
                old.rows + new.rows,
                _both(min, old.since_us, new.since_us),
                _both(max, old.until_us, new.until_us),
                old.unproved + new.unproved,
            )
        ranges[node] = new
    counts = {rule: rules.get(rule, {}).get("violations", 0) for rule in RULES}
    excused = Counter({rule: one["not_auditable"] for rule, one in rules.items()})
    return replace(audited, counts=counts, excused=dict(+excused), ranges=ranges)


def _both(choose: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    """One of two times; None where either is not known."""
    return None if one is None or other is None else choose(one, other)
