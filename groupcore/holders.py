"""How far a quorum of a view holds one sender's numbered batches: counted, with no messages."""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.view import Address, View


def held_by_quorum(
    view: View, sender: Address, sent: int, acknowledged: Mapping[Address, int], known: int
) -> int:
    """The number up to which the sender and others make a quorum that holds everything.

    `acknowledged`: for each other member the number up to which it holds everything. Only such
    cumulative numbers may count: what a member holds beyond a gap is not in the digest of its
    vote, so the next view would not learn of it. `known` is what was found before.
    """
    names = {sender.name}
    if view.is_quorum(names):
        return sent
    for member, received in sorted(acknowledged.items(), key=lambda item: -item[1]):
        if received <= known:
            break
        names.add(member.name)
        if view.is_quorum(names):
            return min(received, sent)
    return known
