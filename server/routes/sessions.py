"""`/api/v1/session`, `/ticket`, `/me`: signing in and out, and one's own account."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, NoReturn, TypedDict

from starlette.responses import JSONResponse, Response

from groupcore.errors import GroupcoreError
from server.accounts.backoff import Backoff, address_key
from server.accounts.errors import AccountError, missing
from server.accounts.factors import HALF_S
from server.accounts.guard import Secret, Try
from server.accounts.names import EMAIL as ADDRESS_LIKE
from server.accounts.names import NAME_MAX, VISIBLE, check_email, is_address
from server.accounts.passwords import LENGTH_MAX, LENGTH_MIN, check_password
from server.accounts.records import SignIn, User
from server.accounts.secrets import csrf_of, digest_of, new_secret
from server.accounts.tickets import VALID_S
from server.errors import TooFastError
from server.mail.letters import warning_of
from server.routes.asks import PUBLIC, SIGNED_IN, Ask, Field, Row
from server.routes.auth import COOKIE, Desk, Gatehouse
from server.routes.devices import Devices
from server.routes.done import done
from server.routes.shown import shown_self, shown_sign_in

ADDRESS = Field("email", text="the account's address", max=254)
"""To sign in with: any other is as wrong as one that nobody has."""
EMAIL = Field("email", text="must look like ann@example.org", min=3, max=254, pattern=ADDRESS_LIKE)
SECRET_WORD = Field("password", text="the account's password", max=400)
PASSWORD = Field(
    "password",
    text="one that is not easily guessed",
    min=LENGTH_MIN,
    max=LENGTH_MAX,
    code="weak_password",
)
NAME = Field("name", text="1 to 80 characters that one sees", min=1, max=NAME_MAX, pattern=VISIBLE)
SECRET = Field("secret", text="the last part of the link", min=1, max=200)
WARNED_AT = 20
"""So many failed tries between two sign-ins are worth a mail to the account's person."""
WRONG = "address or password is wrong"
HALF = 202
"""The status of a sign-in that asks for a second factor."""


class Options(TypedDict):
    """How a cookie is kept."""

    path: str
    secure: bool
    httponly: bool
    samesite: Literal["lax"]


class Sessions(Desk):
    """Signing in and out, at one node."""

    def __init__(self, gate: Gatehouse, has_provider: bool = False, has_mail: bool = False) -> None:
        super().__init__(gate)
        self.devices = Devices(gate)
        self._warning: set[asyncio.Future[None]] = set()
        self._has_provider = has_provider
        self._has_mail = has_mail

    def rows(self) -> list[Row]:
        """The routes."""
        return [
            Row("GET", "/session", self.look, PUBLIC, "Who is signed in", shows=SESSION),
            Row(
                "POST",
                "/session",
                self.sign_in,
                PUBLIC,
                "Sign in by password; 202 and `second`: show a second factor",
                201,
                (ADDRESS, SECRET_WORD),
                SESSION,
                ("bad_credentials", "wait", "insecure"),
            ),
            Row("DELETE", "/session", self.sign_out, SIGNED_IN, "Sign out", 204),
            Row(
                "POST",
                "/ticket",
                self.ticket,
                "documents:write",
                "A ticket for the socket of this node, good once",
                201,
                shows={"ticket": "for the socket's hello", "valid_s": "seconds"},
            ),
            Row("GET", "/me", self.me, "accounts:read", "One's own account", shows=SELF),
            Row("PATCH", "/me", self.rename, SIGNED_IN, "Change one's name", 200, (NAME,), SELF),
            Row(
                "PUT",
                "/me/password",
                self.change_password,
                SIGNED_IN,
                "Change one's password; all other sign-ins end",
                204,
                (Field("current", text="the present one", max=400), PASSWORD),
                errors=("bad_credentials", "weak_password", "wait"),
            ),
            Row("GET", "/me/sessions", self.list_own, SIGNED_IN, "Where one is signed in"),
            Row("DELETE", "/me/sessions", self.end_own, SIGNED_IN, "Sign out everywhere", 204),
            Row(
                "DELETE",
                "/me/sessions/{session}",
                self.end_one,
                SIGNED_IN,
                "End one of one's sign-ins",
                204,
                errors=("not_found",),
            ),
        ]

    # --- guessing -------------------------------------------------------------------------------

    def attempt(self, ask: Ask, secret: Secret, account: str) -> Try:
        """Who asks tries to guess a secret of the account; AccountError `wait` when too often.

        Who is signed in to it, or has been in this browser, is counted by themselves.
        """
        is_own = ask.caller is not None and ask.caller.user == account
        device = f"in {ask.who.key}" if is_own else self.devices.mark(ask.request, account)
        return self.service.guard.attempt(secret, account, address_key(ask.origin), device)

    def refuse(self, ask: Ask, secret: Secret, error: AccountError) -> NoReturn:
        """What was shown is none of these secrets, which nobody guesses."""
        self.service.guard.wrong(secret, address_key(ask.origin))
        raise error

    def account_of(self, ask: Ask) -> User:
        """Whose address is named, by somebody who would give them a role; AccountError.

        Who names one after the other that nobody has, to find out who is here, has to wait.
        """
        user = self.accounts.by_email(check_email(ask.text("email")))
        if user is None:
            self.service.guard.wrong(Secret.ADDRESS, ask.by)
            raise missing("account; invite this person")
        return user

    def warn(self, user: User | None, denied: Awaitable[int]) -> None:
        """A try has failed, and is counted; nobody waits for that. After many their person gets a
        mail.
        """
        task = asyncio.ensure_future(self._warn(user, denied))
        self._warning.add(task)
        task.add_done_callback(self._warning.discard)

    async def _warn(self, user: User | None, denied: Awaitable[int]) -> None:
        with suppress(GroupcoreError):
            count, mailer = await denied, self.service.mailer
            if count != WARNED_AT or user is None or mailer is None:
                return
            if self.accounts.is_proved(user.id):
                mailer.send(user.email, *warning_of(self.node.public_url, user.email, count))

    async def check(self, ask: Ask, email: str, password: str) -> User:
        """The account, if this is its password; the same answer and time in all other cases."""
        user = self.accounts.by_email(email)
        made = self.attempt(ask, Secret.PASSWORD, email if user is None else user.id)
        good = user is not None and not user.is_disabled
        verifier = user.verifier if user is not None and good else ""
        if not await self.service.passwords.fits(verifier, password) or user is None:
            # A password is typed into the wrong field sometimes: what is no address is not kept.
            address = email if user is None and is_address(email) else ""
            about = self.accounts.address_mark(address)
            account = "" if user is None else user.id
            self.warn(user, self.accounts.deny(account, about, ask.origin))
            raise AccountError("bad_credentials", WRONG)
        self.service.guard.knew(made)
        return user

    # --- signing in -----------------------------------------------------------------------------

    async def sign_in(self, ask: Ask) -> Response:
        """By password; uniform for unknown, disabled and wrong."""
        cookie = self.gate.cookie
        assert cookie
        try:
            email = check_email(ask.text("email"))
        except AccountError:
            email = ask.text("email")[:254]
        user = await self.check(ask, email, ask.text("password"))
        return await self.begin(ask, user.id)

    async def begin(self, ask: Ask, user: str, status: int = 201) -> Response:
        """The browser is signed in from now on, or half, where a second factor is asked for."""
        if self.accounts.has_factor(user):
            return await self._begin_half(user)
        node, agent, origin = self.service.node_id, ask.agent, ask.origin
        return await self.whole(
            ask, lambda digest: self.accounts.sign_in(digest, user, node, agent, origin), status
        )

    async def whole(
        self, ask: Ask, work: Callable[[str], Awaitable[object]], status: int = 201
    ) -> Response:
        """Signed in, once `work` has ordered it for the digest of the new secret."""
        secret = new_secret("gcb")
        await done(self.gate.node, work(digest_of(secret)))
        if ask.caller is not None and ask.caller.scopes is None:
            await done(self.gate.node, self.accounts.sign_out(ask.caller.digest, ask.origin))
        response = JSONResponse(self._session(secret), status)
        self.gate.set_cookie(response, secret)
        signed_in = self.service.by_session(secret)
        if signed_in is not None and signed_in.user:
            self.devices.keep(ask.request, response, signed_in.user)
        response.delete_cookie(self.half_cookie, **self._half_options)
        return response

    @property
    def half_cookie(self) -> str:
        """What a browser keeps half a sign-in under."""
        return f"{self.gate.cookie}-second"

    @property
    def _half_options(self) -> Options:
        is_secure = self.gate.cookie == COOKIE
        return {"path": "/", "secure": is_secure, "httponly": True, "samesite": "lax"}

    async def _begin_half(self, user: str) -> Response:
        """The page is told to ask for a code, or a passkey."""
        return await self.give_half(
            lambda digest: self.accounts.half_sign_in(digest, user),
            lambda _: {"second": ["code"]},
            HALF,
        )

    async def give_half(
        self,
        work: Callable[[str], Awaitable[object]],
        told: Callable[[str], dict[str, object]],
        status: int,
    ) -> Response:
        """The browser keeps half a sign-in, once `work` has ordered it for its digest."""
        secret = new_secret("gch")
        await done(self.gate.node, work(digest_of(secret)))
        response = JSONResponse(told(secret), status)
        response.set_cookie(self.half_cookie, secret, max_age=int(HALF_S), **self._half_options)
        return response

    def _session(self, secret: str) -> dict[str, object]:
        caller = self.service.by_session(secret) if secret else None
        user = None if caller is None else self.accounts.user(caller.principal)
        return {
            "accounts": True,
            "principal": None if caller is None else caller.principal,
            "user": None if user is None else shown_self(self.accounts, user),
            "manages": user is not None and self.accounts.manages(f"user:{user.id}"),
            "csrf": csrf_of(secret) if caller is not None else None,
            "has_owner": self.accounts.has_owner,
            "oidc": self._has_provider,
            "mail": self._has_mail,
            "import_kib": self.gate.node.settings.import_kib,
        }

    async def look(self, ask: Ask) -> Response:
        """Who is signed in, and what a page has to say to change something."""
        secret = ask.caller.secret if ask.caller is not None and ask.caller.scopes is None else ""
        return JSONResponse(self._session(secret))

    async def sign_out(self, ask: Ask) -> Response:
        """This browser is signed out, and its sockets are closed at all nodes."""
        await done(self.gate.node, self.accounts.sign_out(ask.who.digest, ask.origin))
        response = Response(status_code=204)
        self.gate.delete_cookie(response)
        return response

    async def ticket(self, ask: Ask) -> Response:
        """For the next socket."""
        ticket = self.service.give_ticket(ask.who)
        return JSONResponse({"ticket": ticket, "valid_s": VALID_S}, 201)

    # --- one's own account ----------------------------------------------------------------------

    def _own(self, ask: Ask) -> User:
        return self.accounts.users[ask.user]

    async def me(self, ask: Ask) -> Response:
        """One's own account."""
        return JSONResponse(shown_self(self.accounts, self._own(ask)))

    async def rename(self, ask: Ask) -> Response:
        """Change one's name."""
        work = self.accounts.rename_user(ask.by, ask.user, ask.text("name"), ask.origin)
        await done(self.gate.node, work)
        return JSONResponse(shown_self(self.accounts, self._own(ask)))

    async def change_password(self, ask: Ask) -> Response:
        """Who has the browser has to know the present one, too."""
        own = self._own(ask)
        new = check_password(ask.text("password"), own.email, own.name)
        await self.check(ask, own.email, ask.text("current"))
        verifier = await self.service.passwords.verifier(new)
        work = self.accounts.set_verifier(ask.by, own.id, verifier, ask.who.key, ask.origin)
        await done(self.gate.node, work)
        return Response(status_code=204)

    async def list_own(self, ask: Ask) -> Response:
        """Where one is signed in, the latest first."""
        mine = [one for one in self.accounts.sign_ins.values() if one.principal == ask.by]
        mine.sort(key=_latest_first)
        return JSONResponse({"sessions": [shown_sign_in(one, ask.who.key) for one in mine]})

    async def end_own(self, ask: Ask) -> Response:
        """Sign out everywhere, here too."""
        await done(self.gate.node, self.accounts.end_all(ask.by, ask.by, ask.origin))
        response = Response(status_code=204)
        self.gate.delete_cookie(response)
        return response

    async def end_one(self, ask: Ask) -> Response:
        """End one of one's sign-ins."""
        work = self.accounts.end_sign_in(ask.by, ask.path("session"), ask.origin)
        await done(self.gate.node, work)
        return Response(status_code=204)


def try_once(key: str, backoff: Backoff) -> None:
    """Somebody tries; AccountError `wait` when that is too often."""
    now_s = asyncio.get_running_loop().time()
    wait_s = backoff.wait_s(key, now_s)
    if wait_s > 0:
        seconds = math.ceil(wait_s)
        raise TooFastError(f"too many attempts; try again in {seconds} s", seconds, "wait")
    backoff.attempt(key, now_s)


def _latest_first(one: SignIn) -> tuple[float, str]:
    return (-one.seen_s, one.id)


SESSION = {
    "accounts": "true; false where a node has none, and everybody may all",
    "principal": "who this browser is, or null",
    "user": "the account, or null",
    "manages": "whether it manages accounts",
    "csrf": "what unsafe requests have to say in X-Groupcore-CSRF",
    "has_owner": "false until the first owner's link was used",
    "oidc": "whether there is an identity provider to sign in at",
    "mail": "whether mails are sent: links that prove addresses, and for new passwords",
    "import_kib": "how much Markdown is imported at once, in KiB",
}
USER = {
    "id": "the account",
    "name": "its name",
    "email": "its address",
    "disabled": "true or false",
    "proved": "whether the address is known to be its person's",
    "second_factor": "whether it asks for a code at each sign-in",
}
SELF = {
    **USER,
    "has_password": "false for who signs in at the identity provider alone",
    "linked": "whether one may sign in at the identity provider",
    "attempts": "how often others failed to sign in since the sign-in before this, and when last",
}
