"""Tables in Markdown, both ways: rows of cells between bars, as GitHub writes them.

Line feeds in cells are `<br>`. A table whose first row names no columns has a header that is a
comment, since Markdown has no table without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.rules_block.table import escapedSplit

from groupcore.objects.rich_delta import Rich, length
from groupcore.objects.rich_parsing import size_bytes
from groupcore.shared.documents.limits import BLOCK_BYTES_MAX, BLOCK_MAX
from groupcore.shared.documents.parts import Value
from groupcore.shared.documents.tables import COLUMNS_MAX, ROWS_MAX, grid_of, table_of
from server.documents.inline import read_inline, write_inline
from server.documents.parsing import Env, check_length

NAMELESS = "<!-- -->"
"""The first name of a header that is none."""
CELL_BYTES = 40
"""About what a cell takes beside its text."""

Rows = list[list[Rich]]
Made = tuple[dict[str, Value], Rich]


def read_cell(source: str, env: Env) -> Rich:
    """The text of a cell."""
    if not source:  # rows that are short have many
        return ()
    return read_inline(check_length(source), env, lines=True)


def cells_beyond(line: str, count: int) -> list[str]:
    """The cells of a row that its header has no columns for, which parsers leave out."""
    cells = escapedSplit(re.sub(r"^[\s>]+", "", line).rstrip())
    if cells and not cells[0].strip():
        cells = cells[1:]
    if cells and not cells[-1].strip():
        cells = cells[:-1]
    return [cell.strip() for cell in cells[count:]]


def tables_of(rows: Rows) -> Iterator[Made]:
    """The rows as tables, the first one the header; several, where one block cannot hold all."""
    narrow = [_narrow(row) for row in rows]
    width = max(map(len, narrow))
    body = [[*row, *([()] * (width - len(row)))] for row in narrow]
    has_names = not (rows[0] and _is_nameless(rows[0]))
    if not has_names:
        body = body[1:] or [[()] * width]
    for number, portion in enumerate(_portions(body)):
        attributes: dict[str, Value] = {"type": "table"}
        if number or not has_names:
            attributes["header"] = False
        yield attributes, table_of(portion)


def _is_nameless(row: Sequence[Rich]) -> bool:
    return [run.text for cell in row for run in cell] == [NAMELESS]


def _narrow(row: list[Rich]) -> list[Rich]:
    """What is beyond the last column is in it (T5)."""
    if len(row) <= COLUMNS_MAX:
        return row
    return [*row[: COLUMNS_MAX - 1], tuple(run for cell in row[COLUMNS_MAX - 1 :] for run in cell)]


def _portions(rows: Rows) -> Iterator[Rows]:
    portion: Rows = []
    size = points = 0
    for row in rows:
        more = sum(size_bytes(cell) + CELL_BYTES for cell in row) + CELL_BYTES
        taken = sum(length(cell) + 1 for cell in row) + 1
        is_full = size + more > BLOCK_BYTES_MAX or points + taken > BLOCK_MAX
        if portion and (is_full or len(portion) == ROWS_MAX):
            yield portion
            portion, size, points = [], 0, 0
        portion.append(row)
        size, points = size + more, points + taken
    yield portion


def table_lines(content: Rich, has_names: bool) -> list[str]:
    """The lines of a table."""
    grid = grid_of(content)
    rows = [[write_cell(cell) for cell in row.cells] for row in grid.rows]
    if not has_names:
        rows.insert(0, [NAMELESS, *([""] * (len(grid.columns) - 1))])
    names, *others = ["| " + " | ".join(row) + " |" for row in rows]
    return [names, "| " + " | ".join(["---"] * len(grid.columns)) + " |", *others]


def write_cell(content: Rich) -> str:
    """A cell's text between bars."""
    return write_inline(content, lines=True).replace("|", "\\|").replace("\n", "<br>")
