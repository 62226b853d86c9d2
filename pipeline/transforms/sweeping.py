"""Rows of many streams in one pass: what is below something that stands before it in its stream.

Spark's windows do the same, row by row and with another sort before; here whole batches are
compared (numpy), and of each stream three numbers are kept from one batch to the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from groupcore.trace import FRAME_STAMPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

TOLD: Final = ("stream", "at", "value")
"""Columns of what is passed over: numbers, no nulls; the rows of a stream in the order of `at`.

At an even place stands a row: its stamp doubled, and 1 if its group is strict. At an odd one what
is needed by then: a frame, up to which nothing of the stream may come behind it.
"""
BEHIND: Final = (
    "stream bigint, dno bigint, is_causal boolean, is_strict boolean, is_in_frame boolean"
)
"""Rows (`dno`: half of their place) that come too late, and behind what: a need that names their
frame or a later one; a higher stamp of strict groups, for one of them; any higher stamp."""

_SCHEMA: Final = pa.schema(
    [("stream", pa.int64()), ("dno", pa.int64())]
    + [(name, pa.bool_()) for name in ("is_causal", "is_strict", "is_in_frame")]
)
_NOTHING: Final = -1
"""Below all stamps and frames."""


def behind(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From the columns of `TOLD` those of `BEHIND`; for `mapInArrow`."""
    tops: dict[int, list[int]] = {}
    for batch in batches:
        stream, at, value = (batch.column(i).to_numpy(zero_copy_only=False) for i in range(3))
        order = np.argsort(stream, kind="stable")
        stream, at, value = stream[order], at[order], value[order]
        is_row = at & 1 == 0
        lseq = np.where(is_row, value >> 1, _NOTHING)
        strict = np.where(is_row & (value & 1 == 1), lseq, _NOTHING)
        reach = np.where(is_row, _NOTHING, value)
        tallest = [
            _before(stream, column, tops, i) for i, column in enumerate((reach, strict, lseq))
        ]
        late = (
            is_row & (lseq // FRAME_STAMPS <= tallest[0]),
            (strict != _NOTHING) & (strict < tallest[1]),
            is_row & (lseq < tallest[2]),
        )
        wrong = np.flatnonzero(late[0] | late[1] | late[2])
        columns = [stream[wrong], at[wrong] >> 1, *(one[wrong] for one in late)]
        yield pa.RecordBatch.from_arrays([pa.array(one) for one in columns], schema=_SCHEMA)


def _before(stream: Numbers, column: Numbers, tops: dict[int, list[int]], which: int) -> Numbers:
    """The highest of the column before each row in its stream, of which rows are together.

    `tops`: of each stream the highest of each column so far.
    """
    borders = np.flatnonzero(stream[1:] != stream[:-1]) + 1
    highest = np.empty_like(column)
    for start, end in pairwise([0, *borders.tolist(), len(stream)]):
        if start == end:  # no rows at all
            break
        top = tops.setdefault(int(stream[start]), [_NOTHING] * 3)
        inside = highest[start + 1 : end]
        np.maximum.accumulate(column[start : end - 1], out=inside)
        np.maximum(inside, top[which], out=inside)
        highest[start] = top[which]
        top[which] = max(int(highest[end - 1]), int(column[end - 1]))
    return highest
