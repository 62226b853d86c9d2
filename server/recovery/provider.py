"""Giving state: what a node that holds everything sends to one that does not.

Idea. The joiner says where its journal ends. If that place lies in this node's past, the log
behind it is enough. Otherwise it gets every document, each as of its own position and encoded in
a turn of its own so that nobody waits for it, and the log from where this began up to one end E:
applied per document, that is the state at E.

A place (epoch, position) lies in this node's past when the next epoch that this node knows began
at or behind it, and the journals' chains agree there; otherwise it is on a lost branch.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from msgpack import Packer

from server.journal import Journal
from server.peers import StateDenied, StateOffer, StateRequest
from server.recovery.sealed_stream import Sealer
from server.replica import Replica

TICKETS_MAX = 64
TICKET_S = 30.0
"""How long a ticket may be used."""

RECORDS_A_READ = 500
"""Records that are read from the journal at once."""

_packer = Packer(use_bin_type=True, autoreset=True)


@dataclass(frozen=True, slots=True)
class Order:
    """Where a node is: its replica's place, and the epochs it knows with their floors."""

    epoch: int
    position: int
    epochs: dict[int, int]


def in_the_past(epoch: int, position: int, here: Order) -> bool:
    """Whether what ended at this place is a prefix of what is here, by the epochs."""
    if position == 0:
        return True
    if position < 0 or epoch not in here.epochs or position > here.position:
        return False
    later = [floor for number, floor in here.epochs.items() if number > epoch]
    return all(position <= floor for floor in later)


class Provider:
    """Answers requests and streams. `order` tells where this node is, None while it may not
    give; `wait_for(position)` returns True when the replica has got there in time."""

    def __init__(
        self,
        journal: Journal,
        cluster_key: bytes,
        url: str,
        order: Callable[[], tuple[Order, Replica] | None],
        wait_for: Callable[[int], Awaitable[bool]],
    ) -> None:
        self._journal = journal
        self._key = cluster_key
        self._url = url
        self._order = order
        self._wait_for = wait_for
        self._tickets: dict[bytes, StateRequest] = {}
        self.given = 0

    async def answer(self, request: StateRequest) -> StateOffer | StateDenied:
        """An offer with a ticket for one use, or why not."""
        if self._order() is None or not await self._wait_for(request.need):
            return StateDenied(request.ask, "not ready")
        if len(self._tickets) >= TICKETS_MAX:
            return StateDenied(request.ask, "busy")
        ticket = secrets.token_bytes(16)
        self._tickets[ticket] = request
        asyncio.get_running_loop().call_later(TICKET_S, self._tickets.pop, ticket, None)
        return StateOffer(request.ask, f"{self._url}/internal/transfer/{ticket.hex()}", ticket)

    def redeem(self, ticket: bytes) -> StateRequest | None:
        """The request behind a ticket, once."""
        return self._tickets.pop(ticket, None)

    async def stream(self, ticket: bytes, request: StateRequest) -> AsyncIterator[bytes]:
        """The sealed chunks that answer the request."""
        sealer = Sealer(self._key, ticket)
        self.given += 1
        async for item in self._items(request):
            for chunk in sealer.feed(_packer.pack(item)):
                yield chunk
        for chunk in sealer.finish():
            yield chunk

    async def _items(self, request: StateRequest) -> AsyncIterator[list[object]]:
        found = self._order()
        if found is None:
            return
        here, replica = found
        start = here.position
        log = in_the_past(request.epoch, request.position, here)
        if log and request.position:
            log = await self._journal.chain_at(request.position) == request.chain
        elif log:
            log = await self._journal.chain_at(0) is not None
        yield ["mode", "log" if log else "full", list(here.epochs.items())]
        if log:
            start = request.position
        else:
            for doc in sorted(replica.documents):
                stored = replica.dump(doc)
                yield ["doc", stored.doc, stored.position, stored.state]
                await asyncio.sleep(0)
        epoch, end, chain = await self._journal.flushed()
        while start < end:
            records = await self._journal.read(start, RECORDS_A_READ)
            rows = [[r.position, r.epoch, r.payload] for r, _ in records if r.position <= end]
            if not rows:
                return
            yield ["records", rows]
            start = records[-1][0].position
        yield ["end", epoch, end, chain]
