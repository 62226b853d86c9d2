"""The pictures at one node: takes them, gives them, gets those that it lacks, lets old ones go.

Invariants.
  A1  An upload is answered when its picture is on the disks of a majority of the view.
  A2  A node that was away has all pictures some time after it has come back.
  A3  A file goes when nothing in the order names it, and nobody has written it for an hour; two
      minutes, where documents were deleted for good.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress

from groupcore.aio.transfer_keys import Secret
from groupcore.errors import GroupcoreError
from groupcore.shared.changes import Change
from server.errors import BadMessageError
from server.pictures.checking import Checking
from server.pictures.exchange import Exchange
from server.pictures.naming import is_hash
from server.pictures.register import Kept, Pictures, no_picture
from server.pictures.store import FOLDER, Store
from server.rest import Seals
from server.settings import Settings
from server.work.pool import Does

logger = logging.getLogger("server")

SPREAD_S = 15.0
"""How long an upload waits for the disks of a majority."""
MEND_S = 60.0
"""After so long a node looks again for pictures that it could not get."""
SWEEP_S = 3600.0
STRAY_S = 3600.0
"""A file that nothing names goes after this: no upload takes so long."""
ERASED_S = 120.0
"""The same where documents were deleted for good: eight times what an upload is given."""
DAY_S = 24 * 3600.0

Named = Callable[[str], Awaitable[set[str] | None]]
"""Which pictures the blocks of a document name; None while that cannot be known."""


class PictureService:
    """Pictures at a node. `begin` before anything else; `named` reads documents."""

    def __init__(
        self,
        settings: Settings,
        secret: Secret,
        nodes: Callable[[], tuple[str, ...]],
        named: Named,
        work: Does,
        seals: Seals | None = None,
    ) -> None:
        self.store = Store(settings.data, seals)
        if seals is not None:
            seals.later(FOLDER, self._seal_plain)
        self.missing = 0
        self.refused = 0
        self._settings = settings
        self._me = settings.node_id
        self._nodes = nodes
        self._named = named
        self._checking = Checking(settings.picture_mpixel * 1_000_000, work)
        self._register: Pictures | None = None
        self.exchange = Exchange(self.store, secret, lambda: self.register.sites)
        self._site: tuple[str, int] | None = None
        self._wake = asyncio.Event()
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def _seal_plain(self) -> int:
        """Seal pictures that were written before there was a key, until the node leaves."""
        return await asyncio.to_thread(self.store.seal_plain, lambda: not self._is_closed)

    @property
    def register(self) -> Pictures:
        """The list; BadMessageError `not_ready` before this node has it."""
        if self._register is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        return self._register

    @property
    def taken(self) -> int:
        """How many pictures this node has got from others."""
        return self.exchange.taken

    @property
    def count(self) -> int:
        """How many pictures there are, as far as this node knows."""
        return 0 if self._register is None else len(self._register.kept)

    @property
    def bytes_kept(self) -> int:
        """Room that they take."""
        return 0 if self._register is None else self._register.bytes_kept

    # --- life -----------------------------------------------------------------------------------

    async def begin(self, register: Pictures) -> None:
        """Use the list, which the node has opened."""
        self._register = register
        try:
            self._site = await self.exchange.open(self._settings.bind)
        except OSError as error:
            logger.error("others cannot get pictures from this node: %s", error.strerror)
        register.changes().tap = self._on_change
        self._on_change(None)
        for work in (self._mend(), self._sweep()):
            self._tasks.add(asyncio.create_task(work))

    async def close(self) -> None:
        """The node leaves."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self.exchange.close()

    def _on_change(self, change: Change | None) -> None:
        del change
        self._wake.set()

    async def _tell_site(self) -> None:
        """The others shall know where this life of the node answers."""
        site, register = self._site, self.register
        if site is not None and register.sites.get(self._me) != site:
            with suppress(GroupcoreError):
                await register.at(self._me, *site)

    # --- for pages ------------------------------------------------------------------------------

    async def add(self, doc: str, data: bytes, by: str) -> tuple[str, Kept]:
        """Take somebody's picture into a document; its name, when a majority has it on disk.

        BadMessageError: what `Checking.check` says, `no_room`, `disk_full`, `not_primary`.
        """
        try:
            picture = await self._checking.check(data, by)
        except BadMessageError:
            self.refused += 1
            raise
        name = await self._write(picture.data)
        kept = Kept(picture.media, picture.width, picture.height, len(picture.data))
        try:
            async with asyncio.timeout(SPREAD_S):
                await self.exchange.spread(name, self._me, self._nodes)
                await self.register.put(doc, name, kept, self._settings.pictures_mib << 20)
        except TimeoutError:
            raise BadMessageError(
                "not_primary", "too few nodes have the picture yet; try again"
            ) from None
        return name, self.register.kept.get(name, kept)

    async def _write(self, data: bytes) -> str:
        try:
            return await asyncio.to_thread(self.store.write, data)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise BadMessageError(
                "no_room" if full else "not_ready",
                "the disk of this node is full" if full else "this node cannot write; try another",
            ) from None

    async def copy(self, source: str, doc: str, name: str) -> Kept:
        """Let a picture of one document belong to another, too; BadMessageError."""
        await self.register.copy(source, doc, name)
        return self._known(doc, name)

    def _known(self, doc: str, name: str) -> Kept:
        kept = self.register.of(doc, name) if is_hash(name) else None
        if kept is None:
            raise no_picture()
        return kept

    async def read(self, doc: str, name: str) -> tuple[Kept, bytes]:
        """A picture of a document, from this disk or another node's; BadMessageError."""
        kept = self._known(doc, name)
        data = await asyncio.to_thread(self.store.read, name)
        if data is None:
            if not await self.exchange.take(name, self._others()):
                raise BadMessageError("not_ready", "no node gives this picture now; try again")
            data = await asyncio.to_thread(self.store.read, name)
        assert data is not None, "it has just been written"
        return kept, data

    def _others(self) -> tuple[str, ...]:
        return tuple(node for node in self._nodes() if node != self._me)

    # --- by itself ------------------------------------------------------------------------------

    async def _mend(self) -> None:
        """Get what is listed and not here (A2)."""
        having: set[str] = set()
        while True:
            self._wake.clear()
            await self._tell_site()
            listed = set(self.register.kept)
            having &= listed
            unsure = listed - having
            lacking = await asyncio.to_thread(self._lacking, unsure)
            having |= unsure - set(lacking)
            self.missing = len(lacking)
            for name in lacking:
                if await self.exchange.take(name, self._others()):
                    having.add(name)
                    self.missing -= 1
            with suppress(TimeoutError):
                async with asyncio.timeout(MEND_S):
                    await self._wake.wait()

    def _lacking(self, names: Collection[str]) -> list[str]:
        return [name for name in names if not self.store.has(name)]

    async def _sweep(self) -> None:
        """Every hour: the first node looks through documents, each through its files."""
        while True:
            await asyncio.sleep(SWEEP_S)
            await self.sweep()

    async def sweep(self) -> None:
        """Let go what no block has named for long, and files that nothing names (A3)."""
        register = self.register
        with suppress(GroupcoreError):
            await register.refresh()
            if register.members[:1] == (register.process,):
                for doc in list(register.uses):
                    await self._look_through(doc)
            wanted = frozenset(register.kept)
            await asyncio.to_thread(self.store.sweep, wanted, STRAY_S)

    async def erase(self, documents: Sequence[str]) -> bool:
        """Take files out that nothing names any more; whether none is left. OSError."""
        register = self.register
        if any(doc in register.uses for doc in documents):
            return False  # this node has not heard of that yet
        wanted = frozenset(register.kept)
        return await asyncio.to_thread(self.store.sweep_all, wanted, ERASED_S)

    async def _look_through(self, doc: str) -> None:
        register, keep_s = self.register, self._settings.picture_days * DAY_S
        number = register.number
        named = await self._named(doc)
        if named is None:
            return
        again, idle = register.news(doc, named, keep_s)
        few = 200
        for at in range(0, max(len(again), len(idle)), few):
            part = again[at : at + few], idle[at : at + few]
            await register.looked(doc, *part, number, keep_s)
