"""A half that alone has answered: how long its first voter waits before it decides by that.

Idea. With the first voter, half of the voters may decide. Where more members have not answered
than have, though they are heard, it may be the proposer that gets no unicasts, or whose unicasts
do not arrive. Failure detection finds that out, but not at once; then it is known who goes on
(`halves`). So the proposer goes on asking for `turn_s`, which is longer than that takes. Then it
decides, as the others may hear it and bring nothing about.
"""

from __future__ import annotations


class HalfAlone:
    """One proposer's patience, over all its attempts that meet with the same."""

    def __init__(self, turn_s: float) -> None:
        self.turn_s = turn_s
        self.since: float | None = None
        self.seen_at = 0.0

    def on_view(self) -> None:
        """A view begins: whoever did not answer is asked anew."""
        self.since = None

    def waits(self, is_bare: bool, now: float) -> bool:
        """Whether to go on asking, where only a bare half has answered (`is_bare`) or not."""
        if not is_bare:
            return False
        if self.since is None or now - self.seen_at > self.turn_s:
            self.since = now
        self.seen_at = now
        return now - self.since < self.turn_s
