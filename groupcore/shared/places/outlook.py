"""What somebody is told of a place's outline who sees a part of the place.

That is the regions that the sight meets (`groupcore.shared.places.regions`): their cells' roles,
and what these look like from afar. Where a region is not followed, its root looks like all that
lies below it (`groupcore.shared.places.afar`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from groupcore.shared.places.afar import NOTHING, Afar
from groupcore.shared.places.digest import CellDigest
from groupcore.shared.places.outline import Described, PlaceOutline, TreeChanged
from groupcore.shared.places.parts import Role
from groupcore.shared.places.regions import cells_of, is_root, region_of, regions_in
from groupcore.shared.places.squares import ROOT, Box


class News(NamedTuple):
    """Something in a region is otherwise now: roles of cells, and what cells look like."""

    region: str
    roles: tuple[tuple[str, Role], ...] = ()
    far: tuple[tuple[str, CellDigest], ...] = ()


class Outlook:
    """What is told of one outline. It has to hear of each change (`news`), in their order."""

    def __init__(self, outline: PlaceOutline) -> None:
        self._outline = outline
        self._afar = Afar(outline.cells, outline.digests)

    def regions(self, sight: Box) -> frozenset[str]:
        """The regions that are followed by who sees this, as the tree is now."""
        return regions_in(self._outline.tree, sight)

    def roles(self, regions: Iterable[str]) -> dict[str, Role]:
        """The cells of these regions, as they are now."""
        tree = self._outline.tree
        return {one: tree[one] for region in sorted(regions) for one in self._cells(region)}

    def far(self, regions: Iterable[str]) -> dict[str, CellDigest]:
        """What those of them look like in which there is something."""
        seen = {one: self._seen(one) for one in self.roles(regions)}
        return {one: digest for one, digest in seen.items() if digest.count > 0}

    def news(self, details: Iterable[object]) -> Iterator[News]:
        """What an operation has changed that was done just now, from what it emitted."""
        paths: list[str] = []
        for detail in details:
            if isinstance(detail, TreeChanged):
                yield from self._new_roles(detail.cells)
                paths += detail.cells
            elif isinstance(detail, Described):
                paths += detail.cells
                for path in detail.cells:
                    yield News(region_of(path), far=((path, self._seen(path)),))
        for path in self._afar.changed(paths):
            yield News(region_of(path), far=((path, self._afar.of(path)),))

    def _cells(self, region: str) -> list[str]:
        cells = cells_of(self._outline.tree, region)
        return [ROOT, *cells] if region == ROOT else cells

    def _seen(self, path: str) -> CellDigest:
        if self._outline.tree.get(path) == "inner":
            return self._afar.of(path) if is_root(path) else NOTHING
        return self._outline.digests.get(path, NOTHING)

    def _new_roles(self, cells: Iterable[str]) -> Iterator[News]:
        by_region: dict[str, list[tuple[str, Role]]] = {}
        for path in cells:
            by_region.setdefault(region_of(path), []).append((path, self._outline.tree[path]))
        for region, roles in by_region.items():
            yield News(region, tuple(roles))
