"""The document at a simulated node: open as long as somebody there needs it, and a while longer.

On virtual time what `server.documents.keeper` is on an asyncio loop, for one document.
"""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, cast

from groupcore.errors import GroupcoreError
from groupcore.objects.refusal import NoSuchBlockError
from groupcore.sequencing.names import Process
from groupcore.shared.changes import Change
from groupcore.shared.documents import Document, open_document
from groupcore.shared.pending import Pending
from groupcore.shared.session import Session
from groupcore.shared.streams import Stream

if TYPE_CHECKING:
    from groupcore.sim.documents.program import Program

T = TypeVar("T")

NAME = "plan"
LINGER_S = 0.4
"""How long it stays open here when nobody holds it."""
POLL_S = 0.02
BLOCK_WAIT_S = 2.0
"""How long who asks for a block waits until the node knows it."""


class Desk:
    """A session, as what a document needs (`groupcore.shared.documents.Host`)."""

    def __init__(self, program: Program, session: Session) -> None:
        self._program = program
        self._session = session

    @property
    def process(self) -> Process:
        """As whom objects are opened."""
        return self._session.process

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        """Open a shared object."""
        return self._session.open(kind, name)

    def new_id(self) -> str:
        """An id that nobody else gives."""
        return self._program.new_id()

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """Run a coroutine beside the others."""
        self._program.tasks.spawn(cast("Coroutine[object, None, None]", coroutine))


class Keeping:
    """The document of `program`'s node."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._holders = 0
        self._turn = 0
        self._opening: Pending[Document] | None = None
        self._closing: Pending[None] | None = None
        self._session: Session | None = None
        self._stream: Stream[Change] | None = None
        self.document: Document | None = None

    @property
    def is_closing(self) -> bool:
        """Whether it is being closed."""
        return self._closing is not None

    async def hold(self) -> Document:
        """Have the document open until `let_go` is called once for this."""
        self._holders += 1
        self._turn += 1
        try:
            while True:
                if self._stream is not None and self._stream.ended:  # it has failed here: anew
                    self._close_soon()
                if self._closing is not None:
                    await self._closing
                    continue
                if self._opening is None:
                    self._opening = self._program.tasks.spawn(self._open())
                return await self._opening
        except GroupcoreError:
            self.let_go()
            raise

    def let_go(self) -> None:
        """One who held it needs it no more."""
        self._holders -= 1
        turn = self._turn
        if self._holders == 0:
            self._program.tasks.after(LINGER_S, lambda: self._maybe_close(turn))

    def _maybe_close(self, turn: int) -> None:
        if self._holders == 0 and self._turn == turn:
            self._close_soon()

    async def _open(self) -> Document:
        session = self._program.session()
        try:
            desk = Desk(self._program, session)
            document = await open_document(desk, NAME, secure=self._program.saved)
        except GroupcoreError:
            self._opening = None
            with suppress(GroupcoreError):
                await session.close()
            raise
        document.keep()
        self._session, self._stream = session, document.outline.changes()
        self._stream.tap = lambda change: None
        self.document = document
        return document

    def _close_soon(self) -> None:
        if self._closing is None and self._opening is not None:
            self._closing = self._program.tasks.spawn(self._close(self._opening))

    async def _close(self, opening: Pending[Document]) -> None:
        with suppress(GroupcoreError):
            await opening
        if self._stream is not None:
            self._stream.close()
        if self.document is not None:
            self.document.tender.ended = True
        session = self._session
        self._stream = self._session = self.document = self._opening = None
        if session is not None:
            with suppress(GroupcoreError):
                await session.close()
        self._closing = None

    async def have_block(self, document: Document, block: str) -> None:
        """The block's text is in its group, not in the outline any more; NoSuchBlockError."""
        for _ in range(int(BLOCK_WAIT_S / POLL_S)):
            if _is_known(document, block):
                if block in document.outline.seeds:
                    await document.block(block)
                elif block not in document.blocks:
                    await document.group(block)
                return
            await self._program.tasks.elapse(POLL_S)
        raise NoSuchBlockError(f"there is no block {block}")


def _is_known(document: Document, block: str) -> bool:
    outline = document.outline
    if block in outline.entries or block in outline.gone or block in document.blocks:
        return True
    return any(block in one.owes for one in document.blocks.values())
