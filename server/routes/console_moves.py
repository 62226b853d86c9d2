"""`/api/v1/admin/migrations` and `/plans`: which groups go where, and having them go."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse, Response

from groupcore.sequencing.moving import is_needed
from groupcore.sequencing.plan import FORMAT, PLAN_BYTES_MAX
from server.console.desk import Console
from server.console.gain import gain_of
from server.console.history import merged
from server.console.results import proposed_plan
from server.errors import BadMessageError
from server.plans import AT_ONCE, shown_plan
from server.routes.asks import Ask, Field, Row
from server.routes.console import AT, READ, WRITE

SWITCH = ("true", "false")
GROUP = Field("group", text="its name or number", min=1, max=64)
TO = Field("to", text="the node that is to sequence it", min=1, max=64)
BAD_PLAN = ("bad_plan", "too_many_plans", "unknown_node")


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
                errors=("unknown_group", *BAD_PLAN),
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

    def plan_rows(self) -> list[Row]:
        """The routes of plans; the management address has those of `PlanRoutes` instead."""
        at = f"{AT}/plans"

        def most(_: object) -> int:
            return PLAN_BYTES_MAX // 1024

        query = (
            Field("dry_run", required=False, text="only say what it would do", choices=SWITCH),
            Field(
                "at_once",
                required=False,
                text="a number of moves, from 1 to 99",
                max=2,
                pattern="^[1-9][0-9]?$",
            ),
        )
        unknown = ("unknown_plan", "plan_lost", "node_silent")
        return [
            Row("GET", at, self.list_plans, READ, "The plans of all nodes, the newest first"),
            Row(
                "POST",
                at,
                self.give,
                WRITE,
                "Carry a plan out, or say what it would do",
                201,
                errors=BAD_PLAN,
                query=query,
                takes=("application/json",),
                limit=most,
                noun="the plan",
            ),
            Row("GET", f"{at}/{{plan}}", self.plan, READ, "Each step of one", errors=unknown),
            Row(
                "POST",
                f"{at}/{{plan}}/cancel",
                self.cancel,
                WRITE,
                "Have no more of it done",
                errors=unknown,
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

    # --- plans ----------------------------------------------------------------------------------

    async def list_plans(self, ask: Ask) -> Response:
        """With what the pipeline proposes, where its results are here, and how it stands now."""
        console = self.console
        console.check(ask.by)
        told = await console.colleagues.gather("plans")
        plans = [one for said in told.values() if said is not None for one in said["plans"]]
        plans.sort(key=lambda one: one["began_s"], reverse=True)
        now = gain_of(console.plane.directory.state, {})
        return JSONResponse(
            {
                "plans": plans,
                "silent": sorted(node for node, one in told.items() if one is None),
                "proposed": await proposed_plan(self.node.settings.results),
                "nodes": now["nodes"],
                "imbalance": now["imbalance"][0],
            }
        )

    async def give(self, ask: Ask) -> Response:
        """It is carried out by this node, unless only asked for."""
        console = self.console
        console.check(ask.by)
        looked = console.plans.look(ask.raw)
        if ask.query["dry_run"] == "true":
            return JSONResponse(looked)
        moves = looked["moves"]
        about = f"{len(moves) if isinstance(moves, list) else 0} groups"
        await console.note(ask.by, "plan.given", about, ask.origin)
        carried = await console.plans.begin(ask.raw, int(ask.query["at_once"] or AT_ONCE))
        where = {"Location": f"/api/v1{AT}/plans/{carried.id}"}
        return JSONResponse(shown_plan(carried), 201, headers=where)

    async def plan(self, ask: Ask) -> Response:
        """Wherever it is carried out."""
        self.console.check(ask.by)
        plan = ask.path("plan")
        return JSONResponse(
            await self.console.colleagues.ask(self.console.bearer(plan), "plan", plan=plan[:200])
        )

    async def cancel(self, ask: Ask) -> Response:
        """What is under way and cannot be called off still arrives."""
        console = self.console
        console.check(ask.by)
        plan = ask.path("plan")
        bearer = self.console.bearer(plan)
        await console.colleagues.ask(bearer, "plan", plan=plan[:200])
        await console.note(ask.by, "plan.cancelled", plan, ask.origin)
        return JSONResponse(await console.colleagues.ask(bearer, "cancel_plan", plan=plan[:200]))
