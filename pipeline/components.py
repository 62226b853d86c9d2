"""Connected components: in the driver while the edges fit there, else by stars in rounds.

Both give the same: of each vertex that has an edge the smallest vertex that it hangs together with.
An edge takes 16 bytes in the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

    Vertices = NDArray[np.int64]

DRIVER_EDGES_MAX: Final = 20_000_000
"""Up to so many edges the driver does it: 320 MB, and some times that while it works."""


def components(edges: DataFrame, *, driver_edges_max: int = DRIVER_EDGES_MAX) -> DataFrame:
    """gid, component, out of edges a, b (bigint)."""
    kept = edges.cache()
    if kept.count() > driver_edges_max:
        return by_stars(kept)
    table = kept.toArrow()
    a, b = (table.column(name).to_numpy() for name in ("a", "b"))
    vertices, labels = by_labels(a, b)
    kept.unpersist()
    return labelled(edges.sparkSession, vertices, labels)


def labelled(spark: SparkSession, vertices: Vertices, labels: Vertices) -> DataFrame:
    """gid, component."""
    import pyarrow as pa

    table = pa.table({"gid": pa.array(vertices), "component": pa.array(labels)})
    frame: DataFrame = spark.createDataFrame(table)
    return frame


def by_labels(a: Vertices, b: Vertices) -> tuple[Vertices, Vertices]:
    """Vertices, and of each the smallest of its component.

    Roots hook onto smaller roots over each edge, then all labels jump to their roots; edges within
    a component are dropped, so rounds get shorter.
    """
    vertices, index = np.unique(np.concatenate((a, b)), return_inverse=True)
    left, right = index[: len(a)], index[len(a) :]
    labels = np.arange(len(vertices))
    while len(left):
        roots = labels[left], labels[right]
        apart = roots[0] != roots[1]
        left, right = left[apart], right[apart]
        low = np.minimum(roots[0][apart], roots[1][apart])
        high = np.maximum(roots[0][apart], roots[1][apart])
        np.minimum.at(labels, high, low)
        while True:
            further = labels[labels]
            if np.array_equal(further, labels):
                break
            labels = further
    return vertices, vertices[labels]


def by_stars(edges: DataFrame) -> DataFrame:
    """gid, component by alternating large and small stars (Kiveris and others, 2014).

    Each round is settled before the next: a plan that grows with the rounds would be looked at
    whole in each. The log of the longest path bounds the rounds.
    """
    current = _settle(edges.select("a", "b").where("a != b").distinct())
    while True:
        large = _star(current, large=True)
        small = _settle(_star(large, large=False))
        if _same(current, small):
            break
        current = small
    center = current.select(F.greatest("a", "b").alias("gid"), F.least("a", "b").alias("component"))
    roots = center.select(F.col("component").alias("gid"), "component")
    return center.unionByName(roots).distinct()


def _star(edges: DataFrame, *, large: bool) -> DataFrame:
    """Connect neighbours of each vertex to the smallest of them: the larger ones, or the others."""
    both = (
        edges.unionByName(edges.select(F.col("b").alias("a"), F.col("a").alias("b")))
        if large
        else edges.select(F.greatest("a", "b").alias("a"), F.least("a", "b").alias("b"))
    )
    least = both.groupBy("a").agg(F.min("b").alias("least"))
    joined = both.join(least, "a").withColumn("m", F.least("a", "least"))
    if large:
        moved = joined.where("b > a").select(F.col("b").alias("a"), F.col("m").alias("b"))
    else:
        own = joined.select("a", F.col("m").alias("b"))
        moved = joined.select(F.col("b").alias("a"), F.col("m").alias("b")).unionByName(own)
    return moved.where("a != b").distinct()


def _same(one: DataFrame, two: DataFrame) -> bool:
    """Whether two sets of edges are equal, by number and by sums of hashes."""

    def digest(frame: DataFrame) -> tuple[object, ...]:
        high, low = F.greatest("a", "b"), F.least("a", "b")
        row = frame.agg(
            F.count("*"),
            F.expr("bit_xor(xxhash64(greatest(a, b), least(a, b)))"),
            F.sum((high % 1_000_003) * 31 + low % 1_000_003),
        ).first()
        return tuple(row or ())

    return digest(one) == digest(two)


def _settle(frame: DataFrame) -> DataFrame:
    context = frame.sparkSession.sparkContext
    return frame.checkpoint() if context.getCheckpointDir() else frame.localCheckpoint()
