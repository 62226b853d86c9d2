"""Keeping what many objects make up open at a node: a document, a place.

Idea. Whoever needs one takes hold of it and lets go of it again. The first hold opens it, in a
session of its own that nobody else uses. Some time after the last one that session is closed, and
with it everything that was open in it. A hold that comes while the session is being closed waits
for that and opens it anew; so an opening never meets a closing.

Invariants.
  K1  What is held is open, or its opening has failed and every holder was told so.
  K2  A failed opening leaves nothing open.
  K3  What nobody holds is closed after `linger_s`, and at no time before; what is no more (`drop`)
      at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from groupcore.errors import GroupcoreError
from groupcore.shared.changes import Change
from groupcore.shared.errors import ClosedError
from groupcore.shared.pending import Pending
from groupcore.shared.runtime import Runtime, done_within
from groupcore.shared.session import Session
from groupcore.shared.session_port import OPENING_S
from groupcore.shared.streams import Stream

LINGER_S = 60.0
"""How long something stays open at a node where nobody holds it."""

T = TypeVar("T")


class Node(Protocol):
    """What a keeper needs of its node."""

    @property
    def runtime(self) -> Runtime:
        """What runs coroutines there."""

    def session(self) -> Session:
        """A new session; ClosedError, ChannelClosedError."""


@dataclass(slots=True)
class _Held(Generic[T]):
    """What is open, or being opened or closed."""

    opening: Pending[T]
    session: Session | None = None
    stream: Stream[Change] | None = None
    timer: Callable[[], None] | None = None
    """Calls off what closes it when nobody has held it for a while."""
    closing: Pending[None] | None = None
    found: T | None = None


class Keeping(Generic[T]):
    """Keeps things of one sort open at `node`, each under its name. What `_begin_in`, `_follow` and
    `_stop` do is the sort's own.
    """

    def __init__(self, node: Node, linger_s: float = LINGER_S) -> None:
        self.linger_s = linger_s
        self._node = node
        self._held: dict[str, _Held[T]] = {}
        self._holders: dict[str, int] = {}
        self._ended = False

    def __len__(self) -> int:
        """How many are open here."""
        return len(self._held)

    @property
    def kept(self) -> dict[str, T]:
        """What is open here now, by name."""
        return {name: held.found for name, held in self._held.items() if held.found is not None}

    @property
    def is_closing(self) -> bool:
        """Whether one is being closed."""
        return any(held.closing is not None for held in self._held.values())

    # --- what follows says ----------------------------------------------------------------------

    async def _begin_in(self, session: Session, name: str) -> T:
        """Open it in this session."""
        raise NotImplementedError

    def _follow(self, name: str, found: T) -> Stream[Change]:
        """It is open: follow it by this stream, which ends when it has failed here."""
        raise NotImplementedError

    def _stop(self, found: T) -> None:
        """Its session is about to be closed."""
        raise NotImplementedError

    # --- holding --------------------------------------------------------------------------------

    @asynccontextmanager
    async def holding(self, name: str) -> AsyncIterator[T]:
        """Hold it for a while."""
        found = await self.hold(name)
        try:
            yield found
        finally:
            self.let_go(name)

    async def hold(self, name: str) -> T:
        """Open it, or have it stay open, until `let_go` is called once for this.

        Raises what the opening raises, and ClosedError when the node leaves; then there is nothing
        to let go of.
        """
        self._holders[name] = self._holders.get(name, 0) + 1
        try:
            while True:
                if self._ended:
                    raise ClosedError("this node is leaving; ask another one")
                held = self._held.get(name)
                if held is None:
                    held = self._begin(name)
                if held.stream is not None and held.stream.ended:  # it has failed here: anew
                    self._close_soon(name, held)
                if held.closing is None:
                    break
                await held.closing
            self._stop_timer(held)
            return await held.opening
        except BaseException:
            self.let_go(name)
            raise

    def let_go(self, name: str) -> None:
        """One of the holders needs it no more."""
        self._holders[name] -= 1
        if self._holders[name]:
            return
        del self._holders[name]
        held = self._held.get(name)
        if held is None or held.closing is not None:
            return
        if held.opening.done and not self._ended:
            close = partial(self._close_soon, name, held)
            held.timer = self._node.runtime.alarm(self.linger_s, close)
        else:  # who asked has gone before it was open
            self._close_soon(name, held)

    def drop(self, name: str) -> None:
        """It is no more: it is closed at once, whoever holds it."""
        held = self._held.get(name)
        if held is not None:
            self._close_soon(name, held)

    @staticmethod
    def _stop_timer(held: _Held[T]) -> None:
        if held.timer is not None:
            held.timer()
            held.timer = None

    # --- opening and closing --------------------------------------------------------------------

    def _begin(self, name: str) -> _Held[T]:
        opening = self._node.runtime.spawn(self._open(name))
        held = self._held[name] = _Held(opening)
        opening.when_done(partial(self._on_opened, name, held))
        return held

    def _on_opened(self, name: str, held: _Held[T]) -> None:
        """K2: an opening that has failed is forgotten, so the next one begins anew."""
        if held.opening.error is None:
            held.found = held.opening.result()
        elif self._held.get(name) is held and held.closing is None:
            del self._held[name]

    async def _open(self, name: str) -> T:
        held = self._held[name]
        session = held.session = self._node.session()
        try:
            found = await self._begin_in(session, name)
        except GeneratorExit:
            raise  # nobody runs it any more
        except BaseException:
            with suppress(GroupcoreError):
                await session.close()
            raise
        held.stream = self._follow(name, found)
        return found

    def _close_soon(self, name: str, held: _Held[T]) -> None:
        self._stop_timer(held)
        if held.closing is None:
            held.closing = self._node.runtime.spawn(self._close(name, held))

    async def _close(self, name: str, held: _Held[T]) -> None:
        """Close all that was open for it; K1 holds as holders wait for the end of it."""
        try:
            if held.stream is not None:
                held.stream.close()
            if held.found is not None:
                self._stop(held.found)
            if held.session is not None:
                with suppress(GroupcoreError):
                    await held.session.close()
            # Without its session an opening fails.
            await done_within(self._node.runtime, held.opening, OPENING_S)
            if held.stream is not None:
                held.stream.close()
        finally:
            if self._held.get(name) is held:
                del self._held[name]

    async def close(self) -> None:
        """Close everything; the node leaves."""
        self._ended = True
        for name, held in list(self._held.items()):
            self._close_soon(name, held)
        for closing in [one.closing for one in self._held.values() if one.closing is not None]:
            await closing
