"""Crashes of nodes, put into a cluster's trace: what their next lives say, and what is gone."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from groupcore.trace import TABLES
from tests.pipeline.cluster import Row

Rows = dict[str, list[Row]]


def number_rows(rows: Rows) -> None:
    """Give each row its number in its log, where it has none."""
    numbers: Counter[tuple[str, str]] = Counter()
    for kind, of_kind in rows.items():
        for row in of_kind:
            if row["off"] is None:
                row["off"] = numbers[kind, row["node"]]
            numbers[kind, row["node"]] = max(numbers[kind, row["node"]], row["off"]) + 1


def crash_of(rows: Rows, life: str, *, epoch: int | None = None) -> list[Row]:
    """What the next life of a node says of one that was killed: of each log the end is missing.

    `epoch`: the writer's; that of the life if it is not given.
    """
    node, _, incarnation = life.partition("#")
    own = int(incarnation, 16)
    times = [row["t"] for of_kind in rows.values() for row in of_kind if row["t"]]
    t = max(times) + timedelta(seconds=1)
    said = []
    for number, kind in enumerate(TABLES):
        offs = [row["off"] for row in rows.get(kind, ()) if row["node"] == life]
        absent = dict.fromkeys(column.name for column in TABLES["log_gap"].own)
        said.append(
            {
                **absent,
                "node": node,
                "off": number,
                "t": t,
                "kind": kind,
                "epoch": own if epoch is None else epoch,
                "from_off": 0 if epoch is not None else max(offs, default=-1) + 1,
                "reason": "crash",
            }
        )
    return said


def crash_all(rows: Rows) -> None:
    """Every node has crashed before this life of it, and crashes behind all that it has written."""
    number_rows(rows)
    lives = sorted({row["node"] for row in rows["view"]})
    gaps = []
    for life in lives:
        former = [{**row, "off": row["off"]} for row in crash_of(rows, life, epoch=0)]
        later = [{**row, "off": row["off"] + len(former)} for row in crash_of(rows, life)]
        gaps += [*former, *later]
    rows["log_gap"] = [*rows.get("log_gap", ()), *gaps]


def kill(rows: Rows, life: str, *, share: float = 0.8) -> None:
    """A node is killed when so much of its log was written; it comes back in a view of all."""
    number_rows(rows)
    times = sorted(row["t"] for row in rows["delivery"] if row["node"] == life)
    end = times[int(len(times) * share)]
    for kind in rows:
        rows[kind] = [row for row in rows[kind] if row["node"] != life or row["t"] <= end]
    rows["log_gap"] = [*rows.get("log_gap", ()), *crash_of(rows, life)]
    back = f"{life.partition('#')[0]}#f"
    newest: dict[str, Row] = {}
    for row in rows["view"]:
        newest[row["node"]] = row
    top = max(row["number"] for row in newest.values())
    for node, row in list(newest.items()):
        if node != life:
            members = [back if one == life else one for one in row["members"]]
            after = {"number": top + 1, "previous": row["number"], "members": members, "cut": []}
            rows["view"].append({**row, **after, "off": row["off"] + 1})
    first = {"number": top + 1, "previous": None, "members": [back], "cut": [], "dno": 0}
    alone = {**newest[life], **first, "node": back, "off": 0, "lineage": 77}
    rows["view"].append(alone)
