"""The management address: status, metrics, and what an operator asks of a node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from groupcore.errors import GroupcoreError, PlanError
from server import VERSION
from server.console.desk import Console
from server.errors import BadMessageError
from server.logs import HISTORY
from server.metrics import Metrics, drops_of, groups_of
from server.node import Node
from server.recovery import recovery_rows
from server.routes.console_rows import console_rows
from server.routes.deeds import note_first
from server.routes.gate import Endpoint, OperatorGate
from server.routes.health import health_routes
from server.routes.history import History
from server.routes.keys import key_row
from server.routes.management import LOCAL, management_routes
from server.routes.plans import PlanRoutes, on_bad_plan
from server.routes.problems import on_bad_message, on_failure, on_gone, on_http_error, on_refusal


def make_admin(node: Node, console: Console, leave: Callable[[], None]) -> Starlette:
    """The application of the management address; `leave` has the program end."""
    desk, gate = Desk(node, console, leave), OperatorGate(node)

    def guarded(handler: Endpoint) -> Endpoint:
        """Not for pages, which could ask for it without seeing the answer."""

        async def answer(request: Request) -> Response:
            # These routes have no parameters: the path is one of theirs.
            with gate.noting_refusals(request, request.url.path, LOCAL):
                gate.let_in(request, LOCAL)
            return await handler(request)

        return answer

    return Starlette(
        routes=[
            Route("/admin/status", desk.status),
            Route("/metrics", desk.metrics),
            Route("/admin/drain", guarded(desk.drain), methods=["POST"]),
            Route("/admin/revive", guarded(desk.revive), methods=["POST"]),
            Route("/admin/leave", guarded(desk.leave), methods=["POST"]),
            Route("/admin/end-sessions", guarded(desk.end_sessions), methods=["POST"]),
            Route(HISTORY, guarded(History(node).show)),
            *gate.routes([PlanRoutes(console).migrate_row(), key_row(node)]),
            *gate.routes(recovery_rows(node)),
            *gate.routes(
                [replace(row, scope=LOCAL) for row in console_rows(console, is_local=True)]
            ),
            *management_routes(node),
            *health_routes(node),
        ],
        exception_handlers={
            HTTPException: on_http_error,
            BadMessageError: on_bad_message,
            PlanError: on_bad_plan,
            GroupcoreError: on_refusal,
            ClientDisconnect: on_gone,
            Exception: on_failure,
        },
    )


class Desk:
    """The handlers, on one node."""

    def __init__(self, node: Node, console: Console, leave: Callable[[], None]) -> None:
        self._node = node
        self._pages = console.pages
        self._leave = leave
        self._metrics = Metrics(node, console.pages, console.series)
        self._synced: dict[int, int] = {}

    # --- looking --------------------------------------------------------------------------------

    async def status(self, _: Request) -> Response:
        """What the node is, and every group as it knows it."""
        node, view = self._node, self._node.view
        return JSONResponse(
            {
                "node": node.settings.node_id,
                "incarnation": node.me.incarnation,
                "version": VERSION,
                "view": None
                if view is None
                else {
                    "id": f"{view.epoch}.{view.number}",
                    "members": list(view.names),
                    "voters": list(view.voters),
                    "learners": [member.name for member in view.learners],
                    "primary": node.primary,
                },
                "state": node.state,
                "last_backup_s": node.last_backup.at_s,
                "waiting": node.waiting,
                "taking": node.taking,
                "keys": node.objects.groups.keys.shown(),
                "at_rest": node.seals.shown(),
                "coordinator": None if view is None else view.coordinator.name,
                "groups": self._groups(),
                "documents": {doc: len(held.blocks) for doc, held in node.keeper.documents.items()},
                "sessions": self._pages.figures.sessions,
                "drops": drops_of(node, self._pages),
                "counters": node.objects.groups.counters(),
            }
        )

    def _groups(self) -> dict[str, dict[str, object]]:
        """By name, or number where a group has none."""
        rows: dict[str, dict[str, object]] = {}
        for group in groups_of(self._node):
            if group.stored:
                self._synced[group.group] = group.head
            rows[group.name or str(group.group)] = {
                "group": group.group,
                "epoch": group.epoch,
                "sequencer": group.sequencer,
                "head": group.head,
                "synced": min(self._synced.get(group.group, 0), group.head),
                "members": group.members,
            }
        return rows

    async def metrics(self, _: Request) -> Response:
        """For Prometheus."""
        return Response(self._metrics.expose(), media_type="text/plain; version=0.0.4")

    # --- asking ---------------------------------------------------------------------------------

    async def drain(self, request: Request) -> Response:
        """Have a node sequence nothing any more; its groups migrate to the others."""
        return await self._drain(request, True)

    async def revive(self, request: Request) -> Response:
        """Let a drained node sequence again."""
        return await self._drain(request, False)

    async def _drain(self, request: Request, on: bool) -> Response:
        name = await self._named(request)
        await note_first(self._node, "node.drained" if on else "node.revived", name)
        self._node.objects.groups.drain(name, on)
        return JSONResponse({"node": name, "draining": on})

    async def _named(self, request: Request) -> str:
        """The node that the body names, this one without a body."""
        body = await request.body()
        if not body:
            return self._node.settings.node_id
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            raise BadMessageError("bad_request", "the body is not JSON") from None
        if not isinstance(found, dict) or set(found) - {"node"}:
            raise BadMessageError("bad_request", 'the body must be {"node": NAME}, or empty')
        name = found.get("node", self._node.settings.node_id)
        view = self._node.view
        if view is None or name not in view.names:
            raise BadMessageError("unknown_node", f"no node {str(name)[:64]!r} is in the view")
        return str(name)

    async def leave(self, _: Request) -> Response:
        """Leave the cluster and end, as on SIGTERM."""
        await note_first(self._node, "node.left", self._node.settings.node_id)
        asyncio.get_running_loop().call_later(0.1, self._leave)  # the answer goes out first
        return JSONResponse({"leaving": self._node.settings.node_id}, 202)

    async def end_sessions(self, _: Request) -> Response:
        """Send all pages away; they may come back, here or at another node."""
        await note_first(self._node, "sessions.sent_away", self._node.settings.node_id)
        ended = self._pages.figures.sessions
        await self._pages.send_away()
        return JSONResponse({"ended": ended})
