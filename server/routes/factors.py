"""`/api/v1/session/second`, `/me/totp`: the second factor, shown, set up and removed."""

from __future__ import annotations

import time
from collections.abc import Awaitable

from starlette.responses import JSONResponse, Response

from server.accounts.errors import AccountError
from server.accounts.guard import Secret, Try
from server.accounts.secrets import digest_of
from server.accounts.totp import (
    TOTP_SECRET,
    check_totp_secret,
    drawn,
    new_recovery_codes,
    new_totp_secret,
    recovery_digest,
    step_of,
    totp_address,
)
from server.routes.asks import PUBLIC, SIGNED_IN, Ask, Field, Row
from server.routes.auth import Desk, Gatehouse
from server.routes.done import done
from server.routes.sessions import SESSION, Sessions

CODE = Field("code", text="of the authenticator, or one for recovery", min=1, max=40)
CURRENT = Field("current", str, False, "the present password, where there is one", 400)
CODE_MAX = 8
"""An authenticator's code has six digits, with a space; one for recovery is longer."""
KEY = Field("secret", text="the key that was given", min=1, max=64, pattern=TOTP_SECRET)


class SecondFactors(Desk):
    """The second factor, at one node."""

    def __init__(self, gate: Gatehouse, sessions: Sessions) -> None:
        super().__init__(gate)
        self._sessions = sessions

    def rows(self) -> list[Row]:
        """The routes."""
        wrong = ("bad_code", "wait")
        return [
            Row(
                "POST",
                "/session/second",
                self.sign_in,
                PUBLIC,
                "Show the second factor, behind the password or the provider",
                201,
                (CODE,),
                SESSION,
                ("expired", *wrong),
            ),
            Row(
                "POST",
                "/me/totp",
                self.begin,
                SIGNED_IN,
                "A key for an authenticator; nothing is kept before it has shown a code",
                201,
                shows={
                    "secret": "the key, in base32",
                    "uri": "the same, as authenticators read it",
                    "size": "of the QR code",
                    "path": "of the QR code, as a path of SVG",
                },
                errors=("taken",),
            ),
            Row(
                "PUT",
                "/me/totp",
                self.add,
                SIGNED_IN,
                "Ask for its codes from now on; all other sign-ins end",
                200,
                (KEY, CODE, CURRENT),
                {"recovery": "codes that are good once each, told now only"},
                ("taken", "bad_credentials", *wrong),
            ),
            Row(
                "POST",
                "/me/totp/remove",
                self.remove,
                SIGNED_IN,
                "Ask for no code any more",
                204,
                (CODE,),
                errors=wrong,
            ),
            self.reset_row("/users/{user}/factors", "accounts:write"),
        ]

    def reset_row(self, path: str, scope: str) -> Row:
        """Also of the management address."""
        summary = "Remove a second factor, for who has lost it"
        return Row("DELETE", path, self.reset, scope, summary, 204)

    def shown(self, user: str, code: str, now_s: float) -> tuple[int, str]:
        """The step of the clock and the digest for recovery that this code may be."""
        totp, digest = self.accounts.totps.get(user), recovery_digest(code)
        step = -1 if totp is None else step_of(totp.secret, code, totp.last_step, now_s)
        return step, digest if digest in self.accounts.recovery.get(user, ()) else ""

    async def sign_in(self, ask: Ask) -> Response:
        """The browser has half a sign-in."""
        secret = ask.request.cookies.get(self._sessions.half_cookie, "")
        half, service = digest_of(secret), self.service
        found = self.accounts.half(half, service.now_s) if secret else None
        if found is None or not found.user:
            expired = "this took too long, or too many tries; sign in again"
            self._sessions.refuse(ask, Secret.CODE, AccountError("expired", expired))
        user = found.user
        made = self.attempt(ask, user)
        step, recovery = self.shown(user, ask.text("code"), time.time())
        if step < 0 and not recovery:
            await done(self.node, self.accounts.wrong_code(half, ask.origin))
            person = self.accounts.users[user]
            self._sessions.warn(person, self.accounts.deny(user, "code", ask.origin))
            raise AccountError("bad_code", "this code is wrong, or was used already")

        def whole(digest: str) -> Awaitable[object]:
            return self.accounts.whole_sign_in(
                half, step, recovery, digest, service.node_id, ask.agent, ask.origin
            )

        response = await self._sessions.whole(ask, whole)
        service.guard.knew(made)
        return response

    def attempt(self, ask: Ask, user: str) -> Try:
        """Who asks shows a code; those for recovery are counted by themselves."""
        is_short = len(ask.text("code").strip()) <= CODE_MAX
        return self._sessions.attempt(ask, Secret.CODE if is_short else Secret.RECOVERY, user)

    async def begin(self, ask: Ask) -> Response:
        """The key is in this answer and nowhere else yet."""
        user = self.accounts.users[ask.user]
        if user.id in self.accounts.totps:
            raise AccountError("taken", "there is an authenticator; remove it first")
        secret = new_totp_secret()
        uri = totp_address(secret, user.email)
        size, path = drawn(uri)
        return JSONResponse({"secret": secret, "uri": uri, "size": size, "path": path}, 201)

    async def add(self, ask: Ask) -> Response:
        """Who has the browser has to know the password, too, where there is one."""
        user = self.accounts.users[ask.user]
        secret = check_totp_secret(ask.text("secret"))
        if user.verifier:
            await self._sessions.check(ask, user.email, ask.text("current"))
        made = self.attempt(ask, user.id)
        step = step_of(secret, ask.text("code"), -1, time.time())
        if step < 0:
            raise AccountError("bad_code", "this code is wrong; look at the clock of the device")
        codes = new_recovery_codes()
        work = self.accounts.set_totp(
            user.id, secret, step, [recovery_digest(one) for one in codes], ask.who.key, ask.origin
        )
        await done(self.node, work)
        self.service.guard.knew(made)
        return JSONResponse({"recovery": codes})

    async def remove(self, ask: Ask) -> Response:
        """Who has the browser has to have the device, too."""
        user = ask.user
        made = self.attempt(ask, user)
        step, recovery = self.shown(user, ask.text("code"), time.time())
        await done(self.node, self.accounts.remove_totp(user, step, recovery, ask.origin))
        self.service.guard.knew(made)
        return Response(status_code=204)

    async def reset(self, ask: Ask) -> Response:
        """By who manages accounts, of others."""
        work = self.accounts.drop_factors(ask.by, ask.path("user"), ask.origin)
        await done(self.node, work)
        return Response(status_code=204)
