"""Accounts on the management address: for who is at the machine, without an account.

What is done here is done by `admin`. The address is to be kept private; pages of the web cannot
use it either, as whatever a browser sends on behalf of a page, by whatever name, is refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from server.accounts.accounts import Accounts
from server.accounts.errors import AccountError, missing
from server.accounts.lists import Outline
from server.accounts.names import check_email
from server.accounts.passwords import check_password
from server.accounts.people import HOME
from server.accounts.roles import ADMIN
from server.accounts.secrets import digest_of, new_secret
from server.accounts.service import AccountService
from server.backup.taking import take
from server.node import Node
from server.routes.access import Place
from server.routes.api import DocumentRoutes
from server.routes.asks import Ask, Field, Row
from server.routes.auth import Gatehouse
from server.routes.deeds import Deed
from server.routes.done import done
from server.routes.factors import SecondFactors
from server.routes.files import Files
from server.routes.gate import OperatorGate
from server.routes.own_data import OwnData
from server.routes.people import DAY_S, People
from server.routes.places import PlaceRoutes
from server.routes.proving import Proving
from server.routes.sessions import EMAIL, NAME, PASSWORD, Sessions
from server.routes.sharing import TOKEN_FIELDS, Sharing
from server.routes.shown import shown_token

LOCAL = "local"
"""The scope of what needs nothing but the address."""


def management_routes(node: Node) -> list[Route]:
    """What an operator asks of documents, and of accounts where there are some."""
    documents = DocumentRoutes(node, OperatorAccess(node))
    rows = [documents.import_row("/admin/documents/import"), backup_row(node)]
    filing = [row for row in Files(node).rows() if not row.path.startswith("/me/")]
    places = PlaceRoutes(node, OperatorAccess(node))
    making = [row for row in places.rows() if row.method == "POST"]
    rows += [replace(row, path=f"/admin{row.path}") for row in (*filing, *making)]
    if node.accounts is not None:
        rows += Management(node, node.accounts).rows()
    return OperatorGate(node).routes(rows)


def backup_row(node: Node) -> Row:
    """Gives a backup of the cluster, as it is made; who gets less than its end has none."""

    async def answered(ask: Ask) -> Response:
        deed = Deed(node, "backup", "", ask.by, ask.origin)
        await deed.begin()
        pieces = take(node)
        try:
            first = await anext(pieces)  # what keeps it from beginning is an answer
        except BaseException as error:
            await deed.fail(error)
            raise

        async def whole() -> AsyncIterator[bytes]:
            try:
                yield first
                async for piece in pieces:
                    yield piece
            except BaseException as error:
                await deed.fail(error)
                raise
            node.last_backup.note()
            await deed.end("taken")

        return StreamingResponse(whole(), media_type="application/x-tar")

    return Row("GET", "/admin/backup", answered, LOCAL, "A backup", gives=("application/x-tar",))


class OperatorAccess:
    """Documents by the operator: in HOME, or as the first owner's until there is one."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def reader(self, ask: Ask) -> Callable[[str], bool]:
        """All of them."""
        del ask
        return lambda doc: True

    editor = owner = reader

    async def file(self, ask: Ask, doc: str, place: Place) -> None:
        """In HOME, if there is one."""
        accounts = self._node.files.accounts
        if HOME in accounts.workspaces:
            workspace = place.workspace or HOME
            work = accounts.file_into(ask.by, doc, workspace, place.folder, ask.origin)
            await done(self._node, work)

    async def settle(self, doc: str, outline: Outline) -> None:
        """As the accounts say, where there are some."""
        await self._node.files.lists.settle(doc, outline)


class Management:
    """The handlers, on one node."""

    def __init__(self, node: Node, service: AccountService) -> None:
        gate = Gatehouse(node, service)
        sessions = Sessions(gate)
        self._node = node
        self._service = service
        self._people = People(gate, sessions)
        self._sharing = Sharing(gate, sessions)
        self._proving = Proving(gate, sessions, None)
        self._factors = SecondFactors(gate, sessions)
        self._own = OwnData(sessions, self._factors)

    @property
    def _accounts(self) -> Accounts:
        return self._service.accounts

    def rows(self) -> list[Row]:
        """The routes, below `/admin`."""
        at, people, new_user = "/admin", self._people, (NAME, EMAIL, PASSWORD)
        off = (Field("disabled", bool, text="whether it is off"),)
        token = (EMAIL, *TOKEN_FIELDS)
        return [
            Row(
                "POST",
                f"{at}/owner-link",
                self.owner_link,
                LOCAL,
                "The first owner's link, anew",
                201,
            ),
            Row("GET", f"{at}/users", people.list_users, LOCAL, "All accounts"),
            Row("POST", f"{at}/users", people.add_user, LOCAL, "Make an account", 201, new_user),
            Row("PATCH", f"{at}/users/{{user}}", people.change_user, LOCAL, "Off or on", 200, off),
            Row(
                "DELETE", f"{at}/users/{{user}}/sessions", people.end_all, LOCAL, "Sign it out", 204
            ),
            Row(
                "PUT",
                f"{at}/users/{{user}}/password",
                self.set_password,
                LOCAL,
                "A new password for who has lost it",
                204,
                (PASSWORD,),
            ),
            self._proving.confirm_row(f"{at}/users/{{user}}/confirm", LOCAL),
            self._factors.reset_row(f"{at}/users/{{user}}/factors", LOCAL),
            *self._own.management_rows(at, LOCAL),
            Row("GET", f"{at}/tokens", self.list_tokens, LOCAL, "All tokens"),
            Row("POST", f"{at}/tokens", self.add_token, LOCAL, "A token for a person", 201, token),
            Row(
                "DELETE",
                f"{at}/tokens/{{token}}",
                self._sharing.revoke_token,
                LOCAL,
                "Revoke it",
                204,
            ),
            Row("GET", f"{at}/audit", self._sharing.audit, LOCAL, "The last of the audit log"),
            Row("GET", f"{at}/audit/chains", self.chains, LOCAL, "The hashes of its entries"),
        ]

    async def owner_link(self, ask: Ask) -> Response:
        """Whoever has it becomes the first owner; the former one is good no more."""
        del ask
        secret = await done(self._node, self._service.offer_ownership(anew=True))
        if secret is None:
            raise AccountError("taken", "there is an owner already; add people with `user add`")
        return JSONResponse({"url": self._service.owner_url(secret), "hours": 24}, 201)

    async def chains(self, ask: Ask) -> Response:
        """Number and hash of each entry that is kept, which tells nothing of what it says."""
        del ask
        return JSONResponse({"chains": [[one.number, one.chain] for one in self._accounts.notes]})

    async def set_password(self, ask: Ask) -> Response:
        """All sign-ins of the person are over."""
        user = self._accounts.users.get(ask.path("user"))
        if user is None:
            raise missing("user")
        password = check_password(ask.text("password"), user.email, user.name)
        verifier = await self._service.passwords.verifier(password)
        work = self._accounts.set_verifier(ADMIN, user.id, verifier, "", ask.origin)
        await done(self._node, work)
        return Response(status_code=204)

    async def list_tokens(self, ask: Ask) -> Response:
        """Without their secrets."""
        del ask
        tokens = [shown_token(one) for one in self._accounts.tokens.values()]
        return JSONResponse({"tokens": tokens})

    async def add_token(self, ask: Ask) -> Response:
        """The secret is in this answer and nowhere else."""
        user = self._accounts.by_email(check_email(ask.text("email")))
        if user is None:
            raise missing("user")
        secret, valid_s = new_secret("gct"), float(ask.number("valid_days", 90) * DAY_S)
        digest, scopes = digest_of(secret), ask.texts("scopes")
        work = self._accounts.add_token(
            ADMIN, digest, user.id, ask.text("name"), scopes, valid_s, ask.origin
        )
        await done(self._node, work)
        return JSONResponse({**shown_token(self._accounts.tokens[digest]), "secret": secret}, 201)
