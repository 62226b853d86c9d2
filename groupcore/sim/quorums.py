"""Which nodes suffice to go on: what the world may take away, and whom it must heal at least.

The failure model promises nothing when too many disks are lost, and no progress without a quorum.
So the world looks at everything that is on disks and in memory before it takes a disk away, and
before it demands progress of a part of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from groupcore.layers.membership import Membership
from groupcore.membership.succession import is_quorum_of
from groupcore.stacks import read_record
from groupcore.view import View

if TYPE_CHECKING:
    from groupcore.sim.node import Node


def bases(nodes: Iterable[Node]) -> list[View | None]:
    """What the next view may be the successor of: the newest, and those that may be decided.

    A view may be decided as soon as it is proposed, though its proposer lacks some of the cut and
    has not accepted it itself. None stands for a cluster that has never had a view.
    """
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
        possible += proposed(node)
    newest = max(known, default=0)
    return [known.get(newest), *(view for view in possible if view.number > newest)]


def proposed(node: Node) -> list[View]:
    """The view that this node asks others to accept now, if it does."""
    if node.endpoint is None:
        return []
    layers = [layer for layer in node.endpoint.stack.layers if isinstance(layer, Membership)]
    attempts = [layer.proposer.attempt for layer in layers]
    return [attempt.proposal.view for attempt in attempts if attempt and attempt.proposal]


def undecided(node: Node) -> bool:
    """Whether this node tries to change the view and has not said yet to which one."""
    if node.endpoint is None:
        return False
    layers = [layer for layer in node.endpoint.stack.layers if isinstance(layer, Membership)]
    return any(one.proposer.attempt and not one.proposer.attempt.proposal for one in layers)


def can_vote(node: Node, basis: View | None) -> bool:
    """Whether the node's disk is whole, knows this view, and holds the state that it began with."""
    disk = node.disk
    if disk.damaged or (disk.lineage is None and disk.wiped):
        return False
    if basis is None:
        return True
    record = read_record(disk.lineage)
    if record.rebuilding or record.number == basis.number:
        return not record.rebuilding
    if record.accepted is None or record.accepted.view.number != basis.number:
        return False
    holders = record.accepted.state_holders
    return not holders or node.name in {holder.name for holder in holders}


def suffices(nodes: Sequence[Node], chosen: Iterable[Node]) -> bool:
    """Whether the chosen of these nodes can form the next view, whichever has been decided."""
    candidates = list(chosen)
    return all(
        is_quorum_of(basis, [n.name for n in candidates if can_vote(n, basis)], len(nodes))
        for basis in bases(nodes)
    )


def could_begin_anew(nodes: Sequence[Node], without: Node) -> bool:
    """Whether nodes that know of no view could form a first one if this disk were lost.

    An empty disk says that its node has never been in a view. While a cluster still grows, the new
    ones and a member that has lost its disk may be a majority of it, and take themselves for all.
    """
    if bases(nodes) == [None]:
        return False
    blank = [node for node in nodes if node is without or not knows_a_view(node)]
    return is_quorum_of(None, [node.name for node in blank], len(nodes))


def knows_a_view(node: Node) -> bool:
    """Whether the node's disk shows that there has been a view."""
    records = [read_record(lineage) for lineage in node.disk.lineages()]
    return any(record.view is not None for record in records)
