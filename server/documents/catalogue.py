"""The list of documents and places, as a shared object that every node has open.

An item is in the list once all of it is there; so who finds it can open it. Pages may read the
list, and change nothing in it: titles follow the items' own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from groupcore.errors import GroupcoreError
from groupcore.objects.parsing import check_title, is_identifier
from groupcore.objects.refusal import BadChangeError
from groupcore.shared.operations import operation
from groupcore.shared.types import Map
from server.administered import ADMINISTERED_BY, Administered

NAME = "documents"
"""The catalogue is this object."""
NODES = "nodes"
"""The addresses of the nodes are this one."""


DOCUMENT, PLACE = "document", "place"
"""What an item may be."""


class TooManyDocumentsError(GroupcoreError):
    """There are as many documents and places as the settings allow; nothing was added."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An item: its title, and when it was made, in seconds since 1970."""

    title: str
    created_s: int


FORMERLY: Mapping[str, tuple[str, ...]] = {
    "0dd7bd91aea9f659": ("_items",)
}  # before there were places
"""The fields of former versions, in their order, by the fingerprint of each."""


class Catalogue(Map[str, Listed]):
    """Id of each item, oldest first. `kinds`: what those are that are no documents."""

    formerly = FORMERLY
    kinds: dict[str, str]

    for_nodes = frozenset(
        {
            "add",
            "add_place",
            "mark",
            "retitle",
            "clear",
            "compare_and_set",
            "delete",
            "pop",
            "set",
            "setdefault",
            "update",
        }
    )

    @operation
    def add(self, doc: str, title: str, documents_max: int) -> bool:
        """Put a document into the list; False when it is there already, which changes nothing.

        TooManyDocumentsError above `documents_max`; BadChangeError, TooLargeError.
        """
        return self._add(doc, title, documents_max, DOCUMENT)

    @operation
    def add_place(self, doc: str, title: str, documents_max: int) -> bool:
        """As `add`, for a place: logs have calls of that as it was before there were places."""
        return self._add(doc, title, documents_max, PLACE)

    def _add(self, doc: str, title: str, documents_max: int, kind: str) -> bool:
        if doc in self:
            return False
        if not is_identifier(doc):
            raise BadChangeError("a document's id must be 1 to 64 characters of A-Za-z0-9_-")
        if len(self) >= documents_max:
            raise TooManyDocumentsError(f"the workspace holds {documents_max} documents at most")
        listed = Listed(check_title(title), int(self.context.time_s))
        self._mark(doc, kind)
        self._put(doc, listed)
        return True

    @operation
    def mark(self, docs: list[str], kind: str) -> None:
        """These items are of this kind; for who puts a list back. BadChangeError."""
        for doc in docs:
            self._mark(doc, kind)

    def _mark(self, doc: str, kind: str) -> None:
        if kind not in (DOCUMENT, PLACE):
            raise BadChangeError(f"nothing is of the kind {kind[:40]}")
        self.kinds.pop(doc, None)
        if kind != DOCUMENT:
            self.kinds[doc] = kind

    def _take(self, key: str) -> Listed:
        self.kinds.pop(key, None)
        return super()._take(key)

    def kind_of(self, doc: str) -> str:
        """What an item is; a document, where nothing else was said."""
        return self.kinds.get(doc, DOCUMENT)

    @operation
    def retitle(self, doc: str, title: str) -> None:
        """The document has this title now; nothing when it is not in the list."""
        listed = self.get(doc)
        if listed is not None and listed.title != title:
            self._put(doc, Listed(check_title(title), listed.created_s))


class Nodes(Administered, Map[str, str]):
    """What browsers call each node that there was ever, by its id.

    Pages go to these addresses, so a node that only orders may not add one of its own.
    """

    formerly = MappingProxyType({"902694291453db3e": ("_items",)})
    object_name = NODES
    for_nodes = frozenset(
        {"clear", "compare_and_set", "delete", "pop", "set", "setdefault", "update"}
        | ADMINISTERED_BY
    )
