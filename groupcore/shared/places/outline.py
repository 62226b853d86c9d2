"""The outline of a place: its name, its tree of cells, and who may, one small group of its own.

Idea. Which cells there are has one order. A cell that has become crowded is quartered here, and
four that are nearly empty become one; the cells are told their new roles by who has them open, and
hand over what they hold. So the tree changes at one place of an order, and things go along.

Invariants.
  T1  The leaves cover the place, each point once.
  T2  Every cell that was ever given something is known here, so what it owes can be looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from groupcore.objects.parsing import check_title
from groupcore.sequencing.names import Process
from groupcore.shared.access import Guarded, LastManagerError, Right
from groupcore.shared.operations import operation
from groupcore.shared.places.digest import CellDigest
from groupcore.shared.places.limits import CELLS_MAX, DEPTH_MAX, DIVIDED_MAX, SPLITS_MAX
from groupcore.shared.places.parts import Role, node_of
from groupcore.shared.places.refusals import BadPathError
from groupcore.shared.places.squares import ROOT, is_path, quarters

NODES_ONLY = frozenset(
    {"attend", "retire", "searched", "divide", "split", "unite", "meet", "describe", "entitle"}
)
"""Operations that nodes call for themselves, as nobody in particular."""
FORMERLY: Mapping[str, tuple[str, ...]] = {
    "56423dc00fb97fee": (
        *("rights", "title", "cells", "tree_version", "digests", "rights_version", "keepers"),
        *("lost", "looked"),
    )
}
"""The fields of former versions: that one could only `divide`, one level at a time."""


@dataclass(frozen=True, slots=True)
class TreeChanged:
    """A detail of a change: the tree has this version, in which these cells have other roles."""

    version: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Described:
    """A detail of a change: what is known from afar of these cells."""

    cells: tuple[str, ...]


class PlaceOutline(Guarded):
    """Name, tree and access list of a place.

    `cells`: the role of each cell that was ever given something; `tree_version` counts changes.
    `keepers`: the nodes that have the place open, oldest first, each with its process's number;
    `lost`: how many of them are gone without a word, `looked` how many have been made up for (T2).
    """

    for_nodes = NODES_ONLY
    formerly = FORMERLY
    title: str = "untitled"
    cells: dict[str, Role]
    tree_version: int = 0
    digests: dict[str, CellDigest]
    rights_version: int = 0
    keepers: dict[str, int]
    lost: int = 0
    looked: int = 0

    # --- the tree -------------------------------------------------------------------------------

    @property
    def tree(self) -> Mapping[str, Role]:
        """The role of each cell; a place that nobody has divided is one leaf."""
        return self.cells or {ROOT: "leaf"}

    def _begin(self) -> None:
        if not self.cells:
            self.cells[ROOT] = "leaf"
            self.tree_version = 1

    @operation
    def divide(self, path: str) -> bool:
        """Quarter a cell; False when it is no leaf, or the place has as many as it may have.

        Former versions did so; nodes call `split` now.
        """
        self._begin()
        return len(self.cells) + 4 <= DIVIDED_MAX and self._split([path])

    @operation
    def split(self, paths: list[str]) -> bool:
        """Quarter cells, one after the other: each is a leaf, or was made by one before it.

        All or none: False when one is no leaf then, or the place has as many as it may have.
        """
        self._begin()
        return len(paths) <= SPLITS_MAX and self._split(paths)

    def _split(self, paths: list[str]) -> bool:
        """T1: a leaf becomes inner together with its four quarters becoming leaves."""
        roles: dict[str, Role] = {}
        for path in paths:
            role = roles.get(path) or self.cells.get(path)
            if role != "leaf" or len(path) > DEPTH_MAX:
                return False
            roles[path] = "inner"
            roles.update(dict.fromkeys(quarters(path), "leaf"))
        if not roles or len(self.cells) + len(roles.keys() - self.cells.keys()) > CELLS_MAX:
            return False
        self.cells.update(roles)
        self._changed(*roles)
        return True

    @operation
    def unite(self, path: str) -> bool:
        """Make four quarters one cell again; False when they are not four leaves."""
        four = quarters(path)
        if not is_path(path) or any(self.cells.get(one) != "leaf" for one in four):
            return False
        self.cells[path] = "leaf"
        for quarter in four:
            self.cells[quarter] = "out"
        self._changed(path, *four)
        return True

    def _changed(self, *cells: str) -> None:
        self.tree_version += 1
        for cell in cells:
            if self.cells[cell] != "leaf":
                self.digests.pop(cell, None)
        self.emit(TreeChanged(self.tree_version, cells))

    @operation
    def meet(self, paths: list[str]) -> None:
        """These cells are given something: those that are not of the tree pass it on (T2)."""
        self._begin()
        new = [path for path in dict.fromkeys(paths) if path not in self.cells]
        if not all(map(is_path, new)) or len(self.cells) + len(new) > 2 * CELLS_MAX:
            raise BadPathError("there can be no such cells, or too many")
        for path in new:
            self.cells[path] = "out"
        if new:
            self._changed(*new)

    # --- what is known from afar ----------------------------------------------------------------

    @operation
    def describe(self, path: str, digest: CellDigest) -> None:
        """What a cell looks like from afar, as somebody has it open now."""
        if self.tree.get(path) == "leaf":
            self.digests[path] = digest
            self.emit(Described((path,)))

    @operation
    def rename(self, title: str) -> None:
        """Set the place's name; BadChangeError, TooLargeError."""
        self.title = check_title(title)

    # --- who keeps it ---------------------------------------------------------------------------

    @operation
    def attend(self) -> None:
        """The calling process does its node's work for the place from now on."""
        process = self.context.process
        self.keepers[node_of(process)] = process.number
        self._begin()

    @operation
    def retire(self) -> None:
        """The calling process does so no more, and has left nothing undone."""
        self._ends(self.context.process)

    def on_departed(self, process: Process) -> None:
        """It does so no more; whether it has left something undone is to be looked for."""
        if self._ends(process):
            self.lost += 1

    def _ends(self, process: Process) -> bool:
        name = node_of(process)
        if self.keepers.get(name) != process.number:
            return False
        del self.keepers[name]
        return True

    @operation
    def searched(self, lost: int) -> None:
        """What so many nodes may have left undone has been looked for."""
        self.looked = max(self.looked, lost)

    # --- who may --------------------------------------------------------------------------------

    @operation
    def grant(self, principal: str, right: Right) -> None:
        """As `Guarded.grant`; the cells follow."""
        Guarded.grant.function(self, principal, right)
        self.rights_version += 1

    @operation
    def revoke(self, principal: str) -> None:
        """As `Guarded.revoke`; the cells follow."""
        Guarded.revoke.function(self, principal)
        self.rights_version += 1

    @operation
    def claim(self) -> None:
        """As `Guarded.claim`; the cells follow."""
        Guarded.claim.function(self)
        self.rights_version += 1

    @operation
    def entitle(self, version: int, rights: dict[str, Right]) -> None:
        """This is the whole list, as of this version of it; nothing, if a later one is known.

        For a server that has accounts of its own; LastManagerError when nobody manages it.
        """
        if Right.MANAGE not in rights.values():
            raise LastManagerError("a list needs somebody who manages it")
        if version > self.rights_version:
            self.rights_version, self.rights = version, rights

    def may_call(self, principal: str, operation: str) -> bool:
        """By the list; a place that nobody has claimed is everybody's.

        What nodes do for themselves, by nobody in particular.
        """
        if not self.rights:
            return True
        if operation in NODES_ONLY:
            return not principal
        return super().may_call(principal, operation)

    def may_read(self, principal: str) -> bool:
        """By the list; nodes, by nobody in particular, always."""
        return not principal or super().may_read(principal)
