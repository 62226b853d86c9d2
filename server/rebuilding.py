"""Which classes the objects of a server's groups have: what rebuilding them from a log takes."""

from __future__ import annotations

from collections.abc import Mapping

from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.object import SharedObject
from groupcore.shared.places import Cell, PlaceOutline, PlaceTalk
from groupcore.shared.places.talk import TALK
from server.accounts.accounts import NAME as ACCOUNTS
from server.accounts.accounts import Accounts
from server.charter import NAME as CHARTERS
from server.charter import Charters
from server.documents.catalogue import NAME, NODES, Catalogue, Nodes
from server.files.activity import NAME as ACTIVITY
from server.files.activity import Activity
from server.files.erasures import NAME as ERASURES
from server.files.erasures import Erasures
from server.pictures.register import NAME as PICTURES
from server.pictures.register import Pictures

KINDS: Mapping[str, type[SharedObject]] = {
    NAME: Catalogue,
    NODES: Nodes,
    CHARTERS: Charters,
    ACCOUNTS: Accounts,
    ACTIVITY: Activity,
    ERASURES: Erasures,
    PICTURES: Pictures,
}
"""What the server's own groups are; documents and places have names of their own."""
DOCUMENTS, PLACES = "doc/", "place/"


def kind_of(name: str) -> type[SharedObject] | None:
    """The class of the object that a group of this name is; None for what has no state."""
    if name.startswith(DOCUMENTS):
        return Block if name.count("/") > 1 else DocumentOutline
    if name.startswith(PLACES):
        part = name.count("/") > 1
        return PlaceOutline if not part else PlaceTalk if name.endswith(f"/{TALK}") else Cell
    return KINDS.get(name)
