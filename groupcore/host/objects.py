"""The shared objects of a node, and the sessions that have them open.

A node has one copy of each object (`Site`), whoever has it open. When the cluster has gone on
without the node, all its objects are opened again by themselves: they are the same Python objects,
with the cluster's state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from groupcore.errors import GroupRefusedError
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.shared.body import Body
from groupcore.shared.errors import ClosedError, DeclarationError, RefusedError
from groupcore.shared.events import SharedEvent
from groupcore.shared.group import Authorize, authorize_nothing
from groupcore.shared.runtime import Runtime
from groupcore.shared.session import Groups, Session
from groupcore.shared.site import Site


class NamedGroups(Groups, Protocol):
    """What objects need of a node's groups beside what sessions do."""

    async def create(self, name: str = "", order: Order = Order.CAUSALLY_TOTAL) -> GroupId:
        """CREATE-GROUP; GroupRefusedError."""

    async def delete(self, group: GroupId) -> None:
        """Forget a group; GroupRefusedError."""

    def group_of(self, name: str) -> GroupId | None:
        """The group of that name, as far as this node has heard; None: there is none."""


class Audience(Protocol):
    """Who is told what the objects of a node have to say."""

    def tell(self, event: SharedEvent) -> None:
        """What an object says beside its changes; it must not raise."""

    def failed(self, site: Site, error: Exception) -> None:
        """A bug of ours has ended an object at this node."""

    def begun(self, name: str, body: Body[object]) -> None:
        """The node has a copy of an object from now on."""


class ObjectHost:
    """The objects and sessions of one node: the `Home` of its sessions.

    `now_s`: seconds since 1970 at the start, and steady since then. `sites` are the groups that
    are open here, by name; `sessions` those that have not ended.
    """

    def __init__(
        self,
        groups: NamedGroups,
        runtime: Runtime,
        now_s: Callable[[], float],
        audience: Audience,
        authorize: Authorize = authorize_nothing,
    ) -> None:
        self.authorize = authorize
        self.groups = groups
        self.runtime = runtime
        self.now_s = now_s
        self.sites: dict[str, Site] = {}
        self.ended = False
        self._audience = audience
        self._by_group: dict[GroupId, Site] = {}
        self.sessions: dict[Session, None] = {}
        self._member: Process | None = None

    # --- sessions -------------------------------------------------------------------------------

    def session(self, principal: str = "", *, attends: bool = False) -> Session:
        """Another process of this node; see `Session`.

        ClosedError when the node is closed, ChannelClosedError before it is connected.
        """
        if self.ended:
            raise ClosedError("the node is closed")
        session = Session(self, principal, attends=attends)
        session.begin()
        self.sessions[session] = None
        return session

    def early_session(self, principal: str = "") -> Session:
        """A session from before the node is connected; `begin` it when it is."""
        session = Session(self, principal)
        self.sessions[session] = None
        return session

    def forget(self, session: Session) -> None:
        """The session has ended."""
        self.sessions.pop(session, None)

    @property
    def member(self) -> Process:
        """The process that is in groups for the sessions that attend; see `Home`."""
        if self._member is None:
            self._member = self.groups.open_process()
        return self._member

    # --- objects --------------------------------------------------------------------------------

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        """The group of this name at this node, for its sessions."""
        site = self.sites.get(name)
        if site is None:
            told = self._audience
            site = Site(name, kind, order, told.tell, self._drop, told.failed, told.begun)
            self.sites[name] = site
        elif site.kind != kind:
            raise DeclarationError(f"{name} is open here as {site.kind}; take another name")
        return site

    def site_of(self, group: GroupId) -> Site | None:
        """What the node has open of this group."""
        return self._by_group.get(group)

    @property
    def open_groups(self) -> list[GroupId]:
        """The groups that the node has open, by number."""
        return sorted(self._by_group)

    async def find_group(self, site: Site) -> None:
        """See that the group exists, and have its events told to the site; GroupRefusedError."""
        if self._by_group.get(site.group) is site:
            return
        site.group = await self.groups.create(site.name, site.order)
        if self.sites.get(site.name) is site:  # else it was dropped meanwhile
            self._by_group[site.group] = site

    def _drop(self, site: Site) -> None:
        """Nobody has the object open any more."""
        if self.sites.get(site.name) is site:
            del self.sites[site.name]
        if self._by_group.get(site.group) is site:
            del self._by_group[site.group]

    async def delete(self, name: str) -> bool:
        """Delete the object of this name, whatever it holds; False when there is none.

        Whoever has it open, at any node, is told so by DeletedError; the name is free, and what
        opens under it is a new object. RefusedError: `moving` while the object goes from one
        sequencer to another (ask again), `left` when the node's life ends before it is done.
        """
        group = self.groups.group_of(name)
        if group is None:
            return False
        try:
            await self.groups.delete(group)
        except GroupRefusedError as error:
            if error.code == "unknown_group":
                return False
            raise RefusedError(error.code, str(error)) from None
        return True

    # --- from the service -----------------------------------------------------------------------

    def receive(self, events: Sequence[ServiceEvent]) -> None:
        """What a turn of the service says, to the objects that it concerns."""
        for event in events:
            site = self._by_group.get(getattr(event, "group", 0))
            if site is not None:
                site.feed(event)

    def copy_state(self, group: GroupId) -> bytes | None:
        """The state of an object as of what it has been told; None where there is none to give."""
        site = self._by_group.get(group)
        return None if site is None else site.copy_state()

    def begin_again(self) -> None:
        """Another life of the node: other processes, and all objects are opened anew."""
        if self.ended:
            return
        self._by_group.clear()
        self._member = None
        for site in list(self.sites.values()):
            site.interrupt()
        for session in list(self.sessions):
            session.interrupt()

    def end(self) -> None:
        """The node is closed: whoever waits for its objects is told so."""
        self.ended = True
        for session in list(self.sessions):
            session.end(ClosedError("the node is closed"))
