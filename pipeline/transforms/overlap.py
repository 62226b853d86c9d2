"""Which groups share processes: pairs, and edges whose components are those of strong intersection.

Two groups intersect strongly when two processes are in both (S2: they need one sequencer). There
are two ways to the components without comparing all groups with all:

  primal  pairs of groups that a process is in, counted: of each process the square of its groups;
  dual    pairs of processes that share two groups, and a star over the groups that they share: of
          each group the square of its members. The groups that a pair shares are a clique, and a
          star over a clique has the same components.

`costs` says which is cheaper.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def _changes(membership: DataFrame) -> DataFrame:
    return membership.where(F.col("op").isin("join", "leave", "gone"))


def changes(membership: DataFrame) -> DataFrame:
    """gid, process, epoch, seq, joins, observes: what `members` looks at, for one process."""
    return _changes(membership).select(
        "gid",
        "process",
        "epoch",
        "seq",
        (F.col("op") == "join").alias("joins"),
        F.coalesce("observes", F.lit(False)).alias("observes"),
    )


def members(membership: DataFrame) -> DataFrame:
    """gid, process, observes: who is in which group now, by the last change in its own order.

    `observes`: it has joined as an observer, and does not count in strict membership.
    """
    changes = _changes(membership)
    place, what = F.struct("epoch", "seq"), F.struct("op", "observes")
    last = changes.groupBy("gid", "process").agg(F.max_by(what, place).alias("last"))
    return last.where(F.col("last.op") == "join").select(
        "gid", "process", F.coalesce("last.observes", F.lit(False)).alias("observes")
    )


def observers(memberships: DataFrame, groups_max: int) -> DataFrame:
    """process, groups: who is in more groups than a strict member may be."""
    return (
        memberships.groupBy("process")
        .agg(F.count("*").alias("groups"))
        .where(F.col("groups") > groups_max)
    )


def that_matter(memberships: DataFrame) -> DataFrame:
    """Without what cannot be in a strong intersection: whoever is alone, or in one group only."""
    process, group = Window.partitionBy("process"), Window.partitionBy("gid")
    some = memberships.withColumn("groups", F.count("*").over(process)).where("groups > 1")
    return (
        some.withColumn("size", F.count("*").over(group)).where("size > 1").select("gid", "process")
    )


def costs(memberships: DataFrame) -> DataFrame:
    """One row: pairs that the `primal` and the `dual` way would look at."""

    def pairs(key: str, name: str) -> DataFrame:
        size = F.col("count").cast("double")
        counted = memberships.groupBy(key).count()
        return counted.agg(F.coalesce(F.sum(size * (size - 1) / 2), F.lit(0.0)).alias(name))

    return pairs("process", "primal").crossJoin(pairs("gid", "dual"))


def strong_pairs(memberships: DataFrame) -> DataFrame:
    """a, b, common: pairs of groups (a < b) with two or more common processes; the primal way."""
    one = memberships.select("process", F.col("gid").alias("a"))
    two = memberships.select("process", F.col("gid").alias("b"))
    return (
        one.join(two, "process")
        .where("a < b")
        .groupBy("a", "b")
        .agg(F.count("*").alias("common"))
        .where("common > 1")
    )


def star_edges(memberships: DataFrame) -> DataFrame:
    """a, b: edges whose components are those of strong intersection; the dual way."""
    one = memberships.select("gid", F.col("process").alias("p"))
    two = memberships.select("gid", F.col("process").alias("q"))
    pair = Window.partitionBy("p", "q")
    return (
        one.join(two, "gid")
        .where("p < q")
        .withColumn("a", F.min("gid").over(pair))
        .where(F.col("gid") != F.col("a"))
        .select("a", F.col("gid").alias("b"))
        .distinct()
    )
