"""Invariants 20, 25 and 32 for pages at gateways."""

from __future__ import annotations

from collections import Counter

from groupcore.sim.checkers.base import Checker, Violation, life
from groupcore.sim.trace import Trace
from groupcore.sim.trace_pages import (
    PageAnswered,
    PageCalled,
    PageEnd,
    PageLost,
    PageWaits,
    PageWrong,
)


class PageCalls(Checker):
    """20: what a page was told to be done is there once; what it has called, at most once.

    Not where all that had the object have ended: then it begins anew, with another birth.
    """

    number, name = 20, "page-calls-once"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """The words of the lists at the end."""
        ends = trace.of(PageEnd)
        called = {one.token for one in trace.of(PageCalled)}
        lost = {one.token for one in trace.of(PageLost)}
        for end in ends:
            counts = Counter(end.words)
            where = f"{end.object} at {life(end.n, end.inc)}"
            for word, count in sorted(counts.items()):
                if count > 1:
                    found.append(self.breach(end.t, (end.n,), f"{where} has {word} {count} times"))
                if word not in called:
                    text = f"{where} has {word}, which nobody has called"
                    found.append(self.breach(end.t, (end.n,), text))
            for answer in trace.of(PageAnswered):
                is_there = (answer.object, answer.birth) == (end.object, end.birth)
                is_kept = answer.token in lost or answer.token in counts
                if is_there and not answer.code and not is_kept and _is_put(trace, answer):
                    text = f"{where} lacks {answer.token}, which was done for {answer.page}"
                    found.append(self.breach(end.t, (end.n,), text))


def _is_put(trace: Trace, answer: PageAnswered) -> bool:
    """Whether the call put its word into a list."""
    operations = trace.once(_operations)
    return operations.get((answer.page, answer.object, answer.number)) in ("append", "insert")


def _operations(trace: Trace) -> dict[tuple[str, str, int], str]:
    return {(one.page, one.object, one.number): one.operation for one in trace.of(PageCalled)}


class PageSettles(Checker):
    """25: soon after healing each page has what it wants, answers, and what its node has."""

    number, name = 25, "page-settles"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """The end."""
        for waits in trace.of(PageWaits):
            found.append(self.breach(waits.t, (), f"{waits.page} {waits.text}"))


class PageCopies(Checker):
    """32: behind a snapshot a page is told every change, once, in order; its copy is the node's."""

    number, name = 32, "page-copies"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What pages have found wrong."""
        for wrong in trace.of(PageWrong):
            found.append(self.breach(wrong.t, (), f"{wrong.page} {wrong.text}"))


PAGE_CHECKERS: tuple[type[Checker], ...] = (PageCalls, PageSettles, PageCopies)
