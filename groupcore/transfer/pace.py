"""How large a chunk may be: as the taker's link carries it in a fraction of a second.

A plain value, no messages. A chunk that is under way for long is repeated, delays what the group
sends to the taker, and is taken for silence. So the first is small; who confirms quickly gets
larger ones, up to the limit, and who confirms late gets smaller ones again.
"""

from __future__ import annotations

from collections import deque

FIRST_BYTES = 4 << 10
"""A tenth of a second on a link of 320 kbit/s."""
LEAST_BYTES = 512
QUICK_S = 0.1
LATE_S = 0.4


class ChunkPace:
    """One taker's. `size_bytes`: of the next chunk, never above `most_bytes`."""

    __slots__ = ("most_bytes", "sent", "size_bytes")

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.size_bytes = min(FIRST_BYTES, most_bytes)
        self.sent: deque[tuple[int, float]] = deque()

    def note_sent(self, end: int, now: float) -> None:
        """A chunk that ends at this offset goes out."""
        self.sent.append((end, now))

    def note_taken(self, offset: int, now: float) -> None:
        """The taker has used everything up to this offset."""
        sent_at = None
        while self.sent and self.sent[0][0] <= offset:
            sent_at = self.sent.popleft()[1]
        if sent_at is None:
            return
        if now - sent_at <= QUICK_S:
            self.size_bytes = min(2 * self.size_bytes, self.most_bytes)
        elif now - sent_at >= LATE_S:
            self.size_bytes = max(self.size_bytes // 2, min(LEAST_BYTES, self.most_bytes))
