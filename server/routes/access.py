"""What documents over HTTP ask before they do something: who is it, and may they?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from groupcore.shared.documents import Document
from server.accounts.errors import AccountError
from server.accounts.people import HOME
from server.accounts.roles import Role
from server.errors import BadMessageError
from server.node import Node
from server.routes.auth import Gatehouse
from server.routes.done import done
from server.routes.origins import origin_allowed

GUEST = "guest"
"""On whose behalf every page acts where there are no accounts."""


class Access(Protocol):
    """Who may do what with documents."""

    def reader(self, request: Request) -> Callable[[str], bool]:
        """Which documents who asks may read."""

    def writer(self, request: Request) -> str:
        """The principal who wants to make a document."""

    def editor(self, request: Request) -> Callable[[str], bool]:
        """Which documents who asks may write in."""

    async def file(self, request: Request, by: str, doc: str, workspace: str) -> None:
        """A document of this id is to be made in the workspace; empty: the first that fits."""

    async def settle(self, doc: str, document: Document) -> None:
        """The document has the list that it is to have, before anybody finds it."""


async def look_open(_: Request) -> Response:
    """`GET /session` where there are no accounts: a page need not ask who one is."""
    shown = {"accounts": False, "principal": GUEST, "user": None, "manages": False, "csrf": None}
    shown |= {"has_owner": False, "oidc": False}
    return JSONResponse(shown, headers={"Cache-Control": "no-store"})


class OpenAccess:
    """No accounts: everybody may everything, pages of foreign origins may not write."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def reader(self, request: Request) -> Callable[[str], bool]:
        """All of them."""
        del request
        return lambda doc: True

    def writer(self, request: Request) -> str:
        """Nobody in particular, whose page is one of this cluster's."""
        if not origin_allowed(request, self._node.origins()):
            raise BadMessageError("forbidden_origin", "this page may not write here")
        return GUEST

    def editor(self, request: Request) -> Callable[[str], bool]:
        """All of them, for a page of this cluster."""
        self.writer(request)
        return lambda doc: True

    async def file(self, request: Request, by: str, doc: str, workspace: str) -> None:
        """Nothing is written down."""

    async def settle(self, doc: str, document: Document) -> None:
        """It has no list."""


class AccountAccess:
    """By the roles of the accounts."""

    def __init__(self, gate: Gatehouse) -> None:
        self._gate = gate

    def reader(self, request: Request) -> Callable[[str], bool]:
        """Those in which who asks has a role; AccountError for nobody."""
        caller = self._gate.let_in(request, "documents:read")
        assert caller is not None, "this scope lets nobody in who is not known"
        return lambda doc: self._gate.service.may_read(caller.principal, doc)

    def writer(self, request: Request) -> str:
        """Who asks; AccountError for nobody, and for a request that is forged."""
        caller = self._gate.let_in(request, "documents:write")
        assert caller is not None, "this scope lets nobody in who is not known"
        return caller.principal

    def editor(self, request: Request) -> Callable[[str], bool]:
        """Those in which who asks is an editor, or more."""
        by, accounts = self.writer(request), self._gate.service.accounts
        return lambda doc: accounts.document_role(by, doc) >= Role.EDITOR

    async def file(self, request: Request, by: str, doc: str, workspace: str) -> None:
        """It is theirs from before it is there; AccountError when they may not."""
        accounts = self._gate.service.accounts
        known = accounts.documents.get(doc)
        place = workspace or (known.workspace if known is not None else self._default(by))
        work = accounts.file_document(by, doc, place, self._gate.address(request))
        await done(self._gate.node, work)

    def _default(self, by: str) -> str:
        """HOME where they may edit there, or the first workspace where they may."""
        accounts = self._gate.service.accounts
        for workspace in (HOME, *accounts.workspaces):
            if accounts.workspace_role(by, workspace) >= Role.EDITOR:
                return workspace
        raise AccountError("forbidden", "you may edit in no workspace; ask an owner")

    async def settle(self, doc: str, document: Document) -> None:
        """As the accounts say."""
        await self._gate.service.lists.settle(doc, document)
