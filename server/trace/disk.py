"""The thread's side of the trace: open segments, one a kind, and what becomes of them.

Segments are completed all at once, and in such an order that whoever sees a complete segment finds
what its rows rest on complete as well: frames behind their runs and changes, deliveries behind
everything else. So what is missing of a log is always its end.
"""

from __future__ import annotations

import time
from pathlib import Path

from groupcore.sequencing.trace_rows import Gathered
from server.trace.batches import Encoder
from server.trace.options import TraceOptions
from server.trace.recovery import Lost, complete_torn, recover
from server.trace.segments import Epochs, Form, OpenSegment, day_of

SEALED_LAST = ("accept", "frame", "delivery")
"""Kinds that are completed behind all others, in this order."""


class Disk:
    """All segments of a node's writer. What the disk refuses raises OSError."""

    def __init__(self, folder: Path, node: str, options: TraceOptions) -> None:
        self.epoch = 0
        self._form = Form(folder, node, 0)
        self._options = options
        self._epochs = Epochs(folder, node)
        self._encoder = Encoder(options.key)
        self._open: dict[str, OpenSegment] = {}
        self._next: dict[str, int] = {}
        self._torn: list[OpenSegment] = []

    def begin(self) -> list[Lost]:
        """Begin an epoch, and complete what a former one has left; what is missing of that."""
        folder, node, options = self._form.folder, self._form.node, self._options
        self.epoch, crashed, runs_on = self._epochs.begin()
        pseudonyms = options.key is not None
        self._form = Form(folder, node, self.epoch, options.every, pseudonyms)
        return recover(folder, node, crashed, runs_on=runs_on)

    def write(self, gathered: Gathered, off: int) -> None:
        """Put rows behind the others of their kind, the first of which has this number."""
        self._repair()
        kind, now = gathered.kind, time.monotonic()
        t_us = gathered.began_us
        segment = self._open.get(kind)
        if segment is not None and segment.segment.date != day_of(t_us):
            self._seal_all()
            segment = None
        if segment is None:
            n = self._next.get(kind, 0)
            segment = self._open[kind] = OpenSegment(self._form, kind, n, t_us, now)
            self._next[kind] = n + 1
        segment.write(self._encoder.batch(gathered, off), self._options.syncs)
        if segment.size_bytes >= self._options.segment_bytes:
            self._seal_all()

    def seal_due(self) -> None:
        """Complete the segments if one of them has been open for long enough."""
        self._repair()
        if self.next_seal_s() == 0.0:
            self._seal_all()

    def next_seal_s(self) -> float | None:
        """In how many seconds a segment is to be completed; None while none is open."""
        due = min((self._due(one) for one in self._open.values()), default=None)
        return None if due is None else max(0.0, due - time.monotonic())

    def close(self) -> None:
        """Complete all segments: nothing is missing of this epoch."""
        self._repair()
        self._seal_all()
        self._epochs.close(self.epoch)

    def give_up(self) -> None:
        """The disk has refused something: the open segments end with what it has taken."""
        self._torn += [self._open[kind] for kind in self._in_turn()]
        self._open.clear()
        for segment in self._torn:
            segment.abandon()

    def _due(self, segment: OpenSegment) -> float:
        return segment.began + self._options.segment_s

    def _seal_all(self) -> None:
        for kind in self._in_turn():
            self._open[kind].seal()
            del self._open[kind]

    def _in_turn(self) -> list[str]:
        """The kinds that are open, in the order in which they are completed."""
        last = [kind for kind in SEALED_LAST if kind in self._open]
        return [kind for kind in self._open if kind not in last] + last

    def _repair(self) -> None:
        """Complete what was given up, before anything that comes behind it."""
        while self._torn:
            segment = self._torn[0]
            if segment.open_path.exists():
                complete_torn(segment.open_path, self._form, segment.segment.kind)
            self._torn.pop(0)
