"""Who asks over HTTP: a cookie with a token against forgery, or a bearer token with scopes."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from groupcore.origins import is_loopback
from server.accounts.accounts import Accounts
from server.accounts.errors import AccountError
from server.accounts.secrets import SECRET_MAX, csrf_of, equal
from server.accounts.service import AccountService, Caller
from server.accounts.sign_ins import SIGN_IN_LONGEST_S
from server.accounts.standing import WAIT_S
from server.errors import BadMessageError
from server.node import Node
from server.routes.asks import PUBLIC, SIGNED_IN
from server.routes.done import ORDER_S
from server.routes.gate import CSRF, READS, SAFE, Gate

COOKIE = "__Host-groupcore"
LOOPBACK_COOKIE = "groupcore"
"""Without https a browser takes no cookie whose name begins with `__Host-`."""
CONSOLE = "admin:read"
"""The scope of who looks at the console."""


class Gatehouse(Gate):
    """Lets people in that have an account, a link or a token, at one node."""

    def __init__(self, node: Node, service: AccountService) -> None:
        super().__init__(node)
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
        secret = request.cookies.get(self.cookie_name, "")
        found = self.service.by_session(secret) if 0 < len(secret) <= SECRET_MAX else None
        if found is not None and request.method not in SAFE:
            said = request.headers.get(CSRF, "")
            if not equal(said, csrf_of(secret)):
                raise AccountError("forged", f"the header {CSRF} is missing or wrong")
        return found

    def asker(self, request: Request) -> str:
        """The principal of the sign-in or token, also of a request that is forged."""
        found: Caller | None = None
        with suppress(BadMessageError):
            if "authorization" in request.headers:
                found = self.caller(request)
            else:
                secret = request.cookies.get(self.cookie_name, "")
                is_one = 0 < len(secret) <= SECRET_MAX
                found = self.service.by_session(secret) if is_one else None
        return "" if found is None else found.principal

    @property
    def cookie_name(self) -> str:
        """The cookie's name, empty where none can be given."""
        try:
            return self.cookie
        except AccountError:
            return ""

    async def may_judge(self, request: Request, scope: str) -> None:
        """Who reads is judged here, also for a copy; who writes is judged in the order, too.

        Who looks at the console is judged by what this node has known last: it shows no document,
        and says why a node is apart.
        """
        is_read = request.method in READS
        if scope != PUBLIC and not (is_read and scope == CONSOLE):
            await self.service.standing.sure(WAIT_S if is_read else ORDER_S)

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


def allows(scopes: frozenset[str], scope: str) -> bool:
    """Whether a token with these scopes may do it; writing includes reading."""
    if scope == SIGNED_IN:
        return False
    return scope in scopes or scope.replace(":read", ":write") in scopes


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
