"""`/api/v1/me/address`, `/password`, `/users/{user}/confirm`: whose an address of mail is."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from groupcore.errors import GroupcoreError
from server.accounts.backoff import Backoff, address_key
from server.accounts.errors import AccountError
from server.accounts.guard import Secret
from server.accounts.names import check_email
from server.accounts.passwords import check_password
from server.accounts.proofs import PROVE, RESET
from server.accounts.records import User
from server.accounts.secrets import digest_of, new_secret
from server.errors import BadMessageError
from server.mail.letters import language_of, letter_of
from server.routes.asks import PUBLIC, SIGNED_IN, Ask, Field, Row
from server.routes.auth import Desk, Gatehouse
from server.routes.done import done as saved
from server.routes.done import ordered
from server.routes.sessions import ADDRESS, PASSWORD, SECRET, SELF, Sessions, try_once
from server.routes.sessions import USER as USER_SHOWN
from server.routes.shown import shown_self, shown_user

if TYPE_CHECKING:
    from server.mail.mailer import Mailer

logger = logging.getLogger("server")

WRITING_MAX = 50
"""So many letters are on their way into the order at a node; more are not written."""
NO_MAIL = "this server sends no mail; ask an owner"


def expired() -> AccountError:
    """A letter's secret that is good no more, or never was."""
    return AccountError("expired", "this link was used or is too old; ask for another")


class Proving(Desk):
    """Proving addresses, and new passwords by mail, at one node."""

    def __init__(self, gate: Gatehouse, sessions: Sessions, mailer: Mailer | None) -> None:
        super().__init__(gate)
        self._sessions = sessions
        self._mailer = mailer
        self._mailed = Backoff(free=4, first_s=60.0, most_s=3600.0)
        self._askers = Backoff(free=10, first_s=30.0, most_s=3600.0)
        self._writing: set[asyncio.Task[None]] = set()

    def rows(self) -> list[Row]:
        """The routes."""
        return [
            Row(
                "POST",
                "/me/address/mail",
                self.send_proof,
                SIGNED_IN,
                "Have a link sent to one's address, which proves it",
                202,
                errors=("no_mail", "taken", "wait", "busy"),
            ),
            Row(
                "POST",
                "/me/address/prove",
                self.prove,
                SIGNED_IN,
                "Prove one's address by the link's secret",
                200,
                (SECRET,),
                SELF,
                ("expired", "wait"),
            ),
            Row(
                "POST",
                "/password/mail",
                self.send_reset,
                PUBLIC,
                "Have a link sent for a new password; the answer is the same without an account",
                202,
                (ADDRESS,),
                errors=("no_mail", "wait"),
            ),
            Row(
                "POST",
                "/password/look",
                self.look,
                PUBLIC,
                "Whether the link may be used still",
                204,
                (SECRET,),
                errors=("expired", "wait"),
            ),
            Row(
                "POST",
                "/password/reset",
                self.reset,
                PUBLIC,
                "Choose a password by the link's secret; all sign-ins and tokens end",
                204,
                (SECRET, PASSWORD),
                errors=("expired", "weak_password", "wait"),
            ),
            self.confirm_row("/users/{user}/confirm", "accounts:write"),
        ]

    def confirm_row(self, path: str, scope: str) -> Row:
        """Also of the management address."""
        return Row(
            "POST",
            path,
            self.confirm,
            scope,
            "Say that an account's address is its person's",
            200,
            (
                Field(
                    "hand_over",
                    bool,
                    False,
                    "true: end its password, sign-ins, tokens and second factor first",
                ),
            ),
            USER_SHOWN,
        )

    # --- writing letters ------------------------------------------------------------------------

    def _check_mail(self) -> Mailer:
        if self._mailer is None:
            raise AccountError("no_mail", NO_MAIL)
        return self._mailer

    async def _write(self, ask: Ask, user: User, purpose: str) -> None:
        """Into the order, then to the mail server."""
        secret = new_secret("gcm")
        work = self.accounts.write_letter(digest_of(secret), user.id, purpose, ask.origin)
        await ordered(work)
        language = language_of(ask.request.headers.get("accept-language", ""))
        site = self.node.public_url
        self._check_mail().send(user.email, *letter_of(purpose, language, site, user.email, secret))

    async def send_proof(self, ask: Ask) -> Response:
        """To the address of who asks."""
        self._check_mail()
        user = self.accounts.users[ask.user]
        try_once(f"{PROVE} {user.id}", self._mailed)
        await self._write(ask, user, PROVE)
        return JSONResponse({}, 202)

    async def send_reset(self, ask: Ask) -> Response:
        """The same answer, at once, whether there is an account or not."""
        self._check_mail()
        try_once(address_key(ask.origin), self._askers)
        try:
            email = check_email(ask.text("email"))
        except AccountError:
            return JSONResponse({}, 202)
        try_once(email, self._mailed)
        if len(self._writing) < WRITING_MAX:
            task = asyncio.create_task(self._write_reset(ask, email))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)
        return JSONResponse({}, 202)

    async def _write_reset(self, ask: Ask, email: str) -> None:
        """Nobody waits for it: what it comes to is not for who asked."""
        try:
            user = self.accounts.by_email(email)
            if user is None or user.is_disabled:
                about = self.accounts.address_mark(email) if user is None else user.id
                self.accounts.note("", "mail.denied", about, ask.origin)  # nobody waits for that
            else:
                await self._write(ask, user, RESET)
        except (BadMessageError, GroupcoreError) as error:
            logger.warning("a mail for a new password was not sent: %s", type(error).__name__)

    # --- what comes back ------------------------------------------------------------------------

    async def prove(self, ask: Ask) -> Response:
        """By who is signed in: they have shown the address, too."""
        user = ask.user
        digest = digest_of(ask.text("secret"))
        if self.accounts.letter(digest, PROVE, self.service.now_s) is None:
            self._sessions.refuse(ask, Secret.LETTER, expired())
        await saved(self.node, self.accounts.prove_by_letter(digest, user, ask.origin))
        return JSONResponse(shown_self(self.accounts, self.accounts.users[user]))

    def _account(self, ask: Ask) -> User:
        """Of the letter with this secret; AccountError."""
        digest, now_s = digest_of(ask.text("secret")), self.service.now_s
        letter = self.accounts.letter(digest, RESET, now_s)
        if letter is None:
            self._sessions.refuse(ask, Secret.LETTER, expired())
        return self.accounts.users[letter.user]

    async def look(self, ask: Ask) -> Response:
        """For who has the secret, before they fill in anything."""
        self._account(ask)
        return Response(status_code=204)

    async def reset(self, ask: Ask) -> Response:
        """They sign in with it then, and with the second factor where there is one."""
        user = self._account(ask)
        password = check_password(ask.text("password"), user.email, user.name)
        verifier = await self.service.passwords.verifier(password)
        digest = digest_of(ask.text("secret"))
        await saved(self.node, self.accounts.reset_by_letter(digest, verifier, ask.origin))
        response = Response(status_code=204)
        # Others who try meanwhile do not keep out who reads the address's mail.
        self._sessions.devices.keep(ask.request, response, user.id)
        return response

    async def confirm(self, ask: Ask) -> Response:
        """By who manages accounts."""
        user, hands_over = ask.path("user"), ask.flag("hand_over")
        await saved(self.node, self.accounts.confirm(ask.by, user, hands_over, ask.origin))
        return JSONResponse(shown_user(self.accounts, self.accounts.users[user]))
