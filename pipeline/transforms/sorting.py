"""Sorting what an audit has most of."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_PLACE_BITS: Final = 44
"""Places are below this power of two: of a node that delivers 100,000 a second, after 2.8 years."""


def presorted(rows: DataFrame, log: str, place: str) -> DataFrame:
    """The rows, those of a `log` (a hash of 64 bits) in one partition and in the order of `place`.

    Logs whose hashes begin alike are between each other. Spark sorts by one number in a few passes
    (radix), by several by comparing rows, which takes several times longer. A window over `log`,
    ordered by `place`, sorts again, and finds nearly everything in order.
    """
    place_bits = F.col(place).bitwiseAND((1 << _PLACE_BITS) - 1)
    key = F.col(log).bitwiseAND(-(1 << _PLACE_BITS)).bitwiseOR(place_bits)
    return rows.repartition(log).sortWithinPartitions(key)
