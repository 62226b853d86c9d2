"""Invariants 19 and 21 for documents: what pages are given, and what they say when."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation
from groupcore.sim.trace import Trace
from groupcore.sim.trace_documents import (
    DocumentCalled,
    DocumentDone,
    DocumentSaved,
    DocumentShown,
)

Following = tuple[str, int, str]
"""A page, its visit at a node, and an object that it has open."""
Place = tuple[str, int, str, int]
"""An object, an epoch of views, a stretch of the order, a position."""


class PageStream(Checker):
    """21: behind a state a page is given every position, once, in order; and what was done there.

    A page may be given a whole state at any time, of this stretch of the order or another one; of
    the same stretch none that is older than what it has. All pages that are given a position are
    given the same there, and it is what nodes have done. It is told to be saved what it has called:
    a call may be on enough disks before its page's node does it, which lacks what comes before it.
    """

    number, name = 21, "page-stream"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Follow each page through its visits."""
        self._scan_positions(trace, found)
        self._scan_contents(trace, found)
        self._scan_saved(trace, found)

    def _scan_positions(self, trace: Trace, found: list[Violation]) -> None:
        has: dict[Following, tuple[int, str, int]] = {}
        for shown in trace.of(DocumentShown):
            key = (shown.person, shown.visit, shown.object)
            epoch, birth, position = has.get(key, (0, "", 0))
            goes_on = (shown.epoch, shown.birth) == (epoch, birth)
            known = key in has
            if not shown.whole and known and shown.position != position + 1:
                text = f"is shown {shown.position} behind {position}"
            elif not shown.whole and not known:
                text = f"is shown {shown.position}, and has no state of it"
            elif shown.whole and known and goes_on and shown.position < position:
                text = f"is given the state as of {shown.position}, and has that of {position}"
            else:
                text = ""
            if text:
                words = f"{shown.person} {text} of {shown.object}"
                found.append(self.breach(shown.t, (), words))
            has[key] = (shown.epoch, shown.birth, shown.position)

    def _scan_contents(self, trace: Trace, found: list[Violation]) -> None:
        done: dict[Place, str] = {}
        for one in trace.of(DocumentDone):
            done.setdefault((one.object, one.epoch, one.birth, one.position), one.what)
        for shown in trace.of(DocumentShown):
            if shown.whole:
                continue
            what = done.get((shown.object, shown.epoch, shown.birth, shown.position))
            if what != shown.what:
                text = (
                    f"{shown.person} is shown {shown.what!r} at {shown.position} of "
                    f"{shown.object}, where nodes have done {what!r}"
                )
                found.append(self.breach(shown.t, (), text))

    def _scan_saved(self, trace: Trace, found: list[Violation]) -> None:
        called: dict[tuple[str, str], int] = {}
        for record in trace.records:
            if type(record) is DocumentCalled:
                called[record.person, record.object] = record.number
            elif type(record) is DocumentSaved:
                last = called.get((record.person, record.object), 0)
                if record.number > last:
                    text = (
                        f"{record.person} is told that {record.number} of {record.object} is "
                        f"saved, and has called {last} times"
                    )
                    found.append(self.breach(record.t, (), text))
