"""A finding: a rule of the order that a row of the trace breaks, and against which other row.

A row is named by its node and `dno` if it is a delivery, by its node and `lseq` if a sequencer's.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from groupcore.trace import FRAME_STAMPS

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
    "says": "string",
}
"""Columns of a finding and their types."""


def findings(frame: DataFrame, rule: str | Column, says: Column) -> DataFrame:
    """The frame's rows as findings of a rule; columns that it has not are null."""
    present = set(frame.columns)
    columns = [
        F.col(name).cast(kind) if name in present else F.lit(None).cast(kind).alias(name)
        for name, kind in FINDING.items()
        if name not in ("rule", "says")
    ]
    named = F.lit(rule) if isinstance(rule, str) else rule
    return frame.select(named.alias("rule"), *columns, says.alias("says"))


def frame_of(stamp: str) -> Column:
    """The number of the frame that a stamp is in."""
    return F.expr(f"{stamp} div {FRAME_STAMPS}")
