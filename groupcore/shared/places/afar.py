"""What whole parts of a place look like from afar: digests of inner cells, from those of leaves.

Idea. The digest of an inner cell is made of those of its quarters, so a change of a leaf changes
one digest a level. What is told of it is rough: a function of the digest that stays the same for
most changes. So who follows the top of a place is told little, however many change something in it.

Invariants.
  F1  What is told follows from the leaves' digests alone: it is the same at all nodes, and for who
      has followed for long and who comes late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from groupcore.shared.places.digest import COLOURS_MAX, CellDigest
from groupcore.shared.places.regions import roots_above
from groupcore.shared.places.squares import Box, quarters

BITS = 3
"""So many leading binary digits of a count are told; and a sixteenth of a side is not looked at."""
NOTHING = CellDigest(0, 0, 0, 0, 0)


class Afar:
    """Digests of all inner cells of a tree, as `digests` of its leaves are now.

    Both mappings are the outline's own: `changed` is told what is another one there.
    """

    def __init__(self, tree: Mapping[str, str], digests: Mapping[str, CellDigest]) -> None:
        self._tree = tree
        self._leaves = digests
        self._sums: dict[str, CellDigest] = {}
        for path in sorted(tree, key=len, reverse=True):
            if tree[path] == "inner":
                self._sums[path] = self._sum(path)

    def of(self, path: str) -> CellDigest:
        """What is told of an inner cell; of others nothing."""
        return rough(self._sums.get(path, NOTHING))

    def changed(self, paths: Iterable[str]) -> list[str]:
        """These leaves look otherwise, or these cells have other roles: the regions' roots of which
        something else is to be told, lowest first.
        """
        again = {path[:size] for path in paths for size in range(1, len(path) + 1)}
        roots = {root for path in again for root in roots_above(path)}
        before = {root: self.of(root) for root in roots}
        for path in sorted(again, key=len, reverse=True):
            if self._tree.get(path) == "inner":
                self._sums[path] = self._sum(path)
            else:
                self._sums.pop(path, None)
        new = [root for root in roots if self.of(root) != before[root]]
        return sorted(new, key=lambda root: (-len(root), root))

    def _sum(self, path: str) -> CellDigest:
        return joined([self._exact(one) for one in quarters(path)])

    def _exact(self, path: str) -> CellDigest:
        found = self._sums.get(path) if self._tree.get(path) == "inner" else self._leaves.get(path)
        return found or NOTHING


def joined(digests: Iterable[CellDigest]) -> CellDigest:
    """What several cells look like together; the colours of larger ones count for more."""
    some = [one for one in digests if one.count > 0]
    if not some:
        return NOTHING
    weights: Counter[str] = Counter()
    for one in some:
        for place, colour in enumerate(one.colours):
            weights[colour] += max(1, one.count >> place)
    often = sorted(weights, key=lambda colour: (-weights[colour], colour))
    return CellDigest(
        sum(one.count for one in some),
        min(one.left for one in some),
        min(one.top for one in some),
        max(one.right for one in some),
        max(one.bottom for one in some),
        tuple(often[:COLOURS_MAX]),
    )


def rough(digest: CellDigest) -> CellDigest:
    """A digest that is the same for most changes: a count rounded down, sides rounded outwards."""
    side = max(digest.right - digest.left, digest.bottom - digest.top)
    step = 1 << max(0, side.bit_length() - BITS - 1)
    box = Box(
        digest.left // step * step,
        digest.top // step * step,
        -(-digest.right // step) * step,
        -(-digest.bottom // step) * step,
    )
    lost = max(0, digest.count.bit_length() - BITS)
    return CellDigest(digest.count >> lost << lost, *box, digest.colours)
