"""The console at one node: what it answers to the others, and what it gathers from all.

Invariants.
  N1  Nobody is told anything, and nothing is done, but for who manages accounts.
  N2  What is done is in the audit log before it is begun.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane
from groupcore.web import SharedObjects
from server.accounts.errors import forbidden
from server.console.about import details, plane_of, standing, totals_of
from server.console.colleagues import Colleagues, Shown
from server.console.groups import facts_of
from server.console.history import moves_shown, views_shown
from server.console.measuring import Measuring
from server.console.operations import NAME as OPERATIONS
from server.console.operations import Operations
from server.console.overlap import Newest
from server.console.series import Series
from server.console.sessions import (
    end_session,
    faces_of,
    own_processes,
    people_of,
    session_key,
    sessions_of,
)
from server.console.upkeep import pruning
from server.errors import BadMessageError
from server.node import Node
from server.plans import ID, Plans
from server.routes.done import done
from server.shelf import Shelf

LEAVE_S = 0.3
"""So much later a node leaves that was asked to: its answer goes out first."""


class Console:
    """One node's; `leave` has its program end."""

    def __init__(self, node: Node, pages: SharedObjects, leave: Callable[[], None]) -> None:
        self.node = node
        self.pages = pages
        self.plans = Plans(node)
        self.overlap = Newest()
        shelf = Shelf(node.settings.data / OPERATIONS, node.seals)
        self.operations = Operations(node.settings.node_id, lambda: node.me.incarnation, shelf)
        self.series = Series(lambda: totals_of(node, pages))
        self._leave = leave
        self.began_s = time.time()
        self._tasks: list[asyncio.Task[None]] = []
        self.colleagues = Colleagues(
            node.settings.node_id,
            lambda: () if node.view is None else node.view.names,
            node.pictures.exchange,
            {
                "standing": lambda _: standing(node, pages, self.series, self.began_s),
                "details": lambda _: details(node, pages),
                "load": lambda about: {"samples": self.series.since(int(about["since"]))},
                "history": lambda _: self._history(),
                "facts": lambda about: facts_of(self.plane, pages, about["groups"]),
                "people": lambda about: people_of(pages, str(about["called"])),
                "own": lambda _: own_processes(node, pages),
                "faces": lambda about: faces_of(pages, about["numbers"]),
                "sessions": lambda about: sessions_of(node, pages, str(about["search"])),
                "session_key": lambda about: session_key(pages, str(about["session"])),
                "end_session": lambda about: end_session(pages, str(about["session"])),
                "plans": lambda _: {"plans": self.plans.listed()},
                "plan": lambda about: self.plans.told(str(about["plan"])),
                "plan_measured": lambda about: self.plans.keep_measured(
                    str(about["plan"]), dict(about["measured"])
                ),
                "cancel_plan": lambda about: self.plans.cancel(str(about["plan"])),
                "operations": lambda _: self._operations(),
                "operation": lambda about: self.operations.told(str(about["operation"])),
                "cancel_operation": lambda about: self.operations.cancel(str(about["operation"])),
                "prune": lambda about: pruning(
                    node.settings, int(about["days"]), remove=bool(about["remove"])
                ),
                "leave": lambda _: self._go(),
            },
        )
        node.pictures.exchange.answer = self.colleagues.answer
        self.measuring = Measuring(node.settings.results, self.colleagues, self.bearer)

    def start(self) -> None:
        """Count from here on."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self.series.run()), loop.create_task(self.measuring.run())]
        self.plans.start()
        self.operations.start()

    async def close(self) -> None:
        """The node leaves."""
        await self.operations.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.plans.close()

    # --- what it rests on -----------------------------------------------------------------------

    @property
    def plane(self) -> Plane:
        """The tables of the sequencing service; BadMessageError `not_ready` without them."""
        plane = plane_of(self.node)
        if plane is None or not plane.ready:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        return plane

    @property
    def offset_s(self) -> float:
        """What makes Unix time of the service's clock."""
        awake = self.node.objects.groups.channel.awake
        return time.time() - awake.seconds(asyncio.get_running_loop().time())

    def check(self, principal: str) -> None:
        """N1: AccountError `forbidden`."""
        if not self.node.files.accounts.manages(principal):
            raise forbidden()

    async def note(self, by: str, what: str, about: str, origin: str) -> None:
        """N2: it is in the audit log, on the disks of a quorum."""
        await done(self.node, self.node.files.accounts.note(by, what, about, origin))

    def group(self, wanted: str) -> GroupId:
        """The group of this name or number; BadMessageError `unknown_group`."""
        state = self.plane.directory.state
        found = state.names.get(wanted)
        if found is None and wanted.isascii() and wanted.isdigit() and len(wanted) < 20:
            found = GroupId(int(wanted))
        if found is None or found not in state.entries:
            raise BadMessageError("unknown_group", f"there is no group {wanted[:64]!r}")
        return found

    def name_of(self, group: GroupId) -> str:
        """Its name, or its number."""
        entry = self.plane.directory.entries.get(group)
        return str(group) if entry is None else entry.name or str(group)

    # --- what it answers to other nodes ---------------------------------------------------------

    def _history(self) -> Shown:
        watch, offset_s = self.node.objects.groups.watch, self.offset_s
        return {
            "views": views_shown(watch, offset_s),
            "moves": moves_shown(watch, offset_s, self.name_of),
        }

    def _operations(self) -> Shown:
        settings = self.node.settings
        return {
            "operations": self.operations.shown(),
            "trace": settings.trace is not None,
            "last_backup_s": self.node.last_backup.at_s,
        }

    def bearer(self, wanted: str) -> str:
        """The node that an id names, in whatever life, if it is here; else this one, which says
        what is: each node keeps what its former lives have done.
        """
        found, view = ID.fullmatch(wanted), self.node.view
        if found is not None and view is not None and found[1] in view.names:
            return found[1]
        return self.node.settings.node_id

    def _go(self) -> Shown:
        asyncio.get_running_loop().call_later(LEAVE_S, self._leave)
        return {"leaving": self.node.settings.node_id}
