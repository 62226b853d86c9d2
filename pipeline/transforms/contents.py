"""Every delivery is what a sequencer stamped: the same numbers, sender, messages, at every node.

Rows that have their like among the sequencers' are dropped by one join on a hash of 64 bits of all
that must be alike; the few that are left are compared column by column. (That two rows differ and
have the same hash: once in 10^19 pairs.)
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from groupcore.trace import CONTENT, GONE, JOINED, LEFT
from pipeline.transforms.findings import any_of, findings, rows_of
from pipeline.transforms.numbering import around_numbers

_ALIKE = ("gid", "seq", "count", "sender", "first", "crc")


def unlike(deliveries: DataFrame, accepts: DataFrame) -> DataFrame:
    """`like`: hashes of deliveries with a stamp whose like no sequencer wrote.

    One number a row is compared, and of what many nodes were given only one row.
    """
    known = accepts.select(F.xxhash64("node", "lseq", *_ALIKE).alias("like"))
    given = _stamped(deliveries).select(_like()).distinct()
    return given.join(known, "like", "left_anti")


def with_hashes(deliveries: DataFrame, likes: DataFrame, *, few: bool) -> DataFrame:
    """The deliveries that `unlike` has found; `few`: their hashes fit anywhere."""
    rows = _stamped(deliveries).select("node", "dno", "sequencer", "lseq", *_ALIKE)
    hashed = rows.withColumn("like", _like())
    return hashed.join(F.broadcast(likes) if few else likes, "like", "left_semi").drop("like")


def _stamped(deliveries: DataFrame) -> DataFrame:
    return deliveries.where(F.col("sequencer").isNotNull() & (F.col("what") == CONTENT))


def _like() -> Column:
    return F.xxhash64("sequencer", "lseq", *_ALIKE).alias("like")


def contents(suspects: DataFrame, accepts: DataFrame) -> DataFrame:
    """Findings `content`: it differs from what has its stamp; `phantom`: nothing has its stamp."""
    stamps = accepts.select(
        F.col("node").alias("sequencer"),
        "lseq",
        *[F.col(name).alias(f"{name}2") for name in _ALIKE],
    )
    both = (
        suspects.join(stamps, ["sequencer", "lseq"], "left")
        .withColumn("node2", F.col("sequencer"))
        .withColumn("lseq2", F.col("lseq"))
        .drop("lseq")
    )
    differ = F.concat_ws(
        ", ", *[F.when(~F.col(n).eqNullSafe(F.col(f"{n}2")), F.lit(n)) for n in _ALIKE]
    )
    stamped = F.col("gid2").isNotNull()
    return findings(
        both.where(stamped & (differ != "")),
        "content",
        F.concat(F.lit("it is not what its sequencer stamped: "), differ),
    ).unionByName(
        findings(
            both.where(~stamped).withColumn(
                "needs", any_of(rows_of("accept", "node2", "lseq2", "lseq2"))
            ),
            "phantom",
            F.lit("no sequencer has stamped it"),
        )
    )


def changes(deliveries: DataFrame, membership: DataFrame) -> DataFrame:
    """Findings `content` and `phantom` of JOINs and LEAVEs, by their places in the groups."""
    what: Column = reduce(
        lambda otherwise, pair: F.when(F.col("op") == pair[0], pair[1]).otherwise(otherwise),
        (("join", JOINED), ("leave", LEFT), ("gone", GONE)),
        F.lit(None),
    )
    stamped = membership.where(F.col("op").isin("join", "leave", "gone")).select(
        "gid", "seq", F.col("process").alias("sender"), what.alias("what")
    )
    rows = deliveries.where(F.col("what") != CONTENT).select(
        "node",
        "dno",
        "gid",
        "seq",
        "sender",
        "what",
        F.col("sequencer").alias("node2"),
        F.col("lseq").alias("lseq2"),
        any_of(rows_of("change", "sequencer", "lseq", "lseq")),
    )
    odd = rows.join(stamped, ["gid", "seq", "sender", "what"], "left_anti")
    places = stamped.select("gid", "seq").distinct().withColumn("known", F.lit(True))
    joined = odd.join(places, ["gid", "seq"], "left")
    known = F.col("known").isNotNull()
    return findings(
        joined,
        F.when(known, "content").otherwise("phantom"),
        F.when(known, "the change is not what its sequencer stamped").otherwise(
            "no sequencer has stamped it"
        ),
    )


def archived(deliveries: DataFrame, accepts: DataFrame) -> DataFrame:
    """Findings `content` of rows out of archives: they are what somebody stamped at their place.

    What was stamped before the trace began has nothing to be compared with. A place can have been
    stamped by several epochs: of the others' rows one may be lost.
    """
    rows = deliveries.where(F.col("sequencer").isNull() & (F.col("what") == CONTENT)).select(
        "node", "dno", *_ALIKE
    )
    odd = rows.join(accepts.select(*_ALIKE), list(_ALIKE), "left_anti")
    places = accepts.select(
        "gid", "seq", F.col("node").alias("node2"), F.col("lseq").alias("lseq2")
    )
    owners = accepts.select("gid", "node").distinct()
    numbers = accepts.select(
        "gid", "node", "lseq", "seq", (F.col("seq") + F.col("count") - 1).alias("end")
    )
    found = odd.join(places, ["gid", "seq"])
    asked = found.withColumn("low", F.col("seq")).withColumn("high", F.col("seq"))
    return findings(
        around_numbers(asked, owners, numbers),
        "content",
        F.lit("what came out of an archive is not what was stamped"),
    )
