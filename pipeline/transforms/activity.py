"""Activity: who has written how much in which document, when people were there, and with whom.

A document is the groups whose names have its beginning: `<kind>/<name>`, and behind that its
blocks (decision 0028). A person is known from the sessions of pages; what has another sender, such
as a node that carries text from block to block, is nobody's edit. The trace has no content, so
what is counted are messages and their bytes, not characters.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

TOGETHER: Final = "5 minutes"
"""Who edits a document in the same span of so long does it together."""
EDITORS_MAX: Final = 500
"""With more editors in a span nobody is said to edit with anybody: pairs would grow as squares."""

EDITS: Final = "document string, person string, edits bigint, bytes bigint, minutes bigint"
PRESENCE: Final = "person string, sessions bigint, seconds double"
TOGETHER_EDGES: Final = "document string, one string, other string, spans bigint"
"""Columns of `edits`, `presence` and `together`."""


def people(sessions: DataFrame) -> DataFrame:
    """process, person: for whom a process sends."""
    known = sessions.where(F.col("process").isNotNull() & F.col("user").isNotNull())
    return known.groupBy("process").agg(F.min("user").alias("person"))


def documents(groups: DataFrame) -> DataFrame:
    """gid, document."""
    named = groups.where(F.col("name").isNotNull()).groupBy("gid").agg(F.min("name").alias("name"))
    return named.select("gid", F.substring_index("name", "/", 2).alias("document"))


def written(accepts: DataFrame, who: DataFrame, what: DataFrame) -> DataFrame:
    """t, document, person, count, bytes: each run that a person has sent to a document.

    `who` as of `people`, `what` as of `documents`.
    """
    by_person = accepts.join(F.broadcast(who), accepts["sender"] == who["process"])
    return by_person.join(F.broadcast(what), "gid").select(
        "t", "document", "person", "count", "bytes"
    )


def edits(runs: DataFrame) -> DataFrame:
    """Of each document and person; `minutes`: in so many minutes something was sent.

    `runs` as of `written`.
    """
    return runs.groupBy("document", "person").agg(
        F.sum("count").alias("edits"),
        F.sum("bytes").alias("bytes"),
        F.countDistinct(F.date_trunc("minute", "t")).alias("minutes"),
    )


def presence(sessions: DataFrame, begin: Column, end: Column) -> DataFrame:
    """Of each person: sessions that were there between two times, and for how long in all.

    `sessions`: all rows up to `end`. A session without an end goes on.
    """
    own = Window.partitionBy("node", "session")
    spans = (
        sessions.where(F.col("user").isNotNull())
        .withColumn("opened", F.min("t").over(own))
        .withColumn("closed", F.max(F.when(F.col("op") == "close", F.col("t"))).over(own))
        .select("node", "session", F.col("user").alias("person"), "opened", "closed")
        .distinct()
    )
    there = (
        spans.withColumn("from", F.greatest("opened", begin))
        .withColumn("to", F.least(F.coalesce("closed", end), end))
        .where(F.col("from") <= F.col("to"))
    )
    seconds = (F.unix_micros("to") - F.unix_micros("from")) / 1e6
    return there.groupBy("person").agg(
        F.count("*").alias("sessions"), F.sum(seconds).alias("seconds")
    )


def together(runs: DataFrame) -> DataFrame:
    """Who has edited a document with whom; `spans`: in so many spans of TOGETHER. one < other."""
    span = F.window("t", TOGETHER)["start"].alias("span")
    present = runs.select("document", "person", span).distinct()
    crowd = Window.partitionBy("document", "span")
    few = present.withColumn("editors", F.count("*").over(crowd)).where(
        F.col("editors").between(2, EDITORS_MAX)
    )
    one = few.select("document", "span", F.col("person").alias("one"))
    other = few.select("document", "span", F.col("person").alias("other"))
    pairs = one.join(other, ["document", "span"]).where(F.col("one") < F.col("other"))
    return pairs.groupBy("document", "one", "other").agg(F.count("*").alias("spans"))
