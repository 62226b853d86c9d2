"""The raw tables of a store straight out of rows, and several clusters in one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from groupcore.trace import TABLES, Segment
from pipeline.audit import KINDS, Logs
from pipeline.schemas import ARROW_FACTS, SEGMENT, SEGMENT_FACTS, arrow_schema, raw
from tests.pipeline.cluster import Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Mapping[str, Sequence[Row]]
SEGMENT_ROWS = 300


def apart(rows: Rows, case: str, number: int) -> dict[str, list[Row]]:
    """The same cluster under other names: nodes, processes, groups and views."""

    def renamed(value: object) -> object:
        match value:
            case str() if "#" in value:
                return f"{case}-{value}"
            case list():
                return [renamed(item) for item in value]
            case dict():
                return {key: renamed(item) for key, item in value.items()}
            case _:
                return value

    return {
        kind: [
            {
                **{name: renamed(value) for name, value in row.items()},
                **({"node": f"{case}-{row['node']}"} if kind == "log_gap" else {}),
                **({"gid": row["gid"] + 1000 * number} if "gid" in row else {}),
                **({"lineage": row["lineage"] + 2 * number} if "lineage" in row else {}),
            }
            for row in of_kind
        ]
        for kind, of_kind in rows.items()
    }


def numbered(rows: Rows) -> dict[str, list[Row]]:
    """With `off` and `segment`, as the nodes would have written these rows."""
    numbers: dict[tuple[str, str], int] = defaultdict(int)
    result: dict[str, list[Row]] = defaultdict(list)
    for kind, of_kind in rows.items():
        for row in of_kind:
            off = numbers[kind, row["node"]] if row["off"] is None else row["off"]
            numbers[kind, row["node"]] += 1
            node, _, incarnation = row["node"].partition("#")
            n = off // SEGMENT_ROWS
            path = Segment("2026-11-22", node, kind, int(incarnation or "1", 16), n).path
            result[kind].append({**row, "off": off, SEGMENT: path})
    return result


def segment_facts(rows: Rows) -> list[tuple[object, ...]]:
    """The table `segment` for numbered rows."""
    offs: dict[tuple[str, str, int, int, str], list[int]] = defaultdict(list)
    for kind, of_kind in rows.items():
        for row in of_kind:
            node, _, life = row["node"].partition("#")
            n = row["off"] // SEGMENT_ROWS
            offs[row[SEGMENT], node, int(life or "1", 16), n, kind].append(row["off"])
    return [
        (path, node, kind, epoch, n, len(own), min(own), max(own), 1, False, False, True)
        for (path, node, epoch, n, kind), own in offs.items()
    ]


def make_logs(spark: SparkSession, folder: Path, rows: Rows) -> Logs:
    """The tables, by way of Parquet files: faster than rows through Python."""
    full = numbered(rows)
    tables = {}
    for kind in KINDS:
        schema = arrow_schema(TABLES[kind]).append(pa.field(SEGMENT, pa.string()))
        path = folder / f"{kind}.parquet"
        parquet.write_table(pa.Table.from_pylist(full.get(kind, []), schema), path)
        tables[kind] = spark.read.schema(raw(kind)).parquet(str(path))
    said = segment_facts(full)
    named = [dict(zip(ARROW_FACTS.names, one, strict=True)) for one in said]
    parquet.write_table(pa.Table.from_pylist(named, ARROW_FACTS), folder / "segment.parquet")
    facts = spark.createDataFrame(said, SEGMENT_FACTS)
    return Logs(**tables, segment=facts)  # type: ignore[arg-type]
