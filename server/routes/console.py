"""`/api/v1/admin/…`: what the console shows, and what is done there; for who manages accounts.

The same rows are on the management address below `/admin`, where who is at the machine asks.
"""

from __future__ import annotations

import asyncio
import time

from starlette.responses import JSONResponse, Response

from server.accounts.roles import ADMIN
from server.console.about import standing
from server.console.desk import Console
from server.console.groups import PAGE, SORTS, all_rows, members_of, page_of, row_of, with_facts
from server.console.health import Alert, alerts_of, health_of, of_waiting
from server.console.history import merged_views
from server.console.parquet import views_found
from server.console.results import certificate
from server.console.titles import Titles
from server.routes.asks import Ask, Field, Row

AT = "/admin"
READ, WRITE = "admin:read", "admin:write"
NUMBER = "^[1-9][0-9]{0,5}$"
SINCE = Field("since", required=False, text="Unix time in ms", max=16, pattern="^[0-9]{1,16}$")
PAGE_NUMBER = Field("page", required=False, text="a number from 1", max=6, pattern=NUMBER)
SEARCH = Field("search", required=False, text="a part of the name or title", max=64)
VIEWS = 20
"""Views of a page."""
UNKNOWN = ("node_silent", "unknown_node")


class ConsoleRoutes:
    """The handlers that look, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.node = console.node

    def rows(self) -> list[Row]:
        """The routes."""
        groups = (
            SEARCH,
            Field("sequencer", required=False, text="only its groups", max=64),
            Field("sort", required=False, text="by what", choices=tuple(SORTS)),
            PAGE_NUMBER,
        )
        return [
            Row("GET", f"{AT}/overview", self.overview, READ, "Nodes, views, and what needs care"),
            Row(
                "GET",
                f"{AT}/views",
                self.views,
                READ,
                "The views that there were, the newest first",
                query=(PAGE_NUMBER,),
                errors=("bad_store",),
            ),
            Row(
                "GET",
                f"{AT}/load",
                self.load,
                READ,
                "What each node did, by the second",
                query=(SINCE,),
            ),
            Row("GET", f"{AT}/groups", self.groups, READ, "The groups, page by page", query=groups),
            Row(
                "GET",
                f"{AT}/groups/{{group}}",
                self.group,
                READ,
                "One group, closely",
                errors=("unknown_group",),
            ),
            Row(
                "GET",
                f"{AT}/nodes/{{node}}",
                self.details,
                READ,
                "A node's settings and what it dropped",
                errors=UNKNOWN,
            ),
        ]

    # --- overview -------------------------------------------------------------------------------

    async def overview(self, ask: Ask) -> Response:
        """All nodes as they say themselves; `null` where one is silent."""
        console = self.console
        if ask.by == ADMIN and self.node.view is None:
            return self._outside()
        console.check(ask.by)
        state = console.plane.directory.state
        found = await console.colleagues.gather("standing")
        told = await console.colleagues.gather("history")
        view, here = self.node.view, self.node.urls()
        draining = [name for name in found if name in state.draining]
        size = self.node.settings.cluster_size
        audit = await certificate(self.node.settings.results)
        views = merged_views(one["views"] for one in told.values() if one is not None)
        known = self.node.known_nodes()
        erasures = self.node.erasures
        erasing = {} if erasures is None else erasures.by_node()
        alerts = alerts_of(found, known, draining, size, audit, views, time.time(), erasing)
        members = () if view is None else view.members
        loads = {one.name: state.loads.node(one) for one in members}
        nodes = [
            {
                "node": name,
                "url": here.get(name, ""),
                "draining": name in state.draining,
                "load_us": loads.get(name, 0),
                "standing": one,
            }
            for name, one in sorted(found.items())
        ]
        return JSONResponse(
            {
                "cluster": self.node.settings.cluster,
                "asked": self.node.settings.node_id,
                "health": health_of(alerts),
                "alerts": [alert._asdict() for alert in alerts],
                "nodes": nodes,
                "groups": len(state.entries),
                "moving": len(state.moves),
                "coordinator": None if view is None else view.coordinator.name,
                "views": views,
            }
        )

    def _outside(self) -> Response:
        """The overview of a node that is in no view, for who is at its machine: who is waited for.

        There are no accounts yet, so nobody else can ask.
        """
        console, name = self.console, self.node.settings.node_id
        own = standing(self.node, console.pages, console.series, console.began_s)
        alerts = of_waiting({name: own["waiting"]})
        alerts += [Alert("warn", "rebuilding", {"node": name})]
        row = {"node": name, "url": own["url"], "draining": False, "load_us": 0, "standing": own}
        return JSONResponse(
            {
                "cluster": self.node.settings.cluster,
                "asked": name,
                "health": health_of(alerts),
                "alerts": [alert._asdict() for alert in alerts],
                "nodes": [row],
                "groups": 0,
                "moving": 0,
                "coordinator": None,
                "views": [],
            }
        )

    async def views(self, ask: Ask) -> Response:
        """A page of VIEWS: of the nodes' memory, and of the trace where its tables are here."""
        console = self.console
        console.check(ask.by)
        told = await console.colleagues.gather("history")
        known = [one["views"] for one in told.values() if one is not None]
        views = merged_views([*known, await views_found(self.node.settings.results)])
        number = int(ask.query["page"] or 1)
        return JSONResponse(
            {
                "count": len(views),
                "page": number,
                "pages": max(1, -(-len(views) // VIEWS)),
                "views": views[(number - 1) * VIEWS : number * VIEWS],
            }
        )

    async def load(self, ask: Ask) -> Response:
        """The samples behind `since`, of the last ten minutes, as rows of a `Sample`'s fields."""
        self.console.check(ask.by)
        since = int(ask.query["since"] or 0)
        found = await self.console.colleagues.gather("load", since=since)
        nodes = {name: [] if one is None else one["samples"] for name, one in found.items()}
        return JSONResponse({"nodes": nodes})

    async def details(self, ask: Ask) -> Response:
        """Of secrets only whether there are some."""
        self.console.check(ask.by)
        node = ask.path("node")
        found = await self.console.colleagues.ask(node, "details")
        return JSONResponse({"node": node, **found})

    # --- groups ---------------------------------------------------------------------------------

    async def groups(self, ask: Ask) -> Response:
        """A page of PAGE rows; `count` is that of all that were looked for."""
        console = self.console
        console.check(ask.by)
        plane, query = console.plane, ask.query
        titles = Titles(self.node, ask.by)
        rows = await all_rows(plane, query["search"], query["sequencer"], titles.of)
        number = int(query["page"] or 1)
        # Beside the loop: 10,000 rows take 3 to 6 ms.
        shown = await asyncio.to_thread(page_of, rows, query["sort"] or "messages", number)
        told = await console.colleagues.gather("facts", groups=[row.group for row in shown])
        return JSONResponse(
            {
                "count": len(rows),
                "all": len(plane.directory.entries),
                "page": number,
                "pages": max(1, -(-len(rows) // PAGE)),
                "groups": [
                    {**with_facts(row, told.values()), "title": titles.of(row.name)}
                    for row in shown
                ],
            }
        )

    async def group(self, ask: Ask) -> Response:
        """By name or number: who is in it, and how far each node is."""
        console = self.console
        console.check(ask.by)
        group = console.group(ask.path("group"))
        row = row_of(console.plane, group)
        assert row is not None, "it has just been found"
        told = await console.colleagues.gather("facts", groups=[group])
        people = await console.colleagues.gather("people", called=row.name)
        members = members_of(console.plane, group)
        inside = {(one["node"], str(one["process"])) for one in members}
        members += [  # sessions attend: they have no number of the order
            {"node": node, "process": int(number), "since": 0, "observes": False}
            for node, some in sorted(people.items())
            for number in some or {}
            if (node, number) not in inside
        ]
        for member in members:
            known = (people.get(member["node"]) or {}).get(str(member["process"]))
            member |= known or {"session": "", "principal": "", "behind": False}
            user = self.node.files.accounts.user(member["principal"])
            member["name"] = "" if user is None else user.name
        shown = with_facts(row, told.values())
        shown["title"] = Titles(self.node, ask.by).of(row.name)
        nodes = [
            {"node": name, "silent": one is None, **((one or {}).get(str(group)) or {})}
            for name, one in sorted(told.items())
        ]
        unit = console.plane.directory.state.unit_of(group)
        together = [console.name_of(other) for other in unit if other != group]
        return JSONResponse({**shown, "nodes": nodes, "people": members, "together": together})
