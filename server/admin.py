"""The management address: status, metrics, and the state that other nodes fetch."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from server import VERSION
from server.errors import BadMessageError
from server.node import Node
from server.routes.health import health_routes
from server.routes.problems import on_bad_message, on_failure, on_http_error, problem
from server.session_registry import SessionRegistry


def make_admin(node: Node, sessions: SessionRegistry) -> Starlette:
    """The application of the management address."""

    async def status(_: Request) -> Response:
        return JSONResponse(status_of(node, sessions))

    async def metrics(_: Request) -> Response:
        set_gauges(node, sessions)
        return Response(node.metrics.expose(), media_type="text/plain; version=0.0.4")

    async def transfer(request: Request) -> Response:
        try:
            ticket = bytes.fromhex(request.path_params["ticket"])
        except ValueError:
            ticket = b""
        wanted = node.provider.redeem(ticket)
        if wanted is None:
            return problem(404, "no_such_ticket", "a ticket is good once, for a short time")
        stream = node.provider.stream(ticket, wanted)
        return StreamingResponse(stream, media_type="application/octet-stream")

    return Starlette(
        routes=[
            Route("/admin/status", status),
            Route("/metrics", metrics),
            Route("/internal/transfer/{ticket}", transfer),
            *health_routes(node),
        ],
        exception_handlers={
            HTTPException: on_http_error,
            BadMessageError: on_bad_message,
            Exception: on_failure,
        },
    )


def status_of(node: Node, sessions: SessionRegistry) -> dict[str, object]:
    """What `GET /admin/status` answers."""
    view = node.view
    sequencer = None if view is None else view.coordinator.name
    versions = {doc: node.replica.version_of(doc) for doc in sorted(node.replica.documents)}
    counters = node.channel.counters()
    return {
        "node": node.settings.node_id,
        "incarnation": node.me.incarnation,
        "version": VERSION,
        "view": None
        if view is None
        else {
            "id": f"{view.epoch}.{view.number}",
            "members": list(view.names),
            "primary": node.primary,
        },
        "state": node.state,
        "sequencer": sequencer,
        "groups": {
            "documents": {
                "epoch": node.order.epoch,
                "sequencer": sequencer,
                "head": node.replica.position,
                "synced": node.order.synced_position,
                "saved": node.order.saved_position,
            }
        },
        "documents": {
            doc: {"epoch": epoch, "head": version, "saved": node.order.saved.version(doc)}
            for doc, (epoch, version) in versions.items()
        },
        "sessions": len(sessions),
        "drops": drops_of(node, counters),
        "counters": counters,
    }


def drops_of(node: Node, counters: dict[str, int]) -> dict[str, int]:
    """What was dropped, by reason: by the channel's layers and by the server."""
    found = dict(node.metrics.drops)
    for name, number in counters.items():
        _, drops, reason = name.partition("drops.")
        if drops and reason:
            found[reason] = found.get(reason, 0) + number
    return dict(sorted(found.items()))


def set_gauges(node: Node, sessions: SessionRegistry) -> None:
    """What is read at the moment of the scrape."""
    gauge = node.metrics.gauge
    hub = node.hub
    gauge("connections", "Sessions connected", len(sessions))
    gauge("ready", "1 when sessions may be sent here", int(node.ready))
    gauge("primary", "1 in the primary view", int(node.primary))
    gauge("view_members", "Members of the view", 0 if node.view is None else len(node.view.members))
    gauge("documents", "Documents held", len(node.replica.documents))
    gauge("head_position", "Last position applied", node.replica.position)
    gauge("synced_position", "Last position on this disk", node.order.synced_position)
    gauge("saved_position", "Last position on a quorum's disks", node.order.saved_position)
    gauge("log_queue_bytes", "Waiting for the journal", node.journal.queued_bytes)
    gauge("log_commits", "Groups committed by the journal", node.journal.commits)
    gauge("submissions_waiting", "Operations without a place yet", len(node.submissions))
    gauge("connection_frames_written", "Frames written to sessions", hub.frames_written)
    gauge("connections_resumed", "Slow sessions brought to the present", hub.resumed)
    gauge("connections_cut", "Slow sessions closed with 4002", hub.cut)
    for name, number in node.channel.counters().items():
        clean = "".join(c if c.isalnum() else "_" for c in name.lower())
        gauge(f"channel_{clean}", "A counter of the channel", number)
