"""Whose memory the groups live in: what the world may take away, and what it must leave.

What a group's messages are is kept by a quorum of the view, in memory only. So nobody may crash
without whom the others in the newest view are no quorum of it, and a node that has crashed comes
back only when the others have gone on without its former life: before that its vote would count
though it has forgotten everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groupcore.sim.node import Node
from groupcore.sim.quorums import bases


def remembers(nodes: Sequence[Node], chosen: Iterable[Node]) -> bool:
    """Whether the chosen of these nodes can go on with all that was agreed to.

    They may have accepted a view of which only others know that it was decided: then they have to
    decide it again, as members of the one before.
    """
    staying = [node for node in chosen if node.alive and not node.leaving]
    lives = [node.address for node in staying]
    return all(
        basis is None or basis.is_quorum(life.name for life in lives if life in basis.members)
        for basis in bases(nodes, staying)
    )


def is_missed(nodes: Sequence[Node], node: Node) -> bool:
    """Whether a view still counts on the former life of a node that has none now.

    Nothing is remembered before the first view, and without this node it may never be decided.
    """
    newest, *possible = bases(nodes)
    if newest is None:
        return False
    return any(
        member.name == node.name
        for basis in (newest, *possible)
        if basis
        for member in basis.members
    )
