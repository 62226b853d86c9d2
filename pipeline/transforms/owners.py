"""Who sequences what now, which nodes there are, and what another placement would have carried."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def owners(groups: DataFrame) -> DataFrame:
    """gid, node (its id): who has said last, by epoch, that it sequences the group."""
    gone = groups.where("op = 'deleted'").select("gid").distinct()
    return (
        groups.where("op = 'owned'")
        .groupBy("gid")
        .agg(F.max(F.struct("epoch", "t", "node")).alias("last"))
        .select("gid", F.substring_index("last.node", "#", 1).alias("node"))
        .join(gone, "gid", "left_anti")
    )


def present_nodes(views: DataFrame) -> DataFrame:
    """node: ids of the members of the newest primary view."""
    last = views.where("primary").agg(F.max(F.struct("number", "members")).alias("last"))
    return last.select(F.explode("last.members").alias("life")).select(
        F.substring_index("life", "#", 1).alias("node")
    )


def replayed(loads: DataFrame, placement: DataFrame, nodes: int) -> DataFrame:
    """w_start, fullest, mean: each window as it would have been with gid, node of a placement.

    `loads` as of `load.group_load`; us a second. `nodes`: how many share the load.
    """
    return _by_window(loads.join(placement, "gid"), nodes)


def carried(loads: DataFrame, nodes: int) -> DataFrame:
    """w_start, fullest, mean: each window as it was, with the sequencers that there were."""
    node = F.substring_index("sequencer", "#", 1).alias("node")
    return _by_window(loads.select("w_start", node, "load_us"), nodes)


def _by_window(loads: DataFrame, nodes: int) -> DataFrame:
    per = loads.groupBy("w_start", "node").agg(F.sum("load_us").alias("load_us"))
    return per.groupBy("w_start").agg(
        F.max("load_us").alias("fullest"), (F.sum("load_us") / nodes).alias("mean")
    )
