"""Pictures between nodes, over connections that are sealed with the cluster's key.

Two names can be asked for (`groupcore.aio.transfer`): `get/HASH` gives the file; `have/HASH/NODE`
has the node that is asked take the file from NODE, and answers `1` when it is on its disk.
Whatever comes is compared with its hash before it is kept. What begins with `ask/` is a question
of the console, which has its own to answer it (`server.console.colleagues`).
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from itertools import count

from groupcore.aio.errors import TransferError
from groupcore.aio.transfer import TransferServer, fetch
from groupcore.aio.transfer_keys import Secret
from groupcore.transfer.sources import BytesSource, Intake, StateSource
from server.pictures.naming import hash_of, is_hash
from server.pictures.store import Store

logger = logging.getLogger("server")

PICTURE_BYTES_MAX = 256 << 20
"""No picture is larger, whatever settings say; so nobody fills a node's memory."""
YES = b"1"
NO = b"0"
QUESTION = b"ask/"

Sites = Callable[[], Mapping[str, tuple[str, int]]]


class _Bounded:
    """Takes what comes into memory, up to a limit."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> bool:
        """The next bytes; what raises ends the transfer."""
        if len(self.data) + len(data) > PICTURE_BYTES_MAX:
            raise ValueError("more than a picture may be")
        self.data += data
        return True

    def reset(self) -> None:
        """Again from the beginning."""
        self.data.clear()


class _Answer:
    """What is read when a task has ended: YES or NO."""

    size_bytes = None

    def __init__(self, task: asyncio.Task[bool]) -> None:
        self._task = task

    def read(self, offset: int, size: int) -> bytes | None:
        """See `StateSource`."""
        if not self._task.done():
            return None
        return (YES if self._task.result() else NO)[offset : offset + size]

    def close(self) -> None:
        """The task goes on: the picture is wanted anyway."""


class Exchange:
    """What one node gives to others, and takes from them; `sites` says where they are."""

    def __init__(self, store: Store, secret: Secret, sites: Sites) -> None:
        self.taken = 0
        self.answer: Callable[[bytes], StateSource | None] = lambda asked: None
        self._store = store
        self._secret = secret
        self._sites = sites
        self._server = TransferServer(secret, self._find)
        self._taking: dict[str, asyncio.Task[bool]] = {}

    async def open(self, host: str) -> tuple[str, int]:
        """Answer others there, on any port; where that is. OSError."""
        await self._server.open(host)
        return self._server.address

    async def close(self) -> None:
        """Answer nobody any more."""
        self._server.close()
        tasks = list(self._taking.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _find(self, asked: bytes) -> StateSource | None:
        if asked.startswith(QUESTION):
            return self.answer(asked.removeprefix(QUESTION))
        match asked.decode(errors="replace").split("/"):
            case ["get", name] if is_hash(name):
                data = self._store.read(name)
                return None if data is None else BytesSource(data)
            case ["have", name, node] if is_hash(name):
                return _Answer(self._take_soon(name, (node,)))
        return None

    # --- taking ---------------------------------------------------------------------------------

    async def take(self, name: str, nodes: tuple[str, ...]) -> bool:
        """Have the picture here, from one of these nodes; False when none gave it. OSError."""
        return await asyncio.shield(self._take_soon(name, nodes))

    def _take_soon(self, name: str, nodes: tuple[str, ...]) -> asyncio.Task[bool]:
        """Once for all who ask at the same time."""
        task = self._taking.get(name)
        if task is None:
            work = self._take(name, nodes)
            task = self._taking[name] = asyncio.get_running_loop().create_task(work)
            task.add_done_callback(lambda _: self._taking.pop(name, None))
        return task

    async def _take(self, name: str, nodes: tuple[str, ...]) -> bool:
        if await asyncio.to_thread(self._store.read, name) is not None:
            return True
        for node in random.sample(nodes, len(nodes)):
            data = await self._fetch(node, f"get/{name}".encode())
            if data is None or hash_of(data) != name:
                continue
            try:
                await asyncio.to_thread(self._store.write, data)
            except OSError as error:
                logger.error("a picture cannot be written: %s", error.strerror)
                return False
            self.taken += 1
            return True
        return False

    async def ask(self, node: str, asked: bytes) -> bytes | None:
        """What a node answers to a question; None when it does not."""
        return await self._fetch(node, QUESTION + asked)

    async def _fetch(self, node: str, asked: bytes) -> bytes | None:
        """What a node gives under a name; None when it gives nothing."""
        site = self._sites().get(node)
        if site is None:
            return None
        sink = _Bounded()
        try:
            await fetch(site, self._secret, asked, Intake(sink), named=True)
        except TransferError as error:
            logger.debug("%s gives no %r: %s", node, asked[:80], error)
            return None
        return bytes(sink.data)

    # --- giving ---------------------------------------------------------------------------------

    async def offer(self, name: str, me: str, node: str) -> bool:
        """Have another node take the picture from this one; True when it is on its disk."""
        return await self._fetch(node, f"have/{name}/{me}".encode()) == YES

    async def spread(
        self, name: str, me: str, nodes: Callable[[], tuple[str, ...]], every_s: float = 0.3
    ) -> None:
        """Back when a majority of `nodes()` has the picture on disk, this one included.

        It asks those that have not answered again and again; who calls gives it a time.
        """
        having = {me}
        for attempt in count():
            others = [node for node in nodes() if node not in having]
            if attempt:
                await asyncio.sleep(every_s)
            asking = {asyncio.create_task(self.offer(name, me, node)): node for node in others}
            while True:
                here = nodes()
                if 2 * sum(node in having for node in here) > len(here):
                    return  # the others go on by themselves
                if not asking:
                    break
                done, _ = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
                having |= {asking[task] for task in done if task.result()}
                asking = {task: node for task, node in asking.items() if task not in done}
