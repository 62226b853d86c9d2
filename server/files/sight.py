"""What a page may have seen of files, so that it is told what is gone, and of nobody else's things.

Idea. A node hears of every document that changes, of all tenants. Of what a page may not see it is
told only where it may have seen it before: an id that comes and goes elsewhere is nobody's news
here. What a page has seen are bits in a row; which bit is whose is shared by all pages of a node.

Invariants.
  G1  No page is told an id of what its person could not see while the page followed.
  G2  What a page could see, and cannot any more, is told to it as gone.
"""

from __future__ import annotations

from collections.abc import Iterable


class Places:
    """The bit of each document, folder and workspace, by the order in which they were met here."""

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._bits)

    def of(self, item: str) -> int:
        """Its bit; a new one for what was not met before."""
        return self._bits.setdefault(item, len(self._bits))


class Sight:
    """One page's: as many bits as there are things that it has met."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._seen = bytearray()

    def see(self, items: Iterable[str]) -> None:
        """The page may see these."""
        for item in items:
            byte, bit = divmod(self._places.of(item), 8)
            if byte >= len(self._seen):
                self._seen.extend(bytes(byte + 1 - len(self._seen)))
            self._seen[byte] |= 1 << bit

    def lose(self, items: Iterable[str]) -> list[str]:
        """Those of these that it has seen; it does not see them any more."""
        lost: list[str] = []
        for item in items:
            byte, bit = divmod(self._places.of(item), 8)
            if byte < len(self._seen) and self._seen[byte] >> bit & 1:
                self._seen[byte] &= ~(1 << bit)
                lost.append(item)
        return lost
