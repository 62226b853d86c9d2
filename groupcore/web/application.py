"""The gateway as an ASGI application: `app.mount("/objects", SharedObjects(node, types=[...]))`."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from inspect import isawaitable
from typing import Unpack

from groupcore.aio import Node
from groupcore.frames import BadFrameError, Message, decode, pack
from groupcore.origins import origin_allowed
from groupcore.shared.messages import PRINCIPAL_MAX
from groupcore.web.asking import ticket_of
from groupcore.web.errors import BadRequestError, MissingPackageError, SessionEndError
from groupcore.web.figures import Figures
from groupcore.web.gateway import Gateway
from groupcore.web.limits import CONGESTED_BYTES, FRAME_BYTES_MAX, HELLO_S, PROTOCOL, RULES
from groupcore.web.page import Page, greet
from groupcore.web.settings import Badge, GatewaySettings

try:
    from starlette.responses import JSONResponse, Response
    from starlette.types import Receive, Scope, Send
    from starlette.websockets import WebSocket, WebSocketDisconnect
except ImportError as error:
    raise MissingPackageError(
        'groupcore.web needs Starlette; run: pip install "groupcore[web]"'
    ) from error

PING = b"\x91" + pack({"t": "ping"})
CLOSE_S = 2.0
"""How long a close frame may wait for a congested connection."""

log = logging.getLogger(__name__)

Authenticate = Callable[[WebSocket], "str | Awaitable[str | None] | None"]
"""Gives the principal of who connects, empty for nobody in particular; None: may not."""

AuthenticateHello = Callable[[WebSocket, str], "Awaitable[Badge | None]"]
"""Gives the badge of who says hello with this ticket, empty for none; None: may not."""


def everybody(websocket: WebSocket) -> str:
    """Who connects is nobody in particular."""
    del websocket
    return ""


class SharedObjects:
    """Lets browsers work with shared objects of a node, as an application to mount.

    `types`: what may be opened, by class name, or as a dict by names of your own. `authenticate`
    gives the principal of a connection, None to refuse it; `authenticate_hello`, where it is given,
    is asked with the ticket of the page's hello, and its word counts. `origins`: of which pages,
    beside those of this very host; `subprotocols`: under which names pages may ask for the
    protocol. Settings are those of `groupcore.web.settings.Terms`. Call `close` before the node is
    closed.
    """

    def __init__(
        self,
        node: Node,
        types: Sequence[type[object]] | Mapping[str, type[object]],
        *,
        authenticate: Authenticate = everybody,
        authenticate_hello: AuthenticateHello | None = None,
        origins: Container[str] = (),
        subprotocols: Sequence[str] = (PROTOCOL,),
        **settings: Unpack[GatewaySettings],
    ) -> None:
        self.gateway = Gateway(node, types, **settings)
        self.draining = False
        self._authenticate = authenticate
        self._authenticate_hello = authenticate_hello
        self._origins = origins
        self._subprotocols = tuple(subprotocols)

    @property
    def figures(self) -> Figures:
        """What has been done so far, for a program's metrics."""
        return self.gateway.figures

    async def close(self) -> None:
        """Let nobody in any more, send the pages to other nodes, and end their sessions."""
        self.draining = True
        await self.gateway.close()

    def dismiss(self, wanted: Callable[[Badge], bool], code: int, reason: str) -> int:
        """End the sessions of pages with such badges, at once; gives how many."""
        return self.gateway.dismiss(wanted, code, reason)

    def recheck(self) -> None:
        """What pages have open and may open no more, by `may_open`, they let go."""
        self.gateway.recheck()

    async def send_away(self) -> None:
        """Send the pages to other nodes; set `draining` before, lest they come back."""
        await self.gateway.send_away()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "websocket":
            refusal = self._refusal(426, "no_websocket", "connect a WebSocket here")
            await refusal(scope, receive, send)
            return
        websocket = WebSocket(scope, receive, send)
        admitted = await self._admit(websocket)
        if isinstance(admitted, Response):
            await websocket.send_denial_response(admitted)
            return
        self.figures.connections += 1
        try:
            await self._serve(websocket, *admitted)
        finally:
            self.figures.connections -= 1

    async def _admit(self, websocket: WebSocket) -> tuple[str, str] | Response:
        """The subprotocol and the principal of who connects; or why it may not, for HTTP."""
        offered = websocket.scope["subprotocols"]
        spoken = next((one for one in self._subprotocols if one in offered), None)
        if spoken is None:
            return self._refusal(
                426, "unknown_protocol", f"speak {' or '.join(self._subprotocols)}"
            )
        headers, client = websocket.headers, websocket.client
        host = None if client is None else client.host
        if not origin_allowed(headers.get("origin"), headers.get("host"), host, self._origins):
            return self._refusal(403, "forbidden_origin", "this page may not open a session here")
        if self.draining:
            return self._refusal(503, "busy", "this node is leaving; try another")
        if self.figures.connections >= self.gateway.terms.sessions_max:
            return self._refusal(503, "busy", "too many sessions here; try another node")
        found = self._authenticate(websocket)
        principal = await found if isawaitable(found) else found
        if principal is None or len(principal) > PRINCIPAL_MAX:
            return self._refusal(401, "unauthenticated", "sign in first")
        return spoken, principal

    def _refusal(self, status: int, code: str, detail: str) -> Response:
        """A problem document (RFC 9457)."""
        self.figures.refused[code] += 1
        title = HTTPStatus(status).phrase
        body = {"type": "about:blank", "title": title, "status": status}
        headers = {"Retry-After": "1"} if status == 503 else {}
        if status == 426:
            headers["Sec-WebSocket-Protocol"] = ", ".join(self._subprotocols)
        problem = {**body, "code": code, "detail": detail}
        return JSONResponse(problem, status, headers, media_type="application/problem+json")

    async def _badge(self, websocket: WebSocket, hello: Message) -> Badge | None:
        """Who says hello, by its ticket; SessionEndError when it is nobody who may."""
        if self._authenticate_hello is None or hello["t"] != "hello":
            return None
        try:
            badge = await self._authenticate_hello(websocket, ticket_of(hello))
        except BadRequestError as error:
            raise SessionEndError(1008, str(error)) from None
        except Exception:  # what goes wrong in there lets nobody in
            log.exception("who says hello could not be found out")
            badge = None
        if badge is None or len(badge.principal) > PRINCIPAL_MAX:
            raise SessionEndError(4401, "sign in first")
        return badge

    async def _serve(self, websocket: WebSocket, subprotocol: str, principal: str) -> None:
        await websocket.accept(subprotocol=subprotocol)
        connection = Connection(websocket, self.gateway)
        page: Page | None = None
        try:
            async with asyncio.timeout(HELLO_S):
                first, *rest = await connection.receive()
                badge = await self._badge(websocket, first)
            principal = principal if badge is None else badge.principal
            page = greet(self.gateway, first, principal, connection)
            page.badge = badge
            for message in rest:
                page.receive(message)
            while True:
                for message in await connection.receive():
                    page.receive(message)
        except TimeoutError:
            connection.end(4408, "hello did not come in time")
        except SessionEndError as end:
            connection.end(end.code, end.reason)
        except WebSocketDisconnect:
            pass  # the page comes back, or its session lingers to its end
        finally:
            if page is not None:
                page.disconnect(connection)
            await connection.finish()


class Connection:
    """One WebSocket: frames in, and frames out from a queue whose size is known."""

    def __init__(self, websocket: WebSocket, gateway: Gateway) -> None:
        self._websocket = websocket
        self._figures = gateway.figures
        self._heartbeat_s = gateway.terms.heartbeat_s
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

    def end(self, code: int, reason: str) -> None:
        """Close it for what has come over it."""
        self._figures.cut[code] += 1
        self.abort(code, reason)

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
            messages = decode(data, RULES)
        except BadFrameError as error:
            raise SessionEndError(1008, str(error)) from None
        self._figures.frames_in += 1
        self._figures.messages_in += len(messages)
        return messages

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
