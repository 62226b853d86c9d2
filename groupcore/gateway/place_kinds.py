"""How places, their cells and their chats look to a browser.

A page has a twin of each cell that it has open, and does there what the nodes do: it is told each
operation that was done, with what decides what it does beside the state (docs/places.md). So a
change of a cell is as small as what was asked. Things travel as arrays of their fields, as they do
in calls.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.sequencing.names import Process
from groupcore.shared.declaration import OperationSpec
from groupcore.shared.machine import Machine
from groupcore.shared.object import SharedObject, declaration
from groupcore.shared.operation_context import has_node_of
from groupcore.shared.places import Cell, PlaceOutline, PlaceTalk
from groupcore.shared.places.digest import CellDigest
from groupcore.shared.places.outline import Described, TreeChanged
from groupcore.shared.places.parts import Acted
from groupcore.shared.places.talk import Remark, Remarked, Withdrawn

HIDDEN = frozenset({"rights", "rights_version"})
"""What is not shown of a cell: who may what."""
UNTOLD = frozenset({"follow"})
"""Operations that change nothing else."""


def cell(target: SharedObject, _base: int) -> object:
    """The whole state, by the names of the fields; tables as pairs in their order."""
    assert isinstance(target, Cell)
    return {
        name.removeprefix("_"): field.codec.kept_to_wire(getattr(target, name))
        for name, field in declaration(target).fields.items()
        if name not in HIDDEN
    }


def cell_told(
    machine: Machine,
    process: Process,
    spec: OperationSpec | None,
    arguments: list[object],
    details: tuple[object, ...],
) -> list[object]:
    """What a twin needs to do the same: arguments, the order's time, whether who asked is in the
    group, and in whose name a thing was operated.
    """
    if spec is not None and spec.name in UNTOLD:
        return []
    acting = next((one.who for one in details if isinstance(one, Acted)), "")
    wire = [] if spec is None else spec.encode(arguments, {})
    return [[wire, machine.time_ms, has_node_of(process, machine.members), acting]]


def outline(target: SharedObject, _base: int) -> object:
    """Name, tree, and what the leaves look like from afar."""
    assert isinstance(target, PlaceOutline)
    return {
        "title": target.title,
        "version": target.tree_version,
        "tree": [list(pair) for pair in target.tree.items()],
        "far": [far(path, digest) for path, digest in target.digests.items()],
    }


def far(path: str, digest: CellDigest) -> list[object]:
    """What a cell looks like from afar."""
    sides = [digest.left, digest.top, digest.right, digest.bottom]
    return [path, digest.count, sides, list(digest.colours)]


def outline_told(
    machine: Machine,
    process: Process,
    spec: OperationSpec | None,
    arguments: list[object],
    details: tuple[object, ...],
) -> list[object]:
    """What has changed of it."""
    del process, arguments
    target = machine.target
    assert isinstance(target, PlaceOutline)
    told: list[object] = []
    if spec is not None and spec.name == "rename":
        told.append(["title", target.title])
    for detail in details:
        match detail:
            case TreeChanged():
                told.append(["tree", detail.version, _roles(target.tree, detail.cells)])
            case Described():
                known = target.digests
                told.append(["far", [far(one, known[one]) for one in detail.cells if one in known]])
    return told


def _roles(tree: Mapping[str, str], cells: tuple[str, ...]) -> list[object]:
    return [[one, tree[one]] for one in cells]


def talk(target: SharedObject, _base: int) -> object:
    """All remarks, oldest first."""
    assert isinstance(target, PlaceTalk)
    return {"remarks": [_remark(one) for one in target.remarks.values()]}


def talk_detail(detail: object) -> object:
    """One more remark, with those that it drove out; or those that were taken away."""
    match detail:
        case Remarked():
            return ["said", _remark(detail.remark), list(detail.dropped)]
        case Withdrawn():
            return ["gone", list(detail.remarks)]
    return None


def _remark(one: Remark) -> list[object]:
    return [one.id, one.author, one.name, one.time_ms, one.text]
