"""The replay window: which counters of one boot have been accepted, over the last 8,192.

Pure values, no time and no messages. A slot a counter, so that looking and marking are one index
each, whatever the gap; the slot holds the counter itself, so nothing has to be cleared when the
window moves on.

Invariants.
  W1  A counter is accepted at most once.
  W2  Nothing at or below `floor` is accepted: the window starts where the boot proved itself.
  W3  Looking changes nothing: only `accept`, after the datagram has been opened, moves the window
      (a forged counter must not lock the sender out).
"""

from __future__ import annotations

from array import array

WINDOW_COUNTERS = 8_192
"""How far behind the highest counter a datagram may still arrive. A power of two."""

_MASK = WINDOW_COUNTERS - 1
_EMPTY = array("Q", bytes(8 * WINDOW_COUNTERS))


class ReplayWindow:
    """The counters of one boot that were accepted; counters up to `floor` count as seen.

    `highest` is the highest counter accepted so far.
    """

    __slots__ = ("_slots", "floor", "highest")

    def __init__(self, floor: int) -> None:
        self.floor = floor
        self.highest = floor
        self._slots = _EMPTY[:]

    def refusal(self, counter: int) -> str:
        """Why this counter must not be accepted: `too_old`, `replayed`; empty when it may."""
        if counter > self.highest:
            return ""
        if counter <= self.floor or counter <= self.highest - WINDOW_COUNTERS:
            return "too_old"
        return "replayed" if self._slots[counter & _MASK] == counter else ""

    def accept(self, counter: int) -> None:
        """Mark a counter that `refusal` let pass, once its datagram has been opened."""
        self._slots[counter & _MASK] = counter
        if counter > self.highest:
            self.highest = counter
