"""Going on without nodes that never come back: what an operator is shown, and has to agree to.

`GET /admin/recovery` shows what is waited for and what may be lost without it; its `plan` is good
for this situation alone. `POST /admin/recovery` with that plan, the names and `may_be_lost` has
the cluster go on (decision 0085). The node's log has it at once, the audit log as soon as it takes
an entry.
"""

from __future__ import annotations

import asyncio
import logging
from hashlib import blake2b
from typing import Any

from starlette.responses import JSONResponse, Response

from groupcore.membership.awaiting import Awaiting
from server.errors import BadMessageError
from server.metrics import groups_of
from server.node import Node
from server.routes.asks import Ask, Field, Row
from server.routes.deeds import note_first
from server.routes.management import LOCAL
from server.waiting import KEEPS, shown

logger = logging.getLogger("server")

AGAIN_S = 0.5
"""How often the waiver is repeated, which holds for 3 s."""
GIVEN_UP_S = 60.0
NOTED_S = 120.0
"""So long the audit log is waited for."""


def recovery_rows(node: Node) -> list[Row]:
    """What is waited for, and going on without it."""
    desk = RecoveryDesk(node)
    fields = (
        Field("without", list, text="the nodes that never come back"),
        Field("plan", str, text="what GET has shown", max=64),
        Field("may_be_lost", bool, text="that what only they have may be lost"),
    )
    path = "/admin/recovery"
    return [
        Row("GET", path, desk.look, LOCAL, "What is waited for, and what may be lost without it"),
        Row("POST", path, desk.go_on, LOCAL, "Go on without nodes", 202, fields),
    ]


class RecoveryDesk:
    """The handlers, on one node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._work: asyncio.Task[None] | None = None

    async def look(self, ask: Ask) -> Response:
        """What is waited for; `awaited` null: nothing."""
        del ask
        return JSONResponse(self._shown())

    def _shown(self) -> dict[str, Any]:
        awaiting = self._node.channel.awaiting
        if awaiting is None or awaiting.view is None or awaiting.reason not in KEEPS:
            waiting = self._node.waiting
            return {"awaited": None, "waiting": waiting}
        names = [*awaiting.missing, *awaiting.empty]
        groups = [
            {"group": one.name or str(one.group), "epoch": one.epoch, "kept_to": one.head}
            for one in groups_of(self._node)
        ]
        return {
            "awaited": names,
            "waiting": shown(awaiting, False, False),
            "goes_on_with": [*awaiting.here, *awaiting.others],
            "ask_at": list(awaiting.here),
            "plan": plan_of(awaiting),
            "groups": groups,
            "kept_until": self._node.last_written_s,
        }

    async def go_on(self, ask: Ask) -> Response:
        """Have the cluster go on without these; `not_ready` where nobody is waited for."""
        node, awaiting = self._node, self._node.channel.awaiting
        if awaiting is None or awaiting.view is None or awaiting.reason not in KEEPS:
            raise BadMessageError("not_ready", "nothing has to be gone on without; see the status")
        names, view = ask.texts("without"), awaiting.view
        if ask.text("plan") != plan_of(awaiting):
            raise BadMessageError("bad_request", "it is otherwise than you were shown: look again")
        if not ask.flag("may_be_lost"):
            raise BadMessageError("bad_request", "what only they have may be lost: say so")
        gone = {*awaiting.missing, *awaiting.empty}
        if set(names) != gone:
            wanted = ", ".join(sorted(gone))
            raise BadMessageError("bad_request", f"name exactly who is waited for: {wanted}")
        there = {*awaiting.here, *awaiting.others} if node.view is not None else {*awaiting.here}
        if awaiting.here and node.settings.node_id not in there:
            best = ", ".join(awaiting.here)
            raise BadMessageError("bad_request", f"ask at {best}: it knows what may be lost")
        detail = f"without {' '.join(sorted(names))}, after view {view}"
        logger.warning("an operator has the cluster go on %s", detail)
        if self._work is not None:
            self._work.cancel()
        work = self._go_on(view.lineage, view.number, sorted(names), detail, ask.origin)
        self._work = asyncio.get_running_loop().create_task(work)
        return JSONResponse({"without": sorted(names), "after": str(view)}, 202)

    async def _go_on(
        self, lineage: int, number: int, names: list[str], detail: str, origin: str
    ) -> None:
        """Say it until there is a view, then note it."""
        loop, channel = asyncio.get_running_loop(), self._node.channel
        until = loop.time() + GIVEN_UP_S
        while not channel.primary or channel.view is None:
            if loop.time() > until:
                logger.error("the cluster did not go on %s: ask again", detail)
                return
            channel.waive(lineage, number, names)
            await asyncio.sleep(AGAIN_S)
        if channel.view.lineage == lineage:
            logger.warning("it was not needed to go on %s: who was waited for came back", detail)
            return
        logger.warning("the cluster has gone on %s", detail)
        for _ in range(round(NOTED_S / AGAIN_S)):
            if self._node.ready:
                break
            await asyncio.sleep(AGAIN_S)
        if self._node.accounts is not None:
            await note_first(self._node, "cluster.gone_on", detail, origin=origin)


def plan_of(awaiting: Awaiting) -> str:
    """A mark of the situation that was shown: of who is there and who is not."""
    parts = (awaiting.view, awaiting.here, awaiting.empty, awaiting.missing, awaiting.others)
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()
