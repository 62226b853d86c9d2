"""Placement plans over the management address: given, looked at, called off."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from groupcore.errors import PlanError
from groupcore.sequencing.plan import PLAN_BYTES_MAX
from server.errors import BadMessageError
from server.plans import AT_ONCE, Carried, Plans, shown_objection, shown_plan, shown_steps
from server.routes.asks import Ask, Field, Row
from server.routes.deeds import note_soon
from server.routes.management import LOCAL
from server.routes.problems import STATUS, problem

WAIT_S = 30.0
"""How long a request that waits for the end of its plan does so; it is carried out anyway."""
SWITCH = ("true", "false")


async def on_bad_plan(_: Request, error: Exception) -> Response:
    """A plan of which nothing has been done; `refused` says what about it, with code and remedy."""
    return _refused(400, error)


async def on_unfit_plan(_: Request, error: Exception) -> Response:
    """The same on the public address, which says by 400 that the request is not as described."""
    return _refused(STATUS["bad_plan"], error)


def _refused(status: int, error: Exception) -> Response:
    assert isinstance(error, PlanError)
    return problem(status, "bad_plan", str(error), {"refused": shown_objection(error)})


class PlanRoutes:
    """The handlers, on the plans of one node."""

    def __init__(self, plans: Plans) -> None:
        self._plans = plans

    def _note(self, what: str, plan: str) -> None:
        note_soon(self._plans.node, what, plan)

    def rows(self) -> list[Row]:
        """The routes."""
        at, json = "/admin/plans", ("application/json",)
        dry_run = Field("dry_run", required=False, text="only say what it would do", choices=SWITCH)
        at_once = Field(
            "at_once",
            required=False,
            text="a number of moves, from 1 to 99",
            max=2,
            pattern="^[1-9][0-9]?$",
        )
        give, look = "Carry a plan out, or say what it would do", "Each step of one"

        def most(_: object) -> int:
            return PLAN_BYTES_MAX // 1024

        return [
            Row("GET", at, self.listed, LOCAL, "The plans that this node was given"),
            Row(
                "POST",
                at,
                self.give,
                LOCAL,
                give,
                201,
                query=(dry_run, at_once),
                takes=json,
                limit=most,
                noun="the plan",
            ),
            Row("GET", f"{at}/{{plan}}", self.one, LOCAL, look),
            Row("POST", f"{at}/{{plan}}/cancel", self.cancel, LOCAL, "Have no more of it done"),
            Row(
                "POST",
                "/admin/migrate",
                self.migrate,
                LOCAL,
                "Carry a plan out, and wait for its end",
                takes=json,
                limit=most,
                noun="the plan",
            ),
        ]

    async def listed(self, ask: Ask) -> Response:
        """In numbers, the newest last."""
        del ask
        return JSONResponse({"plans": [shown_plan(one) for one in self._plans.all()]})

    async def give(self, ask: Ask) -> Response:
        """It is carried out from here on, unless only asked for."""
        if ask.query["dry_run"] == "true":
            return JSONResponse(self._plans.look(ask.raw))
        carried = await self._plans.begin(ask.raw, int(ask.query["at_once"] or AT_ONCE))
        self._note("plan.given", carried.id)
        where = {"Location": f"/admin/plans/{carried.id}"}
        return JSONResponse(shown_plan(carried), 201, headers=where)

    async def one(self, ask: Ask) -> Response:
        """With what has become of each group."""
        carried = self._plans.find(ask.path("plan"))
        return JSONResponse({**shown_plan(carried), "steps": shown_steps(carried)})

    async def cancel(self, ask: Ask) -> Response:
        """What is under way and cannot be called off still arrives: 202 until then."""
        carried = self._plans.cancel(ask.path("plan"))
        self._note("plan.cancelled", carried.id)
        return JSONResponse(shown_plan(carried), 200 if carried.over.is_set() else 202)

    async def migrate(self, ask: Ask) -> Response:
        """Answers when it is over, or after WAIT_S with how far it is."""
        carried = await self._plans.begin(ask.raw)
        self._note("plan.given", carried.id)
        try:
            await asyncio.wait_for(carried.over.wait(), WAIT_S)
        except TimeoutError:
            return JSONResponse(_with_reasons(carried), 202)
        if carried.lost:
            raise BadMessageError("plan_lost", carried.lost)
        return JSONResponse(_with_reasons(carried))


def _with_reasons(carried: Carried) -> dict[str, object]:
    """A plan in numbers, and why groups have not moved."""
    failed = {} if carried.progress is None else carried.progress.failed
    reasons = {str(group): why for group, why in failed.items()}
    return {**shown_plan(carried), "finished": carried.over.is_set(), "failed": reasons}
