"""A stretch of a section that is handled by itself, and the frame that such stretches share."""

from __future__ import annotations

from groupcore.batch import Batch, pack_messages
from groupcore.context import Numbers, encode_context, merge_into
from groupcore.sequencing.headers import ACCEPTED, Accept, Forward, pack_column
from groupcore.sequencing.names import GroupId
from groupcore.view import Address

Piece = tuple[GroupId, int, list[bytes]]
"""A run: its group, its process's own number of its first message, the messages."""


class Asked:
    """Consecutive runs of one process's chain that ask for their numbers.

    `key` is the process's at this node. The first run has chain number `chain`; `after` and
    `before` are as in `Send`. What was `forwarded` here is not sent on at once: who has done it may
    know more of the directory.
    """

    __slots__ = (
        "after",
        "before",
        "chain",
        "forwarded",
        "key",
        "numbers",
        "origin",
        "process",
        "runs",
    )

    def __init__(
        self,
        origin: Address,
        process: int,
        key: int,
        place: tuple[int, int, int],
        numbers: Numbers,
        runs: list[Piece],
        forwarded: bool = False,
    ) -> None:
        self.origin = origin
        self.process = process
        self.key = key
        self.chain, self.after, self.before = place
        self.numbers = numbers
        self.runs = runs
        self.forwarded = forwarded

    @property
    def end(self) -> int:
        """The chain number of its last run."""
        return self.chain + len(self.runs) - 1

    def take_first(self) -> Asked:
        """The first run, which does not belong to the stretch any more; the next is behind it."""
        place = (self.chain, self.after, self.before)
        runs = self.runs[:1]
        first = Asked(
            self.origin, self.process, self.key, place, self.numbers, runs, self.forwarded
        )
        del self.runs[0]
        self.after = self.chain
        self.chain += 1
        return first

    def forward(self, me: Address, owner: Address) -> Batch:
        """The request, for who sequences the group of its only run."""
        ((group, first, payloads),) = self.runs
        header = Forward(
            self.origin,
            encode_context(self.numbers),
            pack_column([self.process, 1, self.chain, self.after, 0]),
            pack_column([group]),
            pack_column([first]),
            pack_column([len(payloads)]),
        )
        return Batch(me, owner, (header,), pack_messages(payloads), len(payloads))


class Stamping:
    """The next frame of a sequencer, of runs of one node, while it is put together."""

    __slots__ = (
        "_counts",
        "_firsts",
        "_groups",
        "_payloads",
        "_seqnos",
        "_stretches",
        "number",
        "numbers",
        "origin",
        "size_bytes",
    )

    def __init__(self, number: int, origin: Address) -> None:
        self.number = number
        self.origin = origin
        self.numbers: Numbers = {}
        self.size_bytes = 0
        self._stretches: list[int] = []
        self._groups: list[int] = []
        self._seqnos: list[int] = []
        self._firsts: list[int] = []
        self._counts: list[int] = []
        self._payloads: list[bytes] = []

    def add(self, process: int, chain: int, run: Piece, seqno: int, numbers: Numbers) -> None:
        """Put a run in that has its numbers; `numbers` is its context."""
        group, first, payloads = run
        ends = self._stretches
        if ends and ends[-3] == process and ends[-1] + ends[-2] == chain:
            ends[-2] += 1
        else:
            ends += (process, 1, chain)
        self._groups.append(group)
        self._seqnos.append(seqno)
        self._firsts.append(first)
        self._counts.append(len(payloads))
        self._payloads += payloads
        self.size_bytes += sum(map(len, payloads))
        merge_into(self.numbers, numbers)

    def stretches(self) -> list[tuple[int, ...]]:
        """Whose runs are in it: process, runs, chain number of the first."""
        flat = self._stretches
        return [tuple(flat[at : at + ACCEPTED]) for at in range(0, len(flat), ACCEPTED)]

    def batch(self, me: Address, view: int, rests: bytes) -> Batch | None:
        """The frame, made in this view, which rests on these; None when there is nothing in it."""
        if not self._groups:
            return None
        accept = Accept(
            self.number,
            view,
            self.origin,
            encode_context(self.numbers),
            rests,
            pack_column(self._stretches),
            pack_column(self._groups),
            pack_column(self._seqnos),
            pack_column(self._firsts),
            pack_column(self._counts),
        )
        return Batch(me, None, (accept,), pack_messages(self._payloads), len(self._payloads))
