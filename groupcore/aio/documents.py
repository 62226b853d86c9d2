"""Documents (`groupcore.shared.documents`) at a node, or in one of its sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import TypeVar
from uuid import uuid4

from groupcore.aio.objects import Node
from groupcore.sequencing.names import Process
from groupcore.shared.documents import Document, open_document
from groupcore.shared.session import Session

T = TypeVar("T")


class DocumentHost:
    """A node or a session, as what a document needs."""

    def __init__(self, place: Node | Session) -> None:
        self._place = place

    @property
    def process(self) -> Process:
        """As whom objects are opened."""
        return self._place.process

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        """Open a shared object."""
        return self._place.open(kind, name)

    def new_id(self) -> str:
        """An id that nobody else gives."""
        return uuid4().hex

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine until the node is closed."""
        home = self._place if isinstance(self._place, Node) else self._place.home
        home.runtime.spawn(coroutine)


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
    host = DocumentHost(place)
    groups = (place if isinstance(place, Node) else place.home).groups
    return await open_document(
        host,
        name,
        author=author,
        keep=keep,
        copies=copies,
        tend=tend,
        secure=groups.saved if groups.options.durable else None,
    )
