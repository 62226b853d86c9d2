"""The provider's role: copy at one place in the order, give in chunks, forget.

A copy belongs to a version and to those who asked for it. It is dropped when each of them has
said that it needs it no more, or has left the view.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Notify, StartTimer
from groupcore.transfer.events import GetApplicationState, OfferState, StateOffered, StatePushed
from groupcore.transfer.headers import (
    AUTO,
    DIGEST,
    SEPARATE,
    STREAM,
    Chunk,
    Collect,
    NoState,
    Offer,
    ReturnState,
    Taken,
)
from groupcore.transfer.options import StateTransferOptions
from groupcore.transfer.pace import ChunkPace
from groupcore.transfer.sources import StateSource
from groupcore.transfer.version import StateVersion
from groupcore.view import Address

if TYPE_CHECKING:
    import hashlib

COPIES_MAX = 32
"""Copies that one member keeps at a time; who asks for more gets a null state."""
HASHED_AT_ONCE_BYTES = 1 << 20
HASH_PAUSE_S = 0.0005


@dataclass(slots=True)
class Stream:
    """What is given to one taker: read and hashed up to `offset`, `taken` of it.

    `checks`: the beginning that the taker says it has is being compared. `separate`: somebody
    else reads the source, on a connection of its own.
    """

    taker: Address
    asked: ReturnState
    pace: ChunkPace
    offset: int = 0
    taken: int = 0
    ended: bool = False
    checks: bool = False
    separate: bool = False
    hash: hashlib._Hash = field(default_factory=sha256)

    def rewind(self) -> None:
        """Give from the beginning: the taker holds something else."""
        self.offset = self.taken = 0
        self.pace.sent.clear()
        self.checks = False
        self.hash = sha256()


@dataclass(slots=True)
class Copy:
    """One copy: for whom it still is, who has taken it, and what is being given to each."""

    takers: set[Address]
    taken: list[Address] = field(default_factory=list)
    source: StateSource | None = None
    streams: dict[Address, Stream] = field(default_factory=dict)


class Giver:
    """Keeps the copies of one member. `now` is the time of the turn: the layer tells it."""

    def __init__(self, me: Address, options: StateTransferOptions) -> None:
        self.me = me
        self.options = options
        self.now = 0.0
        self.serving = False
        self.lacking = False
        self.copies: dict[StateVersion, Copy] = {}
        self.early: dict[Address, ReturnState] = {}
        self.collected: dict[Address, int] = {}
        self.numbers = {"copies": 0, "nulls": 0, "chunks": 0, "given_bytes": 0, "refused": 0}

    # --- copying ----------------------------------------------------------------------------------

    def copy(self, version: StateVersion, takers: Iterable[Address]) -> list[Effect]:
        """Have the application copy its state now; or say at once that there is none."""
        if version.counter <= self.collected.get(version.initiator, 0):
            return []
        own = version.initiator == self.me
        if not own and (not self.serving or self.lacking):
            self.early.pop(version.initiator, None)
            return self.null(takers, version, "lacking" if self.lacking else "not serving")
        if len(self.copies) >= COPIES_MAX and not own:
            return self.null(takers, version, "busy")
        self.copies[version] = Copy(set(takers))
        self.numbers["copies"] += 1
        return [Notify(GetApplicationState(version))]

    def null(self, takers: Iterable[Address], version: StateVersion, why: str) -> list[Effect]:
        """A null state."""
        self.numbers["nulls"] += 1
        return [self.send(taker, NoState(version, why)) for taker in takers]

    def send(self, taker: Address, header: Header, body: bytes = b"") -> Effect:
        """To one taker, reliably."""
        return Down(Batch(self.me, taker, (header,), body))

    def on_returned(self, version: StateVersion, source: StateSource | None) -> list[Effect]:
        """The application has made its copy."""
        copy = self.copies.get(version)
        if copy is None or copy.source is not None:
            self.numbers["refused"] += 1  # collected meanwhile, or returned twice
            if source is not None:
                source.close()
            return []
        if source is None:
            del self.copies[version]
            return [*self.null(copy.takers, version, "null"), *self.maybe_pushed(version, copy)]
        copy.source = source
        effects: list[Effect] = []
        for taker in sorted(copy.takers):
            asked = self.early.pop(taker, None)
            if asked is not None and asked.version == version:
                effects += self.give(copy, taker, asked)
        return effects

    # --- giving -----------------------------------------------------------------------------------

    def on_ask(self, taker: Address, asked: ReturnState) -> list[Effect]:
        """RETURN_STATE. What is asked for before the copy is here waits for it."""
        copy = self.copies.get(asked.version)
        if copy is not None and taker not in copy.takers:
            self.numbers["refused"] += 1
            return []
        if copy is None or copy.source is None:
            initiator = asked.version.initiator
            known = self.collected.get(initiator, 0)
            if initiator not in (taker, self.me) or asked.version.counter <= known:
                self.numbers["refused"] += 1
                return self.null((taker,), asked.version, "unknown")
            self.early[taker] = asked
            return []
        return self.give(copy, taker, asked)

    def give(self, copy: Copy, taker: Address, asked: ReturnState) -> list[Effect]:
        """Begin, or begin again, to give a copy."""
        source = copy.source
        assert source is not None
        stream = copy.streams[taker] = Stream(taker, asked, ChunkPace(self.options.chunk_bytes))
        if asked.wanted == SEPARATE or (asked.wanted == AUTO and self.is_large(source)):
            stream.separate = True
            offer = OfferState(asked.version, taker, source, asked.offset, asked.digest)
            return [Notify(offer)]
        if asked.offset or asked.wanted == DIGEST:
            stream.checks = True
            return [StartTimer("hash", HASH_PAUSE_S)]
        return self.fill(asked.version, copy, stream)

    def is_large(self, source: StateSource) -> bool:
        """Whether it is worth a connection of its own."""
        return source.size_bytes is None or source.size_bytes >= self.options.separate_bytes

    def on_offered(self, offered: StateOffered) -> list[Effect]:
        """The shell serves the state on a connection; where it cannot, the chunks go here."""
        copy = self.copies.get(offered.version)
        stream = None if copy is None else copy.streams.get(offered.taker)
        if copy is None or stream is None or stream.asked.wanted not in (AUTO, SEPARATE):
            return []
        if offered.port:
            offer = Offer(offered.version, offered.host, offered.port, offered.token)
            return [self.send(offered.taker, offer)]
        asked = stream.asked
        again = ReturnState(asked.version, STREAM, asked.offset, asked.digest)
        return self.give(copy, offered.taker, again)

    def fill(self, version: StateVersion, copy: Copy, stream: Stream) -> list[Effect]:
        """Send what the taker's window lets."""
        effects: list[Effect] = []
        size_bytes = stream.pace.size_bytes
        window = size_bytes * self.options.window_chunks
        while not stream.ended and stream.offset - stream.taken < window:
            data = self.read(copy, stream.offset, size_bytes)
            if data is None:
                break
            if isinstance(data, OSError):
                return [*effects, *self.fail(version, copy, stream)]
            stream.hash.update(data)
            chunk = Chunk(version, stream.offset, stream.hash.digest(), not data)
            stream.offset += len(data)
            stream.ended = not data
            stream.pace.note_sent(stream.offset, self.now)
            effects.append(self.send(stream.taker, chunk, data))
            self.numbers["chunks"] += 1
            self.numbers["given_bytes"] += len(data)
        return effects

    def read(self, copy: Copy, offset: int, size: int) -> bytes | OSError | None:
        """The next bytes of a copy; an error when its source cannot give them."""
        assert copy.source is not None
        try:
            return copy.source.read(offset, size)
        except Exception as error:
            # Whatever the application's source raises: its copy is worth nothing any more.
            return OSError(str(error))

    def fail(self, version: StateVersion, copy: Copy, stream: Stream) -> list[Effect]:
        """The source cannot be read: the taker is told, and asks another."""
        stream.ended = True
        del copy.streams[stream.taker]
        return self.null((stream.taker,), version, "damaged")

    def on_taken(self, taker: Address, header: Taken) -> list[Effect]:
        """The taker has used what it was given: more."""
        copy = self.copies.get(header.version)
        stream = None if copy is None else copy.streams.get(taker)
        if copy is None or stream is None or not stream.taken <= header.offset <= stream.offset:
            self.numbers["refused"] += 1
            return []
        stream.taken = header.offset
        stream.pace.note_taken(header.offset, self.now)
        return [] if stream.checks or stream.separate else self.fill(header.version, copy, stream)

    def on_source_ready(self, version: StateVersion) -> list[Effect]:
        """A source that had nothing has something again."""
        copy = self.copies.get(version)
        effects: list[Effect] = []
        for stream in [] if copy is None else list(copy.streams.values()):
            assert copy is not None
            if stream.checks:
                effects.append(StartTimer("hash", HASH_PAUSE_S))
            elif not stream.separate:
                effects += self.fill(version, copy, stream)
        return effects

    # --- hashing ----------------------------------------------------------------------------------

    def on_hash(self) -> list[Effect]:
        """Read on in the beginnings that have to be compared; a piece at a time."""
        effects: list[Effect] = []
        again = False
        for version, copy in list(self.copies.items()):
            for stream in list(copy.streams.values()):
                if stream.checks:
                    effects += self.check(version, copy, stream)
                    again = again or stream.checks
        return [*effects, StartTimer("hash", HASH_PAUSE_S)] if again else effects

    def check(self, version: StateVersion, copy: Copy, stream: Stream) -> list[Effect]:
        """One piece: at its end give on where the taker stands, or from the beginning."""
        whole = stream.asked.wanted == DIGEST
        size = HASHED_AT_ONCE_BYTES
        if not whole:
            size = min(size, stream.asked.offset - stream.offset)
        data = self.read(copy, stream.offset, size)
        if data is None:
            return []
        if isinstance(data, OSError):
            stream.checks = False
            return self.fail(version, copy, stream)
        stream.hash.update(data)
        stream.offset += len(data)
        if whole and not data:
            stream.checks, stream.ended = False, True
            return [self.send(stream.taker, self.end_of(version, stream))]
        if not whole and stream.offset == stream.asked.offset:
            stream.checks = False
            stream.taken = stream.offset
            if stream.hash.digest() != stream.asked.digest:
                stream.rewind()
            return self.fill(version, copy, stream)
        if not data:
            stream.rewind()  # the taker holds more than there is
            return self.fill(version, copy, stream)
        return []

    def end_of(self, version: StateVersion, stream: Stream) -> Chunk:
        """The empty chunk at the end: length and hash of the whole."""
        return Chunk(version, stream.offset, stream.hash.digest(), True)

    # --- forgetting -------------------------------------------------------------------------------

    def on_collect(self, taker: Address, header: Collect) -> list[Effect]:
        """GC: this taker needs no copy up to that version."""
        version = header.version
        if version.initiator == taker:
            newest = max(version.counter, self.collected.get(taker, 0))
            self.collected[taker] = newest
            if (early := self.early.get(taker)) is not None and early.version.counter <= newest:
                del self.early[taker]
        effects: list[Effect] = []
        for known, copy in list(self.copies.items()):
            older = known.initiator == version.initiator and known.counter <= version.counter
            if older and taker in copy.takers:
                if known == version and header.taken:
                    copy.taken.append(taker)
                effects += self.release(known, copy, taker)
        return effects

    def release(self, version: StateVersion, copy: Copy, taker: Address) -> list[Effect]:
        """One taker less; without any the copy goes."""
        copy.takers.discard(taker)
        copy.streams.pop(taker, None)
        if copy.takers:
            return []
        del self.copies[version]
        if copy.source is not None:
            copy.source.close()
        return self.maybe_pushed(version, copy)

    def maybe_pushed(self, version: StateVersion, copy: Copy) -> list[Effect]:
        """A push has ended."""
        return [Notify(StatePushed(tuple(copy.taken)))] if version.initiator == self.me else []

    def on_members(self, members: frozenset[Address]) -> list[Effect]:
        """A view: copies of those who have left are dropped."""
        self.collected = {m: n for m, n in self.collected.items() if m in members}
        self.early = {m: asked for m, asked in self.early.items() if m in members}
        effects: list[Effect] = []
        for version, copy in list(self.copies.items()):
            for taker in copy.takers - members:
                effects += self.release(version, copy, taker)
        return effects

    def drop_all(self) -> list[Effect]:
        """The order began anew, or the life ends: no copy is worth anything."""
        self.early.clear()
        return self.drop(list(self.copies))

    def drop_own(self) -> list[Effect]:
        """What this member pushes is not given any longer."""
        return self.drop([version for version in self.copies if version.initiator == self.me])

    def drop(self, versions: list[StateVersion]) -> list[Effect]:
        """These copies go, whoever still waits for them."""
        effects: list[Effect] = []
        for version in versions:
            copy = self.copies[version]
            for taker in set(copy.takers):
                effects += self.release(version, copy, taker)
        return effects
