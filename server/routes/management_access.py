"""`/admin/access`: the tokens of the management address at this node; for owners."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from server.accounts.errors import AccountError
from server.management.identity import NAME_MAX
from server.management.ranks import GIVEN
from server.management.tokens import ManagementTokens
from server.node import Node
from server.routes.asks import Ask, Field, Row
from server.routes.deeds import note_first
from server.routes.management import LOCAL

AT = "/admin/access"
DAYS = 90
DAYS_MAX = 3650


class AccessRoutes:
    """The handlers, on one node."""

    def __init__(self, node: Node, tokens: ManagementTokens) -> None:
        self._node = node
        self._tokens = tokens

    def rows(self) -> list[Row]:
        """The routes."""
        name = Field(
            "name",
            text="1 to 40 characters of A-Z a-z 0-9 . _ -",
            min=1,
            max=NAME_MAX,
            pattern=r"^[A-Za-z0-9._-]+\Z",
        )
        rank = Field("rank", text="what it may do", choices=tuple(GIVEN))
        days = Field("valid_days", int, required=False, text="how long", max=DAYS_MAX)
        fields = (name, rank, days)
        return [
            Row("GET", AT, self.list_tokens, LOCAL, "Tokens of this address"),
            Row("POST", AT, self.make, LOCAL, "Make one; its secret is said once", 201, fields),
            Row("DELETE", f"{AT}/{{id}}", self.revoke, LOCAL, "Revoke one", 204),
        ]

    async def list_tokens(self, ask: Ask) -> Response:
        """Without their secrets."""
        del ask
        return JSONResponse({"tokens": [one.shown() for one in self._tokens.listed()]})

    async def make(self, ask: Ask) -> Response:
        """The secret is in this answer and nowhere else."""
        name, rank, days = ask.text("name"), ask.text("rank"), ask.number("valid_days", DAYS)
        if any(one.name == name for one in self._tokens.listed()):
            raise AccountError("taken", f"there is a token {name}; revoke it first")
        about = f"{name} {rank} {days} days"
        await note_first(self._node, "management_token.created", about, ask.by, ask.origin)
        token, secret = await self._tokens.make(name, rank, days)
        return JSONResponse({**token.shown(), "secret": secret}, 201)

    async def revoke(self, ask: Ask) -> Response:
        """What is sent with it from here on is refused."""
        id = ask.path("id")
        for one in self._tokens.listed():
            if one.id == id:
                what, about = "management_token.revoked", one.name
                await note_first(self._node, what, about, ask.by, ask.origin)
        await self._tokens.revoke(id)
        return Response(status_code=204)
