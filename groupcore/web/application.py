"""The gateway as an ASGI application: `app.mount("/objects", SharedObjects(node, types=[...]))`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from http import HTTPStatus
from inspect import isawaitable
from types import MappingProxyType
from typing import Any, Unpack

from groupcore.errors import GroupcoreError
from groupcore.frames import Message
from groupcore.gateway.asking import ticket_of
from groupcore.gateway.errors import (
    BadRequestError,
    MissingPackageError,
    SessionEndError,
    not_ready,
)
from groupcore.gateway.figures import Figures
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.interest import Interest
from groupcore.gateway.limits import HELLO_S, PROTOCOL
from groupcore.gateway.outlet import TEMPORARY
from groupcore.gateway.page import Page, greet
from groupcore.gateway.settings import Badge, GatewaySettings
from groupcore.gateway.station import Station
from groupcore.origins import origin_allowed
from groupcore.shared.messages import PRINCIPAL_MAX
from groupcore.shared.verdicts import code_of

try:
    from starlette.responses import JSONResponse, Response
    from starlette.types import Receive, Scope, Send
    from starlette.websockets import WebSocket, WebSocketDisconnect

    from groupcore.web.connection import Connection
except ImportError as error:
    raise MissingPackageError(
        'groupcore.web needs Starlette; run: pip install "groupcore[web]"'
    ) from error

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

    `types`: what may be opened, by class name, or as a dict by names of your own; `interest`: of
    which of them a page may follow the parts that it sees (`Interest`). `authenticate` gives the
    principal of a connection, None to refuse it; `authenticate_hello`, where it is given, is asked
    with the ticket of the page's hello, and its word counts. `origins`: of which pages, beside
    those of this very host; `subprotocols`: under which names pages may ask for the
    protocol. `is_ready`: whether the node can serve pages now; while it cannot, who comes is closed
    with 1013, which says when to come again. Settings: `groupcore.gateway.settings.Terms`.
    Call `close` before the node is closed.
    """

    def __init__(
        self,
        node: Station,
        types: Sequence[type[object]] | Mapping[str, type[object]],
        *,
        interest: Mapping[type[object], type[Interest[Any]]] = MappingProxyType({}),
        authenticate: Authenticate = everybody,
        authenticate_hello: AuthenticateHello | None = None,
        origins: Container[str] = (),
        subprotocols: Sequence[str] = (PROTOCOL,),
        is_ready: Callable[[], bool] = lambda: True,
        **settings: Unpack[GatewaySettings],
    ) -> None:
        self.gateway = Gateway(node, types, interest, **settings)
        self.draining = False
        self._authenticate = authenticate
        self._authenticate_hello = authenticate_hello
        self._origins = origins
        self._is_ready = is_ready
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

    def become(self, condition: str) -> None:
        """Tell the pages what this node can do for them now: `serving`, or a word of your own."""
        self.gateway.become(condition)

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
        except GroupcoreError as error:
            if code_of(error) not in TEMPORARY:
                raise SessionEndError(4401, "sign in first") from None
            raise not_ready() from None
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
                if not self._is_ready():
                    raise not_ready()
                badge = await self._badge(websocket, first)
            principal = principal if badge is None else badge.principal
            page = greet(self.gateway, first, principal, connection.writer)
            page.badge = badge
            page.bytes_in += connection.frame_bytes
            for message in rest:
                page.receive(message)
            while True:
                messages = await connection.receive()
                page.bytes_in += connection.frame_bytes
                for message in messages:
                    page.receive(message)
        except TimeoutError:
            connection.end(4408, "hello did not come in time")
        except SessionEndError as end:
            connection.end(end.code, end.reason)
            if page is not None and page.is_connected_by(connection.writer):
                page.code = end.code
        except WebSocketDisconnect as gone:  # the page comes back, or its session lingers
            if page is not None and page.is_connected_by(connection.writer):
                page.code = page.code or gone.code
        finally:
            if page is not None:
                page.disconnect(connection.writer)
            await connection.finish()
