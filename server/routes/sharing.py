"""`/api/v1/documents/{doc}/members`, `/links`, `/tokens`, `/audit`: who may what, and who did."""

from __future__ import annotations

from dataclasses import asdict

from starlette.responses import JSONResponse, Response

from server.accounts.backoff import address_key
from server.accounts.errors import AccountError, forbidden
from server.accounts.guard import Secret
from server.accounts.names import VISIBLE
from server.accounts.roles import ADMIN, ROLES, USER, Role, role_of
from server.accounts.secrets import digest_of, new_secret
from server.accounts.tokens import SCOPES
from server.noticed import READ
from server.routes.asks import PUBLIC, SIGNED_IN, Ask, Field, Row
from server.routes.auth import Desk, Gatehouse
from server.routes.done import done
from server.routes.people import DAY_S, ROLE, fresh_secret, known_account
from server.routes.sessions import EMAIL, SECRET, Sessions
from server.routes.shown import shown_given, shown_link, shown_member, shown_token

LINK_ROLE = Field("role", text="what it gives", choices=("viewer", "commenter", "editor"))
LINK_DAYS = Field("valid_days", int, False, "how long it is good; 30 if left out", 366)
TOKEN_FIELDS = (
    Field("name", text="what it is for", min=1, max=80, pattern=VISIBLE),
    Field("scopes", list, text=f"some of {', '.join(SCOPES)}", max=40, choices=tuple(SCOPES)),
    Field("valid_days", int, False, "how long it is good; 90 if left out", 366),
)
AUDIT_MAX = 200


class Sharing(Desk):
    """Roles for documents, links, tokens and the log, at one node."""

    def __init__(self, gate: Gatehouse, sessions: Sessions) -> None:
        super().__init__(gate)
        self.sessions = sessions

    def rows(self) -> list[Row]:
        """The routes."""
        at, write, full = "/documents/{doc}", "accounts:write", ("too_many",)
        link = (LINK_ROLE, LINK_DAYS, Field("password", str, False, "to be asked for", 200))
        visit = (SECRET, Field("password", str, False, "where the link has one", 400))
        return [
            Row("GET", f"{at}/members", self.list_members, "accounts:read", "Who may what"),
            Row(
                "POST",
                f"{at}/members",
                self.add_member,
                write,
                "Share it",
                201,
                (EMAIL, ROLE),
                errors=full,
            ),
            Row(
                "PUT",
                f"{at}/members/{{user}}",
                self.set_role,
                write,
                "Change it",
                204,
                (ROLE,),
                errors=full,
            ),
            Row("DELETE", f"{at}/members/{{user}}", self.drop_member, write, "Take it back", 204),
            Row("GET", f"{at}/links", self.list_links, write, "The share links"),
            Row(
                "POST",
                f"{at}/links",
                self.add_link,
                write,
                "Make a share link",
                201,
                link,
                errors=full,
                once=True,
            ),
            Row("DELETE", f"{at}/links/{{link}}", self.revoke_link, write, "Revoke it", 204),
            Row(
                "POST",
                "/links/enter",
                self.enter,
                PUBLIC,
                "Come by a share link; who has no account is signed in as a visitor",
                201,
                visit,
                {"document": "where it leads", "role": "what one may there"},
                ("no_such_link", "bad_credentials", "wait", *full),
            ),
            Row("GET", "/tokens", self.list_tokens, SIGNED_IN, "One's tokens"),
            Row(
                "POST",
                "/tokens",
                self.add_token,
                SIGNED_IN,
                "Make a token",
                201,
                TOKEN_FIELDS,
                errors=full,
                once=True,
            ),
            Row("DELETE", "/tokens/{token}", self.revoke_token, SIGNED_IN, "Revoke it", 204),
            Row("GET", "/audit", self.audit, "accounts:read", "The last of the audit log"),
        ]

    # --- people ---------------------------------------------------------------------------------

    def _owned(self, ask: Ask) -> str:
        """The document, if who asks owns it."""
        doc = ask.path("doc")
        role = self.accounts.document_role(ask.by, doc)
        if role is Role.NONE:
            raise AccountError("no_such_document", "there is no document of this id here")
        if role is not Role.OWNER:
            raise forbidden()
        return doc

    async def list_members(self, ask: Ask) -> Response:
        """With what each comes to; owners see addresses of mail, and what waits for their proofs,
        visitors only their own role.
        """
        doc, accounts = ask.path("doc"), self.accounts
        own = accounts.document_role(ask.by, doc)
        if own is Role.NONE:
            raise AccountError("no_such_document", "there is no document of this id here")
        if not ask.who.user and ask.by != ADMIN:
            return JSONResponse({"workspace": None, "role": own.name.lower(), "members": []})
        filed = accounts.documents[doc]
        is_owner = own is Role.OWNER
        offers = accounts.document_offers.get(doc, {}) if is_owner else {}
        here = accounts.document_roles.get(doc, {})
        users = [*accounts.roles.get(filed.workspace, {}), *here, *offers]
        rows = [
            {
                **shown_member(
                    accounts,
                    accounts.users[user],
                    accounts.document_role(USER + user, doc),
                    is_owner or user == ask.who.user,
                    offers[user].role if user in offers else Role.NONE,
                ),
                "here": here.get(user, Role.NONE).name.lower(),
            }
            for user in dict.fromkeys(users)
        ]
        return JSONResponse(
            {"workspace": filed.workspace, "role": own.name.lower(), "members": rows}
        )

    async def add_member(self, ask: Ask) -> Response:
        """By the address of an account; pending, as long as it has not proved that address."""
        self._owned(ask)
        user = self.sessions.account_of(ask)
        role = role_of(ask.text("role"))
        is_in_effect = await self._give(ask, user.id, role)
        return JSONResponse(shown_given(self.accounts, user, role, is_in_effect), 201)

    async def set_role(self, ask: Ask) -> Response:
        """Another role for the document, of somebody who has one or whom who asks may know of."""
        return await self._set(ask, self._known(ask), ROLES[ask.text("role")])

    async def drop_member(self, ask: Ask) -> Response:
        """No role beside that in the workspace."""
        return await self._set(ask, self._known(ask), Role.NONE)

    def _known(self, ask: Ask) -> str:
        """The account that is named, as far as who asks may know of it."""
        doc, user = self._owned(ask), ask.path("user")
        here = {*self.accounts.document_roles.get(doc, ())}
        here |= {*self.accounts.document_offers.get(doc, ())}
        return known_account(self.accounts, ask.by, user, here)

    async def _set(self, ask: Ask, user: str, role: Role) -> Response:
        await self._give(ask, user, role)
        return Response(status_code=204)

    async def _give(self, ask: Ask, user: str, role: Role) -> bool:
        """Whether it is in effect, and does not wait for a proof."""
        work = self.accounts.give_document_role(ask.by, ask.path("doc"), user, role, ask.origin)
        return await done(self.node, work)

    # --- links ----------------------------------------------------------------------------------

    async def list_links(self, ask: Ask) -> Response:
        """For its owners."""
        doc = self._owned(ask)
        known = [self.accounts.links[id] for id in self.accounts.document_links.get(doc, ())]
        known.sort(key=lambda link: (link.created_s, link.id))
        return JSONResponse({"links": [shown_link(link) for link in known]})

    async def add_link(self, ask: Ask) -> Response:
        """The secret is in this answer and nowhere else."""
        doc, role = self._owned(ask), role_of(ask.text("role"))
        secret = fresh_secret(ask, "gcl")
        password = ask.text("password")
        verifier = await self.gate.service.passwords.verifier(password) if password else ""
        valid_s, digest = float(ask.number("valid_days", 30) * DAY_S), digest_of(secret)
        work = self.accounts.add_link(ask.by, digest, doc, role, valid_s, verifier, ask.origin)
        id = await done(self.node, work)
        shown = shown_link(self.accounts.links[id])
        return JSONResponse({**shown, "secret": secret, "path": f"/share#{secret}"}, 201)

    async def revoke_link(self, ask: Ask) -> Response:
        """Whoever came by it is out."""
        work = self.accounts.revoke_link(ask.by, ask.path("doc"), ask.path("link"), ask.origin)
        await done(self.node, work)
        return Response(status_code=204)

    async def enter(self, ask: Ask) -> Response:
        """The secret is in the body, never in an address that is logged or sent on."""
        accounts, service = self.accounts, self.gate.service
        digest = digest_of(ask.text("secret"))
        link = accounts.link_by(digest, service.now_s)
        if link is None:
            error = AccountError("no_such_link", "this link is wrong, revoked or too old")
            service.guard.wrong(Secret.LINK, address_key(ask.origin))
            accounts.note("", "link.denied", "", ask.origin)  # nobody waits for that
            raise error
        if link.verifier:
            made = self.sessions.attempt(ask, Secret.LINK_PASSWORD, digest)
            if not await service.passwords.fits(link.verifier, ask.text("password")):
                accounts.note("", "link.denied", link.id, ask.origin)
                raise AccountError("bad_credentials", "this link asks for a password")
            service.guard.knew(made)
        shown = {"document": link.document, "role": link.role.name.lower()}
        if ask.caller is not None and ask.caller.user:
            await done(self.node, accounts.enter_link(link.id, ask.caller.user, ask.origin))
            return JSONResponse(shown, 201)
        secret = new_secret("gcb")
        agent, node = ask.agent, service.node_id
        work = accounts.visit(link.id, digest_of(secret), node, agent, ask.origin)
        await done(self.node, work)
        response = JSONResponse(shown, 201)
        self.gate.set_cookie(response, secret)
        return response

    # --- tokens and the log ---------------------------------------------------------------------

    async def list_tokens(self, ask: Ask) -> Response:
        """Without their secrets."""
        mine = [one for one in self.accounts.tokens.values() if one.user == ask.user]
        return JSONResponse({"tokens": [shown_token(one) for one in mine]})

    async def add_token(self, ask: Ask) -> Response:
        """The secret is in this answer and nowhere else."""
        secret = fresh_secret(ask, "gct")
        digest, valid_s = digest_of(secret), float(ask.number("valid_days", 90) * DAY_S)
        scopes, name = ask.texts("scopes"), ask.text("name")
        work = self.accounts.add_token(ask.by, digest, ask.user, name, scopes, valid_s, ask.origin)
        await done(self.node, work)
        return JSONResponse({**shown_token(self.accounts.tokens[digest]), "secret": secret}, 201)

    async def revoke_token(self, ask: Ask) -> Response:
        """Good no more; its sockets are closed."""
        work = self.accounts.revoke_token(ask.by, ask.path("token"), ask.origin)
        await done(self.node, work)
        return Response(status_code=204)

    async def audit(self, ask: Ask) -> Response:
        """Those after `?after=NUMBER`, or the last ones."""
        if not self.accounts.manages(ask.by):
            raise forbidden()
        after = ask.request.query_params.get("after", "")
        if after and not (after.isascii() and after.isdigit() and len(after) < 16):
            raise AccountError("bad_request", "after must be a number")
        await self.node.noticed.note_first(READ, ask.by, "", ask.origin)
        notes = self.accounts.notes
        found = [one for one in notes if one.number > int(after)] if after else notes[-AUDIT_MAX:]
        return JSONResponse({"entries": [asdict(one) for one in found[:AUDIT_MAX]]})
