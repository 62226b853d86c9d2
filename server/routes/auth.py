"""Who asks over HTTP: a cookie with a token against forgery, or a bearer token with scopes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcore.origins import is_loopback
from server.accounts.accounts import Accounts
from server.accounts.errors import AccountError
from server.accounts.secrets import SECRET_MAX, csrf_of, equal
from server.accounts.service import AccountService, Caller
from server.accounts.sign_ins import SIGN_IN_LONGEST_S
from server.errors import BadMessageError
from server.node import Node
from server.routes.asks import PUBLIC, SIGNED_IN, Ask, Row, read_body
from server.routes.origins import origin_allowed

COOKIE = "__Host-groupcore"
LOOPBACK_COOKIE = "groupcore"
"""Without https a browser takes no cookie whose name begins with `__Host-`."""
CSRF = "X-Groupcore-CSRF"
SAFE = ("GET", "HEAD", "OPTIONS")


class Gatehouse:
    """Lets requests in, at one node."""

    def __init__(self, node: Node, service: AccountService) -> None:
        self.node = node
        self.service = service

    # --- the cookie -----------------------------------------------------------------------------

    @property
    def cookie(self) -> str:
        """The cookie's name; AccountError where none can be given safely."""
        url = urlsplit(self.node.public_url)
        if url.scheme == "https":
            return COOKIE
        if url.hostname == "localhost" or is_loopback(url.hostname or ""):
            return LOOPBACK_COOKIE
        raise AccountError("insecure", "sign-in needs https; give the node its --public-url")

    def set_cookie(self, response: Response, secret: str) -> None:
        """Have the browser keep the secret where no script can read it."""
        name = self.cookie
        response.set_cookie(
            name,
            secret,
            max_age=int(SIGN_IN_LONGEST_S),
            path="/",
            secure=name == COOKIE,
            httponly=True,
            samesite="lax",
        )

    def delete_cookie(self, response: Response) -> None:
        """Have the browser forget it."""
        name = self.cookie
        response.delete_cookie(name, path="/", secure=name == COOKIE, httponly=True, samesite="lax")

    # --- who asks -------------------------------------------------------------------------------

    def caller(self, request: Request) -> Caller | None:
        """Who asks, None for nobody; AccountError for a token or a request that is forged."""
        given = request.headers.get("authorization")
        if given is not None:
            scheme, _, secret = given.partition(" ")
            found = None
            if scheme.lower() == "bearer" and len(secret) <= SECRET_MAX:
                found = self.service.by_token(secret.strip())
            if found is None:
                raise AccountError("unauthenticated", "this token is not good, or not any more")
            return found
        secret = request.cookies.get(self._cookie_or_none, "")
        found = self.service.by_session(secret) if 0 < len(secret) <= SECRET_MAX else None
        if found is not None and request.method not in SAFE:
            said = request.headers.get(CSRF, "")
            if not equal(said, csrf_of(secret)):
                raise AccountError("forged", f"the header {CSRF} is missing or wrong")
        return found

    @property
    def _cookie_or_none(self) -> str:
        try:
            return self.cookie
        except AccountError:
            return ""

    def check_origin(self, request: Request) -> None:
        """BadMessageError where a foreign page writes; no page can send another's bearer token."""
        if request.method in SAFE or "authorization" in request.headers:
            return
        if not origin_allowed(request, self.node.origins()):
            raise BadMessageError("forbidden_origin", "this page may not write here")

    def let_in(self, request: Request, scope: str) -> Caller | None:
        """Who asks, if that is enough for the scope; AccountError, BadMessageError."""
        self.check_origin(request)
        caller = self.caller(request)
        if scope == PUBLIC:
            return caller
        if caller is None:
            raise AccountError("unauthenticated", "sign in first")
        if caller.scopes is not None and not allows(caller.scopes, scope):
            raise AccountError("forbidden", f"this token has not the scope {scope}")
        return caller

    def address(self, request: Request) -> str:
        """From where the request comes, as proxies say that the settings name."""
        return address_of(request, self.node.settings.proxies)

    def endpoint(self, row: Row) -> Callable[[Request], Awaitable[Response]]:
        """The row as Starlette calls it."""

        async def answer(request: Request) -> Response:
            caller = self.let_in(request, row.scope)
            body = await read_body(request, row.fields)
            response = await row.handler(Ask(request, caller, body, self.address(request)))
            response.headers["Cache-Control"] = "no-store"
            self.share(request, response)
            return response

        return answer

    def share(self, request: Request, response: Response) -> None:
        """A page of another node of this cluster may read the answer."""
        origin = request.headers.get("origin", "")
        if origin in self.node.origins():
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Allow-Credentials"] = "true"
            response.headers["Vary"] = "Origin"

    async def preflight(self, request: Request) -> Response:
        """What a browser asks before it sends such a page's request."""
        response = Response(status_code=204)
        self.share(request, response)
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, PATCH, DELETE"
        response.headers["Access-Control-Allow-Headers"] = f"Content-Type, Idempotency-Key, {CSRF}"
        response.headers["Access-Control-Max-Age"] = "600"
        return response

    def routes(self, rows: list[Row]) -> list[Route]:
        """The rows as routes."""
        made = [Route(row.path, self.endpoint(row), methods=[row.method]) for row in rows]
        paths = dict.fromkeys(row.path for row in rows)
        return made + [Route(path, self.preflight, methods=["OPTIONS"]) for path in paths]


def allows(scopes: frozenset[str], scope: str) -> bool:
    """Whether a token with these scopes may do it; writing includes reading."""
    if scope == SIGNED_IN:
        return False
    return scope in scopes or scope.replace(":read", ":write") in scopes


def address_of(request: Request, proxies: Collection[str] = ()) -> str:
    """From which address the request comes: what the last proxy that is known says, if one does.

    What stands before that in X-Forwarded-For anybody may have written.
    """
    found = "" if request.client is None else request.client.host
    said = [one.strip() for one in ",".join(request.headers.getlist("x-forwarded-for")).split(",")]
    while found in proxies and said:
        try:
            found = str(ip_address(said.pop()))
        except ValueError:
            break
    return found


class Desk:
    """What answers people's requests about accounts, at one node."""

    def __init__(self, gate: Gatehouse) -> None:
        self.gate = gate
        self.node = gate.node
        self.service = gate.service

    @property
    def accounts(self) -> Accounts:
        """The accounts."""
        return self.service.accounts
