"""Comparing the copies that nodes have of an object, in the test kit.

Copies that have done the same messages have to be one state, bit by bit. Those that are behind, as
their node is cut off or messages are under way, are compared when they have caught up.
"""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.shared.machine import digest_of
from groupcore.shared.replica import Replica

Replicas = Mapping[str, Replica[object]]
"""The copies of one object, by node."""


class Comparing:
    """Compares what has changed since it has looked last."""

    def __init__(self) -> None:
        self._looked: dict[str, dict[str, int]] = {}

    def find(self, name: str, replicas: Replicas) -> str | None:
        """What is wrong with the copies of this object; None when nothing is, or nothing new."""
        places = {node: replica.position for node, replica in replicas.items()}
        if self._looked.get(name) == places:
            return None
        self._looked[name] = places
        for position in sorted(set(places.values())):
            here = {node: one for node, one in replicas.items() if places[node] == position}
            if found := difference(name, here):
                return found
        return None


def difference(name: str, replicas: Replicas) -> str | None:
    """How these copies of an object differ, wherever they are; None when they do not."""
    states = {node: replica.packed() for node, replica in replicas.items()}
    if len(set(states.values())) < 2:
        return None
    places = {node: replica.position for node, replica in replicas.items()}
    hashes = {node: digest_of(state).hex() for node, state in states.items()}
    return f"replicas of {name} differ: positions {places}, hashes {hashes}"
