"""One direction between two nodes: what stops it, holds it up, slows it down, narrows it.

Troubles of one kind may overlap, so each is counted or listed and taken back one by one. Nothing
here draws chance but `weight`, which follows from the two addresses.
"""

from __future__ import annotations

from typing import Literal, get_args
from zlib import crc32

Manner = Literal["stop", "jam", "slow", "narrow"]
"""How a direction fails.

`stop`: datagrams vanish. `jam`: they are held and come all at once when the jam ends. `slow`: they
come late by some milliseconds. `narrow`: they wait for their turn behind a low rate.
"""
MANNERS: tuple[Manner, ...] = get_args(Manner)
HELD_MAX = 2_048
"""Datagrams that a jammed direction holds; more are dropped."""
QUEUE_BYTES = 64 << 10
"""What waits before a narrow direction; more is dropped (drop-tail)."""
NS_PER_S = 1_000_000_000


class Link:
    """The state of one direction.

    `amounts` of "slow" are nanoseconds, of "narrow" bytes a second. `held` are the datagrams of a
    jam. `weight` multiplies loss and delay where the links are uneven.
    """

    __slots__ = ("_free_at_ns", "amounts", "held", "weight")

    def __init__(self, weight: float = 1.0) -> None:
        self.amounts: dict[Manner, list[int]] = {manner: [] for manner in MANNERS}
        self.held: list[bytes] = []
        self.weight = weight
        self._free_at_ns = 0

    @property
    def is_cut(self) -> bool:
        """Whether nothing gets through for now."""
        return bool(self.amounts["stop"] or self.amounts["jam"])

    def hold(self, data: bytes) -> None:
        """Keep the datagram until the jam ends, as far as there is room."""
        if len(self.held) < HELD_MAX:
            self.held.append(data)

    def wait_ns(self, now_ns: int, size_bytes: int, rate: int = 0) -> int | None:
        """How much later than elsewhere this datagram comes; None: the queue is full.

        `rate` is the network's own, in bytes a second; 0 for none.
        """
        delay_ns = sum(self.amounts["slow"])
        rates = [*self.amounts["narrow"], rate] if rate else self.amounts["narrow"]
        if not rates:
            return delay_ns
        slowest = min(rates)
        begin_ns = max(self._free_at_ns, now_ns)
        if (begin_ns - now_ns) * slowest > QUEUE_BYTES * NS_PER_S:
            return None
        self._free_at_ns = begin_ns + size_bytes * NS_PER_S // slowest
        return delay_ns + self._free_at_ns - now_ns

    def clear(self) -> list[bytes]:
        """End every trouble; what was held comes now."""
        for amounts in self.amounts.values():
            amounts.clear()
        self._free_at_ns = 0
        held, self.held = self.held, []
        return held


def weight_of(source: tuple[str, int], target: tuple[str, int], seed: int) -> float:
    """The weight of a direction in an uneven network: between 0 and 2, the same every time."""
    return crc32(f"{seed}/{source}/{target}".encode()) % 2001 / 1000
