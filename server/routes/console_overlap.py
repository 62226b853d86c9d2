"""`/api/v1/admin/overlap`: which groups hang together, and what parting or moving them costs."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from server.console.desk import Console
from server.console.overlap_shown import (
    DRAWN,
    ROWS,
    component_shown,
    cost_of,
    edges_of,
    observers_shown,
    page_shown,
    rows_of,
    whole_overlap,
)
from server.console.parquet import overlap_found
from server.routes.asks import Ask, Row
from server.routes.console import AT, PAGE_NUMBER, READ


class OverlapRoutes:
    """The handlers, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def rows(self) -> list[Row]:
        """The routes."""
        at = f"{AT}/overlap"
        return [
            Row(
                "GET",
                at,
                self.overlap,
                READ,
                "Which groups hang together, the largest components first",
                query=(PAGE_NUMBER,),
                errors=("bad_store",),
            ),
            Row(
                "GET",
                f"{at}/{{group}}",
                self.component,
                READ,
                "What a group hangs together with, and what a move or a split would cost",
                query=(PAGE_NUMBER,),
                errors=("unknown_group",),
            ),
        ]

    async def overlap(self, ask: Ask) -> Response:
        """A page of components; `pipeline` is what the last overlap job has found, or null."""
        console = self.console
        console.check(ask.by)
        found = await whole_overlap(console)
        return JSONResponse(
            {
                **await page_shown(console.plane, found, int(ask.query["page"] or 1)),
                "observers": await observers_shown(console, found),
                "pipeline": await overlap_found(console.node.settings.results, console.name_of),
            }
        )

    async def component(self, ask: Ask) -> Response:
        """The component of a group; `drawn` are the first rows of `groups` on page 1."""
        console = self.console
        console.check(ask.by)
        group = console.group(ask.path("group"))
        found = await whole_overlap(console)
        one, plane = found.of(group), console.plane
        rows, number = await rows_of(plane, one.groups), int(ask.query["page"] or 1)
        drawn = rows[:DRAWN]
        told = await console.colleagues.gather("history")
        pauses = [
            move["pause_ms"]
            for said in told.values()
            if said is not None
            for move in said["moves"]
            if move["pause_ms"] is not None and move["reason"] != "failover"
        ]
        return JSONResponse(
            {
                **component_shown(one, rows),
                "page": number,
                "pages": max(1, -(-len(rows) // ROWS)),
                "rows": [row._asdict() for row in rows[(number - 1) * ROWS : number * ROWS]],
                "drawn": [row._asdict() for row in drawn],
                "edges": edges_of(plane, found, one, [row.group for row in drawn]),
                "cost": await cost_of(console, group, pauses),
            }
        )
