"""The simulated network: directed links that lose, double, delay and are cut.

A multicast is drawn for each receiver by itself, and once for all of them (correlated loss: the
datagram that nobody received). Reordering comes from delays that are drawn independently; a few of
them come from a heavy tail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from zlib import crc32

from groupcore.sim.clock import MICROSECOND, MILLISECOND, Clock

SocketAddress = tuple[str, int]
Receive = Callable[[bytes, SocketAddress], None]


@dataclass(frozen=True, slots=True)
class NetworkOptions:
    """What the links do; shares are probabilities for each datagram (and receiver).

    `delay_min_us` and `delay_mean_us` (an exponential on top) for most datagrams; `tail` of them
    wait an exponential of `tail_mean_ms` in addition. `loopback` hands a sender its own multicasts.
    """

    loss: float = 0.0
    correlated_loss: float = 0.0
    duplicate: float = 0.0
    delay_min_us: int = 30
    delay_mean_us: int = 100
    tail: float = 0.0
    tail_mean_ms: int = 0
    loopback: bool = False


CALM = NetworkOptions()
"""A healthy local network."""


class Network:
    """Who is reachable under which socket address, and which way between two nodes is cut."""

    def __init__(self, clock: Clock, random: Random, options: NetworkOptions) -> None:
        self.options = options
        self.datagrams = 0
        self.fingerprint = 0
        self._clock = clock
        self._random = random
        self._nodes: dict[SocketAddress, Receive] = {}
        self._cuts: dict[tuple[SocketAddress, SocketAddress], int] = {}

    def attach(self, address: SocketAddress, receive: Receive) -> None:
        """Datagrams for this address go to that node."""
        self._nodes[address] = receive

    # --- links ----------------------------------------------------------------------------------

    def cut(self, source: SocketAddress, target: SocketAddress) -> None:
        """Nothing gets from source to target until mended as often as it was cut."""
        self._cuts[source, target] = self._cuts.get((source, target), 0) + 1

    def mend(self, source: SocketAddress, target: SocketAddress) -> None:
        """Undo one cut of this direction, if there is one left."""
        if self._cuts.get((source, target), 0) > 0:
            self._cuts[source, target] -= 1

    def is_cut(self, source: SocketAddress, target: SocketAddress) -> bool:
        """Whether datagrams in this direction vanish."""
        return self._cuts.get((source, target), 0) > 0

    def heal(self) -> None:
        """Mend everything, and be a healthy local network from now on."""
        self._cuts.clear()
        self.options = CALM

    # --- datagrams ------------------------------------------------------------------------------

    def send(self, source: SocketAddress, target: SocketAddress | None, data: bytes) -> None:
        """Carry a datagram to one address, or to every node (None)."""
        self.datagrams += 1
        self.fingerprint = crc32(data, self.fingerprint)
        if target is not None:
            if target in self._nodes:
                self._carry(source, target, data)
            return
        options = self.options
        if options.correlated_loss and self._random.random() < options.correlated_loss:
            return
        for receiver in self._nodes:
            if receiver != source or options.loopback:
                self._carry(source, receiver, data)

    def _carry(self, source: SocketAddress, target: SocketAddress, data: bytes) -> None:
        if self._cuts.get((source, target), 0) > 0:
            return
        random, options = self._random, self.options
        if options.loss and random.random() < options.loss:
            return
        receive = self._nodes[target]
        self._clock.after(self._delay_ns(), receive, data, source)
        if options.duplicate and random.random() < options.duplicate:
            self._clock.after(self._delay_ns() * 4, receive, data, source)

    def _delay_ns(self) -> int:
        random, options = self._random, self.options
        delay = options.delay_min_us * MICROSECOND
        delay += int(random.expovariate(1.0) * options.delay_mean_us * MICROSECOND)
        if options.tail and random.random() < options.tail:
            delay += int(random.expovariate(1.0) * options.tail_mean_ms * MILLISECOND)
        return delay
