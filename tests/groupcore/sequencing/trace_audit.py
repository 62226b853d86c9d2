"""The rules of `groupcore.trace` as plain loops: what an audit may conclude from rows alone.

It is written for tests and for small traces; the pipeline's audit is another program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import inf

from groupcore.trace import FRAME_STAMPS
from tests.groupcore.sequencing.tracing_world import Row

Given = dict[str, list[Row]]


def by_kind(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each kind, in their order."""
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    return kinds


def violations(rows: Iterable[Row]) -> list[str]:
    """What is broken, each by the name of its rule; empty for a trace in order."""
    kinds = by_kind(rows)
    found = list(_numbers(kinds["delivery"]))
    found += _gaps(kinds)
    found += _frames(kinds)
    found += _places(kinds)
    promises = {row["gid"]: row["promise"] for row in kinds["group"]}
    contexts = {(row["node"], row["frame"]): row["context"] for row in kinds["frame"]}
    for process, given in given_to(kinds).items():
        found += _order(process, given, contexts, promises)
    return found


class Span:
    """That a process is given a group's rows with delivery numbers above `start`, up to `end`."""

    def __init__(self, row: Row) -> None:
        self.process = row["process"]
        self.node = row["node"]
        self.gid = row["gid"]
        self.start = row["dno"]
        self.end = inf


def given_to(kinds: dict[str, list[Row]]) -> Given:
    """What each process is given, in its order."""
    spans: list[Span] = []
    for row in kinds["membership"]:
        if row["op"] == "in":
            spans.append(Span(row))
        elif row["op"] in ("out", "released"):
            for span in spans:
                is_its = row["process"] in (None, span.process) and row["node"] == span.node
                if is_its and row["gid"] == span.gid:
                    span.end = min(span.end, row["dno"])
    deliveries: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in kinds["delivery"]:
        deliveries[row["node"], row["gid"]].append(row)
    given: Given = defaultdict(list)
    for span in spans:
        rows = deliveries[span.node, span.gid]
        given[span.process] += [row for row in rows if span.start < row["dno"] <= span.end]
    for rows in given.values():
        rows.sort(key=lambda row: row["dno"])
    return given


def _numbers(deliveries: list[Row]) -> Iterator[str]:
    """Delivery numbers of a node: 1, 2, ..."""
    last: dict[str, int] = {}
    for row in deliveries:
        if row["dno"] != last.get(row["node"], 0) + 1:
            yield f"dno: {row}"
        last[row["node"]] = row["dno"]


def _gaps(kinds: dict[str, list[Row]]) -> Iterator[str]:
    """A group's rows at a node go on by number, from its state on."""
    marks = [row for row in kinds["membership"] if row["op"] in ("state", "released")]
    rows = [(row["dno"], 1, row) for row in marks] + [
        (row["dno"] - 1, 2, row) for row in kinds["delivery"]
    ]
    at: dict[tuple[str, int], int] = {}
    for _, _, row in sorted(rows, key=lambda one: one[:2]):
        key = (row["node"], row["gid"])
        if row["kind"] == "membership":
            at[key] = row["seq"] if row["op"] == "state" else -1
        elif row["seq"] != at.get(key, -1) + 1:
            yield f"gap: {row} behind {at.get(key)}"
        else:
            at[key] = row["seq"] + row["count"] - 1


def _frames(kinds: dict[str, list[Row]]) -> Iterator[str]:
    """Frames of a sequencer have consecutive numbers, and as many runs as they say."""
    last: dict[str, int] = {}
    runs: dict[tuple[str, int], int] = defaultdict(int)
    for row in kinds["accept"]:
        runs[row["node"], row["lseq"] // FRAME_STAMPS] += 1
    for row in kinds["frame"]:
        if row["frame"] != last.get(row["node"], 0) + 1:
            yield f"frame: {row}"
        last[row["node"]] = row["frame"]
        if runs[row["node"], row["frame"]] != row["runs"]:
            yield f"runs: {row}"


def _places(kinds: dict[str, list[Row]]) -> Iterator[str]:
    """What is delivered is what its stamp says, and the same everywhere.

    Numbers that nobody had saved are given anew behind the loss of a quorum's memory: the epoch of
    the views in which their frames were made tells them apart.
    """
    views = {(row["node"], row["number"]): row["epoch"] for row in kinds["view"]}
    memories = {
        (row["node"], row["frame"]): views.get((row["node"], row["view"]), 0)
        for row in kinds["frame"]
    }
    stamps = {(row["node"], row["lseq"]): row for row in kinds["accept"]}
    epochs = {key: row["epoch"] for key, row in stamps.items()}
    for row in kinds["membership"]:
        epochs.setdefault((row["node"], row["lseq"]), row["epoch"])
    places: dict[tuple[int, int, int, int], tuple[object, ...]] = {}
    same = ("gid", "seq", "count", "sender", "first", "crc")
    for row in kinds["delivery"]:
        said = (row["what"], row["sender"], row["first"], row["crc"])
        stamped = (row["sequencer"], row["lseq"])
        if row["sequencer"] is not None:
            memory = memories.get((row["sequencer"], row["lseq"] // FRAME_STAMPS), 0)
            place = (row["gid"], memory, epochs.get(stamped, 0), row["seq"])
            if places.setdefault(place, said) != said:
                yield f"disagreement: {row}"
        if row["sequencer"] is not None and row["what"] == 0:
            stamp = stamps.get(stamped)
            if stamp is None or any(stamp[name] != row[name] for name in same):
                yield f"phantom: {row} is not {stamp}"


def _order(
    process: str,
    given: list[Row],
    contexts: dict[tuple[str, int], list[tuple[str, int]]],
    promises: dict[int, str],
) -> Iterator[str]:
    """CT2, T2, FIFO, and the order within frames, for one process."""
    asked: dict[str, int] = {}
    strict: dict[str, int] = {}
    first: dict[tuple[str, int], int] = {}
    inside: dict[tuple[str, int], int] = {}
    for row in given:
        if row["what"] == 0:
            key = (row["sender"], row["gid"])
            if row["first"] <= first.get(key, 0):
                yield f"fifo: {process} {row}"
            first[key] = row["first"] + row["count"] - 1
        if row["sequencer"] is None:
            continue
        sequencer, frame = row["sequencer"], row["lseq"] // FRAME_STAMPS
        promise = promises.get(row["gid"])
        if promise != "fifo" and frame <= asked.get(sequencer, 0):
            yield f"causal: {process} {row}"
        if row["lseq"] <= inside.get((sequencer, frame), -1):
            yield f"frame order: {process} {row}"
        inside[sequencer, frame] = row["lseq"]
        if promise == "strict":
            if row["lseq"] <= strict.get(sequencer, -1):
                yield f"strict: {process} {row}"
            strict[sequencer] = row["lseq"]
        if promise != "fifo":
            for named, number in contexts.get((sequencer, frame), ()):
                asked[named] = max(number, asked.get(named, 0))
