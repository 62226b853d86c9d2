"""PBCAST: stability and late repair by gossip, for groups too large to report to each other.

Idea. From time to time a member sends a gossip: what it holds of each sender. Who gets it asks
its sender for what is missing here, takes itself off the list of those who have not seen it, and
passes it on to some of those who remain. The interval grows with the group, so that a member
hears about as many gossips in a large group as in a small one. A gossip also carries the least
that those on its path have delivered; what all members are known to have delivered is stable, and
who knows it says so in its gossips.

Place. Above NAKACK (it tells of NAKACK's digests), below membership; instead of STABLE.

Source. Pbcast design, "Handling of received gossips", "Garbage collection lag-behind", "Dynamic
adjustment of gossip_interval in PBCAST".

Invariants.
  I1  A gossip of another view, a stranger's, or one seen before causes nothing.
  I2  Only what every member of exactly this view has delivered is told as stable; of that `lag`
      messages of each sender stay in the history.
  I3  What is missing is asked of the sender of the gossip, who holds it.
  I4  Gossips of one turn are bounded and handled after its messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import ClassVar

from groupcore.batch import Batch, Header
from groupcore.digest import Digest
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer
from groupcore.events import (
    Event,
    FlushStarted,
    HeldBy,
    MuchReceived,
    SeenAlive,
    Stable,
    ViewInstalled,
    WindowFull,
)
from groupcore.headers import travels
from groupcore.layer import Layer
from groupcore.reports import Ranked, Reports, lagged, lowest
from groupcore.view import Address, View

SHORTEST_S = 0.001
"""Least time between two gossips of one member, in seconds."""


@travels(80)
@dataclass(slots=True)
class Gossip(Header):
    """Member to members: `origin` holds this much; who has not seen it. All by rank in `view`.

    `(origin, number)` is its id. `delivered` is the least that those who have seen it, the origin
    included, had delivered when they did. `stable`: who sends it to you knows that all have this.
    `urgent`: the origin cannot send on before it knows more of what is stable.
    """

    kind: ClassVar[str] = "pbcast.gossip"
    view: int
    origin: Address
    number: int
    urgent: bool
    held: tuple[int, ...]
    delivered: tuple[int, ...]
    stable: tuple[int, ...]
    not_seen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GossipOptions:
    """Times in seconds. `dynamic`: draw the interval from `desired_avg_s`; else `interval_s`.

    `desired_avg_s`: how often any gossip begins in the group; raise it for less traffic, lower it
    to free memory sooner. `hurry_s`: gossip at most so late after many bytes. `ask_after_s`: so
    long what is missing may still be under way. `multicast`: send gossips of one's own to the
    group, not to a subset. `subset_share` of those who have not seen a gossip get it passed on,
    but `subset_max` at most, so the share falls as the group grows. `lag`: stable messages of each
    sender that are kept; members with a high one serve latecomers. `buffer_max`: gossips of one
    turn. `seen_max`: gossips that are remembered.
    """

    dynamic: bool = True
    desired_avg_s: float = 0.25
    interval_s: float = 1.0
    hurry_s: float = 0.01
    ask_after_s: float = 0.05
    multicast: bool = True
    subset_share: float = 0.3
    subset_max: int = 2
    lag: int = 10
    buffer_max: int = 64
    seen_max: int = 1_024

    def draw_interval_s(self, random: Random, members: int) -> float:
        """Seconds until the next gossip: `Random(desired_avg_gossip * 2 * num_mbrs)`."""
        if not self.dynamic:
            return self.interval_s
        return max(SHORTEST_S, random.uniform(0.0, self.desired_avg_s * 2 * members))

    def subset_size(self, not_seen: int) -> int:
        """To how many of those who have not seen a gossip it is passed on."""
        return min(not_seen, self.subset_max, max(1, round(self.subset_share * not_seen)))


class Pbcast(Layer):
    """Gossips in one view at a time."""

    name = "PBCAST"
    headers = (Gossip,)
    hears = (ViewInstalled, FlushStarted, MuchReceived, WindowFull)
    provides = frozenset({"stability"})
    requires_below = frozenset({"digest"})
    requires_above = frozenset({"views"})

    def __init__(
        self,
        me: Address,
        random: Random,
        held: Callable[[], Digest],
        delivered: Callable[[], Digest],
        options: GossipOptions,
    ) -> None:
        self.me = me
        self.random = random
        self.held = held
        self.delivered = delivered
        self.options = options
        self.view: View | None = None
        self.rank = 0
        self.reports = Reports(1)
        self.last_number = 0
        self.seen: dict[tuple[Address, int], None] = {}
        self.buffer: list[tuple[Address, Gossip]] = []
        self.offers: dict[Address, Ranked] = {}
        self.hurried = False
        self.numbers = {
            "gossips_sent": 0,
            "gossips_passed_on": 0,
            "seen_before": 0,
            "discarded": 0,
            "dropped": 0,
            "requests": 0,
            "collections": 0,
        }

    def counters(self) -> dict[str, int]:
        """Gossips sent, passed on, seen before, discarded unread; requests and collections."""
        return dict(self.numbers)

    def ranked(self, digest: Digest) -> Ranked:
        """The digest by rank."""
        assert self.view is not None
        return tuple(digest.get(member, 0) for member in self.view.members)

    def digest(self, ranked: Ranked) -> Digest:
        """The digest of a view's members that these numbers are."""
        assert self.view is not None
        return dict(zip(self.view.members, ranked, strict=True))

    # --- what comes in ----------------------------------------------------------------------------

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        """Keep the gossip for the end of the turn, if there is room (I4)."""
        header = batch.headers[-1]
        assert isinstance(header, Gossip)
        if len(self.buffer) >= self.options.buffer_max:
            self.numbers["discarded"] += 1
            return []
        self.buffer.append((batch.sender, header))
        return [StartTimer("handle", 0)] if len(self.buffer) == 1 else []

    def on_event(self, event: Event, now: float) -> list[Effect]:
        """A view begins or ends; many bytes have arrived."""
        match event:
            case ViewInstalled():
                return self.on_view(event.view)
            case FlushStarted():
                self.view, self.offers = None, {}
                return [StopTimer("gossip")]
            case MuchReceived():
                return self.hurry()
            case WindowFull() if self.view is not None:
                return self.gossip(urgent=True)
            case _:
                return []

    def on_view(self, view: View) -> list[Effect]:
        """Nothing is known of this view; numbers go on, so that no id comes twice."""
        self.view, self.rank, self.hurried = view, view.rank(self.me), False
        self.offers = {}
        self.reports = Reports(len(view.members))
        return [self.next_gossip()]

    def hurry(self) -> list[Effect]:
        """There is much to forget: gossip soon, but not all in the same moment."""
        if self.view is None or self.hurried:
            return []
        self.hurried = True
        return [StartTimer("gossip", self.options.hurry_s * self.random.random())]

    def on_timer(self, timer: str, now: float) -> list[Effect]:
        """`handle` at the end of a turn, `ask` a little later, `gossip` from time to time."""
        if timer == "gossip":
            return self.gossip()
        if timer == "ask":
            return self.ask_for_missing()
        buffer, self.buffer = self.buffer, []
        return [effect for relay, gossip in buffer for effect in self.handle(relay, gossip)]

    # --- gossips of one's own ---------------------------------------------------------------------

    def next_gossip(self) -> Effect:
        """The interval is determined anew before each gossip."""
        assert self.view is not None
        members = len(self.view.members)
        return StartTimer("gossip", self.options.draw_interval_s(self.random, members))

    def gossip(self, urgent: bool = False) -> list[Effect]:
        """Tell what is held here; `urgent` asks all who hear it to do the same soon."""
        if self.view is None:
            return []
        self.hurried = False
        again = self.next_gossip()
        delivered = self.ranked(self.delivered())
        others = [rank for rank in range(len(self.view.members)) if rank != self.rank]
        effects = self.learn(((self.rank,), delivered))
        if not others:
            return [*effects, again]
        self.last_number += 1
        held = self.ranked(self.held())
        number, not_seen = self.last_number, tuple(others)
        stable = self.reports.stable
        gossip = Gossip(
            self.view.number, self.me, number, urgent, held, delivered, stable, not_seen
        )
        self.numbers["gossips_sent"] += 1
        sent = [self.tell(None, gossip)] if self.options.multicast else self.pass_on(gossip)
        return [*effects, *sent, again]

    # --- gossips of others ------------------------------------------------------------------------

    def handle(self, relay: Address, gossip: Gossip) -> list[Effect]:
        """The text's "handling of received gossips", step by step."""
        if not self.belongs_here(relay, gossip):
            self.numbers["dropped"] += 1
            return []
        if not self.is_new(gossip):
            self.numbers["seen_before"] += 1
            return []
        assert self.view is not None
        delivered = self.ranked(self.delivered())
        everybody = range(len(self.view.members))
        path = [rank for rank in everybody if rank not in gossip.not_seen]
        effects: list[Effect] = [
            Notify(SeenAlive(tuple(self.view.members[rank] for rank in path))),
            *self.note_missing(gossip),
            *(self.hurry() if gossip.urgent else ()),
            *self.learn(
                (path, gossip.delivered), (everybody, gossip.stable), ((self.rank,), delivered)
            ),
        ]
        not_seen = tuple(rank for rank in gossip.not_seen if rank != self.rank)
        if not not_seen:  # everybody has seen it
            return effects
        least = lowest(gossip.delivered, delivered)
        stable = self.reports.stable
        passed = self.pass_on(replace(gossip, delivered=least, stable=stable, not_seen=not_seen))
        self.numbers["gossips_passed_on"] += len(passed)
        return [*effects, *passed]

    def belongs_here(self, relay: Address, gossip: Gossip) -> bool:
        """Whether it speaks of exactly this view, and comes from members of it (I1).

        Ranks mean nothing in another view: what one more member has not delivered would count as
        delivered by all.
        """
        view = self.view
        if view is None or gossip.view != view.number:
            return False
        if gossip.origin not in view.members or gossip.origin == self.me:
            return False
        count, not_seen = len(view.members), gossip.not_seen
        digests = (gossip.held, gossip.delivered, gossip.stable)
        if any(len(digest) != count for digest in digests):
            return False
        if relay not in view.members or view.rank(relay) in not_seen:
            return False
        listed = set(not_seen)
        sound = len(listed) == len(not_seen) and all(rank < count for rank in not_seen)
        return sound and view.rank(gossip.origin) not in listed

    def is_new(self, gossip: Gossip) -> bool:
        """Remember it; the oldest are forgotten."""
        key = (gossip.origin, gossip.number)
        if key in self.seen:
            return False
        if len(self.seen) >= self.options.seen_max:
            del self.seen[next(iter(self.seen))]
        self.seen[key] = None
        return True

    def lacks(self, offered: Ranked) -> bool:
        """Whether something of this is missing here."""
        held = self.ranked(self.held())
        return any(mine < theirs for mine, theirs in zip(held, offered, strict=True))

    def note_missing(self, gossip: Gossip) -> list[Effect]:
        """A gossip may overtake the messages that it tells of: look again a little later."""
        if not self.lacks(gossip.held):
            return []
        waiting = bool(self.offers)
        self.offers[gossip.origin] = gossip.held
        return [] if waiting else [StartTimer("ask", self.options.ask_after_s)]

    def ask_for_missing(self) -> list[Effect]:
        """The sender of a gossip holds what it tells of: what is missing is asked of it (I3)."""
        offers, self.offers = self.offers, {}
        effects: list[Effect] = [
            Notify(HeldBy(origin, self.digest(offered)))
            for origin, offered in offers.items()
            if self.lacks(offered)
        ]
        self.numbers["requests"] += len(effects)
        return effects

    def learn(self, *told: tuple[Iterable[int], Ranked]) -> list[Effect]:
        """These members have delivered this much: what all have is stable (I2)."""
        before = self.reports.stable
        for ranks, delivered in told:
            self.reports.learn(ranks, delivered)
        stable = self.reports.stable
        if stable == before:
            return []
        self.numbers["collections"] += 1
        kept = lagged(stable, self.options.lag)
        return [Notify(Stable(self.digest(stable), {}, self.digest(kept)))]

    def pass_on(self, gossip: Gossip) -> list[Effect]:
        """Send it to a random subset of those who have not seen it."""
        assert self.view is not None
        size = self.options.subset_size(len(gossip.not_seen))
        chosen = self.random.sample(gossip.not_seen, size)
        return [self.tell(self.view.members[rank], gossip) for rank in chosen]

    def tell(self, member: Address | None, gossip: Gossip) -> Effect:
        """The gossip, to one member or to the group."""
        return Down(Batch(self.me, member, (gossip,), reliable=False))
