"""A finding: a rule of the order that a row of the trace breaks, and against which other row.

A row is named by its node and `dno` if it is a delivery, by its node and `lseq` if a sequencer's.

`needs` names the rows whose absence from the trace would explain the finding: it is excused where a
lost range of a log (`pipeline.lost`) could hold one of them, and only there. Null: no absence of
rows explains it, as the rows that contradict each other are present.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from groupcore.trace import FRAME_STAMPS
from pipeline.lost import END

FINDING: Final = {
    "rule": "string",
    "node": "string",
    "dno": "bigint",
    "lseq": "bigint",
    "gid": "bigint",
    "seq": "bigint",
    "process": "string",
    "node2": "string",
    "dno2": "bigint",
    "lseq2": "bigint",
    "needs": "array<struct<node:string,kind:string,low:bigint,high:bigint>>",
    "says": "string",
}
"""Columns of a finding and their types."""


def findings(frame: DataFrame, rule: str | Column, says: Column, *more: Column) -> DataFrame:
    """The frame's rows as findings of a rule; columns that it has not are null."""
    present = set(frame.columns)
    columns = [
        F.col(name).cast(kind) if name in present else F.lit(None).cast(kind).alias(name)
        for name, kind in FINDING.items()
        if name not in ("rule", "says")
    ]
    named = F.lit(rule) if isinstance(rule, str) else rule
    return frame.select(named.alias("rule"), *columns, says.alias("says"), *more)


def frame_of(stamp: str) -> Column:
    """The number of the frame that a stamp is in."""
    return F.expr(f"{stamp} div {FRAME_STAMPS}")


def rows_of(
    kind: str, node: str | Column, low: str | int | Column, high: str | int | Column = END
) -> Column:
    """An entry of `needs`: the rows of a kind of lost span at the places `low` to `high`."""
    owner = F.col(node) if isinstance(node, str) else node
    return F.struct(
        owner.alias("node"),
        F.lit(kind).alias("kind"),
        _place(low).alias("low"),
        _place(high).alias("high"),
    )


def any_of(*entries: Column) -> Column:
    """Column `needs`: the absence of any of these explains the finding."""
    return F.array(*entries).alias("needs")


def _place(value: str | int | Column) -> Column:
    if isinstance(value, str):
        value = F.col(value)
    return (value if isinstance(value, Column) else F.lit(value)).cast("bigint")
