"""Probe: what this node is, and what its layers count, told to whoever asks with the key.

Idea. An operator's program multicasts a question; every node that hears it answers with its
address, its view, the layers of its stack in order, and their counters. A node that is in no view
answers, too. An answer is cut into pieces that fit into datagrams, each of which says which it is;
the asker asks again until it has them all, and names those whose answer it has.

Place. Lowest layer, so that everything that a node has above it is told of. The transport seals
and opens questions like everything else: without the cluster's key there is no answer.

Source. JGroups `probe.sh`; docs/threats.md, T2, T7, T22.

Invariants.
  I1  A question changes nothing but the counters of this layer.
  I2  Whoever is named as having answered does not answer again.
  I3  Answers are bounded in number by a token bucket, each in size by `PIECES_MAX` pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect
from groupcore.events import Event, PrimaryLost, PrimaryRegained, ViewInstalled
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.token_bucket import TokenBuckets
from groupcore.view import Address, View

PIECES_MAX = 64
COUNTER_MAX = (1 << 64) - 1


@travels(90)
@dataclass(slots=True)
class Query(Header):
    """Prober to everybody: who are you? Those in `answered` need not say it again."""

    kind: ClassVar[str] = "probe.query"
    number: int
    answered: tuple[Address, ...]


@travels(91)
@dataclass(slots=True)
class Answer(Header):
    """Node to prober: piece `index` (from 0) of the `total` of my report, for query `number`."""

    kind: ClassVar[str] = "probe.answer"
    number: int
    index: int
    total: int
    piece: bytes


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters of one layer, by name."""

    name: str
    counters: dict[str, int]


@dataclass(frozen=True, slots=True)
class Report:
    """What a node tells of itself; `layers` from the lowest to the highest, then what is beside.

    `primary`: whether it can take part in the order now.
    """

    address: Address
    view: View | None
    primary: bool
    layers: tuple[Counted, ...]


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """Answers a second in the long run and at once, and the largest piece of one, in bytes."""

    answers_per_s: float = 10.0
    answers_at_once: int = 20
    piece_bytes: int = 800


Counters = Mapping[str, Callable[[], Mapping[str, int]]]
"""Where to read counters, by the name of the layer."""


class Probe(Layer):
    """Answers questions about this node."""

    name = "PROBE"
    headers = (Query, Answer)
    hears = (ViewInstalled, PrimaryLost, PrimaryRegained)
    provides = frozenset({"probe"})

    def __init__(
        self, me: Address, options: ProbeOptions, encode: Callable[[Report], bytes]
    ) -> None:
        self.me = me
        self.options = options
        self.encode = encode
        self.sources: Counters = {}
        self.view: View | None = None
        self.primary = False
        self.bucket = TokenBuckets(options.answers_per_s, options.answers_at_once, 1)
        self.numbers = {"answered": 0, "throttled": 0, "dropped": 0}

    def counters(self) -> dict[str, int]:
        """Questions answered, refused because there were too many, and what is no question."""
        return dict(self.numbers)

    def report(self) -> Report:
        """This node as it is now."""
        layers = tuple(
            Counted(name, {key: min(max(value, 0), COUNTER_MAX) for key, value in read().items()})
            for name, read in self.sources.items()
        )
        return Report(self.me, self.view, self.primary, layers)

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """A question; an answer is for probers only."""
        query = batch.headers[-1]
        if not isinstance(query, Query):
            self.numbers["dropped"] += 1
            return []
        if self.me in query.answered:
            return []
        if not self.bucket.take(None, now):
            self.numbers["throttled"] += 1
            return []
        self.numbers["answered"] += 1
        return [
            Down(Batch(self.me, batch.sender, (answer,), reliable=False))
            for answer in self.pieces(query.number)
        ]

    def pieces(self, number: int) -> list[Answer]:
        """The report, cut."""
        data = self.encode(self.report())
        size = max(self.options.piece_bytes, -(-len(data) // PIECES_MAX))
        total = -(-len(data) // size)
        return [
            Answer(number, index, total, data[index * size : (index + 1) * size])
            for index in range(total)
        ]

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """Note the view, and whether it can decide."""
        match event:
            case ViewInstalled():
                self.view, self.primary = event.view, True
            case PrimaryLost():
                self.primary = False
            case PrimaryRegained():
                self.primary = True
            case _:
                pass
        return []


class Gathering:
    """The pieces of the answers to one query, at the prober."""

    def __init__(self, number: int, decode: Callable[[bytes], Report]) -> None:
        self.number = number
        self.reports: dict[Address, Report] = {}
        self._decode = decode
        self._pieces: dict[Address, dict[int, bytes]] = {}

    def query(self) -> Query:
        """The question that is still open."""
        return Query(self.number, tuple(sorted(self.reports)))

    def add(self, sender: Address, answer: Answer) -> bool:
        """Take a piece; whether it completed a report. WireError when that is not one."""
        fits = answer.number == self.number and answer.index < answer.total <= PIECES_MAX
        if not fits or sender in self.reports:
            return False
        pieces = self._pieces.setdefault(sender, {})
        pieces[answer.index] = answer.piece
        if len(pieces) < answer.total:
            return False
        del self._pieces[sender]
        report = self._decode(b"".join(pieces[index] for index in sorted(pieces)))
        if report.address != sender:
            return False
        self.reports[sender] = report
        return True

    def is_complete(self) -> bool:
        """Whether everybody has answered who is in the view of somebody that has."""
        views = [report.view for report in self.reports.values()]
        return bool(views) and all(
            view is not None and set(view.members) <= self.reports.keys() for view in views
        )
