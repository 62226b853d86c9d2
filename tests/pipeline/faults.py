"""Bugs of the order, planted into the trace of a cluster that has none, and what each amounts to.

A fault takes rows and a generator and edits the rows; it returns how many findings of each rule
must come of it. It looks for a place where nothing else follows from it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from groupcore.trace import CONTENT, FRAME_STAMPS
from tests.pipeline.cluster import Row

Rows = dict[str, list[Row]]
Fault = Callable[[Rows, random.Random], Counter[str]]


def frame_of(row: Row) -> tuple[str, int]:
    """The stream and the number of the frame that a delivery is of."""
    return row["sequencer"], row["lseq"] // FRAME_STAMPS


class Trace:
    """Questions about the rows."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.deliveries = rows["delivery"]
        self.context = {
            (row["node"], row["frame"]): {e["sequencer"]: e["frame"] for e in row["context"]}
            for row in rows["frame"]
        }
        self.promise = {row["gid"]: row["promise"] for row in rows["group"]}
        self.size = Counter((r["node"], r["lseq"] // FRAME_STAMPS) for r in rows["accept"])
        self.always = self._always()

    def _always(self) -> dict[tuple[str, int], set[str]]:
        """The processes that a node gives a group from its beginning to its end."""
        turns: dict[tuple[str, int, str], list[str]] = {}
        for row in self.rows["membership"]:
            if row["op"] in ("in", "out"):
                turns.setdefault((row["node"], row["gid"], row["process"]), []).append(row["op"])
        first = {key: ops for key, ops in turns.items() if ops == ["in"]}
        begun = {
            (row["node"], row["gid"], row["process"])
            for row in self.rows["membership"]
            if row["op"] == "in" and row["dno"] == 0
        }
        always: dict[tuple[str, int], set[str]] = {}
        for node, gid, process in first.keys() & begun:
            always.setdefault((node, gid), set()).add(process)
        return always

    def shared(self, node: str, one: int, other: int) -> int:
        """How many processes of the node are in both groups all the time."""
        return len(self.always.get((node, one), set()) & self.always.get((node, other), set()))

    def alone(self, row: Row) -> bool:
        """Messages of a causal group, the only run of their frame."""
        content: bool = row["what"] == CONTENT
        return content and self.promise[row["gid"]] == "causal" and self.size[frame_of(row)] == 1

    def at(self, node: str) -> list[Row]:
        """A node's deliveries."""
        return [row for row in self.deliveries if row["node"] == node]

    def knows(self, later: Row, earlier: Row) -> bool:
        """Whether the later one is to be delivered behind the earlier one's frame."""
        stream, number = frame_of(earlier)
        return bool(self.context[frame_of(later)].get(stream, 0) >= number)


def delivery_numbers_anew(rows: Rows, old: list[Row], node: str) -> None:
    """Number a node's deliveries as they stand; what names a number keeps its place."""
    new: dict[int, int] = {0: 0}
    count = 0
    before = {row["dno"] for row in old if row["node"] == node}
    for row in rows["delivery"]:
        if row["node"] == node:
            count += 1
            new[row["dno"]] = count
    last = 0
    for dno in sorted(before):
        last = new.setdefault(dno, last)
    for row in rows["membership"]:
        if row["node"] == node and row["dno"] is not None:
            row["dno"] = new[row["dno"]]
    count = 0
    for row in rows["delivery"]:
        if row["node"] == node:
            count += 1
            row["dno"] = count


def skip(rows: Rows, draw: random.Random) -> Counter[str]:
    """A node never delivers a run: a gap."""
    trace = Trace(rows)
    places = [
        row
        for row in trace.deliveries
        if row["what"] == CONTENT
        and any(
            r["gid"] == row["gid"] and r["node"] == row["node"] and r["dno"] > row["dno"]
            for r in trace.deliveries
        )
    ]
    row = draw.choice(places)
    old = list(rows["delivery"])
    rows["delivery"].remove(row)
    delivery_numbers_anew(rows, old, row["node"])
    return Counter({"gap": 1})


def lose_record(rows: Rows, draw: random.Random) -> Counter[str]:
    """A row is taken out of a log: the log has a hole, its delivery numbers too."""
    result = skip_without_numbers(rows, draw)
    return result + Counter({"missing_records": 1, "delivery_numbers": 1})


def skip_without_numbers(rows: Rows, draw: random.Random) -> Counter[str]:
    """As `skip`, and all numbers of rows stay as they were."""
    off: Counter[tuple[str, str]] = Counter()
    for kind, of_kind in rows.items():
        for row in of_kind:
            row["off"] = off[kind, row["node"]]
            off[kind, row["node"]] += 1
    nodes = sorted({row["node"] for row in rows["delivery"]})
    node = draw.choice(nodes)
    own = [row for row in rows["delivery"] if row["node"] == node and row["what"] == CONTENT]
    half = own[len(own) // 2]
    assert any(r["gid"] == half["gid"] and r["dno"] > half["dno"] for r in own)
    rows["delivery"].remove(half)
    return Counter({"gap": 1})


def double(rows: Rows, draw: random.Random) -> Counter[str]:
    """A node delivers a run twice."""
    row = draw.choice(list(filter(Trace(rows).alone, rows["delivery"])))
    old = list(rows["delivery"])
    rows["delivery"].insert(rows["delivery"].index(row) + 1, {**row, "dno": row["dno"] + 0.5})
    delivery_numbers_anew(rows, old, row["node"])
    return Counter({"duplicate": 1})


def swap_in_group(rows: Rows, draw: random.Random) -> Counter[str]:
    """Two runs of a group change places at a node."""
    trace = Trace(rows)

    def places() -> Iterator[tuple[Row, Row]]:
        for node in sorted({row["node"] for row in trace.deliveries}):
            own = trace.at(node)
            for one, two in pairwise(own):
                alone = trace.alone(one) and trace.alone(two)
                if one["gid"] == two["gid"] and alone and not trace.knows(two, one):
                    yield one, two

    exchange(rows, *draw.choice(list(places())))
    return Counter({"late": 1})


def swap_strict(rows: Rows, draw: random.Random) -> Counter[str]:
    """Two runs of strict groups change places at a node, for the processes that are in both."""
    trace = Trace(rows)

    def places() -> Iterator[tuple[Row, Row, int]]:
        for node in sorted({row["node"] for row in trace.deliveries}):
            own = trace.at(node)
            for one, two in pairwise(own):
                if one["what"] != CONTENT or two["what"] != CONTENT or one["gid"] == two["gid"]:
                    continue
                strict = trace.promise[one["gid"]] == trace.promise[two["gid"]] == "strict"
                single = trace.size[frame_of(one)] == trace.size[frame_of(two)] == 1
                same = one["sequencer"] == two["sequencer"]
                number = trace.shared(node, one["gid"], two["gid"])
                stable = not any(
                    r["what"] for r in trace.deliveries if r["gid"] in (one["gid"], two["gid"])
                )
                if strict and single and same and number and stable and not trace.knows(two, one):
                    yield one, two, number

    one, two, number = draw.choice(list(places()))
    exchange(rows, one, two)
    return Counter({"strict": number})


def before_its_cause(rows: Rows, draw: random.Random) -> Counter[str]:
    """A node delivers a message before one that its sender knew."""
    trace = Trace(rows)

    def places() -> Iterator[tuple[Row, Row, int]]:
        for node in sorted({row["node"] for row in trace.deliveries}):
            own = trace.at(node)
            for one, two in pairwise(own):
                if one["gid"] == two["gid"] or not trace.alone(one) or not trace.alone(two):
                    continue
                stable = not any(
                    r["what"] for r in trace.deliveries if r["gid"] in (one["gid"], two["gid"])
                )
                number = trace.shared(node, one["gid"], two["gid"])
                if trace.knows(two, one) and number and stable:
                    yield one, two, number

    one, two, number = draw.choice(list(places()))
    exchange(rows, one, two)
    return Counter({"causal": number})


def exchange(rows: Rows, one: Row, two: Row) -> None:
    """Two neighbours in a node's log change places."""
    all_rows = rows["delivery"]
    i, j = all_rows.index(one), all_rows.index(two)
    all_rows[i], all_rows[j] = {**two, "dno": one["dno"]}, {**one, "dno": two["dno"]}


def other_content(rows: Rows, draw: random.Random) -> Counter[str]:
    """A node delivers something else than was stamped."""
    row = draw.choice([r for r in rows["delivery"] if r["what"] == CONTENT])
    row["crc"] ^= 1
    return Counter({"content": 1})


def forge(rows: Rows, draw: random.Random) -> Counter[str]:
    """A node delivers something under a stamp that was never given."""
    row = draw.choice(list(filter(Trace(rows).alone, rows["delivery"])))
    row["lseq"] += 1000
    return Counter({"phantom": 1})


def second_sequencer(rows: Rows, draw: random.Random) -> Counter[str]:
    """Another node goes on numbering a group in the same epoch."""
    last = newest(rows, draw)
    other = draw.choice(sorted({r["node"] for r in rows["accept"]} - {last["node"]}))
    own = max(row["lseq"] for row in rows["accept"] if row["node"] == other)
    rows["accept"].append(
        {
            **last,
            "node": other,
            "lseq": own + FRAME_STAMPS,
            "seq": last["seq"] + last["count"],
            "first": last["first"] + last["count"],
        }
    )
    return Counter({"two_sequencers": 1})


def number_again(rows: Rows, draw: random.Random) -> Counter[str]:
    """A new epoch begins below what nodes have delivered."""
    last = newest(rows, draw)
    other = draw.choice(sorted({r["node"] for r in rows["accept"]} - {last["node"]}))
    own = max(row["lseq"] for row in rows["accept"] if row["node"] == other)
    rows["accept"].append(
        {
            **last,
            "node": other,
            "epoch": last["epoch"] + 1,
            "lseq": own + FRAME_STAMPS,
        }
    )
    given = [
        r for r in rows["delivery"] if (r["sequencer"], r["lseq"]) == (last["node"], last["lseq"])
    ]
    return Counter({"floor": len(given)})


def newest(rows: Rows, draw: random.Random) -> Row:
    """The last thing that was numbered in some group."""
    ends: dict[int, Row] = {}
    for row in rows["accept"]:
        ends[row["gid"]] = row
    changed = {r["gid"]: r["seq"] for r in rows["membership"] if r["lseq"] is not None}
    last = [row for gid, row in sorted(ends.items()) if row["seq"] > changed.get(gid, 0)]
    return draw.choice(last)


def lose_from_sender(rows: Rows, draw: random.Random) -> Counter[str]:
    """A message of a sender is passed over when its next one gets a number."""
    last: dict[tuple[int, str], Row] = {}
    number: Counter[tuple[int, str]] = Counter()
    for row in rows["accept"]:
        last[row["gid"], row["sender"]] = row
        number[row["gid"], row["sender"]] += 1
    chosen = last[draw.choice(sorted(key for key in last if number[key] > 1))]
    name = (chosen["node"], chosen["lseq"])
    for row in rows["delivery"]:
        if (row["sequencer"], row["lseq"]) == name:
            row["first"] += 3
    chosen["first"] += 3
    return Counter({"fifo": 1})


def skip_a_number(rows: Rows, draw: random.Random) -> Counter[str]:
    """A sequencer gives the last run of a group a number too high; all deliver it so."""
    last = newest(rows, draw)
    given = [
        r for r in rows["delivery"] if (r["sequencer"], r["lseq"]) == (last["node"], last["lseq"])
    ]
    for row in (*given, last):
        row["seq"] += 1
    return Counter({"numbering": 1, "gap": len(given)})


def stay(rows: Rows, draw: random.Random) -> Counter[str]:
    """A node goes on giving a group to a process that has left."""
    for row in rows["membership"]:
        if row["op"] != "out":
            continue
        again = any(
            r["op"] == "in"
            and r["process"] == row["process"]
            and r["gid"] == row["gid"]
            and r["dno"] >= row["dno"]
            for r in rows["membership"]
        )
        follows = [
            r
            for r in rows["delivery"]
            if r["node"] == row["node"] and r["gid"] == row["gid"] and r["dno"] > row["dno"]
        ]
        if follows and not again:
            rows["membership"].remove(row)
            return Counter({"after_leave": 1})
    raise AssertionError("nobody has left")


def other_members(rows: Rows, draw: random.Random) -> Counter[str]:
    """A node installs a view with other members than the rest."""
    last = max(row["node"] for row in rows["view"])
    row = next(row for row in rows["view"] if row["node"] == last)
    row["members"] = row["members"][:-1]
    return Counter({"view": 1})


def shorter_cut(rows: Rows, draw: random.Random) -> Counter[str]:
    """A view has cut off what nodes have delivered."""
    entries = [entry for row in rows["view"] for entry in row["cut"]]
    stream, end = (
        entries[0]["sequencer"],
        max(frame_of(r)[1] for r in rows["delivery"] if r["sequencer"] == entries[0]["sequencer"]),
    )
    for entry in entries:
        entry["frame"] = end - 1
    return Counter(
        {
            "view_synchrony": sum(
                r["what"] == CONTENT and frame_of(r) == (stream, end) for r in rows["delivery"]
            )
        }
    )


def other_verdict(rows: Rows, draw: random.Random) -> Counter[str]:
    """All replicas but one refuse a message."""
    trace = Trace(rows)
    nodes: dict[tuple[int, int], list[str]] = {}
    for row in trace.deliveries:
        if row["what"] == CONTENT:
            nodes.setdefault((row["gid"], row["seq"]), []).append(row["node"])
    (gid, seq), own = draw.choice(sorted(item for item in nodes.items() if len(item[1]) > 1))
    rows["verdict"] = [
        {
            "node": node,
            "off": None,
            "t": None,
            "gid": gid,
            "seq": seq,
            "principal": "p",
            "operation": "edit",
            "code": "not_allowed",
        }
        for node in own[1:]
    ]
    return Counter({"verdict": 1})


FAULTS: Iterable[Fault] = (
    skip,
    lose_record,
    double,
    swap_in_group,
    swap_strict,
    before_its_cause,
    other_content,
    forge,
    second_sequencer,
    number_again,
    lose_from_sender,
    skip_a_number,
    stay,
    other_members,
    shorter_cut,
    other_verdict,
)
