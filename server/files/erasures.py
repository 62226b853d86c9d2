"""Which nodes have still to erase documents that were deleted for good: one shared object.

Idea. Who takes a document out of the cluster says so here, with all nodes that there were ever. A
node says when nothing of it is in its files any more (`server.files.eraser`). So one that was away
finds what it has to erase when it is back, and any node can say which one is awaited.

Invariants.
  E1  A document is listed until each node that was named, or has come while it was listed, has
      said that it has erased it, or somebody has said that the node's folder is no more.
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType

from groupcore.shared import operation
from server.administered import Administered

NAME = "erasures"
"""As what the object is opened."""
LISTED_MAX = 20_000
"""So many documents are listed, the last ones; the nodes erase the others, too, and say nothing."""


class Erasures(Administered):
    """`awaited`: the nodes that have still to erase a document, by its id, the oldest first.

    What is listed here is taken out of backups and pictures, so a node that only orders may not
    list anything.
    """

    formerly = MappingProxyType({"ad7bf7d6da7416b0": ("awaited",)})
    object_name = NAME

    awaited: dict[str, list[str]]

    def may_call(self, principal: str, operation: str) -> bool:
        """Nodes only."""
        del operation
        return not principal

    def may_read(self, principal: str) -> bool:
        """Nodes only."""
        return not principal

    @operation
    def begin(self, documents: list[str], nodes: list[str]) -> None:
        """These documents were taken out of the cluster: each of the nodes has to erase them."""
        for document in documents:
            self.awaited.pop(document, None)
            self.awaited[document] = sorted(set(nodes))
        while len(self.awaited) > LISTED_MAX:
            del self.awaited[next(iter(self.awaited))]

    @operation
    def also(self, node: str) -> None:
        """The node has come, and may have taken over something of what others erase just now."""
        for document, nodes in self.awaited.items():
            self.awaited[document] = sorted({*nodes, node})

    @operation
    def erased(self, node: str, documents: list[str]) -> None:
        """Nothing of these is in the node's files any more."""
        for document in documents:
            self._take(node, document)

    @operation
    def destroyed(self, node: str) -> int:
        """The node's folder is no more, somebody says: it is awaited for nothing. How many
        documents that were."""
        found = self.of(node)
        for document in found:
            self._take(node, document)
        return len(found)

    def _take(self, node: str, document: str) -> None:
        left = [one for one in self.awaited.get(document, ()) if one != node]
        if left:
            self.awaited[document] = left
        else:
            self.awaited.pop(document, None)

    def of(self, node: str) -> list[str]:
        """What the node has still to erase."""
        return [document for document, nodes in self.awaited.items() if node in nodes]

    def by_node(self) -> dict[str, int]:
        """How many documents each node has still to erase, of those that have any."""
        return dict(sorted(Counter(node for one in self.awaited.values() for node in one).items()))
