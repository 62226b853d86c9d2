"""Which documents a node keeps: those that its pages or requests have in hand, and for a while
afterwards.

Idea. That of `groupcore.shared.keeping`: a document is opened in a session of its own, its outline
at once, its blocks behind that.

`copies` is 1: a text that one block has given to another one is forgotten by the first when it is
saved in the second. Every node with a log has the messages of all groups there, members or not, so
it does not matter how many have the block open.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from groupcore.shared.changes import Change
from groupcore.shared.documents.document import Document, open_document
from groupcore.shared.documents.hosting import SessionHost
from groupcore.shared.documents.parts import node_of
from groupcore.shared.keeping import LINGER_S, Keeping, Node
from groupcore.shared.object import caught_up
from groupcore.shared.runtime import elapse
from groupcore.shared.session import Session
from groupcore.shared.streams import Stream

OnTitle = Callable[[str, str], None]


class Keeper(Keeping[Document]):
    """Keeps documents open at `node`; `on_title(doc, title)` is told titles, by one node.

    `new_id` gives ids for new blocks. `rest_s`: between two messages in which a document's outline
    is told what blocks have become (`groupcore.shared.documents.describing`).
    """

    def __init__(
        self,
        node: Node,
        new_id: Callable[[], str],
        on_title: OnTitle = lambda doc, title: None,
        linger_s: float = LINGER_S,
        rest_s: float = 0.0,
    ) -> None:
        super().__init__(node, linger_s)
        self._rest_s = rest_s
        self._new_id = new_id
        self._on_title = on_title

    @property
    def documents(self) -> dict[str, Document]:
        """What is open here now, by id."""
        return self.kept

    @asynccontextmanager
    async def reading(self, doc: str) -> AsyncIterator[Document]:
        """Hold a document that is of now, also at a node that has just come back to its cluster.

        There objects show states that lead to the one of now until they are open again.
        """
        async with self.holding(doc) as document:
            await caught_up(document.outline, *document.blocks.values())
            yield document

    async def _begin_in(self, session: Session, name: str) -> Document:
        groups = session.home.groups
        secure = groups.saved if groups.options.durable else None
        document = await open_document(SessionHost(session, self._new_id), name, secure=secure)
        if self._rest_s > 0:
            rest = partial(elapse, self._node.runtime, self._rest_s)
            document.tender.describing.rest = rest
        document.keep()
        return document

    def _follow(self, name: str, found: Document) -> Stream[Change]:
        stream = found.outline.changes()
        stream.tap = lambda _: self._tell_title(name, found)
        self._tell_title(name, found)
        return stream

    def _tell_title(self, doc: str, document: Document) -> None:
        """The oldest of those who tend the document says what it is called."""
        outline = document.outline
        if outline.tenders[:1] == [node_of(document.outline.process)]:
            self._on_title(doc, outline.title)

    def _stop(self, found: Document) -> None:
        found.attending.end()
