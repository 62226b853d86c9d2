"""A stretch of a section that is handled by itself."""

from __future__ import annotations

from itertools import islice

from groupcore.batch import Batch, pack_messages
from groupcore.context import Numbers, encode_context
from groupcore.sequencing.headers import Forward, pack_column
from groupcore.sequencing.names import BEGINNING, GroupId, Place
from groupcore.view import Address

Piece = tuple[GroupId, int, list[bytes]]
"""A run: its group, its process's own number of its first message, the messages."""


class Asked:
    """Consecutive runs of one process's chain that ask for their numbers.

    `key` is the process's at this node. The first run has chain number `chain`; `after` and
    `before` are as in `Send`. They have come at `since`. What was `forwarded` here is not sent on
    at once: who has done it may know more of the directory. `place` as in `Send`.
    """

    __slots__ = (
        "after",
        "before",
        "chain",
        "forwarded",
        "key",
        "numbers",
        "origin",
        "place",
        "process",
        "runs",
        "since",
    )

    def __init__(
        self,
        origin: Address,
        process: int,
        key: int,
        place: tuple[int, int, int],
        numbers: Numbers,
        runs: list[Piece],
        since: float,
        forwarded: bool = False,
        behind: Place = BEGINNING,
    ) -> None:
        self.place = behind
        self.origin = origin
        self.process = process
        self.key = key
        self.chain, self.after, self.before = place
        self.numbers = numbers
        self.runs = runs
        self.since = since
        self.forwarded = forwarded

    @property
    def end(self) -> int:
        """The chain number of its last run."""
        return self.chain + len(self.runs) - 1

    def take_first(self) -> Asked:
        """The first run, which does not belong to the stretch any more; the next is behind it."""
        place = (self.chain, self.after, self.before)
        runs = self.runs[:1]
        sender = (self.origin, self.process, self.key)
        first = Asked(*sender, place, self.numbers, runs, self.since, self.forwarded, self.place)
        self.drop_first()
        return first

    def drop_first(self) -> None:
        """Its first run has its place, or never will."""
        del self.runs[0]
        self.after = self.chain
        self.chain += 1

    def forward(self, me: Address, owner: Address) -> Batch:
        """The request, for who sequences the group of its only run."""
        ((group, first, payloads),) = self.runs
        header = Forward(
            self.origin,
            self.place,
            encode_context(self.numbers),
            pack_column([self.process, 1, self.chain, self.after, 0]),
            pack_column([group]),
            pack_column([first]),
            pack_column([len(payloads)]),
        )
        return Batch(me, owner, (header,), pack_messages(payloads), len(payloads))


def by_stretches(
    origin: Address,
    forwarded: bool,
    behind: Place,
    stretches: list[tuple[int, ...]],
    keys: dict[int, int],
    columns: tuple[tuple[int, ...], ...],
    payloads: list[bytes],
    since: float,
) -> list[Asked]:
    """The stretches of a section, each by itself."""
    asked = []
    rows = zip(*columns, strict=True)
    offset = 0
    for process, count, *place in stretches:
        pieces = []
        for group, first, size in islice(rows, count):
            pieces.append((group, first, payloads[offset : offset + size]))
            offset += size
        chain, after, before = place
        sender, at = (origin, process, keys[process]), (chain, after, before)
        asked.append(Asked(*sender, at, {}, pieces, since, forwarded, behind))
    return asked
