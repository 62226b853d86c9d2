"""Components of strong intersection, out of the trace: who is in what, who only watches, what hangs
together, and whose leaving would part it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F

from pipeline.articulation import Articulation, articulations
from pipeline.components import by_labels, components, labelled
from pipeline.errors import PipelineError
from pipeline.memberships import PAIRS_MAX as DRIVER_PAIRS_MAX
from pipeline.memberships import members
from pipeline.transforms import overlap as rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PAIRS_MAX: Final = 200_000_000
"""More pairs than this are not compared."""
DRIVER_CHANGES_MAX: Final = 5_000_000
"""Up to so many changes of membership the driver looks at them: some 100 bytes each."""
ARTICULATION_ROWS_MAX: Final = 20_000
"""Memberships of the largest component that is looked at for who holds it together."""

Members = dict[int, dict[int, set[str]]]
"""component: its groups: their processes."""


@dataclass(frozen=True)
class Overlap:
    """`components`: gid, component of the groups that intersect strongly with another; the others
    are alone. `way`: `primal` or `dual`. `declared`: how many processes have joined as observers;
    `observers`: those that only watch as they are in too many groups, with how many that is.
    `members_of`: strict membership of components that have up to so many memberships.
    """

    components: DataFrame
    observers: dict[str, int]
    declared: int
    way: str
    members_of: Callable[[Sequence[int], int], Members]


def find_overlap(
    membership: DataFrame,
    groups: DataFrame,
    groups_max: int,
    *,
    driver_changes_max: int = DRIVER_CHANGES_MAX,
) -> Overlap:
    """The overlap of the strict groups as they are now.

    Who has joined as an observer does not count, as in the service. Nor does who is in more than
    `groups_max` groups without having said so: it would fuse nearly everything into one component.
    Raises PipelineError `too_dense`.
    """
    # Only strict groups have to be sequenced together.
    strict = groups.where("promise = 'strict'").select("gid").distinct()
    if membership.count() <= driver_changes_max:
        found = _in_driver(membership, strict, groups_max)
        if found is not None:
            return found
    return _on_workers(membership, strict, groups_max)


def _in_driver(membership: DataFrame, strict: DataFrame, groups_max: int) -> Overlap | None:
    """By sorting in this process; None: these are too many pairs for it."""
    changes = rules.changes(membership).toArrow()
    everybody, declared = members(changes, strict.toArrow().column("gid").to_pylist())
    strict_members, watching = everybody.observers(groups_max)
    matter = strict_members.that_matter()
    way, pairs = _way(matter.costs())
    if pairs > DRIVER_PAIRS_MAX:
        return None
    a, b = matter.strong_pairs() if way == "primal" else matter.star_edges()
    gids, labels = by_labels(a, b)

    def members_of(names: Sequence[int], rows_max: int) -> Members:
        some = {name: strict_members.of(gids[labels == name]) for name in names}
        return {name: own for name, own in some.items() if sum(map(len, own.values())) <= rows_max}

    frame = labelled(membership.sparkSession, gids, labels)
    return Overlap(frame, watching, declared, way, members_of)


def _on_workers(membership: DataFrame, strict: DataFrame, groups_max: int) -> Overlap:
    """By joins of any size."""
    everybody = rules.members(membership).join(F.broadcast(strict), "gid", "left_semi").cache()
    declared = everybody.where("observes").select("process").distinct().count()
    memberships = everybody.where("not observes").select("gid", "process")
    watching = rules.observers(memberships, groups_max).cache()
    found = {row["process"]: row["groups"] for row in watching.collect()}
    counted = memberships.join(F.broadcast(watching), "process", "left_anti")
    # Pairs of numbers take half as long to sort as pairs of names. That two of a million processes
    # have one hash happens once in 37 million overlaps.
    matter = rules.that_matter(
        counted.select("gid", F.xxhash64("process").alias("process"))
    ).cache()
    cost = rules.costs(matter).first()
    assert cost is not None
    way, _ = _way(cost.asDict())
    edges = (
        rules.strong_pairs(matter).select("a", "b") if way == "primal" else rules.star_edges(matter)
    )
    found_components = components(edges)

    def members_of(names: Sequence[int], rows_max: int) -> Members:
        wanted = found_components.where(F.col("component").isin(list(names)))
        rows = counted.join(wanted, "gid").select("component", "gid", "process")
        sizes = {r["component"]: r["count"] for r in rows.groupBy("component").count().collect()}
        small = [name for name in names if sizes.get(name, 0) <= rows_max]
        some: Members = {name: defaultdict(set) for name in small}
        for row in rows.where(F.col("component").isin(small)).collect():
            some[row["component"]][row["gid"]].add(row["process"])
        return some

    return Overlap(found_components, found, declared, way, members_of)


def _way(costs: Mapping[str, float]) -> tuple[str, float]:
    """The cheaper one, and how many pairs it looks at. Raises PipelineError `too_dense`."""
    way = "primal" if costs["primal"] <= costs["dual"] else "dual"
    if costs[way] > PAIRS_MAX:
        raise PipelineError(
            "too_dense",
            f"{costs[way]:,.0f} pairs would have to be compared, more than {PAIRS_MAX:,}.",
            "Lower --observers, so that processes in very many groups only watch.",
        )
    return way, costs[way]


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
    found = overlap.members_of([name for name, _ in largest], ARTICULATION_ROWS_MAX)
    return {name: articulations(own) for name, own in found.items()}
