"""Taking state: ask the holders one after the other until one has given it all.

A request goes by unicast on the channel, the state comes over HTTP from the holder's management
address in sealed chunks. Nothing of it is used before the end has come and its hash is right, so
a holder that dies midway leaves nothing behind (reliability, rows 32 and 34).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import aiohttp
from msgpack import Unpacker
from msgpack.exceptions import UnpackException

from groupcore.view import Address
from server.peers import PeerMessage, StateDenied, StateOffer, StateRequest
from server.recovery.sealed_stream import Opener, TransferError
from server.store import Record, Recovered, StoredDocument

ANSWER_S = 3.0
"""How long a holder may take to answer."""

SILENCE_S = 10.0
"""How long a stream may stand still."""

PAUSE_S = 0.5
"""Between two rounds through all holders."""

ITEM_BYTES_MAX = 256 * 2**20
"""Largest document state that is taken."""


@dataclass(slots=True)
class Received:
    """What a transfer has brought: the log behind the joiner's place, or a whole state."""

    full: bool
    state: Recovered


class Joiner:
    """One node's requests for state. `tell` sends a unicast on the channel."""

    def __init__(
        self, cluster_key: bytes, tell: Callable[[Address, PeerMessage], Awaitable[None]]
    ) -> None:
        self._key = cluster_key
        self._tell = tell
        self._asks: dict[int, asyncio.Future[StateOffer | StateDenied]] = {}
        self._count = 0
        self.failures = 0

    def receive(self, message: StateOffer | StateDenied) -> None:
        """A holder has answered."""
        answer = self._asks.get(message.ask)
        if answer is not None and not answer.done():
            answer.set_result(message)

    async def fetch(
        self,
        holders: Callable[[], Sequence[Address]],
        epoch: int,
        position: int,
        chain: bytes,
        need: int,
        on_failure: Callable[[Address, str], None],
    ) -> Received:
        """The state as of `need` or later, from the first holder that gives it; never gives up.

        `holders` is asked anew each round: the view changes meanwhile.
        """
        while True:
            for holder in holders():
                try:
                    return await self._fetch_from(holder, epoch, position, chain, need)
                except (TransferError, aiohttp.ClientError, TimeoutError, OSError) as error:
                    self.failures += 1
                    on_failure(holder, str(error) or type(error).__name__)
            await asyncio.sleep(PAUSE_S)

    async def _fetch_from(
        self, holder: Address, epoch: int, position: int, chain: bytes, need: int
    ) -> Received:
        self._count += 1
        ask = self._count
        answer = self._asks[ask] = asyncio.get_running_loop().create_future()
        try:
            await self._tell(holder, StateRequest(ask, epoch, position, chain, need))
            offer = await asyncio.wait_for(answer, ANSWER_S)
        finally:
            del self._asks[ask]
        if isinstance(offer, StateDenied):
            raise TransferError(f"refused: {offer.reason}")
        received = await self._download(offer)
        if received.state.position < need:
            raise TransferError("the holder is behind")
        return received

    async def _download(self, offer: StateOffer) -> Received:
        timeout = aiohttp.ClientTimeout(total=None, connect=ANSWER_S, sock_read=SILENCE_S)
        opener = Opener(self._key, offer.ticket)
        collector = Collector()
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(offer.url, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise TransferError(f"HTTP status {response.status}")
            async for data in response.content.iter_any():
                collector.feed(opener.feed(data))
        if not opener.finished:
            raise TransferError("the stream broke off")
        return collector.finish()


class Collector:
    """Puts the items of the plaintext together; TransferError when they are not a state."""

    def __init__(self) -> None:
        self._unpacker = Unpacker(raw=False, use_list=True, max_buffer_size=ITEM_BYTES_MAX)
        self._received: Received | None = None
        self._ended = False

    def feed(self, plain: bytes) -> None:
        """More plaintext."""
        try:
            self._unpacker.feed(plain)
            for item in self._unpacker:
                self._take(item)
        except (UnpackException, ValueError, TypeError, RecursionError) as error:
            raise TransferError(f"not a state: {error}") from None

    def _take(self, item: object) -> None:
        received = self._received
        match item:
            case ["mode", ("log" | "full") as mode, list(epochs)] if received is None:
                state = Recovered(epochs={int(epoch): int(floor) for epoch, floor in epochs})
                self._received = Received(mode == "full", state)
            case ["doc", str(doc), int(position), bytes(dumped)] if received is not None:
                received.state.documents.append(StoredDocument(doc, position, dumped))
            case ["records", list(rows)] if received is not None:
                received.state.records += [Record(int(p), int(e), bytes(b)) for p, e, b in rows]
            case ["end", int(epoch), int(position), bytes(chain)] if received is not None:
                received.state.epoch, received.state.position = epoch, position
                received.state.chain = chain
                self._ended = True
            case _:
                raise TransferError("an unknown item")

    def finish(self) -> Received:
        """The whole; TransferError when its end is missing."""
        if self._received is None or not self._ended:
            raise TransferError("the state is incomplete")
        return self._received
