"""`python -m server export-log DIR FILE`: what a stopped node's log holds, as a Parquet file.

From such files `python -m pipeline rebuild` makes objects as they were. Documents hold what people
wrote, and so does the file: only its owner may read it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import parquet

from groupcore.errors import GroupcoreError
from groupcore.shared.rebuilding import COLUMNS, to_row
from server.command_line import OneLineParser
from server.dump import LogReader
from server.errors import DamagedStoreError, SettingsProblem
from server.logs import opened, read_parts

ROWS: Final = 65_536
"""Rows that are written at a time."""
_KINDS: Final = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "string": pa.string(),
    "binary": pa.binary(),
}
SCHEMA: Final = pa.schema([(name, _KINDS[kind]) for name, kind in COLUMNS])


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server export-log", description=__doc__)
    parser.add_argument("folder", type=Path, help="the --data folder of a node that is stopped")
    parser.add_argument("file", type=Path, help="file to write, e.g. a.parquet")
    return parser


def run_export_command(arguments: Sequence[str]) -> None:
    """Write the file; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    with opened(given.folder) as store:
        parts = read_parts(store)
        try:
            count = _write(given.file, parts)
        except OSError as error:
            raise SettingsProblem(f"{given.file} cannot be written: {error.strerror}") from None
        except (GroupcoreError, ValueError, TypeError, KeyError) as error:
            raise DamagedStoreError(
                f"the log {store.path} does not say what it should: {error!r}"
            ) from None
    print(f"{count} rows")


def _write(file: Path, parts: list[bytes]) -> int:
    """Put the whole file where it shall be, or nothing; how many rows it has."""
    made = file.with_name(f".{file.name}.{os.getpid()}")
    count = 0
    try:
        with (
            os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as to,
            parquet.ParquetWriter(to, SCHEMA, compression="zstd") as writer,
        ):
            for table in _tables(parts):
                writer.write_table(table)
                count += table.num_rows
        made.replace(file)
    finally:
        made.unlink(missing_ok=True)
    return count


def _tables(parts: list[bytes]) -> Iterator[pa.Table]:
    """The log's rows, some at a time."""
    rows = (to_row(place, one) for place, one in enumerate(LogReader().entries(parts)))
    while some := list(islice(rows, ROWS)):
        columns = zip(zip(*some, strict=True), SCHEMA.types, strict=True)
        yield pa.Table.from_arrays([pa.array(*column) for column in columns], schema=SCHEMA)
