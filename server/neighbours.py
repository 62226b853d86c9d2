"""The other members: what they are called by browsers, and the small messages between nodes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine

from groupcore.endpoint import Delivery
from groupcore.errors import GroupcoreError
from groupcore.events import ViewInstalled
from groupcore.view import Address
from server.hub import Hub
from server.metrics import Metrics
from server.peers import (
    Info,
    PeerMessage,
    People,
    PersonLeft,
    StateDenied,
    StateOffer,
    StateRequest,
    decode_peer,
    encode_peer,
)
from server.ports import GroupChannel
from server.presence import Presence
from server.recovery.joiner import Joiner
from server.recovery.provider import Provider

logger = logging.getLogger("server")


class Neighbours:
    """Sends and receives unicasts for presence, addresses and state transfer."""

    def __init__(
        self,
        me: str,
        url: str,
        hub: Hub,
        metrics: Metrics,
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self.presence = Presence(hub, self.tell)
        self.urls: dict[str, str] = {me: url}
        self._url = url
        self._metrics = metrics
        self._on_failure = on_failure
        self._channel: GroupChannel | None = None
        self._provider: Provider | None = None
        self._joiner: Joiner | None = None
        self._members: tuple[Address, ...] = ()
        self._me = Address(me, 0)
        self._tasks: set[asyncio.Task[None]] = set()

    def connect(self, channel: GroupChannel, provider: Provider, joiner: Joiner) -> None:
        """What the messages go through and to."""
        self._channel, self._provider, self._joiner = channel, provider, joiner

    def on_view(self, event: ViewInstalled, me: Address) -> None:
        """Greet those who are new to this node, forget the people of those who have gone."""
        self._me, self._members = me, event.view.members
        self.presence.keep_members(event.view.members)
        known = event.previous.members if event.previous and not event.fresh else ()
        for member in event.view.members:
            if member != me and member not in known:
                self._spawn(self.tell_one(member, Info(self._url)))
                self.presence.tell_all(member)

    def tell(self, message: PeerMessage, member: Address | None) -> None:
        """Send to one member, or to every other one."""
        for other in self._members if member is None else (member,):
            if other != self._me:
                self._spawn(self.tell_one(other, message))

    async def tell_one(self, member: Address, message: PeerMessage) -> None:
        """Send to one member; a member that cannot be told is no error."""
        assert self._channel is not None, "connected before the first view"
        try:
            await self._channel.unicast(member, encode_peer(message))
        except GroupcoreError as error:
            logger.debug("not told to %s: %s", member, error)

    def receive(self, delivery: Delivery) -> None:
        """A unicast has come."""
        assert self._joiner is not None, "connected before the first view"
        for payload in delivery.payloads:
            match decode_peer(payload):
                case None:
                    self._metrics.drop("bad_peer_message")
                case Info(url):
                    self.urls[delivery.origin.name] = url
                case (People() | PersonLeft()) as message:
                    self.presence.receive(delivery.origin, message)
                case StateRequest() as request:
                    self._spawn(self._give(delivery.origin, request))
                case (StateOffer() | StateDenied()) as answer:
                    self._joiner.receive(answer)

    async def _give(self, member: Address, request: StateRequest) -> None:
        assert self._provider is not None, "connected before the first view"
        await self.tell_one(member, await self._provider.answer(request))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_end)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._on_failure(error)

    def close(self) -> None:
        """Stop what is under way."""
        self.presence.close()
        for task in self._tasks:
            task.cancel()
