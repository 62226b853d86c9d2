"""Objects as they were, out of exported logs: each by one task, by the code that replicas run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from groupcore.shared.rebuilding import COLUMNS, KindOf, Rebuilt, from_row, rebuild
from pipeline.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPORT: Final = ", ".join(f"{name} {kind}" for name, kind in COLUMNS)
"""Columns of an exported log."""
STATE: Final = (
    "journal string, gid bigint, name string, class string, position bigint, time_ms bigint,"
    " hash string, agreed bigint, differed array<string>, problem string, fields string"
)
"""Table `object_state`: an object as of a number, out of one log.

`agreed`: so often a live replica had the same hash at the same place; `differed`: who had another
one, and at which number. `problem`: why it is not what it should be; empty otherwise. `fields`:
what is in it, as JSON. `time_ms`: the order's time there, milliseconds since 1970, or 0.
"""
_ARROW: Final = pa.schema(
    [
        ("journal", pa.string()),
        ("gid", pa.int64()),
        ("name", pa.string()),
        ("class", pa.string()),
        ("position", pa.int64()),
        ("time_ms", pa.int64()),
        ("hash", pa.string()),
        ("agreed", pa.int64()),
        ("differed", pa.list_(pa.string())),
        ("problem", pa.string()),
        ("fields", pa.string()),
    ]
)


class Wanted(NamedTuple):
    """Which objects, by patterns of their names, and as of when: a number, a time, or the end.

    `kinds`: `module:function` that knows the classes of objects by their names.
    """

    names: tuple[str, ...]
    position_max: int | None
    time_ms_max: int | None
    kinds: str

    def has(self, name: str) -> bool:
        """Whether it is wanted."""
        return any(fnmatchcase(name, pattern) for pattern in self.names)


def kinds_of(said: str) -> KindOf:
    """The function that `module:function` names. Raises PipelineError `no_kinds`."""
    module, _, name = said.partition(":")
    try:
        found: KindOf = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise PipelineError(
            "no_kinds",
            f"{said} names no function: {error}.",
            "Give --kinds MODULE:FUNCTION, where Python finds it.",
        ) from None
    return found


def read_exports(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """The rows of exported logs; `journal`: the file that a row is from."""
    rows = spark.read.schema(EXPORT).parquet(*paths)
    return rows.withColumn("journal", F.col("_metadata.file_path"))


def rebuilt(exports: DataFrame, wanted: Wanted) -> DataFrame:
    """The columns of STATE: of each object and log the state as of `wanted`."""
    return exports.groupBy("journal", "gid").applyInArrow(_replay(wanted), STATE)


def _replay(wanted: Wanted) -> Callable[[pa.Table], pa.Table]:
    def replay(rows: pa.Table) -> pa.Table:
        journal = rows.column("journal")[0].as_py()
        in_order = rows.sort_by("place")
        columns = [in_order.column(name).to_pylist() for name, _ in COLUMNS]
        made = rebuild(
            map(from_row, zip(*columns, strict=True)),
            kinds_of(wanted.kinds),
            wanted.has,
            position_max=wanted.position_max,
            time_ms_max=wanted.time_ms_max,
        )
        return pa.Table.from_pylist([_row(journal, one) for one in made], _ARROW)

    return replay


def _row(journal: str, made: Rebuilt) -> dict[str, object]:
    machine = made.machine
    return {
        "journal": journal,
        "gid": machine.group,
        "name": made.name,
        "class": type(machine.target).__name__,
        "position": machine.position,
        "time_ms": machine.time_ms,
        "hash": made.digest,
        "agreed": made.agreed,
        "differed": [f"{process} at {position}" for process, position in made.differed],
        "problem": made.problem,
        "fields": made.fields_json(),
    }


def unlike(states: DataFrame) -> DataFrame:
    """name, position, hashes: objects that are another thing at one number by two logs."""
    return (
        states.groupBy("name", "position")
        .agg(F.sort_array(F.collect_set("hash")).alias("hashes"))
        .where(F.size("hashes") > 1)
    )
