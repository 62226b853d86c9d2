"""Which documents a node keeps: those that its pages or requests have in hand, and for a while
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
  K3  What nobody holds is closed after `linger_s`, and at no time before; what is no more (`drop`)
      at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from groupcore.errors import GroupcoreError
from groupcore.shared.changes import Change
from groupcore.shared.documents.document import Document, open_document
from groupcore.shared.documents.hosting import SessionHost
from groupcore.shared.documents.parts import node_of
from groupcore.shared.errors import ClosedError
from groupcore.shared.object import caught_up
from groupcore.shared.pending import Pending
from groupcore.shared.runtime import Runtime, done_within, elapse
from groupcore.shared.session import Session
from groupcore.shared.session_port import OPENING_S
from groupcore.shared.streams import Stream

LINGER_S = 60.0
"""How long a document stays open at a node where nobody holds it."""

OnTitle = Callable[[str, str], None]


class Node(Protocol):
    """What a keeper needs of its node."""

    @property
    def runtime(self) -> Runtime:
        """What runs coroutines there."""

    def session(self) -> Session:
        """A new session; ClosedError, ChannelClosedError."""


@dataclass(slots=True)
class _Held:
    """A document that is open, or being opened or closed."""

    opening: Pending[Document]
    session: Session | None = None
    stream: Stream[Change] | None = None
    timer: Callable[[], None] | None = None
    """Calls off what closes it when nobody has held it for a while."""
    closing: Pending[None] | None = None
    document: Document | None = field(default=None)


class Keeper:
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
        self.linger_s = linger_s
        self._rest_s = rest_s
        self._node = node
        self._new_id = new_id
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

    @property
    def is_closing(self) -> bool:
        """Whether a document is being closed."""
        return any(held.closing is not None for held in self._held.values())

    @asynccontextmanager
    async def holding(self, doc: str) -> AsyncIterator[Document]:
        """Hold a document for a while."""
        document = await self.hold(doc)
        try:
            yield document
        finally:
            self.let_go(doc)

    @asynccontextmanager
    async def reading(self, doc: str) -> AsyncIterator[Document]:
        """Hold a document that is of now, also at a node that has just come back to its cluster.

        There objects show states that lead to the one of now until they are open again.
        """
        async with self.holding(doc) as document:
            await caught_up(document.outline, *document.blocks.values())
            yield document

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
                await held.closing
            self._stop_timer(held)
            return await held.opening
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
        if held.opening.done and not self._ended:
            close = partial(self._close_soon, doc, held)
            held.timer = self._node.runtime.alarm(self.linger_s, close)
        else:  # who asked has gone before it was open
            self._close_soon(doc, held)

    def drop(self, doc: str) -> None:
        """The document is no more: it is closed at once, whoever holds it."""
        held = self._held.get(doc)
        if held is not None:
            self._close_soon(doc, held)

    @staticmethod
    def _stop_timer(held: _Held) -> None:
        if held.timer is not None:
            held.timer()
            held.timer = None

    # --- opening and closing --------------------------------------------------------------------

    def _begin(self, doc: str) -> _Held:
        opening = self._node.runtime.spawn(self._open(doc))
        held = self._held[doc] = _Held(opening)
        opening.when_done(partial(self._on_opened, doc, held))
        return held

    def _on_opened(self, doc: str, held: _Held) -> None:
        """K2: an opening that has failed is forgotten, so the next one begins anew."""
        if held.opening.error is None:
            held.document = held.opening.result()
        elif self._held.get(doc) is held and held.closing is None:
            del self._held[doc]

    async def _open(self, doc: str) -> Document:
        held = self._held[doc]
        session = held.session = self._node.session()
        groups = session.home.groups
        secure = groups.saved if groups.options.durable else None
        try:
            document = await open_document(SessionHost(session, self._new_id), doc, secure=secure)
            if self._rest_s > 0:
                rest = partial(elapse, self._node.runtime, self._rest_s)
                document.tender.describing.rest = rest
            document.keep()
            held.stream = document.outline.changes()
        except GeneratorExit:
            raise  # nobody runs it any more
        except BaseException:
            with suppress(GroupcoreError):
                await session.close()
            raise
        held.stream.tap = lambda _: self._tell_title(doc, document)
        self._tell_title(doc, document)
        return document

    def _tell_title(self, doc: str, document: Document) -> None:
        """The oldest of those who tend the document says what it is called."""
        outline = document.outline
        if outline.tenders[:1] == [node_of(document.outline.process)]:
            self._on_title(doc, outline.title)

    def _close_soon(self, doc: str, held: _Held) -> None:
        self._stop_timer(held)
        if held.closing is None:
            held.closing = self._node.runtime.spawn(self._close(doc, held))

    async def _close(self, doc: str, held: _Held) -> None:
        """Close all that was open for the document; K1 holds as holders wait for the end of it."""
        try:
            if held.stream is not None:
                held.stream.close()
            if held.document is not None:
                held.document.attending.end()
            if held.session is not None:
                with suppress(GroupcoreError):
                    await held.session.close()
            # Without its session an opening fails.
            await done_within(self._node.runtime, held.opening, OPENING_S)
            if held.stream is not None:
                held.stream.close()
        finally:
            if self._held.get(doc) is held:
                del self._held[doc]

    async def close(self) -> None:
        """Close everything; the node leaves."""
        self._ended = True
        for doc, held in list(self._held.items()):
            self._close_soon(doc, held)
        for closing in [one.closing for one in self._held.values() if one.closing is not None]:
            await closing
