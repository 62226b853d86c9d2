"""What the last audit has found, a page at a time, without reading all of it.

The audit writes its table in the order of the rules and in small groups of rows, so of a million
violations a page takes the few groups that it is in; of the others the file's end says how many
rows they have, and of which rule. Groups with several rules have that one column read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

from server.console.around import around
from server.console.colleagues import Shown
from server.console.parquet import BATCH, Snapshot, beside
from server.errors import BadMessageError

ROWS: Final = 50
"""Violations of a page."""
TABLE: Final = "audit_violation"


class RowGroup(NamedTuple):
    """A group of rows of a file: how many of each rule."""

    path: Path
    number: int
    rules: Counter[str]


async def violations(results: Path | None, rule: str, page: int) -> Shown | None:
    """A page of what the last audit has found, of one rule if it is named; None without an audit.

    `rules`: how many there are of each. The id of a row holds as long as nothing is audited anew.
    BadMessageError `bad_store`.
    """
    return await beside(results, lambda snapshot: _violations(snapshot, rule, page))


def _violations(snapshot: Snapshot, rule: str, page: int) -> Shown | None:
    if "audit" not in snapshot.positions:
        return None
    groups = list(_row_groups(snapshot.files(TABLE)))
    counts: Counter[str] = Counter()
    for group in groups:
        counts += group.rules
    count = counts[rule] if rule else counts.total()
    return {
        "count": count,
        "page": page,
        "pages": max(1, -(-count // ROWS)),
        "rules": dict(sorted(counts.items())),
        "violations": [
            {"id": f"{_mark(snapshot)}-{number}", **row}
            for number, row in _page(groups, rule, (page - 1) * ROWS)
        ],
    }


async def violation(results: Path | None, wanted: str) -> Shown:
    """One row, with `around`: what was delivered there, as of `console.around`.

    BadMessageError `bad_store`, `unknown_violation`.
    """
    found = await beside(results, lambda snapshot: _violation(snapshot, wanted))
    if found is None:
        raise BadMessageError(
            "unknown_violation", "no audit has found this, or it was audited anew: look again"
        )
    return found


def _violation(snapshot: Snapshot, wanted: str) -> Shown | None:
    mark, _, number = wanted.rpartition("-")
    if mark != _mark(snapshot) or not (number.isdigit() and len(number) < 12):
        return None
    row = _row_at(snapshot.files(TABLE), int(number))
    return None if row is None else {"id": wanted, **row, "around": around(snapshot, row)}


def _mark(snapshot: Snapshot) -> str:
    """Of which commits the table is: it changes with the rows."""
    folders = snapshot.tables.get(TABLE, [])
    commits = [folder.partition("/commit=")[2].partition("/")[0].lstrip("0") for folder in folders]
    return ".".join(commits)


def _row_groups(files: Sequence[Path]) -> Iterator[RowGroup]:
    """All groups of rows, in their order."""
    from pyarrow import compute
    from pyarrow.parquet import ParquetFile

    for path in files:
        with ParquetFile(path, read_dictionary=["rule"]) as file:
            place = file.schema_arrow.get_field_index("rule")
            for index in range(file.num_row_groups):
                described = file.metadata.row_group(index)
                said = described.column(place).statistics
                if said is not None and said.has_min_max and said.min == said.max:
                    rules = Counter({str(said.min): described.num_rows})
                else:
                    column = file.read_row_group(index, columns=["rule"]).column("rule")
                    found = compute.value_counts(column).to_pylist()
                    rules = Counter({one["values"]: one["counts"] for one in found})
                yield RowGroup(path, index, rules)


def _page(groups: Sequence[RowGroup], rule: str, first: int) -> Iterator[tuple[int, Shown]]:
    """The rows from the `first` one of a rule on, and their numbers among all."""
    skip, left, at = first, ROWS, 0
    for group in groups:
        rows, here = group.rules.total(), group.rules[rule] if rule else group.rules.total()
        if skip < here and left:
            for number, row in _rows_of(group, rule, skip, left):
                left -= 1
                yield at + number, row
        skip, at = max(0, skip - here), at + rows
        if not left:
            return


def _rows_of(group: RowGroup, rule: str, skip: int, most: int) -> Iterator[tuple[int, Shown]]:
    """Of a group those rows of a rule behind the first `skip`, and their numbers within it."""
    at = 0
    for batch in _batches(group.path, group.number):
        names = batch.column("rule").to_pylist()
        for number in [n for n, name in enumerate(names) if not rule or name == rule]:
            if skip:
                skip -= 1
                continue
            if not most:
                return
            most -= 1
            (row,) = batch.slice(number, 1).to_pylist()
            yield at + number, row
        at += batch.num_rows


def _row_at(files: Sequence[Path], number: int) -> Shown | None:
    """The row with this number; None where there are not so many."""
    from pyarrow.parquet import ParquetFile

    for path in files:
        with ParquetFile(path) as file:
            described = file.metadata
            if number >= described.num_rows:
                number -= described.num_rows
                continue
            ends = list(
                accumulate(described.row_group(n).num_rows for n in range(file.num_row_groups))
            )
        index = bisect_right(ends, number)
        number -= ends[index - 1] if index else 0
        for batch in _batches(path, index):
            if number < batch.num_rows:
                row: Shown
                (row,) = batch.slice(number, 1).to_pylist()
                return row
            number -= batch.num_rows
    return None


def _batches(path: Path, index: int) -> Iterator[Any]:
    """The rows of one group, some at a time."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        yield from file.iter_batches(BATCH, row_groups=[index])
