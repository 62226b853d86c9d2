"""Back-off: who guesses waits, each time longer.

Idea. An attempt counts as failed from when it begins, so that many at once are no way round;
success takes it back. Each node counts for itself, so a cluster of n lets through n times as much.

Invariants.
  B1  After `free` failures the next attempt waits `first_s`, and each further one twice as long.
  B2  At most `keys_max` keys are known; the one that failed longest ago makes room.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

KEYS_MAX = 50_000


@dataclass(slots=True)
class _Guesses:
    count: int
    at_s: float
    until_s: float


class Backoff:
    """Counts the failures of each key, an account or an address."""

    def __init__(self, free: int, first_s: float, most_s: float, keys_max: int = KEYS_MAX) -> None:
        self._free = free
        self._first_s = first_s
        self._most_s = most_s
        self._keys_max = keys_max
        self._known: OrderedDict[str, _Guesses] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def wait_s(self, key: str, now_s: float) -> float:
        """How long until this key may try again; 0: now."""
        found = self._known.get(key)
        return 0.0 if found is None else max(0.0, found.until_s - now_s)

    def attempt(self, key: str, now_s: float) -> None:
        """Somebody tries; it has failed until `succeeded` or `undo` says otherwise."""
        found = self._known.get(key)
        if found is None or now_s - found.at_s > 2 * self._most_s:
            found = _Guesses(0, now_s, now_s)
        found.count += 1
        found.at_s = now_s
        over = found.count - self._free
        if over >= 0:  # B1
            found.until_s = now_s + min(self._most_s, self._first_s * 2 ** min(over, 40))
        self._known[key] = found
        self._known.move_to_end(key)
        if len(self._known) > self._keys_max:  # B2
            self._known.popitem(last=False)

    def succeeded(self, key: str) -> None:
        """Whoever it was knows the secret: all is forgotten."""
        self._known.pop(key, None)

    def undo(self, key: str) -> None:
        """That attempt was none; what failed before still counts."""
        found = self._known.get(key)
        if found is not None:
            found.count -= 1
            found.until_s = found.at_s
            if found.count <= 0:
                del self._known[key]


def address_key(host: str) -> str:
    """What counts as one place: an IPv4 address, or the /64 of an IPv6 one."""
    try:
        address = ip_address(host)
    except ValueError:
        return host[:64]
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return address.exploded[:19]
