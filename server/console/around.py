"""The deliveries around a violation: what each node was given there, in the order that it was.

Positions of a group say where to look, and its segment on which days. The table of deliveries is in
the order of the nodes' logs, so first three columns say in which groups of rows the few rows are
(of most the file's end says that they are not there), and only these are read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from groupcore.trace import CONTENT, GONE, JOINED, LEFT
from server.console.colleagues import Shown
from server.console.parquet import Snapshot

REACH: Final = 5
"""So many positions before and behind."""
NODES_MAX: Final = 6
"""So many nodes are shown, those of the violation first."""
ROWS_MAX: Final = 100
"""So many rows of a node: what a sender repeats without end is not all shown."""
WHAT: Final = {CONTENT: "messages", JOINED: "join", LEFT: "leave", GONE: "gone"}
_DAY = re.compile(r"date=(\d{4}-\d{2}-\d{2})")
_ASKED = ("node", "gid", "seq", "count")
_SHOWN = ("t", "node", "dno", "gid", "seq", "count", "what", "sender", "first", "sequencer")


class Place(NamedTuple):
    """Where to look: positions of a group, on some days (none: on all)."""

    gid: int
    seq: int
    days: frozenset[str]

    @property
    def low(self) -> int:
        """The first position."""
        return max(1, self.seq - REACH)

    @property
    def high(self) -> int:
        """The last one."""
        return self.seq + REACH


class Found(NamedTuple):
    """Rows of a node in a group of rows of a file."""

    path: Path
    number: int
    node: str


def around(snapshot: Snapshot, violation: Shown) -> list[Shown]:
    """What was delivered around a violation's row, and around what it is held against.

    A list of `{gid, seq, first, last, nodes, more_nodes}`; of each of `nodes` its rows, by delivery
    number. Empty where the store has none. OSError, ValueError: a file cannot be read.
    """
    named = [
        (violation[f"node{end}"], violation[f"dno{end}"])
        for end in ("", "2")
        if violation.get(f"node{end}")
    ]
    shown = []
    for place in _places(violation):
        found = list(_found(_files(snapshot, place.days), place))
        if not found:
            continue
        nodes = sorted({one.node for one in found})
        first = dict.fromkeys(node for node, _ in named if node in nodes)
        chosen = [*first, *(node for node in nodes if node not in first)][:NODES_MAX]
        rows = _rows(found, place, set(chosen))
        shown.append(
            {
                "gid": place.gid,
                "seq": place.seq,
                "first": place.low,
                "last": place.high,
                "nodes": [
                    {"node": node, "rows": [_row(row, named) for row in rows[node]]}
                    for node in chosen
                ],
                "more_nodes": len(nodes) - len(chosen),
            }
        )
    return shown


def _places(violation: Shown) -> list[Place]:
    """Where its rows are: two places, unless the other one is in reach of the first."""
    days = frozenset(day for end in ("", "2") for day in _days(violation.get(f"segment{end}")))
    places: list[Place] = []
    for end in ("", "2"):
        gid, seq = violation.get(f"gid{end}"), violation.get(f"seq{end}")
        if gid is None or seq is None:
            continue
        if not any(one.gid == gid and one.low <= seq <= one.high for one in places):
            places.append(Place(gid, seq, days))
    return places


def _days(segment: str | None) -> Iterator[str]:
    """The day of a segment, and those beside it: other nodes may be behind, or ahead."""
    found = _DAY.search(segment or "")
    if found is not None:
        day = date.fromisoformat(found[1])
        yield from ((day + timedelta(days)).isoformat() for days in (-1, 0, 1))


def _files(snapshot: Snapshot, days: frozenset[str]) -> Iterator[Path]:
    """The files of deliveries of these days, or that are not divided by days."""
    for folder in snapshot.tables.get("delivery", ()):
        day = _DAY.search(folder)
        if not days or day is None or day[1] in days:
            yield from sorted((snapshot.root / folder).glob("*.parquet"))


def _found(files: Iterator[Path], place: Place) -> Iterator[Found]:
    """In which groups of rows which nodes have rows of the place."""
    from pyarrow.parquet import ParquetFile

    for path in files:
        with ParquetFile(path, read_dictionary=["node"]) as file:
            for index in range(file.num_row_groups):
                if _may_have(file, index, place.gid):
                    some = file.read_row_group(index, columns=list(_ASKED))
                    nodes = _of(some, place).column("node").unique().to_pylist()
                    yield from (Found(path, index, node) for node in nodes)


def _may_have(file: Any, index: int, gid: int) -> bool:  # noqa: ANN401  # Arrow has no types
    """Whether what the file says of a group of rows leaves room for a gid."""
    column = file.schema_arrow.get_field_index("gid")
    said = file.metadata.row_group(index).column(column).statistics
    return said is None or not said.has_min_max or said.min <= gid <= said.max


def _of(rows: Any, place: Place) -> Any:  # noqa: ANN401  # Arrow has no types
    """The rows that take one of the positions."""
    from pyarrow import compute as pc

    last = pc.add(rows.column("seq"), rows.column("count"))
    inside = pc.and_(
        pc.less_equal(rows.column("seq"), place.high),
        pc.greater(last, place.low),
    )
    return rows.filter(pc.and_(pc.equal(rows.column("gid"), place.gid), inside))


def _rows(found: Sequence[Found], place: Place, nodes: set[str]) -> dict[str, list[Shown]]:
    """The rows of these nodes, in the order of delivery."""
    from pyarrow.parquet import ParquetFile

    rows: dict[str, list[Shown]] = defaultdict(list)
    for path, index in dict.fromkeys((one.path, one.number) for one in found if one.node in nodes):
        with ParquetFile(path) as file:
            some = _of(file.read_row_group(index, columns=list(_SHOWN)), place)
        for row in some.to_pylist():
            if row["node"] in nodes:
                rows[row["node"]].append(row)
    return {node: sorted(own, key=_number)[:ROWS_MAX] for node, own in rows.items()}


def _number(row: Shown) -> int:
    number: int = row["dno"]
    return number


def _row(row: Shown, named: Sequence[tuple[str, int | None]]) -> Shown:
    """A delivery as the console shows it."""
    message, count = row["sender"], row["count"]
    if row["first"] is not None:
        message += f":{row['first']}" + (f"-{row['first'] + count - 1}" if count > 1 else "")
    return {
        "at_s": row["t"].timestamp(),
        "dno": row["dno"],
        "first": row["seq"],
        "last": row["seq"] + count - 1,
        "what": WHAT[row["what"]],
        "message": message,
        "sequencer": row["sequencer"],
        "marked": (row["node"], row["dno"]) in named,
    }
