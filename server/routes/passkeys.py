"""`/api/v1/session/passkey`, `/me/passkeys`: keys in devices, made, shown and removed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from server.accounts.backoff import address_key
from server.accounts.errors import AccountError
from server.accounts.guard import Secret
from server.accounts.names import VISIBLE
from server.accounts.secrets import digest_of
from server.accounts.totp import new_recovery_codes, recovery_digest
from server.routes.asks import PUBLIC, SIGNED_IN, Ask, Field, Row
from server.routes.auth import Desk, Gatehouse
from server.routes.done import done
from server.routes.factors import CODE, CURRENT, SecondFactors
from server.routes.sessions import SESSION, Sessions
from server.routes.shown import instant

if TYPE_CHECKING:
    from server.accounts.webauthn_codec import Site

CREDENTIAL = Field("credential", text="what the browser said, as JSON", min=1, max=20_000)
ALONE = Field("alone", bool, False, "true: not behind a password that was given before")
KEY_NAME = Field("name", text="what the key is called", min=1, max=80, pattern=VISIBLE)
OPTIONS = {"options": "for the browser's navigator.credentials, as JSON"}


def challenge_of(secret: str, purpose: str) -> bytes:
    """What a key is to sign: known to who has the secret, which is good once."""
    return hashlib.sha256(f"{purpose}\n{secret}".encode()).digest()


class PasskeyRoutes(Desk):
    """Passkeys, at one node."""

    def __init__(self, gate: Gatehouse, sessions: Sessions, factors: SecondFactors) -> None:
        super().__init__(gate)
        self._sessions = sessions
        self._factors = factors

    def rows(self) -> list[Row]:
        """The routes."""
        return [*self._showing_rows(), *self._own_rows()]

    def _showing_rows(self) -> list[Row]:
        return [
            Row(
                "POST",
                "/session/passkey/begin",
                self.begin,
                PUBLIC,
                "What a passkey is to sign, alone or behind the password",
                201,
                (ALONE,),
                OPTIONS,
                ("wait", "insecure"),
            ),
            Row(
                "POST",
                "/session/passkey",
                self.sign_in,
                PUBLIC,
                "Sign in by a passkey",
                201,
                (CREDENTIAL,),
                SESSION,
                ("expired", "bad_passkey", "wait"),
            ),
        ]

    def _own_rows(self) -> list[Row]:
        at = "/me/passkeys"
        return [
            Row("GET", at, self.list_own, SIGNED_IN, "One's passkeys"),
            Row(
                "POST",
                f"{at}/begin",
                self.begin_making,
                SIGNED_IN,
                "What a device is to make a passkey for",
                201,
                shows=OPTIONS,
            ),
            Row(
                "POST",
                at,
                self.add,
                SIGNED_IN,
                "Keep a passkey that a device has made; the first ends all other sign-ins",
                201,
                (CREDENTIAL, KEY_NAME, CURRENT),
                {"id": "of the key", "recovery": "codes for the first factor, told now only"},
                ("taken", "too_many", "bad_passkey", "bad_credentials", "wait"),
            ),
            Row(
                "POST",
                f"{at}/{{passkey}}/remove",
                self.remove,
                SIGNED_IN,
                "Remove a passkey, by a code of the authenticator or for recovery",
                204,
                (CODE,),
                errors=("not_found", "bad_code", "wait"),
            ),
        ]

    @property
    def _site(self) -> Site:
        from server.accounts.webauthn_codec import Site

        host = urlsplit(self.node.public_url).hostname or ""
        known = sorted({self.node.public_url, *self.node.origins()})
        return Site(host, tuple(one for one in known if urlsplit(one).hostname == host))

    # --- signing in -----------------------------------------------------------------------------

    def _half(self, ask: Ask) -> tuple[str, str] | None:
        """The secret of the browser's half sign-in and its account, empty where it is nobody's."""
        secret = ask.request.cookies.get(self._sessions.half_cookie, "")
        found = self.accounts.half(digest_of(secret), self.service.now_s) if secret else None
        return None if found is None else (secret, found.user)

    async def begin(self, ask: Ask) -> Response:
        """Behind the password or the provider with the half of then, else with one of nobody."""
        from server.accounts.webauthn_codec import showing_options

        self.service.guard.wrong(Secret.PASSKEY, address_key(ask.origin))
        half = None if ask.flag("alone") else self._half(ask)
        if half is not None and half[1]:
            known = self.accounts.passkeys_of(half[1])
            challenge = challenge_of(half[0], "sign in")
            return JSONResponse({"options": showing_options(self._site, challenge, known)}, 201)

        def opened(secret: str) -> dict[str, object]:
            challenge = challenge_of(secret, "sign in")
            return {"options": showing_options(self._site, challenge, [])}

        work = self.accounts.open_half
        return await self._sessions.give_half(work, opened, 201)

    async def sign_in(self, ask: Ask) -> Response:
        """The key signs the challenge of the browser's half."""
        from server.accounts.webauthn_codec import id_in, shown_key

        place = address_key(ask.origin)
        self.service.guard.wrong(Secret.PASSKEY, place)
        half = self._half(ask)
        if half is None:
            raise AccountError("expired", "this took too long; sign in again")
        said = ask.text("credential")
        id = id_in(said)
        key = self.accounts.passkeys.get(id)
        if key is None:
            raise AccountError("bad_passkey", "this key is not known here")
        shown = shown_key(self._site, challenge_of(half[0], "sign in"), said, key.public_key)
        service = self.service

        def whole(digest: str) -> Awaitable[object]:
            return self.accounts.sign_in_by_passkey(
                digest_of(half[0]),
                id,
                shown.sign_count,
                shown.is_verified,
                digest,
                service.node_id,
                ask.agent,
                ask.origin,
            )

        response = await self._sessions.whole(ask, whole)
        for _ in ("begun", "shown"):  # neither was a guess
            self.service.guard.right(Secret.PASSKEY, place)
        return response

    # --- one's own ------------------------------------------------------------------------------

    async def list_own(self, ask: Ask) -> Response:
        """The oldest first."""
        mine = [(id, self.accounts.passkeys[id]) for id in self.accounts.passkeys_of(ask.user)]
        rows = [{"id": id, "name": one.name, "created": instant(one.created_s)} for id, one in mine]
        return JSONResponse({"passkeys": rows})

    async def begin_making(self, ask: Ask) -> Response:
        """The challenge follows from the sign-in: nothing is kept before there is a key."""
        from server.accounts.webauthn_codec import making_options

        user = self.accounts.users[ask.user]
        challenge = challenge_of(ask.who.secret, "make")
        known = self.accounts.passkeys_of(user.id)
        options = making_options(self._site, challenge, user.id, user.email, known)
        return JSONResponse({"options": options}, 201)

    async def add(self, ask: Ask) -> Response:
        """Who has the browser has to know the password, too, where there is one."""
        from server.accounts.webauthn_codec import made_key

        user = self.accounts.users[ask.user]
        if user.verifier:
            await self._sessions.check(ask, user.email, ask.text("current"))
        key = made_key(self._site, challenge_of(ask.who.secret, "make"), ask.text("credential"))
        codes = new_recovery_codes()
        work = self.accounts.add_passkey(
            user.id,
            key.id,
            ask.text("name"),
            key.public_key,
            key.sign_count,
            [recovery_digest(one) for one in codes],
            ask.who.key,
            ask.origin,
        )
        is_first = await done(self.node, work)
        return JSONResponse({"id": key.id, "recovery": codes if is_first else []}, 201)

    async def remove(self, ask: Ask) -> Response:
        """Who has the browser has to show a code."""
        user = ask.user
        made = self._factors.attempt(ask, user)
        step, recovery = self._factors.shown(user, ask.text("code"), time.time())
        work = self.accounts.remove_passkey(user, ask.path("passkey"), step, recovery, ask.origin)
        await done(self.node, work)
        self.service.guard.knew(made)
        return Response(status_code=204)
