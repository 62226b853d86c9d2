"""A session as what a document needs of the program around it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

from groupcore.sequencing.names import Process
from groupcore.shared.session import Session

T = TypeVar("T")


class SessionHost:
    """The `Host` of a document that is open in this session. `new_id` gives an id a call."""

    def __init__(self, session: Session, new_id: Callable[[], str]) -> None:
        self._session = session
        self._new_id = new_id

    @property
    def process(self) -> Process:
        """See `Host`."""
        return self._session.process

    def open(self, kind: type[T], name: str) -> Awaitable[T]:
        """See `Host`."""
        return self._session.open(kind, name)

    def new_id(self) -> str:
        """See `Host`."""
        return self._new_id()

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        """See `Host`."""
        self._session.home.runtime.spawn(coroutine)
