"""Documents (`groupcore.shared.documents`) at a node, or in one of its sessions."""

from __future__ import annotations

from uuid import uuid4

from groupcore.aio.objects import Node
from groupcore.shared.documents import Document, open_document
from groupcore.shared.documents.hosting import SessionHost
from groupcore.shared.session import Session


def new_id() -> str:
    """An id for a block that nobody else gives."""
    return uuid4().hex


async def open_document_at(
    place: Node | Session,
    name: str,
    *,
    author: str = "",
    keep: bool = False,
    copies: int = 1,
    tend: bool = True,
) -> Document:
    """Open the document of this name at a node, or in a session; see `open_document`.

    Where nodes have a folder, no text is forgotten by who gave it before it is on a quorum's disks.
    """
    session = place.own if isinstance(place, Node) else place
    groups = session.home.groups
    return await open_document(
        SessionHost(session, new_id),
        name,
        author=author,
        keep=keep,
        copies=copies,
        tend=tend,
        secure=groups.saved if groups.options.durable else None,
    )
