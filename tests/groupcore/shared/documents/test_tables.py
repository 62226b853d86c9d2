"""Tables: the rules that make a grid of any rich text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.objects.rich_delta import Rich, Run, canonical, inserted, plain, rich
from groupcore.objects.rich_parsing import parse_rich, to_wire
from groupcore.shared.documents.tables import (
    COLUMNS_MAX,
    ROWS_MAX,
    first_keys,
    grid_of,
    plain_table,
    table_of,
)

VECTORS = Path(__file__).parents[4] / "docs" / "vectors" / "tables.json"
CASES = json.loads(VECTORS.read_text())["tables"]


def marker(name: str) -> Run:
    return Run("\ufffc", (("embed", name),))


def made(*runs: Run) -> Rich:
    return inserted(canonical(runs))


@pytest.mark.parametrize("case", CASES, ids=[case["what"] for case in CASES])
def test_a_text_is_the_table_that_the_vectors_say(case: dict[str, object]) -> None:
    grid = grid_of(parse_rich(case["text"]))
    rows = [{"id": row.id, "cells": [to_wire(cell) for cell in row.cells]} for row in grid.rows]
    assert {"columns": list(grid.columns), "rows": rows} == {
        "columns": case["columns"],
        "rows": case["rows"],
    }


def test_what_is_beyond_the_last_row_and_column_is_in_them() -> None:  # T5
    wide = [run for at in range(COLUMNS_MAX + 5) for run in (marker(f"cell-{1000 + at}"), Run("c"))]
    [row] = grid_of(made(*wide, marker("row-r"))).rows
    assert [plain(cell) for cell in row.cells] == ["c"] * (COLUMNS_MAX - 1) + ["cccccc"]
    tall = [
        run
        for at in range(ROWS_MAX + 5)
        for run in (marker("cell-1"), Run("c"), marker(f"row-{at}"))
    ]
    rows = grid_of(made(*tall)).rows
    assert (len(rows), plain(rows[-1].cells[0])) == (ROWS_MAX, "cccccc")


words = st.text("ab é\n", max_size=3)


@given(st.lists(st.lists(words, min_size=2, max_size=4), min_size=1, max_size=4))
def test_cells_that_are_written_are_read(rows: list[list[str]]) -> None:
    width = max(map(len, rows))
    text = table_of([[rich(cell) if cell else () for cell in row] for row in rows])
    found = [[plain(cell) for cell in row.cells] for row in grid_of(text).rows]
    assert found == [row + [""] * (width - len(row)) for row in rows]


def test_keys_of_new_columns_stand_in_their_order() -> None:
    for count in (1, 2, 7, COLUMNS_MAX):
        keys = first_keys(count)
        assert keys == sorted(set(keys))
        assert len(keys) == count


def test_the_words_of_a_table_are_lines_with_tabs() -> None:
    text = table_of([[rich("a"), rich("b\nc")], [rich("d"), ()]])
    assert plain_table(text) == "a\tb c\nd\t"
