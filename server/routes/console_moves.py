"""`/api/v1/admin/migrations`: which groups go where, and having one go."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse, Response

from groupcore.sequencing.moving import is_needed
from groupcore.sequencing.plan import FORMAT
from server.console.desk import Console
from server.console.history import merged
from server.errors import BadMessageError
from server.plans import AT_ONCE, shown_plan
from server.routes.asks import Ask, Field, Row
from server.routes.console import AT, READ, WRITE
from server.routes.plans import BAD_PLAN

GROUP = Field("group", text="its name or number", min=1, max=64)
TO = Field("to", text="the node that is to sequence it", min=1, max=64)


class MoveRoutes:
    """The handlers, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.node = console.node

    def rows(self) -> list[Row]:
        """The routes of migrations."""
        at = f"{AT}/migrations"
        return [
            Row("GET", at, self.list_moves, READ, "The last moves of groups, and those under way"),
            Row(
                "POST",
                at,
                self.move,
                WRITE,
                "Have a group sequenced elsewhere, with those that must go along",
                201,
                (GROUP, TO),
                errors=("unknown_group", "unknown_node", *BAD_PLAN),
            ),
            Row(
                "POST",
                f"{at}/{{move}}/cancel",
                self.cancel_move,
                WRITE,
                "Call a move off that is under way",
                202,
                errors=("unknown_move", "breaks_s2"),
            ),
        ]

    # --- migrations -----------------------------------------------------------------------------

    async def list_moves(self, ask: Ask) -> Response:
        """The newest first, as all nodes together have seen them."""
        console = self.console
        console.check(ask.by)
        told = await console.colleagues.gather("history")
        silent = sorted(node for node, one in told.items() if one is None)
        moves = merged(one["moves"] for one in told.values() if one is not None)
        state = console.plane.directory.state
        for move in moves:
            known = state.moves.get(move["move"])
            move["can_cancel"] = known is not None and not is_needed(state, known)
        return JSONResponse({"migrations": moves, "nodes": sorted(told), "silent": silent})

    async def move(self, ask: Ask) -> Response:
        """By a plan of that group and of those that S2 binds to it; answers when it has begun."""
        console = self.console
        console.check(ask.by)
        group, target = console.group(ask.text("group")), ask.text("to")
        view = self.node.view
        if view is None or target not in view.names:
            raise BadMessageError("unknown_node", f"no node {target!r} is in the view")
        unit = console.plane.directory.state.unit_of(group)
        plan = {"plan": FORMAT, "groups": {str(one): target for one in unit}}
        about = f"{console.name_of(group)} to {target}"
        await console.note(ask.by, "group.moved", about, ask.origin)
        carried = await console.plans.begin(json.dumps(plan).encode(), AT_ONCE)
        return JSONResponse(shown_plan(carried), 201)

    async def cancel_move(self, ask: Ask) -> Response:
        """What cannot be called off any more arrives; the list of migrations says which."""
        console = self.console
        console.check(ask.by)
        text = ask.path("move")
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
        state = console.plane.directory.state
        move = state.moves.get(number)
        if move is None:
            raise BadMessageError("unknown_move", "this move is over, or there was none")
        if is_needed(state, move):
            detail = "this move brings groups together that must have one sequencer"
            raise BadMessageError("breaks_s2", detail)
        await console.note(ask.by, "migration.cancelled", text, ask.origin)
        groups = self.node.objects.groups
        groups.service.cancel_move(number, 0.0)
        groups.channel.wake_soon()
        return JSONResponse({"move": number}, 202)
