"""Invariants 1 to 6: what was delivered was sent, once, everywhere at the same place, in order."""

from __future__ import annotations

from typing import ClassVar

from groupcore.sim.checkers.base import Checker, Violation, life, message
from groupcore.sim.trace import Delivered, Mid, Sent, Slot, Took, Trace, Viewed


class Integrity(Checker):
    """1: every delivered message was sent before, by a life of its origin, with that content."""

    number, name = 1, "integrity"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Join deliveries to sends by identity, in the order in which both happened."""
        sent: dict[Mid, Sent] = {}
        for record in trace.records:
            if type(record) is Sent:
                sent[record.mid] = record
            elif type(record) is Delivered:
                original = sent.get(record.mid)
                if original is None:
                    fault = "was not sent before"
                elif original.h != record.h:
                    fault = "has another content than was sent"
                elif original.to is not None and record.position:
                    fault = "was sent as a unicast and delivered in order"
                elif original.to is not None and original.to != (record.n, record.inc):
                    fault = f"was sent to {life(*original.to)}"
                else:
                    continue
                text = f"{life(record.n, record.inc)} delivers {message(record.mid)}, which {fault}"
                found.append(self.breach(record.t, (record.n,), text, record.mid))


class NoDuplication(Checker):
    """2: a process delivers a message once, and none that the state it started from contains."""

    number, name = 2, "no-duplication"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One set of identities a process; the cut is where its last fresh view put it.

        Positions go on from one epoch to the next, so all of the history up to the cut is in the
        state.
        """
        places = trace.places()
        for (n, inc), history in trace.histories().items():
            seen: dict[Mid, Slot] = {}
            cut = 0
            for record in history:
                if isinstance(record, Viewed):
                    if record.fresh:
                        cut = record.position
                    continue
                slot = (record.epoch, record.position)
                if record.mid in seen:
                    text = f"again at {slot}, first at {seen[record.mid]}"
                elif record.position and places.get(record.mid, slot)[1] <= cut:
                    text = f"at {slot}; its state has it at {places[record.mid]}"
                else:
                    seen[record.mid] = slot
                    continue
                text = f"{life(n, inc)} delivers {message(record.mid)} {text}"
                found.append(self.breach(record.t, (n,), text, record.mid))


class SlotAgreement(Checker):
    """3: one place holds one message, one message has one place; all lives, all partitions.

    A place is an epoch and a position. What was delivered behind the floor of a later epoch counts
    for the first half only.
    """

    number, name = 3, "slot-agreement"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Two dictionaries, each with the first delivery that filled an entry."""
        at: dict[Slot, Delivered] = {}
        of: dict[Mid, Delivered] = {}
        for record in trace.records:
            if type(record) is not Delivered or not record.position:
                continue
            slot = (record.epoch, record.position)
            first = at.setdefault(slot, record)
            if first.mid != record.mid or first.h != record.h:
                text = (
                    f"place {slot} holds {message(first.mid)} at {life(first.n, first.inc)} and "
                    f"{message(record.mid)} at {life(record.n, record.inc)}"
                )
                nodes = (first.n, record.n)
                found.append(self.breach(record.t, nodes, text, first.mid, record.mid))
            if not trace.stands(slot):
                continue  # lost with the memory of a quorum: the message may get another place
            same = of.setdefault(record.mid, record)
            if (same.epoch, same.position) != slot:
                text = (
                    f"{message(record.mid)} is at {(same.epoch, same.position)} at "
                    f"{life(same.n, same.inc)} and at {slot} at {life(record.n, record.inc)}"
                )
                found.append(self.breach(record.t, (same.n, record.n), text, record.mid))


class TotalOrder(Checker):
    """4: every multicast has a place, and those at which a process delivers only ever grow."""

    number, name = 4, "total-order"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Compare each ordered delivery with the one before it."""
        multicasts = trace.multicasts()
        for (n, inc), history in trace.histories().items():
            last: Slot = (0, 0)
            for record in history:
                if type(record) is not Delivered:
                    continue
                if not record.position:
                    if record.mid in multicasts:
                        text = f"{life(n, inc)} delivers {message(record.mid)} without a place"
                        found.append(self.breach(record.t, (n,), text, record.mid))
                    continue
                slot = (record.epoch, record.position)
                if slot <= last:
                    text = f"{life(n, inc)} delivers {message(record.mid)} at {slot} after {last}"
                    found.append(self.breach(record.t, (n,), text, record.mid))
                last = max(last, slot)


class GapFreedom(Checker):
    """5: the places are consecutive from the position at which the process started."""

    number, name = 5, "gap-freedom"
    merges: ClassVar[bool] = False
    """Whether a life may go on in another lineage, whose places begin where its view says."""

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Follow the expected position through each process, and judge claims about journals."""
        for (n, inc), history in trace.histories().items():
            last = epoch = 0
            for record in history:
                if isinstance(record, Viewed):
                    if record.fresh or (self.merges and record.epoch != epoch):
                        last = record.position
                    epoch = record.epoch
                    continue
                if not record.position:
                    continue
                if record.position > last + 1:
                    text = (
                        f"{life(n, inc)} delivers {message(record.mid)} at position "
                        f"{record.position} of epoch {record.epoch} after {last}"
                    )
                    found.append(self.breach(record.t, (n,), text, record.mid))
                last = record.position
        for took in trace.of(Took):
            if took.must_match and took.had_position != took.position:
                text = (
                    f"{life(took.n, took.inc)} is told that its journal holds position "
                    f"{took.position} of epoch {took.epoch}; it holds {took.had_position} of "
                    f"epoch {took.had_epoch}"
                )
                found.append(self.breach(took.t, (took.n,), text))


class GapFreedomInEachLineage(GapFreedom):
    """5, where components go on by themselves and merge: without a gap in each lineage."""

    merges = True


class FifoPerOrigin(Checker):
    """6: what one life sent comes in the order in which it sent it, at each process and overall."""

    number, name = 6, "fifo-per-origin"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Each process by itself, then the order that all processes together have shown."""
        multicasts = trace.multicasts()
        for (n, inc), history in trace.histories().items():
            last: dict[tuple[str, int, bool], int] = {}
            for record in history:
                if isinstance(record, Viewed):
                    continue
                mid = record.mid
                key = (mid.origin, mid.inc, mid in multicasts)
                before = last.get(key, -1)
                if mid.lseq < before:
                    after = message(mid._replace(lseq=before))
                    text = f"{life(n, inc)} delivers {message(mid)} after {after}"
                    found.append(self.breach(record.t, (n,), text, mid))
                else:
                    last[key] = mid.lseq
        self._scan_whole_order(trace, found)

    def _scan_whole_order(self, trace: Trace, found: list[Violation]) -> None:
        highest: dict[tuple[str, int], int] = {}
        for slot, mid in sorted((slot, mid) for mid, slot in trace.places().items()):
            before = highest.get((mid.origin, mid.inc), -1)
            if mid.lseq < before:
                after = message(mid._replace(lseq=before))
                text = f"{message(mid)} has place {slot}, behind {after}"
                found.append(self.breach(0, (mid.origin,), text, mid))
            else:
                highest[mid.origin, mid.inc] = mid.lseq
