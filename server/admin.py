"""The management address: status, metrics, and what an operator asks of a node."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from groupcore.errors import GroupcoreError, PlanError
from server import VERSION
from server.accounts.accounts import NAME as ACCOUNTS
from server.charter import NAME as CHARTERS
from server.console.desk import Console
from server.documents.catalogue import NAME as DOCUMENTS
from server.documents.catalogue import NODES
from server.errors import BadMessageError
from server.files.activity import NAME as ACTIVITY
from server.files.erasures import NAME as ERASURES
from server.logs import HISTORY
from server.management.identity import identity_of
from server.management.ranks import Rank
from server.metrics import Metrics, drops_of, groups_of
from server.node import Node
from server.pictures.register import NAME as PICTURES
from server.recovery import recovery_rows
from server.routes.console_rows import console_rows
from server.routes.deeds import note_first
from server.routes.gate import OperatorGate
from server.routes.health import health_routes
from server.routes.history import History
from server.routes.keys import key_row
from server.routes.management import LOCAL, management_routes
from server.routes.management_access import AccessRoutes
from server.routes.management_gate import Judge, ManagementGate
from server.routes.plans import PlanRoutes, on_bad_plan
from server.routes.problems import on_bad_message, on_failure, on_gone, on_http_error, on_refusal

OWN_GROUPS = frozenset({ACCOUNTS, ACTIVITY, CHARTERS, DOCUMENTS, ERASURES, NODES, PICTURES})
"""Groups that every cluster has: of all others the name may say what it is about."""


def make_admin(node: Node, console: Console, leave: Callable[[], None], judge: Judge) -> Starlette:
    """The application of the management address; `leave` has the program end."""
    desk, gate = Desk(node, console, leave, judge), OperatorGate(node)
    return Starlette(
        routes=[
            Route("/admin/status", desk.status),
            Route("/metrics", desk.metrics),
            Route("/admin/drain", desk.drain, methods=["POST"]),
            Route("/admin/revive", desk.revive, methods=["POST"]),
            Route("/admin/leave", desk.leave, methods=["POST"]),
            Route("/admin/destroyed", desk.destroyed, methods=["POST"]),
            Route("/admin/end-sessions", desk.end_sessions, methods=["POST"]),
            Route(HISTORY, History(node).show),
            *gate.routes([PlanRoutes(console).migrate_row(), key_row(node)]),
            *gate.routes(recovery_rows(node)),
            *gate.routes(AccessRoutes(node, judge.tokens).rows()),
            *gate.routes(
                [replace(row, scope=LOCAL) for row in console_rows(console, is_local=True)]
            ),
            *management_routes(node),
            *health_routes(node),
        ],
        middleware=[Middleware(ManagementGate, judge, node.noticed)],
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

    def __init__(
        self, node: Node, console: Console, leave: Callable[[], None], judge: Judge
    ) -> None:
        self._node = node
        self._pages = console.pages
        self._leave = leave
        self._metrics = Metrics(node, console.pages, console.series, judge.refused)
        self._synced: dict[int, int] = {}

    # --- looking --------------------------------------------------------------------------------

    async def status(self, request: Request) -> Response:
        """What the node is, and every group as it knows it.

        Who has shown no credentials is told of documents, and of their groups, by numbers alone.
        """
        node, view = self._node, self._node.view
        named = identity_of(request).rank is not Rank.OPEN
        held = {doc: len(held.blocks) for doc, held in node.keeper.documents.items()}
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
                "identity": node.objects.groups.revocations.shown(),
                "at_rest": node.seals.shown(),
                "erasing": {} if node.erasures is None else node.erasures.by_node(),
                "coordinator": None if view is None else view.coordinator.name,
                "groups": self._groups(named),
                "documents": held if named else {},
                "documents_held": len(held),
                "places": _places(node) if named else {},
                "places_held": len(node.keepers.places),
                "sessions": self._pages.figures.sessions,
                "drops": drops_of(node, self._pages),
                "counters": node.objects.groups.counters(),
            }
        )

    def _groups(self, named: bool) -> dict[str, dict[str, object]]:
        """By name, or number where a group has none, or one that is not told."""
        rows: dict[str, dict[str, object]] = {}
        for group in groups_of(self._node):
            if group.stored:
                self._synced[group.group] = group.head
            is_told = named or group.name in OWN_GROUPS
            rows[group.name if is_told and group.name else str(group.group)] = {
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
        await self._note(request, "node.drained" if on else "node.revived", name)
        self._node.objects.groups.drain(name, on)
        return JSONResponse({"node": name, "draining": on})

    async def _note(self, request: Request, what: str, about: str) -> None:
        await note_first(self._node, what, about, origin=identity_of(request).origin)

    async def destroyed(self, request: Request) -> Response:
        """The folder of a node that does not come back is no more: it is awaited for nothing."""
        name, erasures, view = await self._said(request), self._node.erasures, self._node.view
        if erasures is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        if view is not None and name in view.names:
            raise BadMessageError("bad_request", f"node {name} is there, and erases its files")
        if name not in erasures.by_node():
            text = f"nobody waits for a node {name[:64]!r} to erase something"
            raise BadMessageError("unknown_node", text)
        await self._note(request, "node.destroyed", name)
        return JSONResponse({"node": name, "documents": await erasures.destroyed(name)})

    async def _named(self, request: Request) -> str:
        """The node in the view that the body names, this one without a body."""
        name, view = await self._said(request), self._node.view
        if view is None or name not in view.names:
            raise BadMessageError("unknown_node", f"no node {name[:64]!r} is in the view")
        return name

    async def _said(self, request: Request) -> str:
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
        return str(found.get("node", self._node.settings.node_id))

    async def leave(self, request: Request) -> Response:
        """Leave the cluster and end, as on SIGTERM."""
        await self._note(request, "node.left", self._node.settings.node_id)
        asyncio.get_running_loop().call_later(0.1, self._leave)  # the answer goes out first
        return JSONResponse({"leaving": self._node.settings.node_id}, 202)

    async def end_sessions(self, request: Request) -> Response:
        """Send all pages away; they may come back, here or at another node."""
        await self._note(request, "sessions.sent_away", self._node.settings.node_id)
        ended = self._pages.figures.sessions
        await self._pages.send_away()
        return JSONResponse({"ended": ended})


def _places(node: Node) -> dict[str, int]:
    """How many cells of each place are open at a node."""
    kept = node.keepers.places.kept
    return {doc: len(minding.place.cells) for doc, minding in kept.items()}
