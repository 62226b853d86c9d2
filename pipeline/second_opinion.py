"""`python -m pipeline second-opinion --trace DIR`: was the order kept? By DuckDB, without Spark.

A second implementation of all rules (`pipeline.order_sql`), which shares nothing with `audit`: it
reads the segments itself, needs no store, and keeps nothing. Both must come to the same verdict; if
they do not, one of them is wrong. One machine has to hold the trace.

Exit code 0: no rule is broken; 1: one is; 2: it could not be judged.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from groupcore.trace import (
    CHECKSUM_BYTES,
    CHECKSUM_MARK,
    REACHES,
    TABLES,
    VERSION,
    Segment,
    Table,
    parse_path,
)
from pipeline.errors import PipelineError, damaged_error
from pipeline.order_sql import FOUND, QUERIES, SETUP

if TYPE_CHECKING:
    import pyarrow as pa

KINDS: Final = (
    "accept",
    "delivery",
    "frame",
    "group",
    "log_gap",
    "membership",
    "verdict",
    "view",
)
"""The tables that it reads."""
BROKEN: Final = 1
"""Exit code where a rule is broken."""


class Finding(NamedTuple):
    """What breaks a rule: `dno` is a delivery of `node`, `process` whom it was given to."""

    rule: str
    node: str
    dno: int | None
    process: str | None


@dataclass(frozen=True)
class Opinion:
    """What was found; `excused`: by rule how much lost rows explain; `lost`: ranges of rows."""

    broken: tuple[Finding, ...]
    excused: Counter[str]
    deliveries: int
    lost: int

    @property
    def result(self) -> str:
        """As `audit` says it: `kept`, `kept_in_part`, `broken` or `nothing`."""
        if self.broken:
            return "broken"
        if not self.deliveries:
            return "nothing"
        return "kept_in_part" if self.excused or self.lost else "kept"


def judge(
    tables: Mapping[str, pa.Table | Path], *, threads: int = 2, memory: str = "4GB"
) -> Opinion:
    """Hold all rules against the tables `KINDS`, with a column `segment`, and `segment`.

    Each is an Arrow table, or a Parquet file or a pattern of some.
    """
    import duckdb

    with duckdb.connect(config={"threads": threads, "memory_limit": memory}) as db:
        db.execute("set enable_progress_bar = false; set timezone = 'UTC'")
        for name, table in tables.items():
            if isinstance(table, Path):
                path = str(table).replace("'", "''")
                db.execute(f"create view \"{name}\" as select * from read_parquet('{path}')")
            else:
                db.register(name, table)
        for text in SETUP:
            db.execute(text)
        broken: list[Finding] = []
        excused: Counter[str] = Counter()
        for query in QUERIES.values():
            for *found, is_excused in db.execute(FOUND.format(query=query)).fetchall():
                if is_excused:
                    excused[found[0]] += 1
                else:
                    broken.append(Finding(*found))
        (deliveries,) = db.execute("select count(*) from given_rows").fetchone() or (0,)
        (lost,) = db.execute("select count(*) from lost").fetchone() or (0,)
    return Opinion(tuple(sorted(broken, key=str)), excused, deliveries, lost)


# --- the trace ------------------------------------------------------------------------------------


def read_trace(folder: Path, *, skip_damaged: bool = False) -> dict[str, pa.Table]:
    """The tables of a trace, as `judge` takes them. Raises PipelineError `trace_missing`,
    `damaged_segment`, `mixed_versions`."""
    import pyarrow as pa

    if not folder.is_dir():
        raise PipelineError("trace_missing", f"{folder} is no folder.", "Name that of a trace.")
    rows: dict[str, list[pa.Table]] = {kind: [] for kind in KINDS}
    facts: list[dict[str, object]] = []
    for path, segment in _segments(folder):
        table: pa.Table | None = None
        said: dict[str, str] = {}
        try:
            table, said = _read(path, segment)
        except (pa.ArrowException, OSError, KeyError, ValueError) as error:
            if not skip_damaged:
                raise damaged_error(f"{segment.path}: {str(error)[:200]}") from None
        if said.get("groupcore.version", "1") not in map(str, range(1, VERSION + 1)):
            raise PipelineError(
                "mixed_versions", f"{segment.path} is of a later version.", "Use its release."
            )
        facts.append(_fact(segment, table, said))
        if table is not None and segment.kind in rows:
            rows[segment.kind].append(table)
    tables = {
        kind: pa.concat_tables([_schema(TABLES[kind]).empty_table(), *own])
        for kind, own in rows.items()
    }
    return {**tables, "segment": pa.Table.from_pylist(facts, _facts_schema())}


def _segments(folder: Path) -> Iterator[tuple[Path, Segment]]:
    """All that are complete."""
    for path in sorted(folder.glob("date=*/node=*/*.arrows")):
        segment = parse_path(path.as_posix())
        if segment is not None:
            yield path, segment


def _read(path: Path, segment: Segment) -> tuple[pa.Table, dict[str, str]]:
    """A segment's rows, and what its schema says; ValueError where its checksum is another."""
    import pyarrow as pa

    data = path.read_bytes()
    with pa.ipc.open_stream(data) as stream:
        said = {k.decode(): v.decode() for k, v in (stream.schema.metadata or {}).items()}
        table = stream.read_all()
    if said.get("groupcore.checksum") == "sha256":
        body, told = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
        if not body.endswith(CHECKSUM_MARK):
            raise ValueError("its end is missing")
        if hashlib.sha256(body.removesuffix(CHECKSUM_MARK)).digest() != told:
            raise ValueError("its checksum is of other bytes than these")
    wanted = _schema(TABLES[segment.kind])
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in wanted
        if field.name != "segment"
    ]
    names = pa.repeat(pa.scalar(segment.path), table.num_rows)
    return pa.table([*columns, names], schema=wanted), said


def _schema(table: Table) -> pa.Schema:
    """A table's columns in Arrow's types, and `segment`."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "boolean": pa.bool_(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "array<string>": pa.list_(pa.string()),
        REACHES: pa.list_(pa.struct([("sequencer", pa.string()), ("frame", pa.int64())])),
    }
    fields = [(column.name, types[column.kind]) for column in table.columns]
    return pa.schema([*fields, ("segment", pa.string())])


def _facts_schema() -> pa.Schema:
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("segment", "node", "kind")]
    numbers = [(name, pa.int64()) for name in ("epoch", "n", "rows", "first_off", "last_off")]
    return pa.schema([*texts, *numbers, ("recovered", pa.bool_()), ("skipped", pa.bool_())])


def _fact(segment: Segment, table: pa.Table | None, said: Mapping[str, str]) -> dict[str, object]:
    offs = [] if table is None or not table.num_rows else table.column("off")
    return {
        "segment": segment.path,
        "node": segment.node,
        "kind": segment.kind,
        "epoch": segment.epoch,
        "n": segment.n,
        "rows": len(offs),
        "first_off": offs[0].as_py() if len(offs) else None,
        "last_off": offs[-1].as_py() if len(offs) else None,
        "recovered": said.get("groupcore.recovered") == "true",
        "skipped": table is None,
    }


# --- the command ----------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(
        prog="python -m pipeline second-opinion",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trace", type=Path, required=True, help="folder that the nodes write to")
    parser.add_argument("--skip-damaged", action="store_true", help="pass damaged segments over")
    parser.add_argument("--threads", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--memory", default="4GB", help="what DuckDB may take (%(default)s)")
    parser.add_argument("--limit", type=int, default=1000, help="findings to print (%(default)s)")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")
    return parser


def second_opinion(arguments: argparse.Namespace) -> int:
    """Judge a trace and say what was found. Raises PipelineError."""
    tables = read_trace(arguments.trace, skip_damaged=arguments.skip_damaged)
    opinion = judge(tables, threads=arguments.threads, memory=arguments.memory)
    for found in opinion.broken[: arguments.limit]:
        said = {name: value for name, value in found._asdict().items() if value is not None}
        print(json.dumps(said))
    result = {
        "result": opinion.result,
        "deliveries": opinion.deliveries,
        "violations": len(opinion.broken),
        "not_auditable": opinion.excused.total(),
        "lost_ranges": opinion.lost,
    }
    if arguments.json:
        print(json.dumps(result))
    else:
        print("\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in result.items()))
    return BROKEN if opinion.broken else 0
