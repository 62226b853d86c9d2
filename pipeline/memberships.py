"""Memberships that one process holds: numbers for names, and sorting for joins.

The same rules as `transforms.overlap`, which hold there for any number of rows, and give the same
edges. A million rows take a second here, and half a minute where they go through shuffles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Edges = tuple[Numbers, Numbers]

PAIRS_MAX: Final = 50_000_000
"""More pairs than this are too many for one process: each takes 16 bytes, and some times that while
they are sorted."""


@dataclass(frozen=True)
class Memberships:
    """Row by row the group, and the number of the process in `names`; each pair once."""

    gid: Numbers
    process: Numbers
    names: pa.Array

    def observers(self, groups_max: int) -> tuple[Memberships, dict[str, int]]:
        """Those without who is in more groups than a strict member may be; and who that is."""
        groups = np.bincount(self.process, minlength=len(self.names))
        watching = np.flatnonzero(groups > groups_max)
        found = {self.names[int(one)].as_py(): int(groups[one]) for one in watching}
        return self._where(groups[self.process] <= groups_max), found

    def that_matter(self) -> Memberships:
        """Without what cannot be in a strong intersection: who is alone, or in one group only."""
        groups = np.bincount(self.process, minlength=len(self.names))
        some = self._where(groups[self.process] > 1)
        _, at, size = np.unique(some.gid, return_inverse=True, return_counts=True)
        return some._where(size[at] > 1)

    def costs(self) -> dict[str, float]:
        """Pairs that the `primal` and the `dual` way would look at."""
        return {"primal": _pairs_in(self.process), "dual": _pairs_in(self.gid)}

    def strong_pairs(self) -> Edges:
        """a, b: pairs of groups with two or more common processes; the primal way."""
        gids, index = np.unique(self.gid, return_inverse=True)
        one, two, _ = _pairs(self.process, index)
        pair, count = np.unique(one * len(gids) + two, return_counts=True)
        a, b = np.divmod(pair[count > 1], len(gids))
        return gids[a], gids[b]

    def star_edges(self) -> Edges:
        """a, b: edges whose components are those of strong intersection; the dual way."""
        one, two, gid = _pairs(self.gid, self.process)
        pair = one * len(self.names) + two
        # Groups come in their order, so of each pair the first one is its least.
        order = np.argsort(pair, kind="stable")
        pair, gid = pair[order], gid[order]
        first = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]]) if len(pair) else pair
        least = np.repeat(gid[first], np.diff(np.r_[first, len(pair)]))
        apart = gid != least
        return least[apart], gid[apart]

    def of(self, gids: Numbers) -> dict[int, set[str]]:
        """The processes of each of these groups."""
        found: dict[int, set[str]] = defaultdict(set)
        some = self._where(np.isin(self.gid, gids))
        names = self.names.take(some.process).to_pylist()
        for gid, name in zip(some.gid.tolist(), names, strict=True):
            found[gid].add(name)
        return found

    def _where(self, mask: NDArray[np.bool_]) -> Memberships:
        return Memberships(self.gid[mask], self.process[mask], self.names)


def members(changes: pa.Table, strict: Iterable[int]) -> tuple[Memberships, int]:
    """Who is in which of the strict groups by the last change in its own order, and how many
    processes are in some as observers, who do not count in strict membership.

    `changes`: gid, process, joins, observes, epoch, seq.
    """

    def column(name: str) -> NDArray[Any]:
        found: NDArray[Any] = changes.column(name).to_numpy()
        return found

    coded = changes.column("process").combine_chunks().dictionary_encode()
    process = coded.indices.to_numpy().astype(np.int64)
    gid = column("gid")
    order = np.lexsort((column("seq"), column("epoch"), process, gid))
    gid, process = gid[order], process[order]
    last = np.r_[(gid[1:] != gid[:-1]) | (process[1:] != process[:-1]), True][: len(gid)]
    is_in = last & column("joins")[order] & np.isin(gid, np.fromiter(strict, np.int64))
    watches = is_in & column("observes")[order]
    counted = is_in & ~watches
    found = Memberships(gid[counted], process[counted], coded.dictionary)
    return found, len(np.unique(process[watches]))


def _pairs_in(keys: Numbers) -> float:
    _, count = np.unique(keys, return_counts=True)
    size = count.astype(np.float64)
    return float((size * (size - 1) / 2).sum())


def _pairs(keys: Numbers, values: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """All pairs of values (the lesser one first) with the same key, and the key; keys ascend."""
    order = np.lexsort((values, keys))
    keys, values = keys[order], values[order]
    ends = np.searchsorted(keys, keys, side="right")
    behind = ends - np.arange(len(keys)) - 1
    one = np.repeat(np.arange(len(keys)), behind)
    # Of each row its partners are those up to the end of its key.
    begun = np.repeat(np.cumsum(behind) - behind, behind)
    two = one + 1 + np.arange(len(one)) - begun
    return values[one], values[two], keys[one]
