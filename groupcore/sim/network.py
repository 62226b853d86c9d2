"""The simulated network: directed links that lose, double, delay, spoil, hold up and are cut.

A multicast is drawn for each receiver by itself, and once for all of them (correlated loss: the
datagram that nobody received). Reordering comes from delays that are drawn independently; a few of
them come from a heavy tail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log
from random import Random
from zlib import crc32

from groupcore.sim.clock import MICROSECOND, MILLISECOND, Clock
from groupcore.sim.link import Link, Manner, weight_of

SocketAddress = tuple[str, int]
Receive = Callable[[bytes, SocketAddress], None]


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """What the links do; shares are probabilities for each datagram (and receiver).

    `delay_min_us` and `delay_mean_us` (an exponential on top) for most datagrams; `tail` of them
    wait an exponential of `tail_mean_ms` in addition. `loopback` hands a sender its own multicasts.
    `corrupt` of the datagrams arrive with some bits turned, `truncate` of them cut short. Of a
    datagram above `piece_bytes` each piece may be lost by itself; above `bytes_max` it vanishes
    (0 for both: no such limit). `rate` is what a direction carries, in bytes a second (0: any).
    `uneven`, unless 0, gives each direction its own loss and delay.
    """

    loss: float = 0.0
    correlated_loss: float = 0.0
    duplicate: float = 0.0
    delay_min_us: int = 30
    delay_mean_us: int = 100
    tail: float = 0.0
    tail_mean_ms: int = 0
    loopback: bool = False
    corrupt: float = 0.0
    truncate: float = 0.0
    piece_bytes: int = 0
    bytes_max: int = 0
    rate: int = 0
    uneven: int = 0

    @property
    def is_smooth(self) -> bool:
        """Whether datagrams arrive as they are, once, if nothing impedes their direction."""
        lost = self.loss or self.corrupt or self.truncate
        return not (lost or self.duplicate or self.tail or self.rate or self.uneven)


CALM = NetworkOptions()
"""A healthy local network."""


class Network:
    """Who is reachable under which socket address, and how well in which direction.

    `options` are those of now, with storms and black holes; `happened` counts what was done to
    datagrams, by name. `tap` is given every datagram that is sent.
    """

    def __init__(self, clock: Clock, random: Random, options: NetworkOptions) -> None:
        self.options = options
        self.datagrams = 0
        self.fingerprint = 0
        self.happened: Counter[str] = Counter()
        self.tap: Callable[[bytes], None] | None = None
        self._fair = options
        self._storms: list[float] = []
        self._holes: list[int] = []
        self._clock = clock
        self._random = random
        self._nodes: dict[SocketAddress, Receive] = {}
        self._links: dict[tuple[SocketAddress, SocketAddress], Link] = {}
        self._filters: Counter[tuple[SocketAddress, SocketAddress]] = Counter()
        self._direct_filters: Counter[tuple[SocketAddress, SocketAddress]] = Counter()
        self._is_smooth = options.is_smooth

    def attach(self, address: SocketAddress, receive: Receive) -> None:
        """Datagrams for this address go to that node."""
        self._nodes[address] = receive

    def detach(self, address: SocketAddress) -> None:
        """Nobody has this address any more."""
        self._nodes.pop(address, None)

    # --- links ----------------------------------------------------------------------------------

    def impede(
        self, source: SocketAddress, target: SocketAddress, manner: Manner, amount: int = 0
    ) -> None:
        """Let this direction fail in this manner, until relieved of it as often.

        `amount` is nanoseconds for "slow", bytes a second for "narrow".
        """
        self._link(source, target).amounts[manner].append(amount)

    def relieve(
        self, source: SocketAddress, target: SocketAddress, manner: Manner, amount: int = 0
    ) -> None:
        """Take back one such trouble, if there is one left; what was jammed comes now."""
        link = self._link(source, target)
        if amount in link.amounts[manner]:
            link.amounts[manner].remove(amount)
        if not link.amounts["jam"]:
            held, link.held = link.held, []
            self._release(source, target, held)

    def is_cut(self, source: SocketAddress, target: SocketAddress) -> bool:
        """Whether nothing gets through in this direction for now."""
        link = self._links.get((source, target))
        return link is not None and link.is_cut

    def filter(self, source: SocketAddress, target: SocketAddress, on: bool) -> None:
        """Let no multicast through in this direction (a snooping switch), or let it again."""
        self._filters[source, target] += 1 if on else -1
        self._filters = +self._filters

    def filter_direct(self, source: SocketAddress, target: SocketAddress, on: bool) -> None:
        """Let no unicast through in this direction (a firewall), or let it again."""
        self._direct_filters[source, target] += 1 if on else -1
        self._direct_filters = +self._direct_filters

    def storm(self, loss: float, on: bool) -> None:
        """Lose this share of all datagrams at least, or no longer."""
        if on:
            self._storms.append(loss)
        elif loss in self._storms:
            self._storms.remove(loss)
        self._weather()

    def black_hole(self, bytes_max: int, on: bool) -> None:
        """Let nothing larger through anywhere, or let it again."""
        if on:
            self._holes.append(bytes_max)
        elif bytes_max in self._holes:
            self._holes.remove(bytes_max)
        self._weather()

    def heal(self, among: set[SocketAddress] | None = None) -> None:
        """Be a healthy network from now on, between these addresses (None: everywhere).

        What else there is between others and towards them stays as it is.
        """
        self._fair = CALM
        self._storms.clear()
        self._holes.clear()
        self._weather()
        for (source, target), link in self._links.items():
            if among is None or (source in among and target in among):
                self._release(source, target, link.clear())
                link.weight = 1.0
        for filters in (self._filters, self._direct_filters):
            for source, target in list(filters):
                if among is None or (source in among and target in among):
                    del filters[source, target]

    def _link(self, source: SocketAddress, target: SocketAddress) -> Link:
        link = self._links.get((source, target))
        if link is None:
            uneven = self._fair.uneven
            link = Link(weight_of(source, target, uneven) if uneven else 1.0)
            self._links[source, target] = link
        return link

    def _release(self, source: SocketAddress, target: SocketAddress, held: list[bytes]) -> None:
        receive = self._nodes.get(target)
        if receive is None:
            return
        for data in held:
            self.happened["released"] += 1
            self._clock.after(self._delay_ns(1.0), receive, data, source)

    def _weather(self) -> None:
        loss = max([self._fair.loss, *self._storms])
        self.options = replace(self._fair, loss=loss, bytes_max=min(self._holes, default=0))
        self._is_smooth = self.options.is_smooth

    # --- datagrams ------------------------------------------------------------------------------

    def send(self, source: SocketAddress, target: SocketAddress | None, data: bytes) -> None:
        """Carry a datagram to one address, or to every node (None)."""
        self.datagrams += 1
        self.fingerprint = crc32(data, self.fingerprint)
        if self.tap is not None:
            self.tap(data)
        options = self.options
        if options.bytes_max and len(data) > options.bytes_max:
            self.happened["too-large"] += 1
            return
        if target is not None:
            direct = self._direct_filters
            if target in self._nodes and not (direct and (source, target) in direct):
                self._carry(source, target, data)
            return
        if options.correlated_loss and self._random.random() < options.correlated_loss:
            self.happened["lost-at-all"] += 1
            return
        filters = self._filters
        for receiver in self._nodes:
            if receiver == source and not options.loopback:
                continue
            if not filters or (source, receiver) not in filters:
                self._carry(source, receiver, data)

    def smuggle(self, source: SocketAddress, target: SocketAddress, data: bytes) -> None:
        """Hand a datagram to this address, from wherever it claims to be, past all links."""
        receive = self._nodes.get(target)
        if receive is not None:
            self.happened["smuggled"] += 1
            self._clock.after(self._delay_ns(1.0), receive, data, source)

    @property
    def addresses(self) -> list[SocketAddress]:
        """Whoever can be sent something."""
        return list(self._nodes)

    def _carry(self, source: SocketAddress, target: SocketAddress, data: bytes) -> None:
        options, random = self.options, self._random
        if options.uneven or options.rate:
            link: Link | None = self._link(source, target)
        else:
            link = self._links.get((source, target))
        if link is None and self._is_smooth:  # most of them: what follows draws nothing more
            self._clock.after(self._delay_ns(1.0), self._nodes[target], data, source)
            return
        loss, weight, delay_ns = options.loss, 1.0, 0
        if link is not None:
            if link.amounts["stop"]:
                return
            weight = link.weight
            waited = link.wait_ns(self._clock.now_ns, len(data), options.rate)
            if waited is None:
                self.happened["queue-full"] += 1
                return
            delay_ns = waited
        if loss:
            if options.piece_bytes:
                pieces = -(-len(data) // options.piece_bytes)
                loss = 1.0 - (1.0 - loss) ** pieces
            if random.random() < loss * weight:
                return
        if options.corrupt or options.truncate:
            data = self._spoil(data)
        if link is not None and link.amounts["jam"]:
            link.hold(data)
            return
        receive = self._nodes[target]
        self._clock.after(delay_ns + self._delay_ns(weight), receive, data, source)
        if options.duplicate and random.random() < options.duplicate:
            self._clock.after(delay_ns + self._delay_ns(weight) * 4, receive, data, source)

    def _spoil(self, data: bytes) -> bytes:
        """What arrives of a datagram that may be damaged on its way."""
        random = self._random
        if random.random() < self.options.corrupt:
            self.happened["corrupted"] += 1
            spoiled = bytearray(data)
            for _ in range(random.randint(1, 4)):
                spoiled[random.randrange(len(spoiled))] ^= 1 << random.randrange(8)
            return bytes(spoiled)
        if random.random() < self.options.truncate:
            self.happened["truncated"] += 1
            return data[: random.randrange(len(data))]
        return data

    def _delay_ns(self, weight: float) -> int:
        random, options = self._random, self.options
        delay = options.delay_min_us * MICROSECOND
        # What random.expovariate(1.0) computes, without a call for every datagram.
        spread = -log(1.0 - random.random())
        delay += int(spread * options.delay_mean_us * weight * MICROSECOND)
        if options.tail and random.random() < options.tail:
            delay += int(random.expovariate(1.0) * options.tail_mean_ms * MILLISECOND)
        return delay
