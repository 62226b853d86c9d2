"""Generations of a node's folder: what tells an older copy of it from the folder itself.

Idea. A node counts states of its folder and tells the others of one when it is on disk. The others
keep the highest that they have heard in their own records. A folder that is put back from a copy
has a lower one than its node has told: then it lacks what the node has stored since, and what it
has promised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Generation(NamedTuple):
    """A node's folder as of the `number`-th time that its life of this incarnation counted it."""

    name: str = ""
    life: int = 0
    number: int = 0

    def is_before(self, other: Generation) -> bool:
        """Whether a folder of this generation lacks something of one of the other."""
        return (self.life, self.number) < (other.life, other.number)


UNCOUNTED = Generation()
"""Of a folder of which nothing has been told."""


def newest(generations: Iterable[Generation]) -> dict[str, Generation]:
    """The highest of each node, by its name."""
    highest: dict[str, Generation] = {}
    for one in generations:
        known = highest.get(one.name)
        if known is None or known.is_before(one):
            highest[one.name] = one
    return highest
