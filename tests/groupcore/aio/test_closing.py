"""An object that is closed while its node begins another life, or joins, does not stay open."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import cast

from groupcore.aio.group_node import GroupNode
from groupcore.aio.sessions import Session
from groupcore.sequencing.events import Enrolled, Joined
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.shared.events import SharedEvent
from groupcore.shared.site import Site
from groupcore.shared.types import Counter
from groupcore.view import Address

GROUP = 7


class Groups:
    """A service that answers when the test says so; who is no member cannot leave."""

    def __init__(self) -> None:
        self.lives = 0
        self.members: list[Process] = []
        self.joining: dict[Process, asyncio.Future[int]] = {}

    def open_process(self) -> Process:
        self.lives += 1
        return Process(Address("a", self.lives), 1)

    async def join(self, process: Process, group: GroupId) -> int:
        del group
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.joining[process] = future
        return await future

    def leave(self, process: Process, group: GroupId) -> None:
        del group
        if process in self.members:
            self.members.remove(process)

    def close_process(self, process: Process) -> None:
        self.leave(process, GROUP)


class Home:
    """A node with one site."""

    def __init__(self) -> None:
        self.service = Groups()
        self.groups = cast("GroupNode", self.service)
        self.tasks: list[asyncio.Task[None]] = []
        self.found: asyncio.Future[None] | None = None
        self.sites: dict[str, Site] = {}

    def site(self, name: str, kind: type[object], order: Order) -> Site:
        def say(event: SharedEvent) -> None:
            raise AssertionError(event)

        def drop(site: Site) -> None:
            self.sites.pop(site.name, None)

        def fail(site: Site, error: Exception) -> None:
            raise error

        return self.sites.setdefault(name, Site(name, kind, order, say, drop, fail))

    async def find_group(self, site: Site) -> None:
        site.group = GROUP
        if self.found is not None:
            await self.found

    def start(self, coroutine: Coroutine[object, object, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(coroutine))

    def now_s(self) -> float:
        return 0.0

    def forget(self, session: Session) -> None:
        """Nothing."""

    async def let_in(self, process: Process) -> None:
        """The JOIN has its place, and is answered."""
        self.service.members.append(process)
        for event in (Enrolled(GROUP, 1, process), Joined(GROUP, 1, process)):
            for site in list(self.sites.values()):
                site.feed(event)
        self.service.joining[process].set_result(1)
        await rest()


async def rest() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def opened() -> tuple[Home, Session]:
    home = Home()
    session = Session(home)
    session.begin()
    opening = asyncio.get_running_loop().create_task(session.open(Counter, "clicks"))
    await rest()
    await home.let_in(session.process)
    await opening
    return home, session


def begin_anew(home: Home, session: Session) -> None:
    """The cluster has gone on without the node."""
    home.service.members.clear()
    for site in home.sites.values():
        site.interrupt()
    session.interrupt()


def test_what_is_closed_while_its_node_finds_its_group_again_is_not_joined() -> None:
    async def main() -> None:
        home, session = await opened()
        home.found = asyncio.get_running_loop().create_future()
        begin_anew(home, session)
        closing = asyncio.get_running_loop().create_task(session.let_go("clicks"))
        await rest()
        home.found.set_result(None)
        await asyncio.wait_for(closing, 5)
        assert session.process not in home.service.joining
        assert not home.sites

    asyncio.run(main())


def test_what_is_closed_while_its_process_joins_again_is_left_when_it_is_in() -> None:
    async def main() -> None:
        home, session = await opened()
        begin_anew(home, session)
        await rest()
        closing = asyncio.get_running_loop().create_task(session.let_go("clicks"))
        await rest()
        await home.let_in(session.process)
        assert home.service.members == []
        closing.cancel()

    asyncio.run(main())
