"""`/api/v1/admin/order` and `/backup`: what shows that the order was kept, and a copy of all."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import JSONResponse, Response

from server.console.desk import Console
from server.console.results import certificate
from server.routes.asks import Ask, Row
from server.routes.console import AT, READ, WRITE
from server.routes.management import backup_row


class ProofRoutes:
    """The handlers, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._backup = backup_row(console.node)

    def rows(self) -> list[Row]:
        """The routes of what was proved."""
        return [Row("GET", f"{AT}/order", self.order, READ, "The certificate of the last audit")]

    def backup_rows(self) -> list[Row]:
        """The backup; the management address has its own."""
        return [replace(self._backup, path=f"{AT}/backup", handler=self.backup, scope=WRITE)]

    async def order(self, ask: Ask) -> Response:
        """As the pipeline has left it; `audit` is null without one."""
        console = self.console
        console.check(ask.by)
        return JSONResponse({"audit": await certificate(console.node.settings.results)})

    async def backup(self, ask: Ask) -> Response:
        """As it is made; who gets less than its end has none."""
        self.console.check(ask.by)
        response = await self._backup.handler(ask)
        response.headers["Content-Disposition"] = 'attachment; filename="groupcore-backup.tar"'
        return response
