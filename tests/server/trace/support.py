"""Segments of tests: rows that somebody might have written, and what is on disk of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyarrow import ipc

from groupcore.sequencing.trace_rows import NULL, Deliveries, Gathered, Rows, Value, columns_of
from groupcore.trace import TABLES
from server.trace.segments import segments_of

T_US = 1_800_000_000_000_000
"""Some time on 2027-01-15."""


def deliveries(count: int, first: int = 1, t_us: int = T_US) -> Gathered:
    """Rows of `delivery` with these delivery numbers."""
    rows = Deliveries()
    for dno in range(first, first + count):
        rows.numbers += (t_us + dno, dno, 7, dno, 1, 0, dno, 4096 * dno, dno, NULL)
        rows.texts += ("b#2/1", "a#1")
    return Gathered("delivery", "a#1", count, columns_of(rows))


def one(kind: str, **values: Value) -> Gathered:
    """One row of another kind."""
    rows = Rows(kind)
    rows.add({"t": T_US, **values})
    return Gathered(kind, "a#1", 1, rows.columns)


def read(folder: Path, kind: str) -> list[dict[str, Any]]:
    """All rows of a kind in complete segments, in the order of their names."""
    rows = []
    for path, segment, complete in segments_of(folder):
        if complete and segment.kind == kind:
            with path.open("rb") as file, ipc.open_stream(file) as reader:
                rows += reader.read_all().to_pylist()
    return rows


def all_rows(folder: Path) -> list[dict[str, Any]]:
    """The whole trace, as the tests' audit takes it."""
    rows = []
    for kind in TABLES:
        for row in read(folder, kind):
            pairs = row.get("context") or []
            said = {"context": [(one["sequencer"], one["frame"]) for one in pairs]}
            rows.append(row | (said if "context" in row else {}) | {"kind": kind})
    return rows


def metadata(path: Path) -> dict[str, str]:
    """What a segment says of itself."""
    with path.open("rb") as file, ipc.open_stream(file) as reader:
        return {key.decode(): value.decode() for key, value in reader.schema.metadata.items()}
