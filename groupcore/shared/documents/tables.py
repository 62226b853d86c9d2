"""Tables: a rich text that is read as a grid of cells.

The text of a block of type `table` holds two kinds of embeds. `cell-KEY` begins a cell of the
column KEY, `row-ID` ends a row. Columns stand in the order of their keys, whatever the order of the
cells in the text; so a new column is put in where nobody types: right at the start of each row. In
the same way a new row goes right behind the end of another. What people type in cells, and what
they do to rows and columns, are edits of the text like all others, and merge as those do.

Any rich text is a table. The rules, which webui/src/shared/table.ts has as well
(docs/vectors/tables.json has cases):
  T1  A row that has no cell of a column has an empty one there.
  T2  Text before the first cell of a row is of the first column.
  T3  Two cells of one column in a row are one cell, with one text behind the other.
  T4  Text behind the last end of a row belongs to the last row; without any, all is one row.
  T5  A table has COLUMNS_MAX columns and ROWS_MAX rows at most: what is beyond is in the last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from groupcore.objects.rich_delta import EMBED, Rich, Run, canonical, inserted, plain

COLUMNS_MAX = 40
"""Most columns of a table."""
ROWS_MAX = 1_000
"""Most rows of a table."""
ONLY_KEY = "V"
"""The key of the one empty column of a table without any cell."""
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""What keys of columns are made of, in their order."""

_MARKER = re.compile(r"(cell|row)-([A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class Row:
    """One row, with a cell a column."""

    id: str
    cells: tuple[Rich, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table as it is shown; `columns` are the keys, in their order."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(slots=True)
class _Reader:
    """Reads a text from left to right; `open` are the pieces of the row that has no end yet."""

    rows: list[tuple[str, list[tuple[str | None, list[Run]]]]] = field(default_factory=list)
    open: list[tuple[str | None, list[Run]]] = field(default_factory=list)

    def read(self, content: Rich) -> None:
        for run in content:
            found = _MARKER.fullmatch(str(dict(run.marks).get("embed", "")))
            if found is None:
                if not self.open:
                    self.open.append((None, []))
                self.open[-1][1].append(run)
                continue
            for _ in run.text:
                self.take(found[1], found[2])
        if not self.rows:
            self.rows.append(("", self.open))
        else:
            self.rows[-1][1].extend(self.open)

    def take(self, kind: str, name: str) -> None:
        if kind == "cell":
            self.open.append((name, []))
        elif len(self.rows) == ROWS_MAX:
            self.open.append((None, []))
        else:
            known = {row for row, _ in self.rows}
            unique, count = name, 1
            while unique in known:
                count += 1
                unique = f"{name}_{count}"
            self.rows.append((unique, self.open))
            self.open = []


def grid_of(content: Rich) -> Grid:
    """The table that this text is."""
    reader = _Reader()
    reader.read(content)
    keys = {key for _, pieces in reader.rows for key, _ in pieces if key is not None}
    columns = tuple(sorted(keys)[:COLUMNS_MAX]) or (ONLY_KEY,)
    places: dict[str | None, int] = {None: 0} | {key: at for at, key in enumerate(columns)}
    rows = []
    for name, pieces in reader.rows:
        cells: list[list[Run]] = [[] for _ in columns]
        for key, runs in pieces:
            cells[places.get(key, len(columns) - 1)].extend(runs)
        rows.append(Row(name, tuple(inserted(canonical(cell)) for cell in cells)))
    return Grid(columns, tuple(rows))


def first_keys(count: int) -> list[str]:
    """The keys of the columns of a new table."""
    return [_digits((at + 1) * 62**3 // (count + 1)) for at in range(count)]


def _digits(value: int) -> str:
    signs = DIGITS[value // 3844] + DIGITS[value // 62 % 62] + DIGITS[value % 62]
    return signs.rstrip("0") or "0"


def table_of(rows: Sequence[Sequence[Rich]]) -> Rich:
    """The text of a new table with these cells; rows may be of different lengths (T1)."""
    keys = first_keys(max((len(row) for row in rows), default=1))
    runs: list[Run] = []
    for number, cells in enumerate(rows, 1):
        for key, cell in zip(keys, cells, strict=False):
            runs.append(_marker(f"cell-{key}"))
            runs.extend(run for run in cell if not _is_marker(run))
        runs.append(_marker(f"row-r{number}"))
    return inserted(canonical(runs))


def _marker(name: str) -> Run:
    return Run(EMBED, (("embed", name),))


def _is_marker(run: Run) -> bool:
    return _MARKER.fullmatch(str(dict(run.marks).get("embed", ""))) is not None


def words_of(attributes: Mapping[str, object], content: Rich) -> str:
    """The words of a block: of a table those in its cells."""
    return plain_table(content) if attributes.get("type") == "table" else plain(content)


def plain_table(content: Rich) -> str:
    """The words of a table: a line a row, with tabs between the cells."""
    rows = grid_of(content).rows
    lines = ["\t".join(" ".join(plain(cell).split()) for cell in row.cells) for row in rows]
    return "\n".join(lines)
