"""The application of the public address: page, API, WebSocket, health."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from time import monotonic

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groupcore.errors import GroupcoreError, PlanError
from groupcore.gateway.settings import always, may_open_all
from groupcore.web import SharedObjects
from server.console.desk import Console
from server.documents.catalogue import PLACE
from server.documents.entrance import Entrance
from server.documents.names import TYPES
from server.documents.presence import Presences
from server.errors import BadMessageError
from server.node import Node
from server.places.speaking import Speaking
from server.routes.access import Access, AccountAccess, OpenAccess, look_open
from server.routes.api import DocumentRoutes
from server.routes.asks import Row
from server.routes.auth import Gatehouse
from server.routes.console_rows import console_rows
from server.routes.disclosure import disclosure_routes
from server.routes.door import Door, GuardedEntrance
from server.routes.feed import Feed
from server.routes.files import Files
from server.routes.gate import GUEST, STALE, OpenGate
from server.routes.health import health_routes
from server.routes.openapi import account_rows, described_routes
from server.routes.page import Page
from server.routes.pictures import PictureRoutes
from server.routes.place_talk import PlaceTalkRoutes
from server.routes.places import PlaceRoutes
from server.routes.plans import on_bad_plan
from server.routes.problems import on_failure, on_gone, on_refusal, saying_who_is_awaited
from server.routes.reports import PATH as REPORTS
from server.routes.reports import Reports
from server.state import State

PROTOCOL = "groupcore.v1.msgpack"
"""The subprotocol of `/ws`."""

# The page moves between the nodes, so it may open sockets on other ports, and ask for a ticket
# there before. Scripts and styles come from here alone; ProseMirror sets styles through the CSSOM,
# which needs no exception. A picture that is on its way up is shown as a blob.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "style-src 'self'",
        "connect-src 'self'{sockets}{nodes}",
        "img-src 'self' blob:{nodes}",
        "font-src 'self'",
        "manifest-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        # Text becomes HTML, and a script's address, only through these three: the templates of
        # Svelte, which are constants, the clipboard, which ProseMirror reads in a document of its
        # own where nothing runs and nothing is loaded, and the address of the service worker.
        "require-trusted-types-for 'script'",
        "trusted-types svelte-trusted-html ProseMirrorClipboard groupcore-worker",
        f"report-uri {REPORTS}",
    )
)

HSTS = "max-age=31536000"
"""Where browsers come by https, they come by nothing else for a year."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def policy(nodes: Collection[str]) -> str:
    """What the page may do; `nodes`: whom it may ask beside the one that it is from.

    Sockets are named beside: not every browser counts `ws:` of the own address to 'self'.
    """
    known = sorted(nodes)
    sockets = (re.sub(r"^http", "ws", url) for url in known)
    return POLICY.format(
        nodes="".join(f" {url}" for url in known), sockets="".join(f" {url}" for url in sockets)
    )


class SecurityHeaders:
    """Puts the headers on every HTTP answer; WebSocket frames pass untouched."""

    def __init__(self, app: ASGIApp, node: Node) -> None:
        self.app = app
        self._node = node

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application with a `send` that adds the headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                self._share(scope, headers)
                headers.setdefault("Content-Security-Policy", policy(self._node.origins()))
                if self._node.public_url.startswith("https://"):
                    headers.setdefault("Strict-Transport-Security", HSTS)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)

    def _share(self, scope: Scope, headers: MutableHeaders) -> None:
        """A page of another node may read what the API answers, also why it refuses."""
        origin = Headers(scope=scope).get("origin", "")
        if scope["path"].startswith("/api/") and origin in self._node.origins():
            headers["Access-Control-Allow-Origin"] = origin
            headers["Access-Control-Allow-Credentials"] = "true"
            headers["Access-Control-Expose-Headers"] = STALE
            headers.add_vary_header("Origin")


def make_pages(node: Node) -> SharedObjects:
    """The gateway for the pages of one node; where there are accounts, pages show tickets."""
    settings, accounts = node.settings, node.accounts
    door = Door(accounts) if accounts is not None else None
    entrance = GuardedEntrance(Entrance(node.keepers, node.knows), node)
    presences, speaking = Presences(accounts, monotonic), Speaking(accounts, monotonic)
    return SharedObjects(
        node.objects,
        TYPES,
        authenticate=lambda websocket: GUEST if door is None else "",
        authenticate_hello=None if door is None else door.hello,
        may_open=may_open_all if door is None else door.may_open,
        is_sure=always if door is None else door.is_sure,
        origins=Origins(node),
        subprotocols=(PROTOCOL,),
        is_ready=lambda: node.state is not State.REBUILDING,
        opening=entrance.opening,
        closed=entrance.closed,
        presenting=presences.presenting,
        publishing=speaking.publishing,
        called=lambda principal, kind, name: node.files.note_call(principal, kind, name),
        met=node.note_session,
        sessions_max=settings.sessions_max,
        heartbeat_s=settings.heartbeat_s,
        rate=settings.rate,
        burst=settings.burst,
    )


class Origins:
    """Whose pages may come here, as of when it is asked: nodes come and go."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def __contains__(self, origin: object) -> bool:
        return origin in self._node.origins()


def api_routes(node: Node, console: Console) -> list[Route]:
    """What `/api/v1` has; the console only where people sign in, as nobody manages otherwise."""
    if node.accounts is None:
        open_rows = [look_open(node), *document_rows(node, OpenAccess(node))]
        return described_routes(OpenGate(node), open_rows)
    node.accounts.pages = console.pages
    gate = Gatehouse(node, node.accounts)
    rows = [*account_rows(gate), *document_rows(node, AccountAccess(gate)), *console_rows(console)]
    return described_routes(gate, rows)


def document_rows(node: Node, access: Access) -> list[Row]:
    """Documents and places, and what belongs to them."""
    rows = [*PictureRoutes(node, access).rows(), *DocumentRoutes(node, access).rows()]
    places = [*PictureRoutes(node, access, PLACE).rows(), *PlaceRoutes(node, access).rows()]
    talk = PlaceTalkRoutes(node, access).rows()
    return [*rows, *places, *talk, *Files(node).rows()]


def make_app(node: Node, console: Console) -> Starlette:
    """One node's public application."""
    page = Page(node.settings.page)
    handlers: dict[type[Exception] | int, Callable[..., object]] = {
        HTTPException: page.on_http_error,
        BadMessageError: saying_who_is_awaited(node),
        PlanError: on_bad_plan,
        GroupcoreError: on_refusal,
        ClientDisconnect: on_gone,
        Exception: on_failure,
    }
    api = api_routes(node, console)
    reports = Reports(monotonic)
    return Starlette(
        routes=[
            WebSocketRoute("/ws", console.pages),
            WebSocketRoute("/feed", Feed(node).serve),
            Mount("/api/v1", routes=api),
            *health_routes(node),
            *disclosure_routes(node.settings.security_contact, node.public_url),
            *reports.routes(),
            *page.routes(),
        ],
        middleware=[Middleware(SecurityHeaders, node)],
        exception_handlers=handlers,  # type: ignore[arg-type]
    )
