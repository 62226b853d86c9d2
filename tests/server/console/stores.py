"""A store of the pipeline, as its jobs leave it, written with Arrow."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from server.console.parquet import FORMAT

VIOLATION = pa.schema(
    [
        *((name, pa.string()) for name in ("rule", "message", "node", "process", "segment")),
        *((name, pa.int64()) for name in ("gid", "seq", "dno", "gid2", "seq2", "dno2")),
        *((name, pa.string()) for name in ("message2", "node2", "process2", "segment2", "says")),
    ]
)
COMPONENT = pa.schema([("gid", pa.int64()), ("component", pa.int64())])
ARTICULATION = pa.schema(
    [
        ("component", pa.int64()),
        ("process", pa.string()),
        ("parts", pa.int32()),
        ("largest", pa.int32()),
    ]
)
VIEW = pa.schema(
    [
        ("t", pa.timestamp("us", tz="UTC")),
        ("number", pa.int64()),
        ("epoch", pa.int64()),
        ("primary", pa.bool_()),
        ("members", pa.list_(pa.string())),
    ]
)
Rows = Sequence[Mapping[str, Any]]
Tables = Mapping[str, tuple[pa.Schema, Rows]]


def keep(
    root: Path,
    commit: int,
    tables: Tables,
    positions: Mapping[str, Any] | None = None,
) -> None:
    """Make these tables the whole store, by a commit; each in files of three rows."""
    named = {}
    for table, (schema, rows) in tables.items():
        folder = root / table / f"commit={commit:012d}"
        folder.mkdir(parents=True)
        for part, start in enumerate(range(0, max(1, len(rows)), 3)):
            written = pa.Table.from_pylist(list(rows[start : start + 3]), schema)
            parquet.write_table(written, folder / f"part-{part:05d}.parquet")
        named[table] = [{"folder": str(folder.relative_to(root)), "commit": commit}]
    manifest = {
        "store": FORMAT,
        "number": commit,
        "batch": f"test {commit}",
        "tables": named,
        "positions": dict(positions or {}),
    }
    path = root / "manifest" / f"{commit:012d}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(manifest), encoding="utf-8")
