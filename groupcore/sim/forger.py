"""The forger: somebody on the segment who hears everything and has no key.

It replays what it has recorded, from lives that are over too; it alters recordings, their clear
header most of all; and it makes datagrams up. What it sends claims to come from anywhere. It
listens only where it will be at work, so that other schedules do not pay for it.
"""

from __future__ import annotations

from random import Random

from groupcore.seal import BOOT_OFFSET, COUNTER_MAX, HEADER, LANE_BYTES
from groupcore.sim.clock import Clock
from groupcore.sim.network import Network, SocketAddress

RECORDED_MAX = 256
"""Recordings that are kept; a new one takes the place of any other."""
AT_ONCE_MAX = 4
"""Most datagrams that are sent in one go."""
STRANGER: SocketAddress = ("10.0.99.99", 7_600)


class Forger:
    """One attacker; `network` is where it listens and speaks."""

    def __init__(self, clock: Clock, random: Random, network: Network) -> None:
        self._clock = clock
        self._random = random
        self._network = network
        self._recorded: list[bytes] = []
        self._until_ns = 0

    def listen(self) -> None:
        """Record what is sent from now on."""
        self._network.tap = self._record

    def work(self, until_ns: int, every_ns: int) -> None:
        """Send something now and then until that moment; one that is at work goes on as it does."""
        busy = self._clock.now_ns < self._until_ns
        self._until_ns = max(self._until_ns, until_ns)
        if not busy:
            self._send(every_ns)

    def stop(self) -> None:
        """Send nothing more: what it replays would reach those who are cut off on purpose."""
        self._until_ns = 0

    def _record(self, data: bytes) -> None:
        if len(self._recorded) < RECORDED_MAX:
            self._recorded.append(data)
        else:
            self._recorded[self._random.randrange(RECORDED_MAX)] = data

    def _send(self, every_ns: int) -> None:
        if self._clock.now_ns >= self._until_ns:
            return
        random, addresses = self._random, self._network.addresses
        for _ in range(random.randint(1, AT_ONCE_MAX)):
            source = random.choice([*addresses, STRANGER])
            self._network.smuggle(source, random.choice(addresses), self._compose())
        self._clock.after(int(random.expovariate(1 / every_ns)) + 1, self._send, every_ns)

    def _compose(self) -> bytes:
        random = self._random
        if not self._recorded:
            return random.randbytes(random.randint(0, 200))
        data = random.choice(self._recorded)
        match random.randrange(4):
            case 0:
                return data
            case 1:
                return _altered(data, random)
            case 2:
                return _ahead(data, random)
            case _:
                return data[: HEADER.size] + random.randbytes(random.randint(16, 100))


def _altered(data: bytes, random: Random) -> bytes:
    """A bit turned, mostly in the clear header."""
    altered = bytearray(data)
    place = random.choice((0, 1, 2, 3, BOOT_OFFSET, LANE_BYTES, random.randrange(len(data))))
    altered[place] ^= 1 << random.randrange(8)
    return bytes(altered)


def _ahead(data: bytes, random: Random) -> bytes:
    """The same under a counter that its sender has not reached."""
    counter = int.from_bytes(data[LANE_BYTES : HEADER.size], "big")
    leap = random.choice((1, 1_000, 1 << 20, COUNTER_MAX - counter))
    later = min(counter + leap, COUNTER_MAX).to_bytes(8, "big")
    return data[:LANE_BYTES] + later + data[HEADER.size :]
