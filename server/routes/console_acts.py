"""`/api/v1/admin/nodes` and `/sessions`: what is done to nodes, keys and sessions."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import JSONResponse, Response

from server.console.desk import Console
from server.console.groups import PAGE
from server.errors import BadMessageError
from server.routes.asks import Ask, Field, Row
from server.routes.console import AT, PAGE_NUMBER, READ, SEARCH, UNKNOWN, WRITE
from server.routes.keys import key_row

SESSION = Field("session", text="as the list of sessions names it", min=1, max=200)


class ActRoutes:
    """The handlers, at one node."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.node = console.node
        self._rotate = key_row(console.node)

    def rows(self) -> list[Row]:
        """The routes."""
        node = f"{AT}/nodes/{{node}}"
        rotate = replace(
            self._rotate,
            path=f"{AT}/keys/rotate",
            handler=self.rotate,
            scope=WRITE,
            errors=("key_kept",),
        )
        return [
            Row(
                "POST",
                f"{node}/drain",
                self.drain,
                WRITE,
                "Have a node sequence nothing any more",
                errors=("unknown_node",),
            ),
            Row(
                "POST",
                f"{node}/revive",
                self.revive,
                WRITE,
                "Let a drained node sequence again",
                errors=("unknown_node",),
            ),
            Row(
                "POST",
                f"{node}/leave",
                self.leave,
                WRITE,
                "Have a node leave, and its program end",
                202,
                errors=UNKNOWN,
            ),
            rotate,
            Row(
                "GET",
                f"{AT}/sessions",
                self.sessions,
                READ,
                "Who is connected where, those that are behind first",
                query=(SEARCH, PAGE_NUMBER),
            ),
            Row(
                "POST",
                f"{AT}/sessions/end",
                self.end,
                WRITE,
                "End a session; where it is of a sign-in, that is over",
                204,
                (SESSION,),
                errors=("no_such_session", "node_silent"),
            ),
        ]

    # --- nodes ----------------------------------------------------------------------------------

    async def drain(self, ask: Ask) -> Response:
        """Its groups migrate to the others."""
        return await self._drain(ask, True)

    async def revive(self, ask: Ask) -> Response:
        """It may be given groups from here on."""
        return await self._drain(ask, False)

    def _named(self, ask: Ask) -> str:
        name, view = ask.path("node"), self.node.view
        if view is None or name not in view.names:
            raise BadMessageError("unknown_node", f"no node {name[:64]!r} is in the view")
        return name

    async def _drain(self, ask: Ask, on: bool) -> Response:
        self.console.check(ask.by)
        name = self._named(ask)
        what = "node.drained" if on else "node.revived"
        await self.console.note(ask.by, what, name, ask.origin)
        self.node.objects.groups.drain(name, on)
        return JSONResponse({"node": name, "draining": on})

    async def leave(self, ask: Ask) -> Response:
        """As on SIGTERM: its pages go to the others. Whoever watches its process may start it."""
        self.console.check(ask.by)
        name = self._named(ask)
        await self.console.note(ask.by, "node.left", name, ask.origin)
        return JSONResponse(await self.console.colleagues.ask(name, "leave"), 202)

    async def rotate(self, ask: Ask) -> Response:
        """All nodes take the newest key of their key files."""
        self.console.check(ask.by)
        return await self._rotate.handler(ask)

    # --- sessions -------------------------------------------------------------------------------

    async def sessions(self, ask: Ask) -> Response:
        """A page of PAGE of all nodes' sessions; `counts` by node, null where it is silent."""
        self.console.check(ask.by)
        told = await self.console.colleagues.gather("sessions", search=ask.query["search"])
        counts = {name: None if one is None else one["count"] for name, one in told.items()}
        found = [
            {"node": name, **session}
            for name, one in told.items()
            if one is not None
            for session in one["sessions"]
        ]
        found.sort(key=lambda one: (-one["withheld"], -one["buffered_bytes"], one["began_s"]))
        number = int(ask.query["page"] or 1)
        count = sum(one or 0 for one in counts.values())
        return JSONResponse(
            {
                "counts": dict(sorted(counts.items())),
                "count": count,
                "page": number,
                "pages": max(1, -(-len(found) // PAGE)),
                "sessions": found[(number - 1) * PAGE : number * PAGE],
            }
        )

    async def end(self, ask: Ask) -> Response:
        """At the node where it is; a sign-in is over at all."""
        console, session = self.console, ask.text("session")
        console.check(ask.by)
        node, view = session.partition("#")[0], self.node.view
        if view is None or node not in view.names:
            raise self._gone()
        found = await console.colleagues.ask(node, "session_key", session=session)
        if not found["found"]:
            raise self._gone()
        accounts = self.node.files.accounts
        if any(one.id == found["key"] for one in accounts.sign_ins.values()):
            await accounts.end_sign_in(ask.by, found["key"], ask.origin)
        else:
            await console.note(ask.by, "session.ended", session, ask.origin)
        await console.colleagues.ask(node, "end_session", session=session)
        return Response(status_code=204)

    def _gone(self) -> BadMessageError:
        return BadMessageError("no_such_session", "this session is over")
