"""The taking side of a prefetch: asks a member for a backup and fetches it over its connection."""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import suppress
from pathlib import Path

from groupcore.aio.errors import TransferError
from groupcore.aio.states import FileSink
from groupcore.aio.transfer import fetch
from groupcore.aio.transfer_keys import Secret
from groupcore.blocks.errors import TransferFailedError, ValueRefusedError
from groupcore.blocks.values import unpack_value
from groupcore.peers import SocketAddress
from groupcore.transfer.sources import Intake, MemorySink

log = logging.getLogger(__name__)

RESUMES_MAX = 3
"""How often a connection that broke off is made again, to go on at the same byte."""
POLL_S = 0.05
"""Pause before a backup that is being made is asked for again."""
SESSION_BYTES = 16


class BackupClient:
    """One joiner's session with one member at a time; `giver` is that member's node id.

    From `fetch` until `finish` or the next `fetch` it tells the member that it is still there.
    """

    def __init__(self, secret: Secret, path: Path, session_s: float) -> None:
        self.giver = ""
        self._secret = secret
        self._path = path.with_name(f"{path.name}.prefetched")
        self._session_s = session_s
        self._address: SocketAddress = ("", 0)
        self._session = b""
        self._staying: asyncio.Task[None] | None = None

    async def fetch(self, address: SocketAddress) -> Path:
        """Fetch a backup into a file, which the caller deletes; GroupcoreError when none came."""
        await self.finish()
        self._address = address
        self._session = secrets.token_hex(SESSION_BYTES // 2).encode()
        await self._until_ready()
        self._staying = asyncio.get_running_loop().create_task(self._stay())
        sink = FileSink(self._path)
        intake = Intake(sink)
        try:
            for attempt in range(RESUMES_MAX + 1):
                try:
                    await self._ask(b"backup", intake)
                    break
                except TransferError as error:
                    if attempt == RESUMES_MAX or not intake.offset:
                        raise
                    log.info("the backup goes on at byte %d: %s", intake.offset, error)
        except BaseException:
            self._path.unlink(missing_ok=True)
            raise
        finally:
            sink.close()
        return self._path

    async def finish(self) -> None:
        """Tell the member that its backup and log are needed no more."""
        if self._staying is None:
            return
        self._staying.cancel()
        self._staying = None
        with suppress(TransferError):  # then it forgets this joiner by itself
            await self._ask(b"done", Intake(MemorySink()))

    async def _until_ready(self) -> None:
        """Ask until the backup is made; there is nothing on this side to wait for."""
        while True:
            if await self._is_ready():
                return
            await asyncio.sleep(POLL_S)

    async def _is_ready(self) -> bool:
        sink = MemorySink()
        await self._ask(b"prepare", Intake(sink))
        try:
            match unpack_value(sink.state()):
                case [bool(ready), str(giver)]:
                    self.giver = giver
                    return ready
                case _:
                    raise ValueRefusedError("not [ready, node id]")
        except ValueRefusedError as error:
            raise TransferFailedError(f"{self._address} does not serve backups: {error}") from None

    async def _stay(self) -> None:
        while True:
            await asyncio.sleep(self._session_s / 4)
            try:
                await self._is_ready()
            except (TransferError, TransferFailedError) as error:
                log.info("the giver of the backup is not there: %s", error)

    async def _ask(self, verb: bytes, intake: Intake) -> None:
        name = verb + b" " + self._session
        await fetch(self._address, self._secret, name, intake, named=True)
