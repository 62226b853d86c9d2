"""The answering side of repair: who has asked for what in one turn, and how it is answered.

Plain state and rules, no time source and no messages: NAKACK and TOTAL turn what this says into
repairs. The requests of a turn are gathered up to a bound and answered at its end, after every
multicast that arrived with them: a flood of requests displaces no message. What one member lacks
goes to it alone at once; what another asks for soon afterwards, or several in the same turn, goes
to the group. A request that crosses such a multicast is not answered: its sender has the answer
soon, or asks again later than `quiet_s`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from groupcore.batch import Batch
from groupcore.repairs import RepairOptions
from groupcore.view import Address
from groupcore.window import Window

REMEMBERED_MAX = 4_096
"""Most answers that are remembered; the oldest is forgotten first."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Send this batch, number `seqno` of `origin` in `view`, to one member or to all (None)."""

    destination: Address | None
    view: int
    origin: Address
    seqno: int
    batch: Batch


class Answers:
    """The requests of one turn; what was answered lately, to whom, and until when that counts."""

    def __init__(self, options: RepairOptions) -> None:
        self.options = options
        self.asked: dict[tuple[int, Address], tuple[Window, dict[int, list[Address]]]] = {}
        self.gathered = 0
        self.lately: dict[tuple[int, Address, int], tuple[Address | None, float]] = {}
        self.numbers = {"requests_discarded": 0, "requests_suppressed": 0, "repairs_to_all": 0}

    @property
    def empty(self) -> bool:
        """Whether nobody has asked for anything in this turn."""
        return not self.asked

    def note(
        self,
        member: Address,
        place: tuple[int, Address],
        window: Window,
        ranges: tuple[int, ...],
        now: float,
    ) -> None:
        """Gather what `member` asks for of the sender and view that `place` names.

        What is not held here is passed over; what exceeds the turn's bound is discarded, counted.
        """
        _, wanted = self.asked.setdefault(place, (window, {}))
        view, origin = place
        for seqno in held_in(window, ranges, self.options):
            former, until = self.lately.get((view, origin, seqno), (member, now))
            if former is None and now < until:
                self.numbers["requests_suppressed"] += 1
                continue
            if self.gathered >= self.options.requests_max:
                self.numbers["requests_discarded"] += 1
                continue
            askers = wanted.setdefault(seqno, [])
            if member not in askers:
                askers.append(member)
                self.gathered += 1

    def take(self, now: float) -> Iterator[Answer]:
        """The answers of this turn, in order; what several have asked for goes to all."""
        asked, self.asked, self.gathered = self.asked, {}, 0
        for (view, origin), (window, wanted) in asked.items():
            for seqno in sorted(wanted):
                batch, askers = window.get(seqno), wanted[seqno]
                if batch is None:
                    continue
                what = (view, origin, seqno)
                if len(askers) + self._asked_before(what, askers, now) > 1:
                    self._remember(what, None, now)
                    self.numbers["repairs_to_all"] += 1
                    yield Answer(None, view, origin, seqno, batch)
                else:
                    self._remember(what, askers[0], now)
                    yield Answer(askers[0], view, origin, seqno, batch)

    def _asked_before(
        self, what: tuple[int, Address, int], askers: list[Address], now: float
    ) -> bool:
        """Whether it was sent lately to a member that does not ask again."""
        former, until = self.lately.get(what, (None, now))
        return now < until and former not in askers

    def _remember(self, what: tuple[int, Address, int], to: Address | None, now: float) -> None:
        self.lately.pop(what, None)
        self.lately[what] = (to, now + self.options.quiet_s)
        if len(self.lately) > REMEMBERED_MAX:
            del self.lately[next(iter(self.lately))]


def held_in(window: Window, ranges: tuple[int, ...], options: RepairOptions) -> Iterator[int]:
    """The numbers of what is asked for and held, up to the limits of one answer."""
    if len(ranges) > 2 * options.ranges_max:
        return
    batches = size_bytes = 0
    for first, last in zip(ranges[::2], ranges[1::2], strict=False):
        for seqno in range(max(first, window.purged + 1), min(last, window.highest) + 1):
            batch = window.get(seqno)
            if batch is None:
                continue
            if batches >= options.answer_batches_max or size_bytes >= options.answer_bytes_max:
                return
            batches += 1
            size_bytes += batch.size_bytes
            yield seqno
