"""The gateway as an ASGI application: `app.mount("/objects", SharedObjects(node, types=[...]))`."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from inspect import isawaitable

from groupcore.aio import Node
from groupcore.frames import BadFrameError, Message, decode, pack
from groupcore.origins import origin_allowed
from groupcore.shared.messages import PRINCIPAL_MAX
from groupcore.web.errors import MissingPackageError, SessionEndError
from groupcore.web.gateway import Gateway, MayOpen, may_open_all
from groupcore.web.limits import (
    CONGESTED_BYTES,
    FRAME_BYTES_MAX,
    HEARTBEAT_S,
    HELLO_S,
    LINGER_S,
    PROTOCOL,
    RULES,
)
from groupcore.web.page import Page, greet

try:
    from starlette.responses import JSONResponse
    from starlette.types import Receive, Scope, Send
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as error:
    raise MissingPackageError(
        'groupcore.web needs Starlette; run: pip install "groupcore[web]"'
    ) from error

PING = b"\x91" + pack({"t": "ping"})
CLOSE_S = 2.0
"""How long a close frame may wait for a congested connection."""

Authenticate = Callable[[WebSocket], "str | Awaitable[str | None] | None"]
"""Gives the principal of who connects, empty for nobody in particular; None: may not."""


def everybody(websocket: WebSocket) -> str:
    """Who connects is nobody in particular."""
    del websocket
    return ""


class SharedObjects:
    """Lets browsers work with shared objects of a node, as an application to mount.

    `types`: what may be opened, by class name, or as a dict by names of your own. `authenticate`
    gives the principal of a connection, None to refuse it. `may_open(principal, type, name)` says
    whether an object may be opened or made; access lists are the objects' own. `origins`: of which
    pages, beside those of this very host. Call `close` before the node is closed.
    """

    def __init__(
        self,
        node: Node,
        types: Sequence[type[object]] | Mapping[str, type[object]],
        *,
        authenticate: Authenticate = everybody,
        may_open: MayOpen = may_open_all,
        origins: Collection[str] = (),
        heartbeat_s: float = HEARTBEAT_S,
        linger_s: float = LINGER_S,
    ) -> None:
        self.gateway = Gateway(node, types, may_open, heartbeat_s, linger_s)
        self._authenticate = authenticate
        self._origins = frozenset(origins)

    async def close(self) -> None:
        """Send the pages to other nodes, and end their sessions."""
        await self.gateway.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "websocket":
            detail = {"code": "no_websocket", "message": f"connect a WebSocket, {PROTOCOL}"}
            await JSONResponse(detail, 426)(scope, receive, send)
            return
        websocket = WebSocket(scope, receive, send)
        principal = await self._admit(websocket)
        if principal is not None:
            await self._serve(websocket, principal)

    async def _admit(self, websocket: WebSocket) -> str | None:
        """The principal of who connects; None when it was refused, in HTTP."""
        headers, client = websocket.headers, websocket.client
        host = None if client is None else client.host
        if PROTOCOL not in websocket.scope["subprotocols"]:
            refused = (426, "unknown_protocol", f"this speaks {PROTOCOL}")
        elif not origin_allowed(headers.get("origin"), headers.get("host"), host, self._origins):
            refused = (403, "forbidden_origin", "this page may not open a session here")
        else:
            found = self._authenticate(websocket)
            principal = await found if isawaitable(found) else found
            if principal is not None and len(principal) <= PRINCIPAL_MAX:
                return principal
            refused = (401, "unauthenticated", "sign in first")
        self.gateway.count(f"refused.{refused[1]}")
        detail = {"code": refused[1], "message": refused[2]}
        await websocket.send_denial_response(JSONResponse(detail, refused[0]))
        return None

    async def _serve(self, websocket: WebSocket, principal: str) -> None:
        await websocket.accept(subprotocol=PROTOCOL)
        connection = Connection(websocket, self.gateway.heartbeat_s)
        page: Page | None = None
        try:
            async with asyncio.timeout(HELLO_S):
                first, *rest = await connection.receive()
            page = greet(self.gateway, first, principal, connection)
            for message in rest:
                page.receive(message)
            while True:
                for message in await connection.receive():
                    page.receive(message)
        except TimeoutError:
            connection.abort(4408, "hello did not come in time")
        except SessionEndError as end:
            self.gateway.count(f"cut.{end.code}")
            connection.abort(end.code, end.reason)
        except WebSocketDisconnect:
            pass  # the page comes back, or its session lingers to its end
        finally:
            if page is not None:
                page.disconnect(connection)
            await connection.finish()


class Connection:
    """One WebSocket: frames in, and frames out from a queue whose size is known."""

    def __init__(self, websocket: WebSocket, heartbeat_s: float) -> None:
        self._websocket = websocket
        self._heartbeat_s = heartbeat_s
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._close: tuple[int, str] | None = None
        self._aborted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.get_running_loop().create_task(self._send())

    @property
    def congested(self) -> bool:
        """Above CONGESTED_BYTES."""
        return self._bytes > CONGESTED_BYTES

    def buffered(self) -> int:
        """Bytes in the queue."""
        return self._bytes

    def write(self, frame: bytes) -> None:
        """Queue a frame."""
        if self._close is None:
            self._frames.append(frame)
            self._bytes += len(frame)
            self._wake.set()

    def abort(self, code: int, reason: str) -> None:
        """Close it, behind what is queued if that leaves soon."""
        if self._close is None:
            self._close = (code, reason)
            self._wake.set()
            if not self._aborted.done():
                self._aborted.set_result(None)

    async def receive(self) -> list[Message]:
        """The messages of the next frame.

        Raises SessionEndError for what is no frame, and after two heartbeats without any,
        WebSocketDisconnect when the connection is gone or given up.
        """
        reading = asyncio.ensure_future(self._websocket.receive())
        try:
            await asyncio.wait(
                (reading, self._aborted),
                timeout=2 * self._heartbeat_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if self._aborted.done():
                raise WebSocketDisconnect(1006)
            if not reading.done():
                raise SessionEndError(4003, "nothing was heard for two heartbeats")
            received = reading.result()
        finally:
            if not reading.done():
                reading.cancel()
        if received["type"] != "websocket.receive":
            raise WebSocketDisconnect(received.get("code", 1006))
        data = received.get("bytes")
        if data is None:
            raise SessionEndError(1008, "frames must be binary")
        if len(data) > FRAME_BYTES_MAX:
            raise SessionEndError(1009, f"a frame has {FRAME_BYTES_MAX} bytes at most")
        try:
            return decode(data, RULES)
        except BadFrameError as error:
            raise SessionEndError(1008, str(error)) from None

    async def _send(self) -> None:
        try:
            while True:
                if not self._frames and self._close is None:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(self._heartbeat_s):
                            await self._wake.wait()
                    if not self._wake.is_set():
                        await self._websocket.send_bytes(PING)
                self._wake.clear()
                while self._frames:
                    frame = self._frames.popleft()
                    await self._websocket.send_bytes(frame)
                    self._bytes -= len(frame)
                if self._close is not None:
                    await self._websocket.close(*self._close)
                    return
        except (WebSocketDisconnect, RuntimeError, OSError):
            self._close = self._close or (1006, "")

    async def finish(self) -> None:
        """The connection is over: what is queued has a moment to leave."""
        if self._close is None:
            self._task.cancel()
        await asyncio.wait([self._task], timeout=CLOSE_S)
        self._task.cancel()
