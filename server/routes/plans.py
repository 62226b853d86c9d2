"""`/api/v1/admin/plans`, and below `/admin` at the management address: placement plans.

Whichever node is asked gathers from all, and passes on what is asked of another's plan.
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from groupcore.errors import PlanError
from groupcore.sequencing.plan import PLAN_BYTES_MAX
from server.console.colleagues import Shown
from server.console.desk import Console
from server.console.gain import gain_of
from server.console.measuring import plans_of
from server.console.outcome import latest, outcomes
from server.console.results import measured_windows, proposed_plan
from server.errors import BadMessageError
from server.plans import AT_ONCE, Carried, shown_objection, shown_plan
from server.routes.asks import Ask, Field, Row
from server.routes.console import AT, READ, WRITE
from server.routes.deeds import note_first
from server.routes.management import LOCAL
from server.routes.problems import STATUS, problem

WAIT_S = 30.0
"""How long a request that waits for the end of its plan does so; it is carried out anyway."""
SWITCH = ("true", "false")
BAD_PLAN = ("bad_plan", "too_many_plans")


async def on_bad_plan(_: Request, error: Exception) -> Response:
    """A plan of which nothing has been done; `refused` says what about it, with code and remedy."""
    assert isinstance(error, PlanError)
    more = {"refused": shown_objection(error)}
    return problem(STATUS["bad_plan"], "bad_plan", str(error), more)


def most(_: object) -> int:
    """The bound of a plan's body, in KiB."""
    return PLAN_BYTES_MAX // 1024


class PlanRoutes:
    """The handlers, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.node = console.node

    def rows(self) -> list[Row]:
        """The routes."""
        at = f"{AT}/plans"
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

    async def list_plans(self, ask: Ask) -> Response:
        """With what the pipeline proposes, where its results are here, and how it stands now."""
        console = self.console
        console.check(ask.by)
        plans, silent = await plans_of(console.colleagues)
        results = self.node.settings.results
        found = outcomes(plans, await measured_windows(results))
        now = gain_of(console.plane.directory.state, {})
        return JSONResponse(
            {
                "plans": [_with_measured(one, found) for one in plans],
                "silent": silent,
                "proposed": await proposed_plan(results),
                "nodes": now["nodes"],
                "imbalance": now["imbalance"][0],
            }
        )

    async def give(self, ask: Ask) -> Response:
        """It is carried out by this node, unless only asked for."""
        console = self.console
        console.check(ask.by)
        plans = console.plans
        if ask.query["dry_run"] == "true":
            return JSONResponse(plans.look(ask.raw))
        id, about = plans.named(ask.raw)
        await console.note(ask.by, "plan.given", about, ask.origin)
        carried = await plans.begin(ask.raw, int(ask.query["at_once"] or AT_ONCE), id)
        where = {"Location": f"{ask.request.url.path}/{carried.id}"}
        return JSONResponse(shown_plan(carried), 201, headers=where)

    async def plan(self, ask: Ask) -> Response:
        """Wherever it is carried out."""
        console = self.console
        console.check(ask.by)
        plan = ask.path("plan")
        told = await console.colleagues.ask(console.bearer(plan), "plan", plan=plan[:200])
        windows = await measured_windows(self.node.settings.results)
        plans, _ = await plans_of(console.colleagues) if windows else ([], [])
        return JSONResponse(_with_measured(told, outcomes(plans, windows)))

    async def cancel(self, ask: Ask) -> Response:
        """What is under way and cannot be called off still arrives: 202 until then."""
        console = self.console
        console.check(ask.by)
        plan = ask.path("plan")
        bearer = console.bearer(plan)
        await console.colleagues.ask(bearer, "plan", plan=plan[:200])
        await console.note(ask.by, "plan.cancelled", plan, ask.origin)
        told = await console.colleagues.ask(bearer, "cancel_plan", plan=plan[:200])
        return JSONResponse(told, 202 if told["ended_s"] is None else 200)

    # --- the management address only --------------------------------------------------------------

    def migrate_row(self) -> Row:
        """For programs that wait."""
        text = "Carry a plan out, and wait for its end"
        at = "/admin/migrate"
        return Row(
            "POST",
            at,
            self.migrate,
            LOCAL,
            text,
            errors=(*BAD_PLAN, "plan_lost"),
            takes=("application/json",),
            limit=most,
            noun="the plan",
        )

    async def migrate(self, ask: Ask) -> Response:
        """Answers when it is over, or after WAIT_S with how far it is."""
        plans = self.console.plans
        id, about = plans.named(ask.raw)
        await note_first(self.node, "plan.given", about, ask.by, ask.origin)
        carried = await plans.begin(ask.raw, id=id)
        try:
            await asyncio.wait_for(carried.over.wait(), WAIT_S)
        except TimeoutError:
            return JSONResponse(_with_reasons(carried), 202)
        if carried.lost:
            raise BadMessageError("plan_lost", carried.lost)
        return JSONResponse(_with_reasons(carried))


def _with_measured(plan: Shown, found: dict[str, Shown]) -> Shown:
    """What is kept with a plan of what it has brought, or was found since."""
    return {**plan, "measured": latest(plan.get("measured"), found.get(plan["id"]))}


def _with_reasons(carried: Carried) -> dict[str, object]:
    """A plan in numbers, and why groups have not moved."""
    failed = {} if carried.progress is None else carried.progress.failed
    reasons = {str(group): why for group, why in failed.items()}
    return {**shown_plan(carried), "finished": carried.over.is_set(), "failed": reasons}
