"""Invariants 13, 14 and 16: views cut the stream of messages at the same place for everybody."""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.sim.checkers.base import Checker, Violation, life, message
from groupcore.sim.trace import Delivered, Lived, Mid, Process, Sent, Slot, Trace, Viewed
from groupcore.view import Address

ENDINGS = frozenset({"crash", "left", "excluded", "refused", "stranded"})
"""`Lived.what` of the turns that end a life."""

Step = tuple[int, int, int]
"""From one view to the next: lineage and both numbers."""


def steps(trace: Trace) -> Iterator[tuple[Step, Process, int, dict[Mid, Delivered]]]:
    """For each process and each pair of views that it lived through: what it delivered between.

    Only multicasts count; the third value is when it installed the second view (nanoseconds).
    """
    multicasts = trace.multicasts()
    for process, history in trace.histories().items():
        view: Viewed | None = None
        delivered: dict[Mid, Delivered] = {}
        for record in history:
            if isinstance(record, Delivered):
                if record.mid in multicasts:
                    delivered[record.mid] = record
                continue
            if view is not None and not record.fresh:
                yield (view.lineage, view.number, record.number), process, record.t, delivered
            view, delivered = record, {}


class VirtualSynchrony(Checker):
    """13: all who go together from one view to the next have delivered the same in the first.

    A process that joined in the first view delivers in it all that the others do, so it is judged
    like them. Who restarted meanwhile did not go from one to the other and is not judged.
    """

    number, name = 13, "virtual-synchrony"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Compare each process with the first that took the same step."""
        first: dict[Step, tuple[Process, dict[Mid, Delivered]]] = {}
        skipped = self.skipped(trace)
        for step, process, t, delivered in steps(trace):
            if step[2] in skipped:
                continue
            other, before = first.setdefault(step, (process, delivered))
            if delivered.keys() == before.keys():
                continue
            lacking = sorted(before.keys() - delivered.keys())
            beyond = sorted(delivered.keys() - before.keys())
            text = (
                f"{life(*process)} goes from view {step[1]} to {step[2]} without "
                f"{' '.join(map(message, lacking)) or 'nothing'} and with "
                f"{' '.join(map(message, beyond)) or 'nothing'} beyond what {life(*other)} "
                f"delivered in view {step[1]}"
            )
            nodes = (other[0], process[0])
            found.append(self.breach(t, nodes, text, *lacking, *beyond))

    def skipped(self, trace: Trace) -> frozenset[int]:
        """Views before which members may have delivered different things."""
        return frozenset()


class VirtualSynchronyInEpochs(VirtualSynchrony):
    """13 without RESILIENCE: it ends where the memory of a quorum was lost.

    What is delivered before a quorum holds it may be known to its sender alone; a view that is
    formed from disk agrees on nothing of it.
    """

    def skipped(self, trace: Trace) -> frozenset[int]:
        """Views that begin an epoch."""
        return frozenset(view.number for view in trace.views if view.recovered)


class SameViewDelivery(Checker):
    """14: a multicast is delivered in one view by all who deliver it.

    What was lost behind the floor of a later epoch counts for nobody (invariant 3).
    """

    number, name = 14, "same-view-delivery"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One dictionary: the first delivery of each message."""
        multicasts = trace.multicasts()
        first: dict[Mid, Delivered] = {}
        for record in trace.records:
            if type(record) is not Delivered or record.mid not in multicasts:
                continue
            known = first.get(record.mid)
            if known is None:
                if trace.stands((record.epoch, record.position)):
                    first[record.mid] = record
            elif known.view != record.view and trace.stands((record.epoch, record.position)):
                text = (
                    f"{life(record.n, record.inc)} delivers {message(record.mid)} in view "
                    f"{record.view}, {life(known.n, known.inc)} in view {known.view}"
                )
                found.append(self.breach(record.t, (known.n, record.n), text, record.mid))


class NoZombies(Checker):
    """16: nothing from a life that is over, or that the others have left behind.

    Three rules, with "left behind" meaning that somebody has installed the successor of the last
    view of a process, and that the process is not in it:

    1. After a life has ended (crash, left, excluded, refused, stranded) it sends, delivers and
       installs nothing.
    2. A process that was left behind and does not know it yet, because it was paused or cut off,
       delivers from then on only what was **agreed in its view**: the multicasts that those who
       went on delivered in it. If all who went on did so from their disks, those are the ones at
       places that the new view's epoch has kept; what that epoch has lost is of no account. It may
       deliver them late: they are part of the same past, and a rule that forbade it would demand
       that the process knows what cannot have reached it.
    3. Nobody delivers in a view a multicast of a process that is not in it: what the process sent
       before counts only as far as it was agreed before that view.
    """

    number, name = 16, "no-zombies"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Rule by rule."""
        self._scan_ended(trace, found)
        self._scan_left_behind(trace, found)
        self._scan_strangers(trace, found)

    def _scan_ended(self, trace: Trace, found: list[Violation]) -> None:
        over: dict[Process, str] = {}
        for record in trace.records:
            if type(record) is Lived:
                if record.what in ENDINGS:
                    over[record.n, record.inc] = record.what
            elif isinstance(record, Sent | Delivered | Viewed):
                end = over.get((record.n, record.inc))
                if end is not None:
                    what = type(record).__name__.lower()
                    text = f"{what} at {life(record.n, record.inc)} after its end ({end})"
                    found.append(self.breach(record.t, (record.n,), text))

    def _scan_left_behind(self, trace: Trace, found: list[Violation]) -> None:
        agreed: dict[tuple[int, int], set[Mid]] = {}
        for (lineage, number, _), _, _, delivered in steps(trace):
            agreed.setdefault((lineage, number), set()).update(delivered)
        successors: dict[tuple[int, int], Viewed] = {}
        for installed in trace.views:
            successors.setdefault((installed.lineage, installed.number - 1), installed)
        places, multicasts = trace.places(), trace.multicasts()
        for process, history in trace.histories().items():
            view: Viewed | None = None
            for record in history:
                if isinstance(record, Viewed):
                    view = record
                    continue
                if view is None or record.mid not in multicasts:
                    continue
                last = (view.lineage, view.number)
                after = successors.get(last)
                if after is None or record.t <= after.t or process in after.members:
                    continue
                slot = (record.epoch, record.position)
                if after.recovered and record.position and not trace.stands(slot):
                    continue  # lost with the memory of a quorum, whether delivered then or before
                if not _was_agreed(record, slot, agreed.get(last), places, after):
                    text = (
                        f"{life(*process)} delivers {message(record.mid)} at {slot} after view "
                        f"{after.number} has left it behind; it was not agreed in view "
                        f"{view.number}"
                    )
                    found.append(self.breach(record.t, (record.n,), text, record.mid))

    def _scan_strangers(self, trace: Trace, found: list[Violation]) -> None:
        multicasts = trace.multicasts()
        for process, history in trace.histories().items():
            members: frozenset[Address] = frozenset()
            number = 0
            for record in history:
                if isinstance(record, Viewed):
                    members, number = frozenset(record.members), record.number
                elif record.mid in multicasts and record.mid[:2] not in members:
                    text = (
                        f"{life(*process)} delivers {message(record.mid)} in view {number}, "
                        "of which its sender is no member"
                    )
                    found.append(self.breach(record.t, (record.n,), text, record.mid))


def _was_agreed(
    record: Delivered, slot: Slot, agreed: set[Mid] | None, places: dict[Mid, Slot], after: Viewed
) -> bool:
    if agreed is not None:
        return record.mid in agreed
    return not record.position or (
        record.position <= after.position and places.get(record.mid, slot) == slot
    )
