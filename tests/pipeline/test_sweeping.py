"""What is out of order in streams, batch by batch, is what a look at each row finds."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest

from groupcore.trace import FRAME_STAMPS
from pipeline.transforms.sweeping import behind

Told = tuple[int, int, int]
Late = tuple[int, int, bool, bool, bool]


def told(chance: Random, rows: int) -> list[Told]:
    """Rows and needs of some streams, mostly in order."""
    found: list[Told] = []
    for place in range(rows):
        stream = chance.choice((-(2**63), -7, 0, 5, 2**63 - 1))
        frame = max(0, place // 8 + chance.randint(-3, 1))
        if chance.random() < 0.3:
            found.append((stream, 2 * place + 1, frame))
        else:
            lseq = frame * FRAME_STAMPS + chance.randint(0, 3)
            found.append((stream, 2 * place, 2 * lseq + chance.randint(0, 1)))
    return found


def one_by_one(rows: list[Told]) -> Iterator[Late]:
    """The same by looking back from each row."""
    for index, (stream, at, value) in enumerate(rows):
        if at % 2:
            continue
        own = [(place, told) for name, place, told in rows[:index] if name == stream]
        needs = [told for place, told in own if place % 2]
        stamps = [told // 2 for place, told in own if not place % 2]
        strict = [told // 2 for place, told in own if not place % 2 and told % 2]
        late = (
            any(value // 2 // FRAME_STAMPS <= need for need in needs),
            bool(value % 2) and any(value // 2 < other for other in strict),
            any(value // 2 < other for other in stamps),
        )
        if any(late):
            yield (stream, at // 2, *late)


def batches(rows: list[Told], size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(rows), size):
        columns = zip(*rows[start : start + size], strict=True)
        arrays = [pa.array(column, pa.int64()) for column in columns]
        yield pa.RecordBatch.from_arrays(arrays, names=["stream", "at", "value"])


@pytest.mark.parametrize("size", [1, 7, 64, 1_000])
def test_what_is_behind_is_found_in_batches_of_any_size(size: int) -> None:
    rows = told(Random(size), 400)
    found: list[Late] = []
    for batch in behind(batches(rows, size)):
        found += zip(*(column.to_pylist() for column in batch.columns), strict=True)
    assert sorted(found) == sorted(one_by_one(rows))
    for kind in (2, 3, 4):
        assert {row[kind] for row in found} == {True, False}


def test_no_rows_are_no_rows() -> None:
    empty = pa.RecordBatch.from_arrays([pa.array([], pa.int64())] * 3, names=["stream", "at", "v"])
    (found,) = behind([empty])
    assert found.num_rows == 0
