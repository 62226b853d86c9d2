"""How fast the API may be asked by one asker: a person, a token's owner, or an address.

Idea. A bucket for each asker gains `rate_per_s` requests a second and holds BURST_S seconds' worth.
An empty one refuses, and says when to come again. Each node counts for itself.

Invariants.
  P1  Within any t seconds an asker gets at most rate_per_s * (t + BURST_S) requests answered.
  P2  At most `ASKERS_MAX` are known; the one that has asked nothing longest makes room.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass

BURST_S = 10.0
ASKERS_MAX = 20_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at_s: float


class Pace:
    """Counts the requests of each asker."""

    def __init__(self, rate_per_s: float) -> None:
        self._rate_per_s = rate_per_s
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, asker: str, now_s: float) -> int:
        """One request; 0 when it may be answered, else after how many seconds to ask again."""
        most = self._rate_per_s * BURST_S
        bucket = self._buckets.get(asker)
        if bucket is None:
            bucket = self._buckets[asker] = _Bucket(most, now_s)
            if len(self._buckets) > ASKERS_MAX:  # P2
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(asker)
        bucket.left = min(most, bucket.left + (now_s - bucket.at_s) * self._rate_per_s)
        bucket.at_s = now_s
        if bucket.left < 1:
            return math.ceil((1 - bucket.left) / self._rate_per_s)
        bucket.left -= 1  # P1
        return 0
