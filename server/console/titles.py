"""What a group's name means to people: the title of the document that it is a part of."""

from __future__ import annotations

from server.documents.names import place_of
from server.node import Node


class Titles:
    """The titles of the documents that somebody may read: not all, for who runs a cluster."""

    def __init__(self, node: Node, principal: str) -> None:
        self._accounts, self._principal = node.accounts, principal
        self._listed = node.catalogue

    def of(self, name: str) -> str:
        """The title; empty for other groups, and for what is not theirs to read."""
        place = place_of(name)
        if self._listed is None or place is None or not place.doc:
            return ""
        listed = self._listed.get(place.doc)
        accounts = self._accounts
        if listed is None or accounts is None or not accounts.may_read(self._principal, place.doc):
            return ""
        return listed.title
