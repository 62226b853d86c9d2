"""Prefetcher: a replicated SQLite database whose joiner fetches the bulk before it joins.

    prefetcher = Prefetcher(channel, "switch.db", apply, sources=["10.0.0.1:7900"])
    path = await prefetcher.get_database()
    await prefetcher.multicast(request)         # every member applies it, in one order

A large database cannot be transferred while requests are queued at the joiner. So the joiner first
asks a member, over a connection of its own, for a backup; from that moment the member writes all
requests to an update log, too. When the backup is loaded, the joiner joins the group and takes
the log by ordinary state transfer, applies it, then the requests queued behind it, and is a member
like all others. Backup and log are deleted. Requests are never held up anywhere.

If the member dies meanwhile, the joiner begins again with another; if the joiner dies, the member
forgets it after `session_s` and deletes its log, which has a bound of its own, too.

Source. State transfer paper, 2.6.2, 2.9 and 3.4.4 (`Prefetcher`, `GetDB`).
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from groupcore.aio.errors import PortInUseError
from groupcore.aio.inbox import Message
from groupcore.aio.settings import parse_host
from groupcore.blocks.errors import TransferFailedError, ValueRefusedError
from groupcore.blocks.ports import SealedChannel
from groupcore.blocks.prefetch_client import BackupClient
from groupcore.blocks.prefetch_database import Apply, PrefetchDatabase, Setup
from groupcore.blocks.prefetch_service import BackupService
from groupcore.blocks.update_log import read_log
from groupcore.errors import ChannelClosedError, GroupcoreError
from groupcore.events import Event, Excluded, ViewInstalled
from groupcore.peers import SocketAddress
from groupcore.transfer.events import SetState
from groupcore.view import Address, View

log = logging.getLogger(__name__)

LOG_BYTES_MAX = 64 << 20
"""Default bound of the update log; beyond it the joiner begins again with a newer backup."""


class Prefetcher:
    """A member of a group that keeps a SQLite database alike at all members.

    It connects, reads and closes the channel. `stale`: this member lacks requests that the group
    has, or may have, applied. `position` is the place in the order that the database holds.
    """

    def __init__(
        self,
        channel: SealedChannel,
        path: Path | str,
        apply: Apply,
        *,
        setup: Setup | None = None,
        sources: Sequence[str] = (),
        bind: str = "127.0.0.1",
        port: int = 0,
        log_bytes_max: int = LOG_BYTES_MAX,
        session_s: float = 30.0,
        attempts_max: int = 5,
        timeout_s: float = 10.0,
        retry_s: float = 0.5,
    ) -> None:
        """`channel` is not connected yet. `path` is this member's own file.

        `apply(connection, request)` does one request, alike at all members, without committing;
        `setup(connection)` makes the tables of a new database. Others fetch backups from `bind`
        and `port` (0: any free one, see `address`); `sources` are the `host:port` of some others.
        `log_bytes_max` bounds the update log; a joiner that is silent for `session_s` is
        forgotten. After `attempts_max` attempts with pauses of `retry_s` to take what is missing,
        each of at most `timeout_s` for the log, it is given up. SettingsError.
        """
        self._channel = channel
        self._path = Path(path)
        self._apply, self._setup = apply, setup
        self._sources = [parse_host("sources", source) for source in sources]
        self._bind, self._port = bind, port
        self._attempts_max = attempts_max
        self._timeout_s, self._retry_s = timeout_s, retry_s
        secret = channel.secret
        self._service = BackupService(channel.node_id, secret, self._path, log_bytes_max, session_s)
        self._client = BackupClient(secret, self._path, session_s)
        self._database: PrefetchDatabase | None = None
        self._view: View | None = None
        self._prefetched = False
        self._expecting = False
        self._ended: asyncio.Future[None] | None = None
        self._refused = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None
        self._catching_up: asyncio.Task[None] | None = None
        self._finishing: asyncio.Task[None] | None = None
        self._committing = False
        self._numbers: Counter[str] = Counter()

    async def get_database(self) -> Path:
        """Fetch the database, join the group, take the update log; the path when all is applied.

        Open it for reading only: requests are the only writers. When no source gives a backup and
        no member has a database, this one's own is the first. PortInUseError for `port`;
        TransferFailedError when nobody could give what is missing; and what `Channel.connect`
        raises. Close the prefetcher then. Call it once.
        """
        assert self._database is None, "a prefetcher is used once"
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        for leftover in self._path.parent.glob(f"{self._path.name}.backup-*"):
            leftover.unlink()
        database = self._database = PrefetchDatabase(self._path, self._apply, self._setup)
        await self._listen()
        self._prefetched = await self._prefetch()
        self._reading = loop.create_task(self._read())
        await self._channel.connect(database.epoch, database.position)
        await asyncio.shield(self._ended)
        return self._path

    async def multicast(self, request: bytes) -> None:
        """Send a request, which every member applies; waits as `Channel.multicast` does."""
        await self._channel.multicast(request)

    @property
    def address(self) -> SocketAddress:
        """Where others fetch backups: host and port, for their `sources`."""
        return self._service.server.address

    @property
    def stale(self) -> bool:
        """Whether the group may be further on than the database here."""
        return self._service.database is None or not self._channel.primary

    @property
    def position(self) -> int:
        """Place in the order of the last request applied."""
        return 0 if self._database is None else self._database.position

    def counters(self) -> dict[str, int]:
        """Backups given and taken, logs applied and refused, requests that raised."""
        failures = 0 if self._database is None else self._database.failures
        numbers = self._numbers + self._service.numbers
        return {**dict(sorted(numbers.items())), "request_failures": failures}

    async def close(self) -> None:
        """Leave the group, and close the database."""
        await self._stop_catching_up()
        await self._channel.close()
        if self._reading is not None:
            await asyncio.wait([self._reading])
        if self._finishing is not None:
            await asyncio.wait([self._finishing])
        await self._client.finish()
        self._service.close()
        if self._database is not None:
            self._database.close()

    def copy(self) -> bytes | None:
        """The update log at this place, for the channel; None when no joiner has a backup."""
        held = self._service.log
        return None if held is None else held.packed()

    # --- the order ------------------------------------------------------------------------------

    async def _read(self) -> None:
        ended: GroupcoreError = ChannelClosedError("the channel was closed")
        try:
            async for item in self._channel.events():
                if isinstance(item, Message):
                    self._on_request(item)
                elif isinstance(item, SetState):
                    self._on_state(item)
                else:
                    self._on_event(item)
        except GroupcoreError as error:
            ended = error
        self._lose()
        self._end(ended)

    def _on_request(self, message: Message) -> None:
        database = self._service.database
        if database is None or self._view is None or not message.position:
            return  # what is ordered is in the log that will come
        database.apply(self._view.epoch, message.position, message.payload)
        self._service.on_request(message.position, message.payload)
        if not self._committing:
            self._committing = True
            asyncio.get_running_loop().call_soon(self._commit)

    def _commit(self) -> None:
        """One transaction for all requests that were read in one turn of the loop."""
        self._committing = False
        if self._service.database is not None:
            self._service.database.commit()

    def _on_event(self, event: Event) -> None:
        if isinstance(event, Excluded):
            self._lose()
        if not isinstance(event, ViewInstalled):
            return
        assert self._database is not None
        self._view = event.view
        if event.fresh or event.recovered:
            self._prefetched = self._prefetched and not event.recovered
            if self._holds(self._database, event):
                self._become_whole(event.view.epoch, event.position)
            else:
                self._lose()
                self._catch_up()
        elif self._service.database is not None:
            self._database.move_to(event.view.epoch, event.position)

    @staticmethod
    def _holds(database: PrefetchDatabase, event: ViewInstalled) -> bool:
        """Whether the database holds the order up to where the view begins, and nothing else.

        An epoch begins at a place up to which the order of the former one goes on.
        """
        if database.position != event.position:
            return False
        return event.position == 0 or database.epoch in (event.view.epoch, event.view.epoch - 1)

    def _become_whole(self, epoch: int, position: int) -> None:
        assert self._database is not None
        if epoch != self._database.epoch:
            self._service.stop()  # the numbers of its log are of an epoch that is over
        self._database.move_to(epoch, position)
        self._database.commit()
        self._service.database = self._database
        self._channel.state_provider = self
        if self._catching_up is not None:
            self._catching_up.cancel()
            self._catching_up = None
        self._prefetched = self._expecting = False
        self._finishing = asyncio.get_running_loop().create_task(self._client.finish())
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _lose(self) -> None:
        """This member does not see the order any more: what it holds is the past."""
        if self._service.database is not None:
            self._service.database.commit()
        self._service.database = None
        self._service.stop()
        self._channel.state_provider = None

    # --- taking ---------------------------------------------------------------------------------

    async def _listen(self) -> None:
        try:
            await self._service.server.open(self._bind, self._port)
        except OSError as error:
            raise PortInUseError(
                f"cannot serve backups on {self._bind}:{self._port} ({error.strerror}); give "
                "another port (0: any free one), or an address of this machine"
            ) from None

    def _catch_up(self) -> None:
        self._expecting = False
        if self._catching_up is not None:
            self._catching_up.cancel()
        self._catching_up = asyncio.get_running_loop().create_task(self._take())

    async def _stop_catching_up(self) -> None:
        if self._catching_up is not None:
            self._catching_up.cancel()
            await asyncio.wait([self._catching_up])

    async def _take(self) -> None:
        """Take backup and log from one member, until that works or has been tried enough."""
        for _ in range(self._attempts_max):
            self._refused.clear()
            try:
                if self._prefetched or await self._prefetch():
                    self._expecting = True
                    if await self._channel.get_state(self._giver(), self._timeout_s):
                        await self._refused.wait()  # or the end of this task, when all is applied
            except GroupcoreError as error:
                log.info("the database is not complete yet: %s", error)
            self._prefetched = self._expecting = False
            self._numbers["attempts_failed"] += 1
            await asyncio.sleep(self._retry_s)
        self._end(TransferFailedError("no source has given the database; is one of them complete?"))

    def _giver(self) -> Address:
        """The member that gave the backup, under its address in the group."""
        for member in () if self._view is None else self._view.members:
            if member.name == self._client.giver:
                return member
        raise TransferFailedError(f"{self._client.giver} gave a backup and is not in the group")

    async def _prefetch(self) -> bool:
        """Fetch a backup from the first source that gives one, and load it."""
        assert self._database is not None
        loop = asyncio.get_running_loop()
        for source in self._sources:
            try:
                path = await self._client.fetch(source)
            except GroupcoreError as error:
                log.info("no backup from %s:%d: %s", *source, error)
                continue
            try:
                self._database.commit()
                await loop.run_in_executor(None, self._database.load, path)
            except TransferFailedError as error:
                log.warning("the backup from %s:%d: %s", *source, error)
                continue
            finally:
                path.unlink(missing_ok=True)
            self._numbers["backups_taken"] += 1
            return True
        return False

    def _on_state(self, item: SetState) -> None:
        """Apply the update log; what the backup has already is passed over."""
        database = self._database
        assert database is not None
        if not self._expecting or item.state is None:
            self._numbers["unasked_states"] += 1
            return
        try:
            updates = read_log(item.state)
        except ValueRefusedError as error:
            self._refuse(f"the update log of {item.provider} cannot be read: {error}")
            return
        if updates.epoch != database.epoch or updates.begin > database.position:
            self._refuse(f"the update log of {item.provider} begins behind the backup")
            return
        for position, request in updates.requests:
            database.apply(updates.epoch, position, request)
        self._numbers["logs_applied"] += 1
        self._become_whole(item.epoch, item.position)

    def _refuse(self, reason: str) -> None:
        log.warning("%s", reason)
        self._numbers["logs_refused"] += 1
        self._refused.set()

    def _end(self, error: GroupcoreError) -> None:
        """Tell who waits for the database that it does not come."""
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)
        elif not isinstance(error, ChannelClosedError):
            log.error("the database at %s goes no further: %s", self._path, error)
