"""Compaction: many small parts of a day become one, and what no manifest needs is removed.

Ingest makes a part with every run. Reading a part costs a few milliseconds however small it is, so
a day that was taken in each minute is slow to read. What is written anew has the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from groupcore.trace import TABLES
from pipeline.activity import POSITION as COUNTED
from pipeline.frontier import Frontier
from pipeline.loading import POSITION as LOADED
from pipeline.schemas import SEGMENT_FACTS, raw
from pipeline.store import Part

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pipeline.store import Snapshot, Store

FILE_ROWS: Final = 4_000_000
"""Rows of a file at most: some 100 MB of deliveries."""


def mergeable(snapshot: Snapshot, least: int) -> dict[tuple[str, str, int], list[Part]]:
    """Of each raw table the parts that can become one, where these are `least` or more.

    They are of one day, and all or none of them are behind what a job has read: the job takes new
    parts by their commits.
    """
    read = _read_until(snapshot)
    found: dict[tuple[str, str, int], list[Part]] = defaultdict(list)
    for kind in (*TABLES, "segment"):
        for part in snapshot.tables.get(kind, ()):
            found[kind, part.day, sum(part.commit > at for at in read)].append(part)
    return {key: parts for key, parts in found.items() if len(parts) >= least}


def compact(
    spark: SparkSession,
    store: Store,
    snapshot: Snapshot,
    least: int = 2,
    phase: Callable[[str], object] = lambda name: None,
) -> tuple[Snapshot, int]:
    """Make one part of several, in one commit; the store behind that, and how many there were.

    A new part has the commit of the newest of its own. Raises PipelineError `store_busy`.
    """
    tables: dict[str, list[Part]] = {}
    before = 0
    for number, ((kind, day, _), own) in enumerate(mergeable(snapshot, least).items()):
        phase(f"{kind} {day}".strip())
        schema = SEGMENT_FACTS if kind == "segment" else raw(kind)
        rows = store.read(spark, kind, schema, [part.folder for part in own])
        files = 1 + rows.count() // FILE_ROWS
        folder = store.write(rows, f"{kind}/merged={number}", snapshot, files=files, day=day)
        known = tables.get(kind, list(snapshot.tables[kind]))
        merged = Part(folder, max(part.commit for part in own))
        tables[kind] = [*(part for part in known if part not in own), merged]
        before += len(own)
    if not tables:
        return snapshot, 0
    return store.commit(snapshot, f"compact {snapshot.number + 1}", tables=tables), before


def _read_until(snapshot: Snapshot) -> list[int]:
    """The commits up to which jobs have read the raw tables."""
    frontier = Frontier.of(snapshot)
    counted = snapshot.positions.get(COUNTED, {}).get("commit")
    read = [snapshot.positions.get(LOADED), counted, None if frontier is None else frontier.commit]
    return [commit for commit in read if commit is not None]
