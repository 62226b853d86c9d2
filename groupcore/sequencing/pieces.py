"""What has come of a state that is taken in pieces, and what to ask for next.

Idea. Whoever takes sets the pace: so many pieces are under way, as the time of an answer allows,
and so many bytes a second. A piece that is late, or that later ones have overtaken, is asked for
again by itself: losses cost what is lost, and neither the rest nor a silence.

Place. A part of `States`, without time and messages of its own.
Source. Selective repeat; a window that follows the delay, as in LEDBAT (RFC 6817).

Invariants.
  I1  A piece counts once, and only as long as its number is below the count.
  I2  At most `WINDOW_MAX` pieces are under way; fewer where answers come late, and not at once:
      what was under way together when one of the two paused counts as one late answer.
"""

from __future__ import annotations

from hashlib import blake2b

DIGEST_BYTES = 16
"""Of the hash of a state."""
WINDOW_FIRST, WINDOW_MIN, WINDOW_MAX = 8.0, 2.0, 64.0
RANGE_MAX = 16
"""Pieces that one request asks for at most."""
OVERTAKEN = 12
"""A piece is lost when one has come that was asked for by so many later."""
LATE_MIN_S, LATE_MAX_S = 0.04, 0.4
"""Bounds of how long a piece is waited for before it is asked for again."""
LOWERED = 0.75
"""What becomes of the window when answers are late."""
QUEUED_S = 0.03
"""Answers that take so much longer than the fastest one stand in a queue that this causes."""


class Pieces:
    """One state's, from one giver. `count` is 0 before the first piece has come."""

    __slots__ = (
        "_again",
        "_asked",
        "_fastest_s",
        "_hash",
        "_hashed",
        "_lowered_at",
        "_next",
        "_order",
        "_rtt_s",
        "_window",
        "count",
        "digest",
        "have",
        "repeated",
    )

    def __init__(self) -> None:
        self.count = 0
        self.digest = b""
        self.have: dict[int, bytes] = {}
        self.repeated = 0
        self._hash = blake2b(digest_size=DIGEST_BYTES)
        self._hashed = 0
        self._next = 0
        self._order = 0
        self._asked: dict[int, tuple[int, float]] = {}
        self._again: list[int] = []
        self._window = WINDOW_FIRST
        self._rtt_s = 0.0
        self._lowered_at = 0
        self._fastest_s = float("inf")

    @property
    def whole(self) -> bool:
        """Whether all of it is here."""
        return 0 < self.count == len(self.have)

    @property
    def under_way(self) -> int:
        """Pieces that are asked for and have not come."""
        return len(self._asked)

    @property
    def patience_s(self) -> float:
        """How long a piece is waited for."""
        return min(max(4 * self._rtt_s, LATE_MIN_S), LATE_MAX_S)

    def take(self, index: int, count: int, digest: bytes, data: bytes, now: float) -> bool:
        """A piece has come; False when it does not belong to the others (I1)."""
        if self.count == 0:
            self.count, self.digest = count, digest
        if index >= self.count or count != self.count or digest != self.digest:
            return False
        asked = self._asked.pop(index, None)
        if index in self.have:
            return True
        self.have[index] = data
        while (piece := self.have.get(self._hashed)) is not None:
            self._hash.update(piece)
            self._hashed += 1
        if asked is not None:
            order, at = asked
            self._answered(order, now - at)
            overtaken = [i for i, (o, _) in self._asked.items() if o + OVERTAKEN <= order]
            self._lose(overtaken)
        return True

    def _answered(self, order: int, took_s: float) -> None:
        """The window follows what answers take: it does not fill queues (I2)."""
        self._rtt_s = took_s if not self._rtt_s else 0.875 * self._rtt_s + 0.125 * took_s
        self._fastest_s = min(self._fastest_s, took_s)
        if took_s > 2 * self._fastest_s + QUEUED_S:
            if order > self._lowered_at:
                self._window = max(WINDOW_MIN, self._window * LOWERED)
                self._lowered_at = self._order
        else:
            self._window = min(WINDOW_MAX, self._window + 2 / self._window)

    def _lose(self, lost: list[int]) -> None:
        for index in lost:
            del self._asked[index]
            self._again.append(index)
        self.repeated += len(lost)

    def look(self, now: float) -> None:
        """What is late counts as lost; when all of it is, less is under way from then on."""
        late = [i for i, (_, at) in self._asked.items() if now - at >= self.patience_s]
        if late and len(late) == len(self._asked):
            self._window = max(WINDOW_MIN, self._window / 2)
        self._lose(late)

    def ask(self, most: int, now: float) -> list[tuple[int, int]]:
        """What to ask for now, at most so many pieces: from and up to which, the last excluded."""
        if self.count == 0:
            most = min(most, 1)
        room = min(most, int(self._window) - len(self._asked))
        chosen: list[int] = []
        while len(chosen) < room and self._again:
            index = self._again.pop()
            if index not in self.have:
                chosen.append(index)
        end = max(self.count, 1)
        while len(chosen) < room and self._next < end:
            chosen.append(self._next)
            self._next += 1
        ranges: list[tuple[int, int]] = []
        for index in sorted(chosen):
            self._order += 1
            self._asked[index] = (self._order, now)
            first, until = ranges[-1] if ranges else (index, -1)
            if until == index and index - first < RANGE_MAX:
                ranges[-1] = (first, index + 1)
            else:
                ranges.append((index, index + 1))
        return ranges

    @property
    def wants(self) -> bool:
        """Whether there is something to ask for, and room for it."""
        left = self._again or self._next < max(self.count, 1)
        return bool(left) and len(self._asked) < int(self._window)

    @property
    def right(self) -> bool:
        """Whether it is whole and its hash is what it should be; hashed as it comes."""
        return self.whole and self._hash.digest() == self.digest

    def beginning(self) -> bytes:
        """The state up to the first piece that is missing."""
        pieces: list[bytes] = []
        while (piece := self.have.get(len(pieces))) is not None:
            pieces.append(piece)
        return b"".join(pieces)

    def joined(self) -> bytes:
        """The state."""
        return b"".join(self.have[index] for index in range(self.count))
