"""What is missing, whom to ask for it and when: the asking side of repair.

Plain state and rules, no time and no messages: NAKACK turns what this says into requests. A gap
is asked for in the turn in which it is first seen, of the sender, or of the member that is known
to hold it; what does not come is asked for again, less and less often, of others who may hold it.
In a flush only what the cut contains is asked for, first of those who held it when they voted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from groupcore.digest import Digest
from groupcore.events import FetchCut
from groupcore.view import Address
from groupcore.window import Window

ASK_SENDER_TIMES = 2
"""How often the sender itself is asked before others are."""


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """Times in seconds, sizes in bytes: of asking, of one answer, and of one turn's answers.

    What two members ask for within `quiet_s` is multicast; requests for it that come within
    `quiet_s` of that are not answered. `requests_max`: batches that are asked for in one turn.
    """

    retry_min_s: float = 0.02
    retry_max_s: float = 0.4
    ranges_max: int = 32
    answer_batches_max: int = 64
    answer_bytes_max: int = 256 << 10
    quiet_s: float = 0.01
    requests_max: int = 1_024


@dataclass(frozen=True, slots=True)
class Wanted:
    """Ask `holder` for these multicasts of `origin`; pairs of first and last number."""

    holder: Address
    origin: Address
    ranges: tuple[int, ...]


class Repairs:
    """The asking side, for one view at a time."""

    def __init__(self, me: Address, random: Random, options: RepairOptions) -> None:
        self.me = me
        self.random = random
        self.options = options
        self.members: tuple[Address, ...] = ()
        self.asked: Digest = {}
        self.offers: dict[Address, tuple[Address, int]] = {}
        self.tries = 0
        self.retry_s = options.retry_min_s

    def begin_view(self, members: tuple[Address, ...]) -> None:
        """Of these members anything may be asked from now on, and nothing has been."""
        self.members = members
        self.begin()

    def begin(self) -> None:
        """Nothing has been asked for yet: a new view, or a cut to fetch."""
        self.asked, self.offers = {}, {}
        self.progress()

    def offer(self, holder: Address, held: Digest) -> None:
        """Note that `holder` holds these: what is missing of it is asked for there next."""
        for origin, seqno in held.items():
            self.offers[origin] = (holder, seqno)

    def progress(self) -> None:
        """Something came: ask the sender first and soon again."""
        self.tries = 0
        self.retry_s = self.options.retry_min_s

    def next_retry_s(self) -> float:
        """Seconds until the next try, and one try more; never the same for two members."""
        self.tries += 1
        delay_s = self.retry_s * (0.75 + 0.5 * self.random.random())
        self.retry_s = min(2 * self.retry_s, self.options.retry_max_s)
        return delay_s

    def wanted(
        self,
        windows: Mapping[Address, Window],
        silent: frozenset[Address],
        fetch: FetchCut | None,
        only_new: bool,
    ) -> Iterator[Wanted]:
        """What to ask for now: every gap, or only those that nobody was asked for yet."""
        for origin, window in windows.items():
            limit = window.highest if fetch is None else fetch.cut.get(origin, 0)
            asked = self.asked.get(origin, 0) if only_new else 0
            gaps = [(first, last) for first, last in window.missing(limit) if last > asked]
            if not gaps:
                continue
            others = [m for m in self.members if m != self.me and m not in silent]
            if fetch is not None and self.tries < ASK_SENDER_TIMES:
                # Those who held it when they voted; others have fetched it since.
                others = [m for m in fetch.holders.get(origin, ()) if m in others] or others
            holder = self.offered(origin, gaps[0][0], others) or self.holder_of(
                origin, others, fetch is None and origin not in silent
            )
            if holder is not None:
                self.asked[origin] = limit
                ranges = [number for gap in gaps[: self.options.ranges_max] for number in gap]
                yield Wanted(holder, origin, tuple(ranges))

    def offered(self, origin: Address, first: int, others: list[Address]) -> Address | None:
        """Who has offered the first number that is missing; each offer is taken up once."""
        holder, seqno = self.offers.pop(origin, (origin, 0))
        return holder if seqno >= first and holder in others else None

    def holder_of(self, origin: Address, others: list[Address], may_answer: bool) -> Address | None:
        """The sender while it may answer and was not asked too often; else one of the others."""
        if may_answer and self.tries < ASK_SENDER_TIMES:
            return origin
        return self.random.choice(others) if others else None
