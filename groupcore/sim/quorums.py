"""Which nodes suffice to go on: what the world may take away, and whom it must heal at least.

The failure model promises nothing when too many disks are lost, and no progress without a quorum.
So the world looks at everything that is on disks and in memory before it takes a disk away, and
before it demands progress of a part of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from groupcore.membership.succession import is_quorum_of
from groupcore.stacks import read_record
from groupcore.view import View

if TYPE_CHECKING:
    from groupcore.sim.node import Node


def bases(nodes: Iterable[Node]) -> list[View]:
    """The views of which the next one may be the successor: the newest, and those that may be."""
    known: dict[int, View] = {}
    possible: list[View] = []
    for node in nodes:
        if node.view is not None:
            known[node.view.number] = node.view
        for lineage in node.disk.lineages():
            record = read_record(lineage)
            if record.view is not None:
                known[record.number] = record.view
            if record.accepted is not None:
                possible.append(record.accepted.view)
    newest = max(known, default=0)
    return [
        *(view for number, view in known.items() if number == newest),
        *(view for view in possible if view.number > newest),
    ]


def can_vote(node: Node) -> bool:
    """Whether the node's disk is whole, and holds the state of its last view."""
    disk = node.disk
    if disk.damaged or (disk.lineage is None and disk.wiped):
        return False
    return not read_record(disk.lineage).rebuilding


def suffices(nodes: Sequence[Node], chosen: Iterable[Node]) -> bool:
    """Whether the chosen of these nodes can form the next view, whichever has been decided."""
    names = [node.name for node in chosen if can_vote(node)]
    views: list[View | None] = [*bases(nodes)]
    return all(is_quorum_of(view, names, len(nodes)) for view in views or [None])
