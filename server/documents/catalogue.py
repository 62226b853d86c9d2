"""The list of documents, as a shared object that every node has open.

A document is in the list once all of it is there; so who finds it can open it. Pages may read the
list, and change nothing in it: titles follow the documents' own.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.errors import GroupcoreError
from groupcore.objects.parsing import check_title, is_identifier
from groupcore.objects.refusal import BadChangeError
from groupcore.shared.operations import operation
from groupcore.shared.types import Map

NAME = "documents"
"""The catalogue is this object."""
NODES = "nodes"
"""The addresses of the nodes are this one."""


class TooManyDocumentsError(GroupcoreError):
    """The workspace holds as many documents as its settings allow; nothing was added."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A document: its title, and when it was made, in seconds since 1970."""

    title: str
    created_s: int


class Catalogue(Map[str, Listed]):
    """Id of each document, oldest first."""

    for_nodes = frozenset(
        {
            "add",
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
        if doc in self:
            return False
        if not is_identifier(doc):
            raise BadChangeError("a document's id must be 1 to 64 characters of A-Za-z0-9_-")
        if len(self) >= documents_max:
            raise TooManyDocumentsError(f"the workspace holds {documents_max} documents at most")
        self._put(doc, Listed(check_title(title), int(self.context.time_s)))
        return True

    @operation
    def retitle(self, doc: str, title: str) -> None:
        """The document has this title now; nothing when it is not in the list."""
        listed = self.get(doc)
        if listed is not None and listed.title != title:
            self._put(doc, Listed(check_title(title), listed.created_s))


class Nodes(Map[str, str]):
    """What browsers call each node that there was ever, by its id."""

    for_nodes = frozenset(
        {"clear", "compare_and_set", "delete", "pop", "set", "setdefault", "update"}
    )
