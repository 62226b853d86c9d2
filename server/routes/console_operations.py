"""`/api/v1/admin/operations`: a backup, its check, its restoration, and what is pruned."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from server.console.colleagues import Shown
from server.console.desk import Console
from server.console.operations import Operation, Work
from server.console.upkeep import listed, restoring, taking, verifying
from server.routes.asks import Ask, Field, Row
from server.routes.console import AT, READ, WRITE
from server.routes.deeds import Deed

FILE = Field("file", required=False, text="the name of a backup at this node", max=104)
FOLDER = Field("folder", required=False, text="the new folder that it is put back into", max=64)
DAYS = Field("days", int, required=False, text="whole days to keep beside today", max=36_500)
DRY_RUN = Field("dry_run", bool, required=False, text="only say what would go")


def followed(deed: Deed, work: Work) -> Work:
    """The work of taking a backup; the audit log and the node note what came of it."""

    async def noted(operation: Operation) -> Shown:
        try:
            result = await work(operation)
        except BaseException as error:
            await deed.fail(error)
            raise
        await deed.end("taken")
        return result

    return noted


KINDS = ("backup", "verify", "restore", "prune")


class OperationRoutes:
    """The handlers, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.node = console.node

    def rows(self) -> list[Row]:
        """The routes."""
        at, one = f"{AT}/operations", f"{AT}/operations/{{operation}}"
        what = Field("what", text="what is to be done", choices=KINDS)
        return [
            Row("GET", at, self.all, READ, "Operations of all nodes, and this node's backups"),
            Row(
                "POST",
                at,
                self.begin,
                WRITE,
                "Begin one at this node; prune goes to all nodes",
                202,
                (what, FILE, FOLDER, DAYS, DRY_RUN),
                errors=("no_backups", "no_such_backup", "taken", "too_many_operations"),
            ),
            Row(
                "GET",
                one,
                self.one,
                READ,
                "How far an operation is, and what came of it",
                errors=("unknown_operation", "node_silent"),
            ),
            Row(
                "POST",
                f"{one}/cancel",
                self.cancel,
                WRITE,
                "Call one off; what it has not finished is gone",
                202,
                errors=("unknown_operation", "node_silent"),
            ),
        ]

    async def all(self, ask: Ask) -> Response:
        """The newest first; `backups` is null where this node has no folder for them."""
        console = self.console
        console.check(ask.by)
        told = await console.colleagues.gather("operations")
        found = [one for said in told.values() if said for one in said["operations"]]
        return JSONResponse(
            {
                "operations": sorted(found, key=lambda one: one["began_s"], reverse=True),
                "silent": sorted(node for node, one in told.items() if one is None),
                "tracing": sorted(node for node, one in told.items() if one and one["trace"]),
                "node": self.node.settings.node_id,
                "backups": listed(self.node.settings),
                "last_backup_s": max(
                    (one["last_backup_s"] for one in told.values() if one and one["last_backup_s"]),
                    default=None,
                ),
            }
        )

    async def begin(self, ask: Ask) -> Response:
        """It is watched at its address."""
        console = self.console
        console.check(ask.by)
        begun = await self._begun(ask)
        where = {"Location": f"/api/v1{AT}/operations/{begun.id}"}
        return JSONResponse(begun.shown(self.node.settings.node_id), 202, headers=where)

    async def _begun(self, ask: Ask) -> Operation:
        settings, operations, file = self.node.settings, self.console.operations, ask.text("file")
        match ask.text("what"):
            case "backup":
                name, work = taking(self.node)
                deed = Deed(self.node, "backup", name, ask.by, ask.origin)
                await self.console.note(ask.by, "backup.begun", name, ask.origin)
                return operations.begin("backup", name, ask.by, "bytes", followed(deed, work))
            case "verify":
                work = verifying(settings, file)
                await self.console.note(ask.by, "backup.verified", file, ask.origin)
                return operations.begin("verify", file, ask.by, "bytes", work)
            case "restore":
                folder = ask.text("folder")
                work = restoring(settings, file, folder)
                about = f"{file} into {folder}"
                await self.console.note(ask.by, "backup.restored", about, ask.origin)
                return operations.begin("restore", about, ask.by, "documents", work)
            case _:
                return await self._prune(ask)

    async def _prune(self, ask: Ask) -> Operation:
        days, is_dry = ask.number("days", 30), ask.flag("dry_run")
        colleagues = self.console.colleagues

        async def work(operation: Operation) -> Shown:
            told = await colleagues.gather("prune", days=days, remove=not is_dry)
            operation.done = sum(one["segments"] for one in told.values() if one is not None)
            return {"nodes": told, "days": days, "dry_run": is_dry}

        what = "prune-dry-run" if is_dry else "prune"
        if not is_dry:
            await self.console.note(ask.by, "trace.pruned", f"{days} days kept", ask.origin)
        return self.console.operations.begin(what, str(days), ask.by, "segments", work)

    async def one(self, ask: Ask) -> Response:
        """At whichever node it is done."""
        self.console.check(ask.by)
        return JSONResponse(await self._ask(ask, "operation"))

    async def cancel(self, ask: Ask) -> Response:
        """What is over stays as it is."""
        console = self.console
        console.check(ask.by)
        found = await self._ask(ask, "operation")
        await console.note(ask.by, "operation.cancelled", found["id"], ask.origin)
        return JSONResponse(await self._ask(ask, "cancel_operation"), 202)

    async def _ask(self, ask: Ask, name: str) -> Shown:
        wanted = ask.path("operation")[:200]
        colleagues = self.console.colleagues
        return await colleagues.ask(self.console.bearer(wanted), name, operation=wanted)
