"""A log as bytes on a simulated disk: what tears, turns, is cut off, or goes back in time.

Each part is a header (its length, its position, the chain of checksums behind it) and its bytes.
A **head** beside it, written when a commit is safe, says where the log ended then, as the `head`
file of `groupcore.aio.sealed_store` does. Reading follows the chain. What does not fit behind the
head was never said to be safe: it is a torn tail, and is dropped. What does not fit before it, or
is missing there, makes the log damaged. What SQLite does for the product in its write-ahead log
(a commit is there whole or not at all) is done here by the same chain.

What this format cannot see is a disk that goes back as a whole, head included, or lies about both:
nothing on it says so.
"""

from __future__ import annotations

import struct
from random import Random

from groupcore.log_chain import CHAIN_BYTES, GENESIS, chained
from groupcore.sequencing.log import LogPart

HEADER = struct.Struct(f"!IQ{CHAIN_BYTES}s")
SNAPSHOTS_MAX = 8
"""So many former states of the file are kept to go back to."""
SPOILS = ("flipped", "truncated", "rolled back", "lied")
"""How a log is spoiled: a bit turns; its end is cut off; an older file is in its place; the last
commits were said to be safe and were not."""

End = tuple[int, bytes]
"""A position, and the chain there."""


class DamagedLog(Exception):
    """The log is not what was written."""


class ByteLog:
    """The file and its head. `written` are all parts that were ever put behind the base, for who
    judges; `stored`: how many of them were said to be safe."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.base: End = (0, GENESIS)
        self.head: End = (0, GENESIS)
        self.written: list[bytes] = []
        self.stored = 0
        self._checkpoint: tuple[int, End] | None = None
        self._snapshots: list[bytes] = []
        self._may_be_torn = False

    def __bool__(self) -> bool:
        return bool(self.data)

    def append(self, parts: list[LogPart]) -> None:
        """A commit is safe: these parts are behind what there is, or in its place."""
        self._drop_tail()
        for part in parts:
            if part.fresh:
                self._begin_at(len(self.data), self.head)
            if part.dropping and self._checkpoint is not None:
                self._begin_at(*self._checkpoint)
            if part.checkpoint:
                self._checkpoint = (len(self.data), self.head)
            self._put(part.data)
        self.stored = len(self.written)
        self._snapshots = [*self._snapshots[1 - SNAPSHOTS_MAX :], bytes(self.data)]

    def tear(self, parts: list[LogPart], random: Random) -> None:
        """A commit is cut off by a crash: of its first part some bytes are there, or all."""
        if not parts or parts[0].fresh or parts[0].dropping:
            return
        position, chain = self.head
        frame = _frame(parts[0].data, position + 1, chain)
        self.data += frame[: random.randint(0, len(frame))]
        self._may_be_torn = True
        self.written = [*self.written[: self.stored], parts[0].data]

    def clear(self) -> None:
        """An empty disk is in its place."""
        self.__init__()  # type: ignore[misc]

    def read(self) -> list[bytes]:
        """All parts, oldest first, without a torn tail; DamagedLog."""
        parts: list[bytes] = []
        position, chain = self.base
        at = 0
        while at < len(self.data):
            found = self._part_at(at, position, chain)
            if found is None:
                break
            part, chain, at = found
            position += 1
            parts.append(part)
        if not self.reaches_head(position):
            raise DamagedLog(f"it ends at {position}, and was left at {self.head[0]}")
        return parts

    def adopt(self, count: int) -> None:
        """A life goes on from so many parts: what is behind them is written over."""
        del self.written[count:]
        self.stored = count
        position, chain = self.base
        at = 0
        for _ in range(count):
            found = self._part_at(at, position, chain)
            assert found is not None, "it was read just now"
            _, chain, at = found
            position += 1
        del self.data[at:]
        self.head = (position, chain)

    def reaches_head(self, position: int) -> bool:
        """Whether a log that can be read up to there has all that was said to be safe."""
        return position >= self.head[0]

    def is_right(self, payload: bytes, expected: bytes, chain: bytes, position: int) -> bool:
        """Whether a part is what was written there."""
        return chained(chain, 0, position, payload) == expected

    # --- what goes wrong ------------------------------------------------------------------------

    def spoil(self, how: str, random: Random) -> bool:
        """Damage what was said to be safe in one of the `SPOILS`; False: there is nothing to."""
        self._drop_tail()
        if not self.data:
            return False
        self._may_be_torn = True
        if how == "flipped":
            self.data[random.randrange(len(self.data))] ^= 1 << random.randrange(8)
        elif how == "truncated":
            del self.data[random.randrange(len(self.data)) :]
        else:
            older = [one for one in self._snapshots if self.data.startswith(one)]
            older = [one for one in older if len(one) < len(self.data)]
            back = 1 if how == "lied" else random.randint(1, max(1, len(older)))
            self.data[:] = older[-back] if older else b""
        return True

    # --- inside ---------------------------------------------------------------------------------

    def _put(self, payload: bytes) -> None:
        position, chain = self.head
        frame = _frame(payload, position + 1, chain)
        self.data += frame
        self.head = (position + 1, chained(chain, 0, position + 1, payload))
        self.written.append(payload)

    def _begin_at(self, offset: int, base: End) -> None:
        """What is before goes."""
        gone = base[0] - self.base[0]
        del self.data[:offset]
        del self.written[:gone]
        self.base, self._checkpoint, self._snapshots = base, None, []

    def _drop_tail(self) -> None:
        """What was torn behind the head is written over."""
        del self.written[self.stored :]
        if not self._may_be_torn:  # else each commit would read the whole log
            return
        position, chain = self.base
        at = 0
        while position < self.head[0]:
            found = self._part_at(at, position, chain)
            if found is None:
                return
            _, chain, at = found
            position += 1
        del self.data[at:]
        self._may_be_torn = False

    def _part_at(self, at: int, position: int, chain: bytes) -> tuple[bytes, bytes, int] | None:
        """The part that begins there, the chain behind it, and where it ends; None: none does."""
        if len(self.data) < at + HEADER.size:
            return None
        length, number, expected = HEADER.unpack_from(self.data, at)
        end = at + HEADER.size + length
        if len(self.data) < end:
            return None
        payload = bytes(self.data[at + HEADER.size : end])
        if number != position + 1 or not self.is_right(payload, expected, chain, position + 1):
            return None
        return payload, expected, end


def _frame(payload: bytes, position: int, chain: bytes) -> bytes:
    return HEADER.pack(len(payload), position, chained(chain, 0, position, payload)) + payload
