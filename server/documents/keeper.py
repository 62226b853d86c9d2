"""Which documents this node keeps: those that its pages or requests have in hand, and for a while
afterwards.

Idea. Whoever needs a document takes hold of it and lets go of it again. The first hold opens it,
in a session of its own that nobody else uses: its outline at once, its blocks behind that. Some
time after the last one that session is closed, and with it everything that was open for the
document. A hold that comes while the session is being closed waits for that and opens the document
anew; so an opening never meets a closing.

`copies` is 1: a text that one block has given to another one is forgotten by the first when it is
saved in the second. Every node with a log has the messages of all groups there, members or not, so
it does not matter how many have the block open.

Invariants.
  K1  A document that is held is open, or its opening has failed and every holder was told so.
  K2  A failed opening leaves nothing open.
  K3  What nobody holds is closed after `linger_s`, and at no time before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from groupcore.aio import Node, Session
from groupcore.aio.documents import open_document_at
from groupcore.errors import GroupcoreError
from groupcore.shared.changes import Change
from groupcore.shared.documents import Document
from groupcore.shared.documents.parts import node_of
from groupcore.shared.errors import ClosedError
from groupcore.shared.streams import Stream

logger = logging.getLogger("server")

LINGER_S = 60.0
"""How long a document stays open here that nobody holds."""

OnTitle = Callable[[str, str], None]


@dataclass(slots=True)
class _Held:
    """A document that is open, or being opened or closed."""

    opening: asyncio.Task[Document]
    session: Session | None = None
    stream: Stream[Change] | None = None
    timer: asyncio.TimerHandle | None = None
    closing: asyncio.Task[None] | None = None
    document: Document | None = field(default=None)


class Keeper:
    """Keeps documents open at `node`; `on_title(doc, title)` is told titles, by one node."""

    def __init__(
        self,
        node: Node,
        on_title: OnTitle = lambda doc, title: None,
        linger_s: float = LINGER_S,
    ) -> None:
        self.linger_s = linger_s
        self._node = node
        self._on_title = on_title
        self._held: dict[str, _Held] = {}
        self._holders: dict[str, int] = {}
        self._ended = False

    def __len__(self) -> int:
        """Documents that are open here."""
        return len(self._held)

    @property
    def documents(self) -> dict[str, Document]:
        """What is open here now, by id."""
        return {doc: held.document for doc, held in self._held.items() if held.document is not None}

    @asynccontextmanager
    async def holding(self, doc: str) -> AsyncIterator[Document]:
        """Hold a document for a while."""
        document = await self.hold(doc)
        try:
            yield document
        finally:
            self.let_go(doc)

    async def hold(self, doc: str) -> Document:
        """Open the document, or have it stay open, until `let_go` is called once for this.

        Raises what the opening raises, and ClosedError when the node leaves; then there is nothing
        to let go of.
        """
        self._holders[doc] = self._holders.get(doc, 0) + 1
        try:
            while True:
                if self._ended:
                    raise ClosedError("this node is leaving; ask another one")
                held = self._held.get(doc)
                if held is None:
                    held = self._begin(doc)
                if held.stream is not None and held.stream.ended:  # it has failed here: anew
                    self._close_soon(doc, held)
                if held.closing is None:
                    break
                await asyncio.wait([held.closing])
            if held.timer is not None:
                held.timer.cancel()
                held.timer = None
            return await asyncio.shield(held.opening)
        except BaseException:
            self.let_go(doc)
            raise

    def let_go(self, doc: str) -> None:
        """One of the holders needs the document no more."""
        self._holders[doc] -= 1
        if self._holders[doc]:
            return
        del self._holders[doc]
        held = self._held.get(doc)
        if held is None or held.closing is not None:
            return
        if held.opening.done() and not self._ended:
            loop = asyncio.get_running_loop()
            held.timer = loop.call_later(self.linger_s, self._close_soon, doc, held)
        else:  # who asked has gone before it was open
            self._close_soon(doc, held)

    # --- opening and closing --------------------------------------------------------------------

    def _begin(self, doc: str) -> _Held:
        loop = asyncio.get_running_loop()
        held = self._held[doc] = _Held(loop.create_task(self._open(doc)))
        held.opening.add_done_callback(lambda opening: self._on_opened(doc, held, opening))
        return held

    def _on_opened(self, doc: str, held: _Held, opening: asyncio.Task[Document]) -> None:
        """K2: an opening that has failed is forgotten, so the next one begins anew."""
        if opening.cancelled() or opening.exception() is not None:
            if self._held.get(doc) is held:
                del self._held[doc]
            return
        held.document = opening.result()

    async def _open(self, doc: str) -> Document:
        session = self._node.session()
        try:
            document = await open_document_at(session, doc)
        except BaseException:
            with suppress(GroupcoreError):
                await session.close()
            raise
        held = self._held[doc]
        document.keep()
        held.session, held.stream = session, document.outline.changes()
        held.stream.tap = lambda _: self._tell_title(doc, document)
        self._tell_title(doc, document)
        return document

    def _tell_title(self, doc: str, document: Document) -> None:
        """The oldest of those who tend the document says what it is called."""
        outline = document.outline
        if outline.tenders[:1] == [node_of(document.outline.process)]:
            self._on_title(doc, outline.title)

    def _close_soon(self, doc: str, held: _Held) -> None:
        if held.timer is not None:
            held.timer.cancel()
            held.timer = None
        if held.closing is None:
            held.closing = asyncio.get_running_loop().create_task(self._close(doc, held))

    async def _close(self, doc: str, held: _Held) -> None:
        """Close all that was open for the document; K1 holds as holders wait for the end of it."""
        held.opening.cancel()
        await asyncio.wait([held.opening])
        try:
            if held.stream is not None:
                held.stream.close()
            if held.document is not None:
                held.document.tender.ended = True
            if held.session is not None:
                await held.session.close()
        except GroupcoreError as error:
            logger.debug("closing %s: %s", doc, error)
        finally:
            if self._held.get(doc) is held:
                del self._held[doc]

    async def close(self) -> None:
        """Close everything; the node leaves."""
        self._ended = True
        for doc, held in list(self._held.items()):
            self._close_soon(doc, held)
        closing = [held.closing for held in self._held.values() if held.closing is not None]
        if closing:
            await asyncio.wait(closing)
