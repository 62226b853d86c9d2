"""`/api/v1/users`, `/workspaces`, `/invitations`: who is here, and who may come."""

from __future__ import annotations

import secrets
from collections.abc import Container
from dataclasses import replace

from starlette.responses import JSONResponse, Response

from server.accounts.accounts import Accounts
from server.accounts.errors import AccountError, forbidden, missing
from server.accounts.guard import Secret
from server.accounts.names import check_email
from server.accounts.passwords import check_password
from server.accounts.records import Invitation
from server.accounts.roles import ROLES, USER, Role, role_of
from server.accounts.secrets import derived, digest_of, new_secret
from server.routes.asks import PUBLIC, Ask, Field, Row
from server.routes.auth import Desk, Gatehouse
from server.routes.done import done
from server.routes.sessions import EMAIL, NAME, PASSWORD, SECRET, Sessions
from server.routes.sessions import USER as USER_SHOWN
from server.routes.shown import shown_given, shown_invitation, shown_member, shown_user

ROLE = Field("role", text="what they are", choices=tuple(ROLES))
DAY_S = 24 * 3600
OPTIONAL_EMAIL = Field("email", str, False, EMAIL.text, EMAIL.max, pattern=f"^$|{EMAIL.pattern}")
OPTIONAL_NAME = Field("name", str, False, NAME.text, NAME.max, pattern=f"^$|{NAME.pattern}")
VALID_DAYS = Field("valid_days", int, False, "how long it is good", 30)
FULL = ("too_many",)
SPACE = {"id": "the workspace", "name": "its name", "role": "what one is there"}


def fresh_secret(ask: Ask, kind: str) -> str:
    """A new secret; the same for who asks again with the same Idempotency-Key."""
    return derived(kind, ask.who.secret, ask.key) if ask.key else new_secret(kind)


def known_account(accounts: Accounts, by: str, user: str, here: Container[str]) -> str:
    """The id of an account that has a role here, or that who asks may know of.

    Of others nothing is told, not even that they exist: who gives an account a role is shown its
    name and address.
    """
    if user not in here and not accounts.knows(by, user):
        raise missing("account")
    return user


class People(Desk):
    """Accounts, workspaces and invitations, at one node."""

    def __init__(self, gate: Gatehouse, sessions: Sessions) -> None:
        super().__init__(gate)
        self.sessions = sessions

    def rows(self) -> list[Row]:
        """The routes."""
        return [*self._user_rows(), *self._workspace_rows(), *self._invitation_rows()]

    def _user_rows(self) -> list[Row]:
        write, new_user = "accounts:write", (NAME, EMAIL, PASSWORD)
        first = (SECRET, *new_user, replace(OPTIONAL_NAME, name="workspace"))
        off = (Field("disabled", bool, text="whether it is off"),)
        return [
            Row(
                "POST",
                "/users/first",
                self.first,
                PUBLIC,
                "Become the first owner by the one-time link, and be signed in",
                201,
                first,
                errors=("expired", "weak_password", "wait"),
            ),
            Row(
                "POST",
                "/users/first/look",
                self.look_at_owner_link,
                PUBLIC,
                "Whether the one-time link may be used still",
                204,
                (SECRET,),
                errors=("expired", "wait"),
            ),
            Row("GET", "/users", self.list_users, "accounts:read", "All accounts, to manage"),
            Row(
                "POST",
                "/users",
                self.add_user,
                write,
                "Make one",
                201,
                new_user,
                USER_SHOWN,
                ("taken", "weak_password", *FULL),
            ),
            Row(
                "PATCH",
                "/users/{user}",
                self.change_user,
                write,
                "Switch an account off or on; off, it is signed out everywhere",
                200,
                off,
                USER_SHOWN,
                ("last_owner",),
            ),
            Row("DELETE", "/users/{user}/sessions", self.end_all, write, "Sign it out", 204),
        ]

    def _workspace_rows(self) -> list[Row]:
        at, write, read = "/workspaces/{workspace}", "accounts:write", "accounts:read"
        one = f"{at}/members/{{user}}"
        add, keep = (EMAIL, ROLE), ("last_owner",)
        return [
            Row("GET", "/workspaces", self.list_workspaces, read, "The workspaces one is in"),
            Row(
                "POST",
                "/workspaces",
                self.add_workspace,
                write,
                "Make one",
                201,
                (NAME,),
                SPACE,
                FULL,
                once=True,
            ),
            Row("PATCH", at, self.rename, write, "Rename a workspace", 204, (NAME,)),
            Row("GET", f"{at}/members", self.list_members, read, "Who is in it, as what"),
            Row(
                "POST",
                f"{at}/members",
                self.add_member,
                write,
                "Give a role",
                201,
                add,
                errors=FULL,
            ),
            Row("PUT", one, self.set_role, write, "Change it", 204, (ROLE,), errors=keep),
            Row(
                "DELETE",
                one,
                self.drop_member,
                write,
                "Take somebody out, or leave",
                204,
                errors=keep,
            ),
        ]

    def _invitation_rows(self) -> list[Row]:
        at, write = "/workspaces/{workspace}/invitations", "accounts:write"
        inviting = (ROLE, OPTIONAL_EMAIL, VALID_DAYS)
        joining = (
            SECRET,
            OPTIONAL_NAME,
            OPTIONAL_EMAIL,
            Field("password", str, False, "for a new account", 400),
        )
        one, look, unknown = f"{at}/{{invitation}}", "/invitations/look", ("expired", "wait")
        return [
            Row("GET", at, self.list_invitations, "accounts:read", "Those that are open"),
            Row(
                "POST",
                at,
                self.invite,
                write,
                "Invite somebody",
                201,
                inviting,
                errors=FULL,
                once=True,
            ),
            Row("DELETE", one, self.withdraw, write, "Withdraw an invitation", 204),
            Row("POST", look, self.look, PUBLIC, "What it is to", 200, (SECRET,), errors=unknown),
            Row(
                "POST",
                "/invitations/accept",
                self.accept,
                PUBLIC,
                "Join, with the account that one is signed in with, or a new one",
                201,
                joining,
                errors=("expired", "taken", "weak_password", "wait", *FULL),
            ),
        ]

    # --- accounts -------------------------------------------------------------------------------

    async def _verifier(self, ask: Ask) -> str:
        password = check_password(ask.text("password"), ask.text("email"), ask.text("name"))
        return await self.gate.service.passwords.verifier(password)

    async def first(self, ask: Ask) -> Response:
        """The first owner."""
        digest = self._owner_link(ask)
        email, name = check_email(ask.text("email")), ask.text("name")
        verifier = await self._verifier(ask)
        home = ask.text("workspace") or "Home"
        user = await done(
            self.node, self.accounts.found(digest, name, email, verifier, home, ask.origin)
        )
        await done(self.node, self.node.files.adopt(ask.origin))
        return await self.sessions.begin(ask, user)

    async def look_at_owner_link(self, ask: Ask) -> Response:
        """For who has the secret, before they fill in anything."""
        self._owner_link(ask)
        return Response(status_code=204)

    def _owner_link(self, ask: Ask) -> str:
        """The digest of the link's secret, if it may be used; AccountError."""
        digest = digest_of(ask.text("secret"))
        if not self.accounts.owner_link_open(digest, self.gate.service.now_s):
            error = AccountError("expired", "this link was used or is too old; print a new one")
            self.sessions.refuse(ask, Secret.OWNER_LINK, error)
        return digest

    def _check_manages(self, ask: Ask) -> None:
        if not self.accounts.manages(ask.by):
            raise forbidden()

    async def list_users(self, ask: Ask) -> Response:
        """All of them."""
        self._check_manages(ask)
        users = sorted(self.accounts.users.values(), key=lambda user: (user.name, user.id))
        return JSONResponse({"users": [shown_user(self.accounts, user) for user in users]})

    async def add_user(self, ask: Ask) -> Response:
        """An account that its owner has not asked for."""
        self._check_manages(ask)
        verifier = await self._verifier(ask)
        name, email = ask.text("name"), ask.text("email")
        work = self.accounts.make_user(ask.by, name, email, verifier, ask.origin)
        user = await done(self.node, work)
        return JSONResponse(shown_user(self.accounts, self.accounts.users[user]), 201)

    async def change_user(self, ask: Ask) -> Response:
        """Off or on."""
        user = ask.path("user")
        work = self.accounts.set_disabled(ask.by, user, ask.flag("disabled"), ask.origin)
        await done(self.node, work)
        return JSONResponse(shown_user(self.accounts, self.accounts.users[user]))

    async def end_all(self, ask: Ask) -> Response:
        """Everywhere."""
        work = self.accounts.end_all(ask.by, USER + ask.path("user"), ask.origin)
        await done(self.node, work)
        return Response(status_code=204)

    # --- workspaces -----------------------------------------------------------------------------

    async def list_workspaces(self, ask: Ask) -> Response:
        """With one's role in each."""
        rows = [
            {"id": one.id, "name": one.name, "role": role.name.lower()}
            for one in self.accounts.workspaces.values()
            if (role := self.accounts.workspace_role(ask.by, one.id)) is not Role.NONE
        ]
        return JSONResponse({"workspaces": rows})

    async def add_workspace(self, ask: Ask) -> Response:
        """Who asks owns it."""
        id = digest_of(f"workspace\n{ask.key}")[:16] if ask.key else secrets.token_hex(8)
        work = self.accounts.add_workspace(ask.by, id, ask.text("name"), ask.origin)
        await done(self.node, work)
        name = self.accounts.workspaces[id].name  # asked again, another than then
        return JSONResponse({"id": id, "name": name, "role": "owner"}, 201)

    async def rename(self, ask: Ask) -> Response:
        """By owners."""
        workspace = ask.path("workspace")
        work = self.accounts.rename_workspace(ask.by, workspace, ask.text("name"), ask.origin)
        await done(self.node, work)
        return Response(status_code=204)

    async def list_members(self, ask: Ask) -> Response:
        """For who is in it; owners see addresses of mail."""
        workspace, accounts = ask.path("workspace"), self.accounts
        own = accounts.workspace_role(ask.by, workspace)
        if own is Role.NONE or workspace not in accounts.workspaces:
            raise missing("workspace")
        rows = [
            shown_member(
                accounts, accounts.users[user], role, own is Role.OWNER or user == ask.who.user
            )
            for user, role in accounts.roles[workspace].items()
        ]
        offers = accounts.workspace_offers.get(workspace, {}) if own is Role.OWNER else {}
        rows += [
            shown_member(accounts, accounts.users[user], Role.NONE, pending=offer.role)
            for user, offer in offers.items()
        ]
        return JSONResponse({"members": rows})

    async def add_member(self, ask: Ask) -> Response:
        """By the address of an account."""
        if self.accounts.workspace_role(ask.by, ask.path("workspace")) is not Role.OWNER:
            raise forbidden()  # nobody else finds out who has an account
        user = self.sessions.account_of(ask)
        role = role_of(ask.text("role"))
        is_in_effect = await self._give(ask, user.id, role)
        return JSONResponse(shown_given(self.accounts, user, role, is_in_effect), 201)

    async def set_role(self, ask: Ask) -> Response:
        """Another role, of somebody who has one or whom who asks may know of."""
        return await self._set_role(ask, self._known(ask), role_of(ask.text("role")))

    async def drop_member(self, ask: Ask) -> Response:
        """No role."""
        return await self._set_role(ask, self._known(ask), Role.NONE)

    def _known(self, ask: Ask) -> str:
        """The account that is named, as far as who asks may know of it."""
        workspace = ask.path("workspace")
        role = self.accounts.workspace_role(ask.by, workspace)
        if role is Role.NONE or workspace not in self.accounts.workspaces:
            raise missing("workspace")  # nor is it told who is there
        if role is not Role.OWNER and ask.path("user") != ask.user:
            raise forbidden()
        here = {*self.accounts.roles.get(workspace, ())}
        here |= {*self.accounts.workspace_offers.get(workspace, ())}
        return known_account(self.accounts, ask.by, ask.path("user"), here)

    async def _set_role(self, ask: Ask, user: str, role: Role) -> Response:
        await self._give(ask, user, role)
        return Response(status_code=204)

    async def _give(self, ask: Ask, user: str, role: Role) -> bool:
        """Whether it is in effect, and does not wait for a proof."""
        work = self.accounts.give_role(ask.by, ask.path("workspace"), user, role, ask.origin)
        return await done(self.node, work)

    # --- invitations ----------------------------------------------------------------------------

    async def list_invitations(self, ask: Ask) -> Response:
        """For owners."""
        workspace = ask.path("workspace")
        if self.accounts.workspace_role(ask.by, workspace) is not Role.OWNER:
            raise forbidden()
        open_ones = [
            one for one in self.accounts.invitations.values() if one.workspace == workspace
        ]
        return JSONResponse({"invitations": [shown_invitation(one) for one in open_ones]})

    async def invite(self, ask: Ask) -> Response:
        """The secret is in this answer and nowhere else."""
        workspace = ask.path("workspace")
        secret = fresh_secret(ask, "gci")
        valid_s = float(ask.number("valid_days", 7) * DAY_S)
        role, email = role_of(ask.text("role")), ask.text("email")
        digest = digest_of(secret)
        work = self.accounts.invite(ask.by, digest, workspace, role, email, valid_s, ask.origin)
        await done(self.node, work)
        shown = shown_invitation(self.accounts.invitations[digest])
        return JSONResponse({**shown, "secret": secret, "path": f"/join#{secret}"}, 201)

    async def withdraw(self, ask: Ask) -> Response:
        """Good no more."""
        id, workspace = ask.path("invitation"), ask.path("workspace")
        await done(self.node, self.accounts.withdraw(ask.by, workspace, id, ask.origin))
        return Response(status_code=204)

    async def look(self, ask: Ask) -> Response:
        """For who has the secret."""
        _, found = self._invitation(ask)
        name = self.accounts.workspaces[found.workspace].name
        return JSONResponse(
            {"workspace": name, "role": found.role.name.lower(), "email": found.email}
        )

    def _invitation(self, ask: Ask) -> tuple[str, Invitation]:
        """The digest of its secret, and what it is to; AccountError."""
        digest = digest_of(ask.text("secret"))
        found = self.accounts.invitation(digest, self.gate.service.now_s)
        if found is None:
            error = AccountError("expired", "this invitation was used, withdrawn, or is too old")
            self.sessions.refuse(ask, Secret.INVITATION, error)
        return digest, found

    async def accept(self, ask: Ask) -> Response:
        """With an account, or a new one, which is signed in then."""
        digest, _ = self._invitation(ask)
        if ask.caller is not None and ask.caller.user:
            workspace = await done(
                self.node, self.accounts.accept(digest, ask.caller.user, ask.origin)
            )
            return JSONResponse({"workspace": workspace}, 201)
        verifier = await self._verifier(ask)
        name, email = ask.text("name"), ask.text("email")
        work = self.accounts.accept_as_new(digest, name, email, verifier, "", ask.origin)
        return await self.sessions.begin(ask, await done(self.node, work))
