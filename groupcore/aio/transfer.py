"""States on connections of their own: a TCP connection for each transfer, sealed.

Whoever connects shows first that it has the cluster's key (`transfer_keys`). Then the caller says,
sealed, what it wants: the token of an offer, or a name that the application knows. The answer is a
stream of frames.

    hello      "GCST", version, key epoch, a public half (32)                caller to server
               a public half (32)                                            server to caller
    shown      where nodes have identities: both ends (`transfer_identity`)
    frame      length (4 bytes), kind (1 byte), sealed box of at most FRAME_BYTES
    request    kind 1: what (1 byte: token or name), offset (8), digest (32), the token or name
    begin      kind 2: the offset from which on data follow: the one asked for, or 0
    data       kind 3
    end        kind 4: length and hash of the whole
    refusal    kind 5: a text

A box is AES-256-GCM, its nonce the number of the frame in its direction, its associated data the
kind: frames cannot be swapped, left out, or cut off at the end.

A server of before knows version 2 alone and hangs up at this one: it is called again with that.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from groupcore.aio.errors import TransferError
from groupcore.aio.transfer_identity import CALLER, SERVER
from groupcore.aio.transfer_keys import (
    HALF_BYTES,
    HELLO_BYTES,
    Half,
    Secret,
)
from groupcore.peers import SocketAddress
from groupcore.seal import TAG_BYTES
from groupcore.transfer.sources import DIGEST_BYTES, Intake, StateSource

log = logging.getLogger(__name__)

FRAME_BYTES = 262_144
"""Most plaintext in a frame."""
REQUEST_BYTES_MAX = 1_024
REQUEST, BEGIN, DATA, END, REFUSAL = 1, 2, 3, 4, 5
TOKEN, NAME = 0, 1
TOKEN_BYTES = 16
HANDSHAKE_S = 3.0
SILENCE_S = 5.0
"""How long a connection may stand still."""
OFFER_S = 15.0
"""How long an offer may be taken up."""
CONNECTIONS_MAX = 16
STRANGERS_MAX = 64
"""Most connections that have not shown the key yet; one more ends the oldest of them."""
OFFERS_MAX = 64

_FRAME = Struct(">IB")
_REQUEST = Struct(f">BQ{DIGEST_BYTES}s")
_END = Struct(f">Q{DIGEST_BYTES}s")

FindSource = Callable[[bytes], StateSource | None]
"""What the application serves under a name; None: nothing."""


class Frames:
    """One direction's frames: sealed or opened in their order."""

    def __init__(self, box: AESGCM) -> None:
        self._box = box
        self._count = 0

    def _nonce(self) -> bytes:
        self._count += 1
        return self._count.to_bytes(12, "big")

    def seal(self, kind: int, data: bytes) -> bytes:
        """The next frame."""
        sealed = self._box.encrypt(self._nonce(), data, bytes((kind,)))
        return _FRAME.pack(len(sealed), kind) + sealed

    async def read(self, reader: StreamReader, bytes_max: int = FRAME_BYTES) -> tuple[int, bytes]:
        """The next frame's kind and content; its length is checked before anything is kept."""
        length, kind = _FRAME.unpack(await reader.readexactly(_FRAME.size))
        if not TAG_BYTES <= length <= bytes_max + TAG_BYTES:
            raise TransferError(f"a frame of {length} bytes is not one of this protocol")
        sealed = await reader.readexactly(length)
        try:
            return kind, self._box.decrypt(self._nonce(), sealed, bytes((kind,)))
        except InvalidTag:
            raise TransferError("a frame does not open; do both have the cluster's key?") from None


@dataclass(slots=True)
class _Offered:
    source: StateSource
    offset: int
    digest: bytes


class TransferServer:
    """Serves states on connections. It listens from `open` on; `address` is where.

    `find` serves what callers name that are no members: a program that prefetches a state.
    """

    def __init__(self, secret: Secret, find: FindSource | None = None) -> None:
        self.secret = secret
        self.find = find
        self.address: SocketAddress = ("", 0)
        self.counters = {"served": 0, "refused": 0, "failed": 0}
        self._offers: dict[bytes, _Offered] = {}
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[None], None] = {}

    async def open(self, host: str, port: int = 0) -> None:
        """Listen there; port 0: any. OSError when that is not possible."""
        self._server = await asyncio.start_server(self._on_connection, host, port)
        name = self._server.sockets[0].getsockname()
        self.address = (str(name[0]), int(name[1]))

    async def try_open(self, host: str) -> None:
        """Listen there on any port; where that cannot be, nothing is offered."""
        try:
            await self.open(host)
        except OSError as error:
            log.warning("no connections for states on %s (%s)", host, error.strerror)

    def close(self) -> None:
        """Listen no more, and break off what is being served."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._offers.clear()
        for task in (*self._running, *self._strangers):
            task.cancel()

    def offer(self, source: StateSource, offset: int, digest: bytes) -> bytes | None:
        """A token with which this source can be fetched, once and soon; None: not now."""
        if self._server is None or len(self._offers) >= OFFERS_MAX:
            return None
        token = secrets.token_bytes(TOKEN_BYTES)
        self._offers[token] = _Offered(source, offset, digest)
        asyncio.get_running_loop().call_later(OFFER_S, self._offers.pop, token, None)
        return token

    async def _on_connection(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            ours, request = await self._admitted(task, reader, writer)
            if len(self._running) >= CONNECTIONS_MAX:
                self.counters["refused"] += 1
                return
            self._running.add(task)
            await self._serve(ours, request, writer)
            self.counters["served"] += 1
        except (TransferError, OSError, EOFError, TimeoutError) as error:
            self.counters["failed"] += 1
            log.info("a transfer to %s ended: %s", writer.get_extra_info("peername"), error)
        finally:
            self._running.discard(task)
            writer.close()

    async def _admitted(
        self, task: asyncio.Task[None], reader: StreamReader, writer: StreamWriter
    ) -> tuple[AESGCM, bytes]:
        """The cipher of what is sent, and the request of a caller that has shown the key.

        Strangers take no room from those: when there are many, the oldest one makes room.
        """
        if len(self._strangers) >= STRANGERS_MAX:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.cancel()
            self.counters["refused"] += 1
        self._strangers[task] = None
        try:
            async with asyncio.timeout(HANDSHAKE_S):
                return await self._handshake(reader, writer)
        finally:
            self._strangers.pop(task, None)

    async def _handshake(self, reader: StreamReader, writer: StreamWriter) -> tuple[AESGCM, bytes]:
        hello = await reader.readexactly(HELLO_BYTES)
        half = Half.drawn(self.secret.version_of(hello))
        theirs, ours = self.secret.keys(hello, half.public, half)
        writer.write(half.public)
        showing = self.secret.showing(hello, half.public, half)
        if showing is not None:
            writer.write(showing.shown(SERVER))
            await showing.look(CALLER, reader)
        kind, request = await Frames(theirs).read(reader, REQUEST_BYTES_MAX)
        if kind != REQUEST or len(request) < _REQUEST.size:
            raise TransferError("not a request")
        return ours, request

    async def _serve(self, ours: AESGCM, request: bytes, writer: StreamWriter) -> None:
        frames = Frames(ours)
        what, offset, digest = _REQUEST.unpack_from(request)
        found = self._find(what, request[_REQUEST.size :], offset, digest)
        if found is None:
            writer.write(frames.seal(REFUSAL, b"nothing is offered under that name"))
            await writer.drain()
            raise TransferError("nothing is offered under that name")
        await _give(found, frames, writer)

    def _find(self, what: int, name: bytes, offset: int, digest: bytes) -> _Offered | None:
        if what == TOKEN:
            return self._offers.pop(name, None)
        source = None if self.find is None else self.find(name)
        return None if source is None else _Offered(source, offset, digest)


async def _give(offered: _Offered, frames: Frames, writer: StreamWriter) -> None:
    """Send the source: from the offset on if its beginning is what the caller has, else all."""
    source, running = offered.source, sha256()
    offset = 0
    while offset < offered.offset:
        data = await _read(source, offset, min(FRAME_BYTES, offered.offset - offset))
        if not data:
            break
        running.update(data)
        offset += len(data)
    if offset != offered.offset or (offset and running.digest() != offered.digest):
        offset, running = 0, sha256()
    writer.write(frames.seal(BEGIN, offset.to_bytes(8, "big")))
    while data := await _read(source, offset, FRAME_BYTES):
        running.update(data)
        offset += len(data)
        writer.write(frames.seal(DATA, data))
        async with asyncio.timeout(SILENCE_S):
            await writer.drain()
    writer.write(frames.seal(END, _END.pack(offset, running.digest())))
    await writer.drain()


async def _read(source: StateSource, offset: int, size: int) -> bytes:
    """The next bytes; what the source makes later is waited for."""
    for _ in range(int(SILENCE_S / 0.001)):
        try:
            data = source.read(offset, size)
        except Exception as error:
            raise TransferError(f"the state cannot be read: {error}") from error
        if data is not None:
            await asyncio.sleep(0)  # others have their turn between two frames
            return data
        await asyncio.sleep(0.001)
    raise TransferError("the source of the state has given nothing for too long")


async def fetch(
    address: SocketAddress,
    secret: Secret,
    what: bytes,
    intake: Intake,
    ready: asyncio.Event | None = None,
    named: bool = False,
) -> None:
    """Fetch a state into `intake`, behind what it holds; TransferError when it did not come whole.

    `what` is the token of an offer, or with `named` a name. `ready` is set when a sink that was
    full takes more again.
    """
    for version in secret.versions:
        try:
            await _fetch(address, secret, Half.drawn(version), what, intake, ready, named)
        except _HungUpError:
            if version == secret.versions[-1]:
                raise
        else:
            return


class _HungUpError(TransferError):
    """The server has ended the connection at the hello."""


async def _fetch(
    address: SocketAddress,
    secret: Secret,
    half: Half,
    what: bytes,
    intake: Intake,
    ready: asyncio.Event | None,
    named: bool,
) -> None:
    try:
        async with asyncio.timeout(HANDSHAKE_S):
            reader, writer = await asyncio.open_connection(*address, limit=2 * FRAME_BYTES)
    except (OSError, TimeoutError) as error:
        raise TransferError(f"no connection to {address[0]}:{address[1]}: {error}") from None
    try:
        async with asyncio.timeout(HANDSHAKE_S):
            ours, theirs = await _introduced(secret, half, reader, writer)
        asked = _REQUEST.pack(NAME if named else TOKEN, intake.offset, intake.digest)
        writer.write(Frames(ours).seal(REQUEST, asked + what))
        await take_frames(reader, Frames(theirs), intake, ready or asyncio.Event())
    except (OSError, EOFError, TimeoutError) as error:
        raise TransferError(f"the connection broke off: {error!r}") from None
    finally:
        writer.transport.abort()  # nothing is under way that the other end still needs
        with suppress(OSError):
            await writer.wait_closed()


async def _introduced(
    secret: Secret, half: Half, reader: StreamReader, writer: StreamWriter
) -> tuple[AESGCM, AESGCM]:
    """The caller's part of the handshake: the ciphers of its frames, and of the server's."""
    hello = secret.hello(half)
    writer.write(hello)
    try:
        answer = await reader.readexactly(HALF_BYTES)
    except (ConnectionError, EOFError) as error:
        raise _HungUpError(f"the connection broke off: {error!r}") from None
    showing = secret.showing(hello, answer, half)
    if showing is not None:
        await showing.look(SERVER, reader)
        writer.write(showing.shown(CALLER))
    return secret.keys(hello, answer, half)


async def take_frames(
    reader: StreamReader, frames: Frames, intake: Intake, ready: asyncio.Event
) -> None:
    """Take what a server sends after a request, to its end; TransferError when it is not that."""
    begun = False
    while True:
        async with asyncio.timeout(SILENCE_S):
            kind, data = await frames.read(reader)
        if kind == REFUSAL:
            raise TransferError(f"refused: {data.decode(errors='replace')}")
        if not begun:
            begun = True
            _begin(kind, data, intake)
        elif kind == DATA:
            ready.clear()
            _write(intake, data)
            if not intake.ready:
                await ready.wait()
                intake.ready = True
        elif kind == END and data == _END.pack(intake.offset, intake.digest):
            return
        else:
            raise TransferError("the hash over the state is wrong")


def _begin(kind: int, data: bytes, intake: Intake) -> None:
    offset = int.from_bytes(data, "big")
    if kind != BEGIN or len(data) != 8 or offset not in (0, intake.offset):
        raise TransferError("the server begins with something else")
    if not offset and intake.offset:
        intake.reset()


def _write(intake: Intake, data: bytes) -> None:
    try:
        intake.take(data)
    except Exception as error:
        raise TransferError(f"the sink failed: {error}") from error
