"""Rows that are missing from nodes' logs: which of them the logs own up to, and where they lay.

A log is what a node's writer wrote of one kind in one of its epochs; its rows are numbered without
holes. Rows may be missing from it for a reason that the trace tells: `log_gap` names them (a crash,
a full disk), or the segment that held them is damaged. These are *lost ranges*: they excuse what
their rows would have explained, and nothing before or behind it. Rows that are missing and that
nothing names are findings (`missing_records`).

Plain values, no Spark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

END: Final = 2**62
"""The place behind the last one of a span that has no end."""

CRASH: Final = "crash"
"""Why the end of a log is missing where its node was killed."""

Log = tuple[str, str, int]
"""Id of the node, kind of the table, the writer's epoch."""


class Hole(NamedTuple):
    """Rows `first` to `last` of a log that are not in the trace; `before`: the segment that begins
    behind them, or that they are missing in."""

    log: Log
    first: int
    last: int
    before: str


class Told(NamedTuple):
    """Rows of which the trace says that they are missing; `last` None: to the end of the log."""

    log: Log
    first: int
    last: int | None
    why: str


class Lost(NamedTuple):
    """A lost range; `to_off` None: how many rows is not known."""

    node: str
    kind: str
    epoch: int
    from_off: int
    to_off: int | None
    why: str


class Span(NamedTuple):
    """Where the rows of a lost range lay in a life of a node: at the places `low` to `high`.

    Places of `delivery`, `membership` (what a node says of itself) and `verdict` are delivery
    numbers, of `accept` and `change` (a JOIN or LEAVE) stamps, of `frame` and `view` numbers.
    """

    node: str
    kind: str
    low: int
    high: int


def lost_ranges(
    holes: Iterable[Hole], told: Iterable[Told], bounds: Mapping[Log, tuple[int, int]]
) -> tuple[list[Lost], list[Hole]]:
    """The lost ranges, and what is missing without a word.

    `bounds`: the first row number of each log, and that behind the last; holes lie between them.

    Rows that are there are not lost, whatever a log says: a range without an end begins behind the
    last row.
    """
    named: dict[Log, list[Told]] = defaultdict(list)
    for one in told:
        named[one.log].append(one)
    lost: dict[Lost, None] = {}
    silent: list[Hole] = []
    for hole in holes:
        left = [(hole.first, hole.last)]
        for one in sorted(named.get(hole.log, ()), key=lambda one: one.first):
            if one.last is None:
                continue
            rest: list[tuple[int, int]] = []
            for first, last in left:
                low, high = max(first, one.first), min(last, one.last)
                if low > high:
                    rest.append((first, last))
                    continue
                lost[Lost(*hole.log, low, high, one.why)] = None
                rest += [(a, b) for a, b in ((first, low - 1), (high + 1, last)) if a <= b]
            left = rest
        silent += [hole._replace(first=first, last=last) for first, last in left]
    for log, of_log in named.items():
        start, end = bounds.get(log, (0, 0))
        for one in of_log:
            if one.last is not None:
                sides = ((one.first, min(one.last, start - 1)), (max(one.first, end), one.last))
                for low, high in sides:
                    if low <= high:
                        lost[Lost(*log, low, high, one.why)] = None
        open_ended = [one for one in of_log if one.last is None]
        if open_ended:
            least = min(open_ended, key=lambda one: one.first)
            begin = max(least.first, end)
            lost[Lost(*log, begin, None, least.why)] = None
    return sorted(lost, key=_in_order), silent


def _in_order(lost: Lost) -> tuple[object, ...]:
    return (*lost[:4], END if lost.to_off is None else lost.to_off, lost.why)


class Seen(NamedTuple):
    """What stands around a lost range in a life of its node: the last row number before it and the
    first behind it, and the places there; None: no row."""

    life: str
    off_before: int | None
    off_after: int | None
    before: int | None
    after: int | None


EXACT: Final = ("delivery", "accept", "change", "frame", "view")
"""Kinds of which no two rows have one place: a lost one lies strictly between its neighbours."""


def spans_of(
    lost: Lost,
    kind: str,
    seen: Sequence[Seen],
    lives: Sequence[str],
    behind: tuple[str, int] | None = None,
) -> Iterator[Span]:
    """Where a lost range's rows can have been; `lives`: of this node in this epoch, in turn.

    `behind`: a life and the place there behind which everything that a crash has taken was noted.
    """
    if lost.why != CRASH:
        behind = None
    place = {life: at for at, life in enumerate(lives)}
    before = [(one.off_before, one.life) for one in seen if one.off_before is not None]
    after = [(one.off_after, one.life) for one in seen if one.off_after is not None]
    first = place.get(max(before)[1], 0) if before else 0
    last = place.get(min(after)[1], len(lives)) if after else len(lives)
    if behind is not None:
        first = max(first, place.get(behind[0], 0))
    around = {one.life: one for one in seen}
    step = 1 if kind in EXACT else 0
    for life in lives[first : last + 1]:
        own = around.get(life)
        low = 0 if own is None or own.before is None else own.before + step
        high = END if own is None or own.after is None else own.after - step
        if behind is not None and behind[0] == life:
            low = max(low, behind[1] + step)
        if low <= high:
            yield Span(life, kind, low, high)


def described(lost: Sequence[Lost], spans: Mapping[Lost, Sequence[Span]]) -> list[dict[str, Any]]:
    """Lost ranges as certificates say them; `where`: in which lives, at which places."""
    return [
        {
            "node": one.node,
            "kind": one.kind,
            "epoch": one.epoch,
            "from_off": one.from_off,
            "to_off": one.to_off,
            "why": one.why,
            "where": [
                {
                    "node": span.node,
                    "kind": span.kind,
                    "from": span.low,
                    "to": None if span.high == END else span.high,
                }
                for span in spans.get(one, ())
            ],
        }
        for one in lost
    ]


def read_described(said: Iterable[Mapping[str, Any]]) -> dict[Lost, list[Span]]:
    """The same, out of a certificate."""
    return {
        Lost(one["node"], one["kind"], one["epoch"], one["from_off"], one["to_off"], one["why"]): [
            Span(at["node"], at["kind"], at["from"], END if at["to"] is None else at["to"])
            for at in one["where"]
        ]
        for one in said
    }
