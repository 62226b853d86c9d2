"""Components of strong intersection, out of the trace: who is in what, who only watches, what hangs
together, and whose leaving would part it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from pipeline.articulation import Articulation, articulations
from pipeline.components import components
from pipeline.errors import PipelineError
from pipeline.transforms import overlap as rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PAIRS_MAX: Final = 200_000_000
"""More pairs than this are not compared."""
ARTICULATION_ROWS_MAX: Final = 20_000
"""Memberships of the largest component that is looked at for who holds it together."""


@dataclass(frozen=True)
class Overlap:
    """`members`: gid, process of strict membership. `components`: gid, component of the groups that
    intersect strongly with another; the others are alone. `way`: `primal` or `dual`. `declared`:
    how many processes have joined as observers; `observers`: those that only watch as they are in
    too many groups, with how many that is.
    """

    members: DataFrame
    components: DataFrame
    observers: dict[str, int]
    declared: int
    way: str


def find_overlap(membership: DataFrame, groups: DataFrame, groups_max: int) -> Overlap:
    """The overlap of the strict groups as they are now.

    Who has joined as an observer does not count, as in the service. Nor does who is in more than
    `groups_max` groups without having said so: it would fuse nearly everything into one component.
    Raises PipelineError `too_dense`.
    """
    # Only strict groups have to be sequenced together.
    strict = groups.where("promise = 'strict'").select("gid").distinct()
    everybody = rules.members(membership).join(F.broadcast(strict), "gid", "left_semi").cache()
    declared = everybody.where("observes").select("process").distinct().count()
    memberships = everybody.where("not observes").select("gid", "process")
    watching = rules.observers(memberships, groups_max).cache()
    found = {row["process"]: row["groups"] for row in watching.collect()}
    members = memberships.join(F.broadcast(watching), "process", "left_anti")
    # Pairs of numbers take half as long to sort as pairs of names. That two of a million processes
    # have one hash happens once in 37 million overlaps.
    matter = rules.that_matter(
        members.select("gid", F.xxhash64("process").alias("process"))
    ).cache()
    cost = rules.costs(matter).first()
    assert cost is not None
    way = "primal" if cost["primal"] <= cost["dual"] else "dual"
    if cost[way] > PAIRS_MAX:
        raise PipelineError(
            "too_dense",
            f"{cost[way]:,.0f} pairs would have to be compared, more than {PAIRS_MAX:,}.",
            "Lower --observers, so that processes in very many groups only watch.",
        )
    edges = (
        rules.strong_pairs(matter).select("a", "b") if way == "primal" else rules.star_edges(matter)
    )
    return Overlap(members, components(edges), found, declared, way)


def sizes(overlap: Overlap, count: int) -> list[tuple[int, int]]:
    """component, groups: the largest ones first."""
    rows = (
        overlap.components.groupBy("component")
        .count()
        .orderBy(F.desc("count"), "component")
        .limit(count)
        .collect()
    )
    return [(row["component"], row["count"]) for row in rows]


def holding_together(
    overlap: Overlap, largest: list[tuple[int, int]]
) -> dict[int, list[Articulation]]:
    """Of these components who parts them by leaving; those that are too large are left out."""
    names = [component for component, _ in largest]
    rows = overlap.members.join(
        overlap.components.where(F.col("component").isin(names)), "gid"
    ).select("component", "gid", "process")
    counts = {r["component"]: r["count"] for r in rows.groupBy("component").count().collect()}
    small = [name for name in names if counts.get(name, 0) <= ARTICULATION_ROWS_MAX]
    groups: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows.where(F.col("component").isin(small)).collect():
        groups[row["component"]][row["gid"]].add(row["process"])
    return {name: articulations(groups[name]) for name in small}
