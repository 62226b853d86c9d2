"""What is missing, whom to ask for it and when: the asking side of repair, for NAKACK and TOTAL.

`Repairs` is plain state and rules, no time and no messages: what to ask for now, and of whom.
`Repairing` says when, with the timers of the layer that asks. A gap is asked for in the turn in
which it is first seen, of the sender, or of the member that is known to hold it; what does not
come is asked for again, less and less often, of others who may hold it. In a flush only what the
cut contains is asked for, first of those who held it when they voted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from groupcore.digest import Digest, covers
from groupcore.effects import Effect, Notify, StartTimer, StopTimer
from groupcore.events import CutHeld, FetchCut
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


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a layer says of what it holds, and how it asks.

    `digest`: what is held; `windows`: those in which gaps may be asked for now; `unreachable`:
    members that cannot be asked; `ask`: the request for something.
    """

    digest: Callable[[], Digest]
    windows: Callable[[], Mapping[Address, Window]]
    unreachable: Callable[[], frozenset[Address]]
    ask: Callable[[Wanted], Effect]


class Repairing:
    """When to ask, one view at a time.

    It starts the layer's timers `repair` and `retry`; the layer hands them back. `frozen`: a view
    change is under way, and only its cut, `fetch`, is asked for.
    """

    def __init__(self, repairs: Repairs, holdings: Holdings) -> None:
        self.repairs = repairs
        self.holdings = holdings
        self.frozen = self.retrying = False
        self.fetch: FetchCut | None = None
        self.numbers = {"requests_sent": 0}

    def begin_view(self, members: tuple[Address, ...]) -> None:
        """Nothing is missing yet in a new view."""
        self.frozen, self.fetch, self.retrying = False, None, False
        self.repairs.begin_view(members)

    def freeze(self) -> None:
        """A view change begins: nothing is asked for until its cut is known."""
        self.frozen, self.fetch, self.retrying = True, None, False

    def fetch_cut(self, event: FetchCut) -> list[Effect]:
        """Get what the cut contains, of those who held it when they voted."""
        self.fetch = event
        self.repairs.begin()
        return self.cut_held() or self.repair()

    def cut_held(self) -> list[Effect]:
        """Tell once when everything that was asked for is here."""
        if self.fetch is None or not covers(self.holdings.digest(), self.fetch.cut):
            return []
        self.fetch = None
        return [StopTimer("retry"), Notify(CutHeld())]

    def repair(self) -> list[Effect]:
        """Ask for gaps in the turn in which they are first seen; again after a while."""
        effects = self.requests(only_new=True)
        if not self.retrying and self.unheld():
            self.retrying = True
            self.repairs.progress()
            effects.append(StartTimer("retry", self.repairs.next_retry_s()))
        return effects

    def retry(self) -> list[Effect]:
        """Ask again for what is still missing, less and less often while nothing comes."""
        self.retrying = self.unheld()
        if not self.retrying:
            return []
        effects = self.requests(only_new=False)
        return [*effects, StartTimer("retry", self.repairs.next_retry_s())]

    def requests(self, only_new: bool) -> list[Effect]:
        """Ask for every gap, or for those not asked for yet."""
        if self.frozen and self.fetch is None:
            return []
        windows, silent = self.holdings.windows(), self.holdings.unreachable()
        wanted = self.repairs.wanted(windows, silent, self.fetch, only_new)
        effects = [self.holdings.ask(each) for each in wanted]
        self.numbers["requests_sent"] += len(effects)
        return effects

    def unheld(self) -> bool:
        """Whether anything is known to exist and still missing."""
        if self.frozen:
            return self.fetch is not None and not covers(self.holdings.digest(), self.fetch.cut)
        return any(window.received < window.highest for window in self.holdings.windows().values())
