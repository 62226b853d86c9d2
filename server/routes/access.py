"""What documents over HTTP ask before they do something: who is it, and may they?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.responses import JSONResponse, Response

from server.accounts.errors import AccountError, missing
from server.accounts.lists import Outline
from server.accounts.people import HOME
from server.accounts.roles import ADMIN, Role
from server.node import Node
from server.routes.asks import PUBLIC, Ask, Row
from server.routes.auth import Gatehouse
from server.routes.done import done
from server.routes.gate import GUEST


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace, empty for the first that fits, and a folder in it, empty for its top."""

    workspace: str = ""
    folder: str = ""


def beside(node: Node, by: str, doc: str) -> Place:
    """Where a document or place is, if they may put something there."""
    accounts = node.files.accounts
    workspace = accounts.workspace_of(doc)
    is_open = by == GUEST or accounts.workspace_role(by, workspace) >= Role.EDITOR
    if not is_open or accounts.buried(doc) is not None:
        return Place()
    return Place(workspace, accounts.places.get(doc, ""))


class Access(Protocol):
    """Who may do what with documents."""

    def reader(self, ask: Ask) -> Callable[[str], bool]:
        """Which documents who asks may read."""

    def editor(self, ask: Ask) -> Callable[[str], bool]:
        """Which documents who asks may write in."""

    def owner(self, ask: Ask) -> Callable[[str], bool]:
        """Which documents are who asks' to manage."""

    async def file(self, ask: Ask, doc: str, place: Place) -> None:
        """A document of this id is to be made there."""

    async def settle(self, doc: str, outline: Outline) -> None:
        """The document has the list that it is to have, before anybody finds it."""


def look_open(node: Node) -> Row:
    """`GET /session` where there are no accounts: a page need not ask who one is."""
    shown = {"accounts": False, "principal": GUEST, "user": None, "manages": False, "csrf": None}
    shown |= {
        "has_owner": False,
        "oidc": False,
        "mail": False,
        "import_kib": node.settings.import_kib,
    }

    async def look(_: Ask) -> Response:
        return JSONResponse(shown)

    return Row("GET", "/session", look, PUBLIC, "Who one is")


class OpenAccess:
    """No accounts: everybody may everything."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def reader(self, ask: Ask) -> Callable[[str], bool]:
        """All of them."""
        del ask
        return lambda doc: True

    editor = owner = reader

    async def file(self, ask: Ask, doc: str, place: Place) -> None:
        """In a folder of the first workspace, or at its top."""
        accounts = self._node.files.accounts
        workspace = place.workspace or HOME
        work = accounts.file_into(ADMIN, doc, workspace, place.folder, ask.origin)
        await done(self._node, work)

    async def settle(self, doc: str, outline: Outline) -> None:
        """It is everybody's."""
        await self._node.files.lists.settle(doc, outline)


class AccountAccess:
    """By the roles of the accounts."""

    def __init__(self, gate: Gatehouse) -> None:
        self._gate = gate

    def reader(self, ask: Ask) -> Callable[[str], bool]:
        """Those in which who asks has a role."""
        return lambda doc: self._gate.service.may_read(ask.by, doc)

    def editor(self, ask: Ask) -> Callable[[str], bool]:
        """Those in which who asks is an editor, or more."""
        accounts = self._gate.service.accounts
        return lambda doc: accounts.document_role(ask.by, doc) >= Role.EDITOR

    def owner(self, ask: Ask) -> Callable[[str], bool]:
        """Those that who asks owns."""
        accounts = self._gate.service.accounts
        return lambda doc: accounts.document_role(ask.by, doc) is Role.OWNER

    async def file(self, ask: Ask, doc: str, place: Place) -> None:
        """It is theirs from before it is there; AccountError when they may not."""
        accounts = self._gate.service.accounts
        known = accounts.documents.get(doc)
        around = accounts.workspace_of(place.folder)
        if around and accounts.workspace_role(ask.by, around) is Role.NONE:
            raise missing("folder")  # as one that there is not
        workspace = place.workspace or around
        if not workspace:
            workspace = known.workspace if known is not None else self._default(ask.by)
        work = accounts.file_into(ask.by, doc, workspace, place.folder, ask.origin)
        await done(self._gate.node, work)

    def _default(self, by: str) -> str:
        """HOME where they may edit there, or the first workspace where they may."""
        accounts = self._gate.service.accounts
        for workspace in (HOME, *accounts.workspaces):
            if accounts.workspace_role(by, workspace) >= Role.EDITOR:
                return workspace
        raise AccountError("forbidden", "you may edit in no workspace; ask an owner")

    async def settle(self, doc: str, outline: Outline) -> None:
        """As the accounts say."""
        await self._gate.service.lists.settle(doc, outline)
