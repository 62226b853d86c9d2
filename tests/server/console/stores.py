"""What the pipeline leaves: a store, written with Arrow, and a certificate."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
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
DELIVERY = pa.schema(
    [
        ("t", pa.timestamp("us", tz="UTC")),
        *((name, pa.string()) for name in ("node", "sender", "sequencer")),
        *((name, pa.int64()) for name in ("dno", "gid", "seq", "count", "first")),
        ("what", pa.int32()),
    ]
)
Rows = Sequence[Mapping[str, Any]]
Tables = Mapping[str, tuple[pa.Schema, Rows]]


def broken(rule: str, number: int) -> dict[str, Any]:
    """A row of the audit's table."""
    return {"rule": rule, "gid": 7, "seq": number, "message": f"a#1/2:{number}", "segment": "s"}


def keep(
    root: Path,
    commit: int,
    tables: Tables,
    positions: Mapping[str, Any] | None = None,
    *,
    day: str = "",
    file_rows: int = 3,
    group_rows: int = 2,
) -> None:
    """Make these tables the whole store, by a commit; each in files of so many rows, in groups.

    `day`: of which the deliveries are.
    """
    named = {}
    for table, (schema, rows) in tables.items():
        folder = root / table / f"commit={commit:012d}"
        if day and table == "delivery":
            folder /= f"date={day}"
        folder.mkdir(parents=True)
        for part, start in enumerate(range(0, max(1, len(rows)), file_rows)):
            written = pa.Table.from_pylist(list(rows[start : start + file_rows]), schema)
            path = folder / f"part-{part:05d}.parquet"
            parquet.write_table(written, path, row_group_size=group_rows)
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


def certified(said: dict[str, Any]) -> dict[str, Any]:
    """A certificate that says this, signed with a key of its own."""
    key = Ed25519PrivateKey.generate()
    text = json.dumps(said, sort_keys=True, separators=(",", ":"))
    return {
        "certificate": said,
        "key": b64encode(key.public_key().public_bytes_raw()).decode(),
        "signature": b64encode(key.sign(text.encode())).decode(),
    }
