"""One group at a node: what is done there once, for all sessions that have it open.

A shared object has one copy a node (`groupcore.shared.body`), whoever has it open, and what is
heard in a presence is kept once. Topics have no state; each session has its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, get_origin

from groupcore.sequencing.events import (
    Deleted,
    Enrolled,
    Released,
    ServiceEvent,
    StateInstalled,
)
from groupcore.sequencing.names import GroupId, Order
from groupcore.shared.body import Body
from groupcore.shared.errors import ClosedError, DeletedError
from groupcore.shared.events import SharedEvent
from groupcore.shared.group import GroupPort, GroupUser
from groupcore.shared.object import SharedObject
from groupcore.shared.opening import crowd_of, user_of
from groupcore.shared.standing import Standing

if TYPE_CHECKING:
    from groupcore.shared.session import Home


class SitePort(GroupPort, Protocol):
    """A session in the group, as its site knows it."""

    user: GroupUser


class Site:
    """The group of the object `name` at this node. `tell` is given what objects say.

    `emptied` is called when nobody has it open any more and the service has let it go; `failed`
    with an exception that our own code has raised: the object is closed then. `begun` is called
    with the node's copy of the object as soon as there is one.
    """

    def __init__(
        self,
        name: str,
        kind: type[object],
        order: Order,
        tell: Callable[[SharedEvent], None],
        emptied: Callable[[Site], None],
        failed: Callable[[Site, Exception], None],
        begun: Callable[[str, Body[object]], None] = lambda name, body: None,
    ) -> None:
        self.name = name
        self.kind = kind
        self.order = order
        self.group: GroupId = 0
        self.body: Body[object] | None = None
        self._crowd = crowd_of(kind)
        self._ports: dict[SitePort, None] = {}
        self._standing: Standing | None = None
        self._is_held = False
        self._tell = tell
        self._emptied = emptied
        self._failed = failed
        self._begun = begun

    @property
    def ports(self) -> list[SitePort]:
        """The sessions that have it open."""
        return list(self._ports)

    def attach(self, port: SitePort) -> GroupUser:
        """A session opens it; gives what stands for the session."""
        origin = get_origin(self.kind) or self.kind
        self._ports[port] = None
        is_object = isinstance(origin, type) and issubclass(origin, SharedObject)
        if is_object and self.body is None:
            self.body = Body(self.kind, port)
            self._begun(self.name, self.body)
        return user_of(self.kind, port, self.body, self._crowd)

    def detach(self, port: SitePort) -> None:
        """The session has it open no more."""
        if port in self._ports:
            del self._ports[port]
            if not self._ports and self._standing is not None:
                self._standing.leave(self.group)
            self._maybe_emptied()

    def standing(self, home: Home) -> Standing:
        """The node's process in the group, for sessions that attend."""
        if self._standing is None:
            self._standing = Standing(home, lambda: bool(self._ports), self._maybe_emptied)
        return self._standing

    def interrupt(self) -> None:
        """The life of the node is over: nothing comes any more."""
        self._is_held = False
        if self._standing is not None:
            self._standing.interrupt()
        for port in self.ports:
            port.user.interrupt()
        self._maybe_emptied()

    def _maybe_emptied(self) -> None:
        is_entering = self._standing is not None and self._standing.is_entering
        if not self._ports and not self._is_held and not is_entering:
            self._emptied(self)

    def feed(self, event: ServiceEvent) -> None:
        """Hand an event on; a bug of ours ends that object only."""
        match event:
            case StateInstalled() | Enrolled():
                self._is_held = True
            case Released():
                self._is_held = False
            case Deleted():
                self._on_deleted()
                return
        try:
            said = self._feed(event)
        except Exception as error:
            self._failed(self, error)
            self._fail(ClosedError(f"{self.name} has failed"))
            said = []
        for one in said:
            self._tell(one)
        if isinstance(event, Released):
            self._maybe_emptied()

    def _on_deleted(self) -> None:
        """Whoever has it open is told so; whoever opens it from now on makes a new one."""
        self._is_held = False
        if self._standing is not None:
            self._standing.interrupt()
        for port in self.ports:
            port.user.end(DeletedError(f"{self.name} has been deleted"))
        self._maybe_emptied()

    def _feed(self, event: ServiceEvent) -> list[SharedEvent]:
        if self.body is not None:
            return self.body.feed(event)
        if self._crowd is not None:
            return self._crowd.feed(event)
        said: list[SharedEvent] = []
        for port in self.ports:
            said += port.user.feed(event)
        return said

    def _fail(self, error: Exception) -> None:
        if self.body is not None:
            self.body.fail(error)
        for port in self.ports:
            port.user.end(error)

    def copy_state(self) -> bytes | None:
        """The state as of the last event; None when there is none to give."""
        if self.body is not None:
            return None if self.body.error is not None else self.body.state()
        return b""
