"""A channel's part in state transfer: asks for states, has the application copy its own.

The protocol is `STATE_TRANSFER`'s; here its events meet the application and the sockets.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from groupcore.aio.errors import TransferError
from groupcore.aio.settings import ChannelSettings
from groupcore.aio.states import AsyncSink, AsyncSource, StateProvider
from groupcore.aio.transfer import TransferServer, fetch
from groupcore.aio.transfer_keys import Secret
from groupcore.errors import TransferBusyError
from groupcore.events import Event
from groupcore.layers.state_transfer import StateTransfer
from groupcore.stacks import StackPlan
from groupcore.transfer.events import (
    BUSY,
    ENDED,
    MEDIA,
    TAKEN,
    FetchState,
    GetApplicationState,
    GetState,
    GetStateOk,
    OfferState,
    PushState,
    ReturnedState,
    ServeState,
    SinkReady,
    SourceReady,
    StateFetched,
    StateOffered,
    StatePushed,
    StopFetching,
)
from groupcore.transfer.sources import BytesSource, StateSource
from groupcore.transfer.version import StateVersion
from groupcore.view import Address

log = logging.getLogger(__name__)

EVENTS = (GetApplicationState, GetStateOk, StatePushed, OfferState, FetchState, StopFetching)
"""What of a stack's events concerns this service and nobody else."""


class StateService:
    """State transfer for one channel. `notify` tells the present life's stack, if there is one."""

    def __init__(
        self,
        settings: ChannelSettings,
        notify: Callable[[Event], bool],
        provider: StateProvider | None,
        plan: StackPlan,
    ) -> None:
        self.report: GetStateOk | None = None
        self._name = settings.node_id
        self._bind = settings.bind
        self._offers = StateTransfer.name in plan.words
        self._server = TransferServer(Secret(settings.cluster, settings.keys, settings.credentials))
        self._notify = notify
        self._provider = provider
        self._getting: asyncio.Future[GetStateOk] | None = None
        self._pushing: asyncio.Future[StatePushed] | None = None
        self._fetching: dict[StateVersion, asyncio.Task[None]] = {}
        self._sink_ready = asyncio.Event()

    @property
    def provider(self) -> StateProvider | None:
        """Who copies this member's state; None: it gives a null state."""
        return self._provider

    @provider.setter
    def provider(self, provider: StateProvider | None) -> None:
        self._provider = provider
        self._notify(self.serving())

    def serving(self) -> ServeState:
        """What a life is told when it begins."""
        return ServeState(self._provider is not None)

    async def open(self) -> None:
        """Be ready to give states on connections of their own; where not, they go in chunks."""
        if self._offers:
            await self._server.try_open(self._bind)

    def counters(self) -> dict[str, int]:
        """Connections on which a state was given, refused, or broke off."""
        return {f"transfer.{name}": number for name, number in self._server.counters.items()}

    # --- asking -----------------------------------------------------------------------------------

    async def get(self, wish: GetState) -> bool:
        """Take a state; True when it has come. TransferBusyError while another is under way."""
        if wish.medium not in MEDIA:
            raise ValueError(f"medium {wish.medium!r} is none of {', '.join(MEDIA)}")
        if self._getting is not None:
            raise TransferBusyError("a state is being taken; wait for that to end")
        sink = wish.sink
        if isinstance(sink, AsyncSink):
            sink.on_ready = self._on_sink_ready
        self._getting = asyncio.get_running_loop().create_future()
        try:
            if not self._notify(wish):
                self._getting.set_result(GetStateOk(ENDED))
            self.report = await self._getting
        finally:
            self._getting = None
        if self.report.outcome == BUSY:
            raise TransferBusyError("this member is being given a state; wait for that to end")
        if self.report.outcome != TAKEN:
            return False
        if isinstance(sink, AsyncSink):
            await sink.finished()
        return True

    async def push(self, receivers: tuple[Address, ...], timeout_s: float) -> tuple[Address, ...]:
        """Give the own state; who has taken it. TransferBusyError while another push runs."""
        if self._pushing is not None:
            raise TransferBusyError("a state is being pushed; wait for that to end")
        self._pushing = asyncio.get_running_loop().create_future()
        try:
            if not self._notify(PushState(receivers, timeout_s)):
                return ()
            return (await self._pushing).taken
        finally:
            self._pushing = None

    # --- what the stack tells ---------------------------------------------------------------------

    def on_event(self, event: Event) -> None:
        """One of `EVENTS`, in its place."""
        match event:
            case GetApplicationState(version):
                self._notify(ReturnedState(version, self._copy(version)))
            case GetStateOk():
                if self._getting is not None and not self._getting.done():
                    self._getting.set_result(event)
            case StatePushed():
                if self._pushing is not None and not self._pushing.done():
                    self._pushing.set_result(event)
            case OfferState():
                self._offer(event)
            case FetchState():
                self._fetch(event)
            case StopFetching(version):
                self._stop_fetching(version)

    def _copy(self, version: StateVersion) -> StateSource | None:
        try:
            copy = None if self._provider is None else self._provider.copy()
        except Exception:
            log.exception("the state provider of %s failed; it gives a null state", self._name)
            return None
        if isinstance(copy, AsyncSource):
            copy.on_ready = lambda: self._tell(SourceReady(version))
        return BytesSource(copy) if isinstance(copy, bytes | bytearray | memoryview) else copy

    def _tell(self, event: Event) -> None:
        self._notify(event)

    def _on_sink_ready(self) -> None:
        self._sink_ready.set()
        self._notify(SinkReady())

    # --- a connection of its own ------------------------------------------------------------------

    def _offer(self, offer: OfferState) -> None:
        """Serve the state; where that cannot be, it goes through the group."""
        version, taker = offer.version, offer.taker
        token = self._server.offer(offer.source, offer.offset, offer.digest)
        host, port = self._server.address if token else ("", 0)
        self._notify(StateOffered(version, taker, host, port, token or b""))

    def _fetch(self, wanted: FetchState) -> None:
        task = asyncio.get_running_loop().create_task(self._run_fetch(wanted))
        self._fetching[wanted.version] = task

    async def _run_fetch(self, wanted: FetchState) -> None:
        complete = False
        try:
            await fetch(
                (wanted.host, wanted.port),
                self._server.secret,
                wanted.token,
                wanted.intake,
                self._sink_ready,
            )
            complete = True
        except TransferError as error:
            log.warning("%s takes the state through the group: %s", self._name, error)
        self._fetching.pop(wanted.version, None)
        self._notify(StateFetched(wanted.version, complete))

    def _stop_fetching(self, version: StateVersion) -> None:
        task = self._fetching.pop(version, None)
        if task is not None:
            task.cancel()

    def end(self) -> None:
        """The channel ends: whoever waits is told, connections are closed."""
        self.on_event(GetStateOk(ENDED))
        self.on_event(StatePushed(()))
        for version in list(self._fetching):
            self._stop_fetching(version)
        self._server.close()
