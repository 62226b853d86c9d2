"""Token buckets by key, bounded: how often each source may cause costly work.

Pure arithmetic on the time that it is given. A source starts with a full bucket; when the table
is full, the source that was seen first is forgotten (it would have refilled longest).
"""

from __future__ import annotations

from collections.abc import Hashable


class TokenBuckets:
    """For each key at most `burst` at once and `rate_per_s` in the long run."""

    def __init__(self, rate_per_s: float, burst: float, keys_max: int) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._keys_max = keys_max
        self._levels: dict[Hashable, tuple[float, float]] = {}

    def take(self, key: Hashable, now: float) -> bool:
        """Take one token of this key; False when there is none, and nothing is taken."""
        level, since = self._levels.pop(key, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._rate_per_s)
        granted = level >= 1
        if len(self._levels) >= self._keys_max:
            del self._levels[next(iter(self._levels))]
        self._levels[key] = (level - 1 if granted else level, now)
        return granted
