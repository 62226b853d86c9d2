"""When to acknowledge: at once where somebody waits for it, else a little later and for many.

A plain table with its rule. An acknowledgement costs both ends about as much as a batch, so only
those send it at once whose word completes a quorum with the sender (the voters of lowest rank);
what the others hold, and everything that only frees memory, is told when a quarter of the window
is open (hot path, rule 16) or after `late_s`.
"""

from __future__ import annotations

from groupcore.view import Address, View


class Acknowledging:
    """Which senders have to be told how far their batches are held here, and how soon."""

    def __init__(self, me: Address, window_bytes: int, late_s: float) -> None:
        self.me = me
        self.window_bytes = window_bytes
        self.late_s = late_s
        self.urgent: frozenset[Address] = frozenset()
        self.owed: dict[Address, int] = {}
        self.waiting = False

    def begin(self, view: View) -> None:
        """Nothing is owed in a new view; find whose quorums need this member's word."""
        self.stop()
        self.urgent = frozenset(
            sender for sender in view.members if self.me in first_quorum(view, sender)
        )

    def stop(self) -> None:
        """Owe nothing: what is held from now on does not count."""
        self.owed, self.waiting = {}, False

    def note(self, sender: Address, size_bytes: int, at_once: bool = False) -> float | None:
        """Something of the sender is held, or came again.

        Seconds after which `take` is to be called; 0 for the end of the turn, None when that has
        been asked for already.
        """
        owed = self.owed.get(sender, 0) + size_bytes
        self.owed[sender] = owed
        if at_once or sender in self.urgent or 4 * owed >= self.window_bytes:
            return 0.0
        if self.waiting:
            return None
        self.waiting = True
        return self.late_s

    def take(self) -> list[Address]:
        """The senders to tell now."""
        owed = list(self.owed)
        self.stop()
        return owed


class Tally:
    """Counts bytes, and says each time that `limit_bytes` more have come."""

    __slots__ = ("bytes", "limit_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.bytes = 0

    def add(self, size_bytes: int) -> bool:
        """Count; whether the limit is reached, from where counting begins anew."""
        self.bytes += size_bytes
        if self.bytes < self.limit_bytes:
            return False
        self.bytes = 0
        return True


def first_quorum(view: View, sender: Address) -> set[Address]:
    """The voters, oldest first, who make a quorum together with the sender; without it."""
    others: list[Address] = []
    for member in (None, *view.voting):
        if member is not None and member != sender:
            others.append(member)
        if view.is_quorum([sender.name, *(other.name for other in others)]):
            break
    return set(others)
