"""Which nodes suffice to go on: what the world may take away, and whom it must heal at least.

The failure model promises nothing when too many disks are lost, and no progress without a quorum.
So the world looks at everything that is on disks and in memory before it takes a disk away, and
before it demands progress of a part of the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from groupcore.layers.membership import Membership
from groupcore.membership.attempt import Attempt
from groupcore.membership.seats import electors
from groupcore.membership.succession import is_quorum_of
from groupcore.stacks import read_record
from groupcore.view import View, is_quorum

if TYPE_CHECKING:
    from groupcore.sim.node import Node


def bases(nodes: Iterable[Node], known_to: Iterable[Node] = ()) -> list[View | None]:
    """What the next view may be the successor of: the newest, and those that may be decided.

    A view may be decided as soon as it is proposed, though its proposer lacks some of the cut and
    has not accepted it itself. None stands for a cluster that has never had a view.

    `known_to`: the newest is that which one of these knows. Who has accepted a view does not know
    whether it was decided, and nobody of them can tell; so these must be able to decide it again.
    """
    views = [view for node in nodes for view in known(node)]
    possible = [view for node in nodes for view in (*accepted(node), *proposed(node))]
    told = [view for node in known_to for view in known(node)] if known_to else views
    newest = max(told, key=lambda view: view.number, default=None)
    number = 0 if newest is None else newest.number
    later = {view.number: view for view in views if view.number > number}
    return [newest, *later.values(), *(view for view in possible if view.number > number)]


def known(node: Node) -> list[View]:
    """The views that this node knows to have been decided, by its memory and by its disk."""
    records = (read_record(lineage) for lineage in node.disk.lineages())
    stored = [record.view for record in records if record.view is not None]
    return stored if node.view is None else [node.view, *stored]


def accepted(node: Node) -> list[View]:
    """The views that this node has accepted, by its disk."""
    records = (read_record(lineage) for lineage in node.disk.lineages())
    return [record.accepted.view for record in records if record.accepted is not None]


def attempts(node: Node) -> list[Attempt]:
    """The attempt of this node to change the view, if there is one."""
    if node.endpoint is None:
        return []
    layers = [layer for layer in node.endpoint.stack.layers if isinstance(layer, Membership)]
    return [layer.proposer.attempt for layer in layers if layer.proposer.attempt is not None]


def proposed(node: Node) -> list[View]:
    """The view that this node asks others to accept now, if it does."""
    return [attempt.proposal.view for attempt in attempts(node) if attempt.proposal]


def undecided(node: Node) -> bool:
    """Whether this node tries to change the view and has not said yet to which one."""
    return any(not attempt.proposal for attempt in attempts(node))


def can_vote(node: Node, basis: View | None) -> bool:
    """Whether the node's disk is whole, knows this view, and holds the state that it began with."""
    disk = node.disk
    if disk.damaged or disk.spoilt or (disk.lineage is None and disk.wiped):
        return False
    if basis is None:
        return True
    record = read_record(disk.lineage)
    if record.rebuilding or record.number == basis.number:
        return not record.rebuilding
    if node.name in basis.absent:  # a blank disk looks as one that was lost
        return record.view is not None or record.accepted is not None
    if record.accepted is None or record.accepted.view.number != basis.number:
        return False
    holders = record.accepted.state_holders
    return not holders or node.name in {holder.name for holder in holders}


def will_be_void(node: Node, basis: View | None) -> bool:
    """Whether the node's life has yet to hear that a view before this one took it in.

    That may lie unread where a node was paused, or be on its way. Taken in without the state, it
    has no vote until it has got that (decision 87), and this view has gone on without it.
    """
    if basis is None or node.view is not None or not gets_state(node):
        return False
    number = read_record(node.disk.lineage).number
    return any(
        one.lineage == basis.lineage
        and number < one.number < basis.number
        and node.address in one.members
        and bool(one.holders)
        and node.address not in one.holders
        for one in node.trace.views
    )


def gets_state(node: Node) -> bool:
    """Whether a joiner of this node's kind has a state to get; of a dead one nothing is said."""
    if node.endpoint is None:
        return False
    layers = node.endpoint.stack.layers
    return any(layer.options.stateful for layer in layers if isinstance(layer, Membership))


def suffices(nodes: Sequence[Node], chosen: Iterable[Node]) -> bool:
    """Whether the chosen of these nodes can form the next view, whichever has been decided."""
    candidates = list(chosen)

    def voting(basis: View | None) -> list[str]:
        counting = [node for node in candidates if can_vote(node, basis)]
        return [node.name for node in counting if not will_be_void(node, basis)]

    return bool(candidates) and all(
        is_quorum_of(basis, voting(basis), len(nodes)) for basis in bases(nodes, candidates)
    )


def next_needs(nodes: Sequence[Node], without: Node) -> bool:
    """Whether the orderly view that somebody is about to propose needs this disk to go on.

    Who has voted for it and loses its disk before it is proposed is a voter in it all the same, and
    who has restarted since the former view has no vote in it until it has the state.
    """
    basis = max((node.view for node in nodes if node.view), key=lambda v: v.number, default=None)
    if basis is None or not any(undecided(node) for node in nodes):
        return False
    living = {node.address for node in nodes if node.view == basis and not is_rebuilt(node)}
    if not basis.is_quorum(member.name for member in living):
        return False
    leaving = {node.address for node in nodes if node.leaving}
    staying = [m for m in basis.members if m in living - leaving]
    left = {member.name for member in leaving}
    voters = electors(staying, {*staying}, [name for name in basis.voters if name not in left])
    whole = [member.name for member in staying if member.name != without.name]
    return bool(voters) and not is_quorum(voters, whole)


def has_voted(nodes: Sequence[Node], voter: Node) -> bool:
    """Whether somebody counts this node's vote for a view that is formed from disks.

    Who is proposed as one that has what the others lack is waited for, whatever becomes of its disk
    before it hears of that.
    """
    if any(node.view is not None for node in nodes):
        return False
    promised = read_record(voter.disk.lineage).promised
    return promised is not None and any(
        attempt.ballot == promised
        for node in nodes
        if undecided(node)
        for attempt in attempts(node)
    )


def is_rebuilt(node: Node) -> bool:
    """Whether the node's disk says that it has yet to get the state."""
    return read_record(node.disk.lineage).rebuilding


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
    return any(read_record(lineage).view is not None for lineage in node.disk.lineages())
