"""Sessions of a simulated node: processes with the objects that they have open.

On virtual time what `groupcore.aio.sessions` is on an asyncio loop.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, TypeVar, cast

from groupcore.errors import GroupcoreError, GroupRefusedError
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.service import Service
from groupcore.shared.errors import ClosedError, RefusedError
from groupcore.shared.group import GroupUser
from groupcore.shared.opening import order_of
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.site import Site
from groupcore.shared.tasks import wait
from groupcore.sim.documents.lifetime import Lifetime

T = TypeVar("T")

OPENING_S = 2.0
"""How long who closes an object waits for its opening."""
REJOIN_S = 0.02
"""Pause before a process that has just left a group asks again to join it."""


class Home(Protocol):
    """What a session needs of its node's program."""

    tasks: Lifetime

    @property
    def service(self) -> Service:
        """The present life's service."""

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        """The group of this name at the node."""

    async def find_group(self, site: Site) -> None:
        """See that the group exists; GroupRefusedError."""

    async def join(self, process: Process, group: GroupId) -> None:
        """JOIN-GROUP; GroupRefusedError."""

    def send(self, process: Process, group: GroupId, payload: bytes) -> int:
        """DO-MULTICAST."""

    def wake_soon(self) -> None:
        """Something was asked of the service."""

    def now_s(self) -> float:
        """The node's clock."""

    def forget(self, session: Session) -> None:
        """The session has ended."""


class Session:
    """One process of a node."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.process = home.service.open_process()
        self.ended = False
        self._ports: dict[str, Port] = {}

    async def open(self, kind: type[T], name: str) -> T:
        """Open the object of this name."""
        former = self._ports.get(name)
        if former is not None and former.is_closing:
            await former.user.closed
        return cast("T", await self.port(kind, name).opened())

    def port(self, kind: type[object], name: str) -> Port:
        """This session in the object's group."""
        if self.ended:
            raise ClosedError("the session is closed; begin a new one")
        port = self._ports.get(name)
        if port is None:
            port = self._ports[name] = Port(self, self.home.site(name, kind, order_of(kind)))
        return port

    async def let_go(self, name: str) -> None:
        """Close the object of this name, if it is open here."""
        port = self._ports.get(name)
        if port is not None:
            await port.close()

    async def close(self) -> None:
        """Close everything; then the process is over."""
        if self.ended:
            return
        self.ended = True
        closing = [self.home.tasks.spawn(port.close()) for port in list(self._ports.values())]
        for one in closing:
            await one
        self.end(ClosedError("the session is closed"))
        self.home.service.close_process(self.process, 0.0)
        self.home.wake_soon()

    def end(self, error: Exception) -> None:
        """It is over at once."""
        self.ended = True
        for port in list(self._ports.values()):
            port.user.end(error)
        self.home.forget(self)

    def interrupt(self) -> None:
        """The node lives again: go on as another process."""
        if self.ended:
            self.end(ClosedError("the session is closed"))
            return
        self.process = self.home.service.open_process()
        for port in list(self._ports.values()):
            self.home.tasks.spawn(port.open_again(self.process))

    def detach(self, port: Port) -> None:
        """An object of the session is closed."""
        if self._ports.get(port.site.name) is port:
            del self._ports[port.site.name]


class Port:
    """A session in one group: the `GroupPort` of the simulator."""

    wait: Wait = staticmethod(wait)
    principal = ""

    def __init__(self, session: Session, site: Site) -> None:
        self.site = site
        self.is_closing = False
        self._session = session
        self._home = session.home
        self._opening: Pending[object] | None = None
        self._joined_as: Process | None = None
        self._is_open = False
        self.user: GroupUser = site.attach(self)
        self.user.closed.when_done(self._on_closed)

    def opened(self) -> Awaitable[object]:
        """The object, once it can be used."""
        if self._opening is None:
            self._opening = self._home.tasks.spawn(self._open())
        return self._opening

    async def _open(self) -> object:
        try:
            await self._home.find_group(self.site)
            target = await self.user.open()
        except GroupRefusedError as error:
            refused = RefusedError(error.code, str(error))
            self.user.end(refused)
            raise refused from None
        except GroupcoreError:
            self.user.end(ClosedError(f"{self.site.name} could not be opened"))
            raise
        self._is_open = True
        return target

    async def open_again(self, process: Process) -> None:
        """The node lives again, the session as `process`: find the group and begin anew."""
        while not self.user.closed.done and process == self.process:
            try:
                await self._home.find_group(self.site)
            except GroupRefusedError:
                await self._home.tasks.elapse(REJOIN_S)
                continue
            if self.is_closing:
                self.user.end(ClosedError("the session is closed"))  # in this life it never was in
            elif not self.user.closed.done:
                self.user.restart()
            return

    async def close(self) -> None:
        """Close the object; what was never opened at once, and one that is, behind that."""
        self.is_closing = True
        opening = self._opening
        if opening is not None and not opening.done:
            await self._home.tasks.either(opening, OPENING_S)
        if self._is_open or (opening is not None and opening.done):
            await self.user.close()
        else:
            self.user.end(ClosedError("the session is closed"))

    def _on_closed(self) -> None:
        self._session.detach(self)
        self.site.detach(self)

    # --- what the user asks for -----------------------------------------------------------------

    @property
    def group(self) -> GroupId:
        """The group's number."""
        return self.site.group

    @property
    def process(self) -> Process:
        """The session's process."""
        return self._session.process

    def now_s(self) -> float:
        """The node's clock."""
        return self._home.now_s()

    def wake_at(self, at_s: float) -> None:
        """Have the user called at this time."""
        self._home.tasks.after(max(0.0, at_s - self.now_s()), self.user.on_time)

    def join(self) -> None:
        """Ask to be a member."""
        if self._joined_as != self.process:  # else its opening and the node's next life have met
            self._joined_as = self.process
            self._home.tasks.spawn(self._join(self.process))

    async def _join(self, process: Process) -> None:
        while self._joined_as == process and not self.user.closed.done:
            try:
                await self._home.join(process, self.group)
                if self._joined_as != process:  # it was closed meanwhile, and nobody was in
                    self._home.service.leave(process, self.group, 0.0)
                    self._home.wake_soon()
                return
            except GroupRefusedError as error:
                if error.code != "already_a_member":
                    if process == self.process:
                        self.user.end(RefusedError(error.code, str(error)))
                    return
            # It has left, and the record does not show it yet.
            await self._home.tasks.elapse(REJOIN_S)

    def leave(self) -> None:
        """Ask to be no member any more."""
        self._joined_as = None
        self._home.service.leave(self.process, self.group, 0.0)
        self._home.wake_soon()

    def send(self, payload: bytes) -> int:
        """Multicast."""
        number = self._home.send(self.process, self.group, payload)
        if not number:
            raise RefusedError("unknown_group", f"there is no group {self.group} any more")
        return number

    def give_state(self, token: int, state: bytes) -> None:
        """Never asked: `Site.copy_state` answers for the whole node."""
