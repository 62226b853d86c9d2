"""Fragments: a large state in pieces that the taker pulls at its own pace.

    state = await fragments.open()
    async for piece in state:
        file.write(piece)
        print(state.offset, "of", state.size_bytes)

The channel's own state transfer streams and queues by itself, and is what a replica wants. This is
for the other cases: state that is fetched now and then, slowly, in the background, from a member
that is chosen, or without being a replica at all. Whoever does not ask for the next piece pauses.
When a provider dies, the next one that holds the same copy goes on at the same byte; the whole is
verified by its hash. What is ordered behind `position` is the taker's to apply.

Source. State transfer paper, 3.4.2: fragments by number and version, instead of one state.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol, Self

from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.errors import (
    NoAnswerError,
    RemoteError,
    SuspectedError,
    TransferFailedError,
)
from groupcore.blocks.listener import Listener
from groupcore.blocks.rpc import RpcDispatcher
from groupcore.blocks.rpc_calls import Gather, Outcome
from groupcore.blocks.rpc_functions import Function
from groupcore.events import ViewInstalled
from groupcore.view import Address

log = logging.getLogger(__name__)

PIECE_BYTES = 60_000
PIECE_BYTES_MAX = 1 << 20
COPIES_MAX = 4
"""Copies that a provider keeps; the oldest goes when one more is asked for."""
DIGEST_BYTES = 16


class Source(Protocol):
    """A copy of the state: what it holds never changes."""

    @property
    def size_bytes(self) -> int:
        """Length of the copy."""
        ...

    def read(self, offset: int, size: int) -> bytes | None:
        """Up to `size` bytes from `offset`; empty at the end."""
        ...

    def close(self) -> None:
        """Nobody needs it any more."""
        ...


MakeCopy = Callable[[Address], Source | Awaitable[Source | None] | None]
"""Makes a copy of the state for this taker; None when there is none."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a provider has opened: its length, and the place in the order that it holds."""

    size_bytes: int
    epoch: int
    position: int


class FragmentedState:
    """A state that is being taken. `offset` of its `size_bytes` bytes have come.

    It holds all that was ordered up to `position` of `epoch`; one that was not opened in the order
    may hold more. Use it as an iterator, or call `read` for single pieces, and close it when it is
    not read to its end (`async with` does).
    """

    def __init__(
        self, rpc: RpcDispatcher, name: str, number: int, me: Address, offers: dict[Address, Offer]
    ) -> None:
        self.providers = list(offers)
        offer = offers[self.providers[0]]
        self.size_bytes = offer.size_bytes
        self.epoch, self.position = offer.epoch, offer.position
        self.offset = 0
        self._hash = blake2b(digest_size=DIGEST_BYTES)
        self._rpc = rpc
        self._name = name
        self._key = (me.name, me.incarnation, number)

    async def read(self, size_bytes: int = PIECE_BYTES, timeout_s: float = 5.0) -> bytes:
        """The next piece, empty at the end; goes on with the next provider when one is lost.

        TransferFailedError when no provider is left, or the whole is not what was offered.
        """
        if self.offset == self.size_bytes:
            return b""
        wanted = min(size_bytes, PIECE_BYTES_MAX, self.size_bytes - self.offset)
        while True:
            piece = await self._ask("read", self.offset, wanted, timeout_s=timeout_s)
            if isinstance(piece, bytes) and 0 < len(piece) <= wanted:
                break
            log.warning("%s sent no piece of %r", self.providers.pop(0), self._name)
        self._hash.update(piece)
        self.offset += len(piece)
        if self.offset == self.size_bytes:
            await self._verify(timeout_s)
        return piece

    async def _verify(self, timeout_s: float) -> None:
        digest = await self._ask("digest", timeout_s=timeout_s)
        await self.close()
        if digest != self._hash.digest():
            raise TransferFailedError(
                f"what came of {self._name!r} is not what its provider has; open it again"
            )

    async def _ask(self, function: str, *arguments: int, timeout_s: float) -> object:
        """The answer of the first provider that gives one; the others are left out from now on."""
        while self.providers:
            name = f"{self._name}.{function}"
            try:
                return await self._rpc.call_one(
                    self.providers[0], name, *self._key, *arguments, timeout_s=timeout_s
                )
            except (RemoteError, SuspectedError, NoAnswerError) as error:
                log.info("%s at %d: %s", name, self.offset, error)
                self.providers.pop(0)
        raise TransferFailedError(f"no provider of {self._name!r} is left; open it again")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """All pieces from `offset` on."""
        while piece := await self.read():
            yield piece

    async def close(self) -> None:
        """Tell the providers that the copy is not needed any more."""
        members, self.providers = self.providers, []
        if members:
            await self._rpc.call(
                f"{self._name}.close", *self._key, members=members, gather=Gather.NONE
            )

    async def __aenter__(self) -> Self:
        """Nothing to do."""
        return self

    async def __aexit__(self, *failure: object) -> None:
        """Close."""
        await self.close()


class Fragments(Listener):
    """Gives the own state in pieces, and takes that of others; both under one name."""

    def __init__(
        self,
        adapter: PullPushAdapter,
        rpc: RpcDispatcher,
        name: str = "fragments",
        copy: MakeCopy | None = None,
    ) -> None:
        """`name` is the same at all members. `copy` None: this member only takes.

        `copy` is called at its place in the order if the copy was asked for with `ordered`; it
        must be quick then, or it holds up the order here. Four of its copies are kept.
        """
        self._adapter = adapter
        self._rpc = rpc
        self._name = name
        self._copy = copy
        self._copies: dict[tuple[str, int, int], Source] = {}
        self._last_number = 0
        self._functions: dict[str, Function] = {
            "open": self._on_open,
            "read": self._on_read,
            "digest": self._on_digest,
            "close": self._on_close,
        }
        for function, answer in self._functions.items():
            rpc.register(f"{name}.{function}", answer)
        adapter.add_listener(self, name)

    async def open(
        self,
        providers: Sequence[Address] | None = None,
        *,
        ordered: bool = True,
        timeout_s: float = 10.0,
    ) -> FragmentedState:
        """Have a copy made at these members; None: at the two oldest others.

        `ordered`: at one place in the order, so all copies are alike and one provider can go on
        where another has died. TransferFailedError when none of them has state,
        NotPrimaryError when this member has not joined in time.
        """
        view = await self._adapter.until_view(timeout_s)
        me = self._adapter.me
        assert me is not None, "who has a view is in it"
        asked = [m for m in (view.members if providers is None else providers) if m != me]
        if providers is None:
            asked = asked[:2]
        self._last_number += 1
        number = self._last_number
        outcomes = await self._rpc.call(
            f"{self._name}.open",
            me.name,
            me.incarnation,
            number,
            members=asked,
            ordered=ordered,
            timeout_s=timeout_s,
        )
        offers = {m: offer for m in asked if (offer := _offer(outcomes[m])) is not None}
        if not offers:
            raise TransferFailedError(f"none of {[m.name for m in asked]} gives {self._name!r}")
        first = next(iter(offers.values()))
        alike = {member: offer for member, offer in offers.items() if offer == first}
        return FragmentedState(self._rpc, self._name, number, me, alike)

    def close(self) -> None:
        """Give no pieces any more."""
        for function in self._functions:
            self._rpc.unregister(f"{self._name}.{function}")
        self._adapter.remove_listener(self)
        self._drop(list(self._copies))

    @property
    def copies(self) -> int:
        """How many copies are kept for takers."""
        return len(self._copies)

    def on_view(self, event: ViewInstalled) -> None:
        """The copies of takers that have left go."""
        members = [(member.name, member.incarnation) for member in event.view.members]
        self._drop([key for key in self._copies if key[:2] not in members])

    async def _on_open(self, node: str, incarnation: int, number: int) -> object:
        if self._copy is None:
            return None
        epoch = 0 if self._adapter.view is None else self._adapter.view.epoch
        position = self._adapter.position
        made = self._copy(Address(node, incarnation))
        source = await made if inspect.isawaitable(made) else made
        if source is None:
            return None
        while len(self._copies) >= COPIES_MAX:
            self._drop([next(iter(self._copies))])
        self._copies[(node, incarnation, number)] = source
        return [source.size_bytes, epoch, position]

    def _on_read(
        self, node: str, incarnation: int, number: int, offset: int, size: int
    ) -> bytes | None:
        source = self._copy_of(node, incarnation, number)
        return source.read(max(offset, 0), min(size, PIECE_BYTES_MAX))

    async def _on_digest(self, node: str, incarnation: int, number: int) -> bytes:
        source = self._copy_of(node, incarnation, number)
        return await asyncio.get_running_loop().run_in_executor(None, digest_of, source)

    def _copy_of(self, node: str, incarnation: int, number: int) -> Source:
        source = self._copies.get((node, incarnation, number))
        if source is None:
            raise LookupError("this copy is not kept here (any more); open the state again")
        return source

    def _on_close(self, node: str, incarnation: int, number: int) -> None:
        if (node, incarnation, number) in self._copies:
            self._drop([(node, incarnation, number)])

    def _drop(self, keys: list[tuple[str, int, int]]) -> None:
        for key in keys:
            self._copies.pop(key).close()


def digest_of(source: Source) -> bytes:
    """The hash of a whole copy."""
    hashed = blake2b(digest_size=DIGEST_BYTES)
    offset = 0
    while piece := source.read(offset, PIECE_BYTES_MAX):
        hashed.update(piece)
        offset += len(piece)
    return hashed.digest()


def _offer(outcome: Outcome) -> Offer | None:
    match outcome.value:
        case [int(size_bytes), int(epoch), int(position)]:
            return Offer(size_bytes, epoch, position)
        case _:
            log.info("%s gives no state: %s", outcome.member, outcome.error or "it has none")
            return None
