"""`/api/v1/me/export.zip`, `/me/erase`: what the server holds of a person, had and erased."""

from __future__ import annotations

import time

from starlette.responses import JSONResponse, Response, StreamingResponse

from server.accounts.erasing import FATES, HAND_OVER
from server.accounts.errors import AccountError, missing
from server.accounts.guard import Secret
from server.accounts.names import check_email
from server.accounts.people import HOME
from server.accounts.records import User
from server.noticed import PERSON
from server.person.export import PersonExport
from server.routes.asks import SIGNED_IN, Ask, Field, Row
from server.routes.auth import Desk
from server.routes.done import done
from server.routes.factors import SecondFactors
from server.routes.sessions import EMAIL, Sessions

FATE = Field("fate", text="what becomes of documents that nobody else owns", choices=FATES)
HEIR = Field(
    "heir",
    str,
    False,
    "with hand_over: the address of an account that takes them",
    EMAIL.max,
    pattern=f"^$|{EMAIL.pattern}",
)
CURRENT = Field("current", str, False, "the present password, where there is one", 400)
CODE = Field("code", str, False, "a code, where the account asks for a second factor", 40)
ZIP = "application/zip"


class OwnData(Desk):
    """The handlers, on one node: for people, and for the operator."""

    def __init__(self, sessions: Sessions, factors: SecondFactors) -> None:
        super().__init__(sessions.gate)
        self._sessions = sessions
        self._factors = factors
        self._export = PersonExport(self.node)

    def rows(self) -> list[Row]:
        """The routes."""
        return [
            Row(
                "GET",
                "/me/export.zip",
                self.export_own,
                SIGNED_IN,
                "All that the server holds of oneself",
                errors=("busy", "too_complex"),
                gives=(ZIP,),
            ),
            Row(
                "GET",
                "/me/erase",
                self.look,
                SIGNED_IN,
                "What erasing one's account would come to",
                shows={
                    "documents": "how many nobody else owns",
                    "workspaces": "names of those that would go into the trash",
                    "shared_workspaces": "names of those that somebody has to take over first",
                    "first_workspace": "whether one is the last owner of the first one",
                },
            ),
            Row(
                "POST",
                "/me/erase",
                self.erase_own,
                SIGNED_IN,
                "Erase one's account for good; the password and the second factor are asked for",
                204,
                (FATE, HEIR, CURRENT, CODE),
                errors=("bad_credentials", "bad_code", "last_owner", "not_found", "wait"),
            ),
        ]

    def management_rows(self, at: str, scope: str) -> list[Row]:
        """Of the management address."""
        user = f"{at}/users/{{user}}"
        return [
            Row(
                "GET",
                f"{user}/export.zip",
                self.export,
                scope,
                "All that the cluster holds of a person",
                gives=(ZIP,),
            ),
            Row("POST", f"{user}/erase", self.erase, scope, "Erase it", 200, (FATE, HEIR)),
        ]

    # --- having it ------------------------------------------------------------------------------

    async def export_own(self, ask: Ask) -> Response:
        """As this node knows it."""
        return await self._exported(ask, self.accounts.users[ask.user])

    async def export(self, ask: Ask) -> Response:
        """By the operator."""
        return await self._exported(ask, self._named(ask))

    def _named(self, ask: Ask) -> User:
        found = self.accounts.users.get(ask.path("user"))
        if found is None:
            raise missing("user")
        return found

    async def _exported(self, ask: Ask, user: User) -> Response:
        await self.node.noticed.note_first(PERSON, ask.by, user.id, ask.origin)
        pieces = await self._export.begin(user.id)
        headers = {"Content-Disposition": 'attachment; filename="my-data.zip"'}
        return StreamingResponse(pieces, 200, headers, ZIP)

    # --- erasing it -----------------------------------------------------------------------------

    async def look(self, ask: Ask) -> Response:
        """For who is about to decide."""
        accounts, user = self.accounts, ask.user
        alone = accounts.lone_workspaces(user)
        shared = [one for one in alone if one != HOME and accounts.has_company(one, user)]
        going = [one for one in alone if one != HOME and one not in shared]
        return JSONResponse(
            {
                "documents": len(accounts.only_theirs(user)),
                "workspaces": [accounts.workspaces[one].name for one in going],
                "shared_workspaces": [accounts.workspaces[one].name for one in shared],
                "first_workspace": HOME in alone,
            }
        )

    def _heir(self, ask: Ask) -> str:
        """The account that takes over; AccountError in the same words for none and for any that
        cannot.
        """
        if ask.text("fate") != HAND_OVER:
            return ""
        email = ask.text("heir")
        if not email:
            raise AccountError("not_found", "heir: name the address of who takes over")
        found = self.accounts.by_email(check_email(email))
        if found is None:
            self.service.guard.wrong(Secret.ADDRESS, ask.by)
        if found is None or not self.accounts.is_proved(found.id) or found.is_disabled:
            raise missing("account that could take it over")
        return found.id

    async def erase_own(self, ask: Ask) -> Response:
        """Who has the browser has to know the password, and have the second factor, too."""
        user, heir = self.accounts.users[ask.user], self._heir(ask)
        if user.verifier:
            await self._sessions.check(ask, user.email, ask.text("current"))
        if self.accounts.has_factor(user.id):
            await self._check_code(ask, user.id)
        work = self.accounts.erase(ask.by, user.id, ask.text("fate"), heir, ask.origin)
        await done(self.node, work)
        await self._forget(user.id)
        response = Response(status_code=204)
        self.gate.delete_cookie(response)
        response.delete_cookie(self._sessions.devices.cookie, path="/")
        return response

    async def _check_code(self, ask: Ask, user: str) -> None:
        """Used up by that, in the order."""
        if not ask.text("code"):
            raise AccountError("bad_code", "this account asks for a code, too")
        made = self._factors.attempt(ask, user)
        step, recovery = self._factors.shown(user, ask.text("code"), time.time())
        await done(self.node, self.accounts.use_code(user, step, recovery, ask.origin))
        self.service.guard.knew(made)

    async def erase(self, ask: Ask) -> Response:
        """By the operator."""
        user = self._named(ask)
        work = self.accounts.erase(ask.by, user.id, ask.text("fate"), self._heir(ask), ask.origin)
        await done(self.node, work)
        await self._forget(user.id)
        return JSONResponse({"id": user.id, "erased": True})

    async def _forget(self, user: str) -> None:
        """At once, what a node would do soon."""
        await done(self.node, self.node.files.activity.forget_person(user))
