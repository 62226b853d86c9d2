"""Which groups have just moved and are left where they are, as the sequencing service leaves them.

Whoever types in a group that moves waits a little; and what a move has brought is to be seen before
the next one. What somebody's plan has moved rests for 300 reports there, a report a second.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

REST_MIN: Final = 5.0
"""Minutes that a group rests."""
CAUSES: Final = ("load", "locality", "ties", "plan")
"""Moves that nothing has demanded; behind a drain or a failover a group may move on."""


def moved_lately(migrations: DataFrame, work: DataFrame, minutes: float) -> DataFrame:
    """gid: groups that have moved within so many minutes of the last row.

    `work`: rows with `t` that tell how far the trace goes, of nodes that also move nothing.
    """
    times = migrations.select("t").unionByName(work.select("t"))
    end = times.agg(F.unix_micros(F.max("t")).alias("end"))
    moved = (
        migrations.where(F.col("phase").isin("moved", "resumed") & F.col("cause").isin(*CAUSES))
        .groupBy("gid")
        .agg(F.unix_micros(F.max("t")).alias("moved"))
    )
    late = F.col("end") - F.col("moved") < F.lit(int(minutes * 60e6))
    return moved.crossJoin(F.broadcast(end)).where(late).select("gid")
