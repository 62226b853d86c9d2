"""`/api/v1/admin/order` and `/backup`: what shows that the order was kept, and a copy of all."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import JSONResponse, Response

from server.console.colleagues import Shown
from server.console.desk import Console
from server.console.results import certificate
from server.console.violations import violation, violations
from server.routes.asks import Ask, Field, Row
from server.routes.console import AT, PAGE_NUMBER, READ, WRITE
from server.routes.management import backup_row


class ProofRoutes:
    """The handlers, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._backup = backup_row(console.node)

    def rows(self) -> list[Row]:
        """The routes of what was proved."""
        at, rule = f"{AT}/order", Field("rule", required=False, text="one rule", max=32)
        return [
            Row("GET", at, self.order, READ, "The certificate of the last audit"),
            Row(
                "GET",
                f"{at}/violations",
                self.violations,
                READ,
                "What the last audit has found, page by page",
                query=(rule, PAGE_NUMBER),
                errors=("bad_store",),
            ),
            Row(
                "GET",
                f"{at}/violations/{{violation}}",
                self.violation,
                READ,
                "One violation: rule, messages, processes, positions, segments, what is around",
                errors=("bad_store", "unknown_violation"),
            ),
        ]

    def backup_rows(self) -> list[Row]:
        """The backup; the management address has its own."""
        return [replace(self._backup, path=f"{AT}/backup", handler=self.backup, scope=WRITE)]

    async def order(self, ask: Ask) -> Response:
        """As the pipeline has left it; `audit` is null without one."""
        console = self.console
        console.check(ask.by)
        return JSONResponse({"audit": await certificate(console.node.settings.results)})

    async def violations(self, ask: Ask) -> Response:
        """As the audit has stored them; `audited` is false where its store is not here."""
        console = self.console
        console.check(ask.by)
        rule, page = ask.query["rule"], int(ask.query["page"] or 1)
        found = await violations(console.node.settings.results, rule, page)
        if found is None:
            return JSONResponse({"audited": False})
        rows = [self._named(row) for row in found["violations"]]
        return JSONResponse({"audited": True, **found, "violations": rows})

    async def violation(self, ask: Ask) -> Response:
        """With the names of its groups, where they still have some."""
        console = self.console
        console.check(ask.by)
        found = await violation(console.node.settings.results, ask.path("violation"))
        return JSONResponse(self._named(found))

    def _named(self, row: Shown) -> Shown:
        groups = {"group": row.get("gid"), "group2": row.get("gid2")}
        named = {name: self._name(gid) for name, gid in groups.items()}
        around = [{**one, "group": self._name(one["gid"])} for one in row.get("around", ())]
        return {**row, **named, **({"around": around} if "around" in row else {})}

    def _name(self, gid: int | None) -> str:
        entry = None if gid is None else self.console.plane.directory.entries.get(gid)
        return "" if entry is None else entry.name

    async def backup(self, ask: Ask) -> Response:
        """As it is made; who gets less than its end has none."""
        self.console.check(ask.by)
        response = await self._backup.handler(ask)
        response.headers["Content-Disposition"] = 'attachment; filename="groupcore-backup.tar"'
        return response
