"""What the console shows and does is there from a shell, and what is done is written down."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from groupcore.sequencing.directory_state import MoveState
from server.console.desk import Console
from server.main import main
from server.management_client import ManagementClient
from server.routes.asks import Row
from server.routes.console import WRITE
from server.routes.console_rows import console_rows
from tests.server.accounts.people import Browser, hire
from tests.server.support import Cluster, eventually

Json = Any
Asked = tuple[str, str]
"""A method and a path, with what stands for a part of it as {NAME}."""

COMMANDS: dict[Asked, tuple[str, ...]] = {
    ("GET", "/overview"): ("status",),
    ("GET", "/views"): ("view", "ls"),
    ("GET", "/load"): ("node", "load"),
    ("GET", "/groups"): ("group", "ls"),
    ("GET", "/groups/{group}"): ("group", "show", "{group}"),
    ("GET", "/nodes/{node}"): ("node", "show", "{node}"),
    ("GET", "/migrations"): ("migration", "ls"),
    ("POST", "/migrations"): ("group", "migrate", "g", "b"),
    ("POST", "/migrations/{move}/cancel"): ("migration", "cancel", "{move}"),
    ("POST", "/nodes/{node}/drain"): ("node", "drain", "{node}"),
    ("POST", "/nodes/{node}/revive"): ("node", "revive", "{node}"),
    ("POST", "/nodes/{node}/leave"): ("node", "leave", "{node}"),
    ("POST", "/keys/rotate"): ("node", "rotate-key"),
    ("GET", "/sessions"): ("session", "ls"),
    ("POST", "/sessions/end"): ("session", "end", "a#1/1"),
    ("GET", "/plans"): ("plan", "list"),
    ("POST", "/plans"): ("plan", "apply", "-"),
    ("GET", "/plans/{plan}"): ("plan", "status", "{plan}"),
    ("POST", "/plans/{plan}/cancel"): ("plan", "cancel", "{plan}"),
    ("GET", "/overlap"): ("overlap", "ls"),
    ("GET", "/overlap/{group}"): ("overlap", "show", "{group}"),
    ("GET", "/order"): ("order", "show"),
    ("GET", "/order/violations"): ("order", "ls"),
    ("GET", "/order/violations/{violation}"): ("order", "violation", "{violation}"),
    ("GET", "/operations"): ("operation", "ls"),
    ("POST", "/operations"): ("operation", "backup"),
    ("GET", "/operations/{operation}"): ("operation", "show", "{operation}"),
    ("POST", "/operations/{operation}/cancel"): ("operation", "cancel", "{operation}"),
}
SIGN_OUT: Asked = "DELETE", "/users/{user}/sessions"
"""What the page of the sessions asks of the accounts."""
BESIDE: dict[Asked, tuple[str, ...]] = {SIGN_OUT: ("user", "sign-out", "bob@example.org")}


def rows(is_local: bool) -> list[Row]:
    """All of the console's; nobody asks them here."""
    return console_rows(cast(Console, SimpleNamespace(node=None)), is_local)


def test_every_answer_of_the_console_has_a_command_that_asks_for_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Asked] = []
    users = [{"email": "bob@example.org", "id": "{user}"}]

    async def ask(self: ManagementClient, method: str, path: str, body: object = None) -> Json:
        path = path.partition("?")[0].replace("%7B", "{").replace("%7D", "}")
        asked.append((method, path))
        return {"health": "good", "state": "done", "audit": None, "asked": path, "users": users}

    monkeypatch.setattr(ManagementClient, "ask", ask)
    monkeypatch.setattr("server.plan_cli.plan_of", lambda path: b"{}")
    for wanted, words in {**COMMANDS, **BESIDE}.items():
        assert main([*words, "--json"]) == 0
        assert asked.pop() == wanted
        assert json.loads(capsys.readouterr().out)["asked"] == wanted[1]  # `--json`: one value
    known = {(row.method, row.path.removeprefix("/admin")) for row in rows(is_local=True)}
    assert known == set(COMMANDS)


async def noted(ann: Browser, what: str) -> list[str]:
    """What the audit log says this was done to."""
    entries = (await ann.ask("GET", "/audit"))[1]["entries"]
    return [one["about"] for one in entries if one["what"] == what]


class Deeds:
    """Does what the console can do, and looks whether it is in the audit log then."""

    def __init__(self, ann: Browser) -> None:
        self.ann = ann
        self.done: set[Asked] = set()

    async def do(
        self, what: str, method: str, path: str, body: object = None, **named: object
    ) -> Json:
        """`what` has to be one more time in the log."""
        before = len(await noted(self.ann, what))
        place = ("" if (method, path) in BESIDE else "/admin") + path.format(**named)
        status, answer = await self.ann.ask(method, place, body)
        assert status < 500, (path, answer)

        async def is_noted() -> bool:
            return len(await noted(self.ann, what)) == before + 1

        await eventually(is_noted, f"{method} {path} is in the log as {what}")
        self.done.add((method, path))
        return answer


@pytest.mark.slow
async def test_everything_that_is_done_at_the_console_is_in_the_audit_log(
    ann: Browser, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deeds, a = Deeds(ann), cluster.nodes["a"]
    object.__setattr__(a.settings, "backups", tmp_path / "backups")
    groups = a.node.objects.groups
    await groups.create("wanderer")
    await deeds.do("group.moved", "POST", "/migrations", {"group": "wanderer", "to": "b"})
    state = groups.service.plane.directory.state
    me, other = state.view.members[:2] if state.view else pytest.fail("there is no view")
    with monkeypatch.context() as patched:  # a move that goes on for as long as it is looked at
        patched.setitem(state.moves, 77, MoveState((), me, other, "load", None))
        patched.setattr(groups.service, "cancel_move", lambda move, now: 0)
        await deeds.do("migration.cancelled", "POST", "/migrations/{move}/cancel", move=77)
    plan = {"plan": 1, "groups": {"wanderer": "c"}}
    given = await deeds.do("plan.given", "POST", "/plans", plan)
    await deeds.do("plan.cancelled", "POST", "/plans/{plan}/cancel", plan=given["id"])
    await deeds.do("key.rotated", "POST", "/keys/rotate")
    await operate(deeds)
    user = await hire(ann, "bob")
    async with Browser(cluster.nodes["b"]) as bob:
        await bob.sign_in("bob@example.org")
        async with await bob.page():
            (one,) = (await ann.ask("GET", "/admin/sessions?search=bob"))[1]["sessions"]
            await deeds.do("session.ended", "POST", "/sessions/end", {"session": one["session"]})
    await deeds.do("sessions.ended", *SIGN_OUT, user=user)
    for what, task in (("drained", "drain"), ("revived", "revive"), ("left", "leave")):
        await deeds.do(f"node.{what}", "POST", f"/nodes/{{node}}/{task}", node="c")
    writing = {
        (row.method, row.path.removeprefix("/admin"))
        for row in rows(is_local=False)
        if row.scope == WRITE
    }
    assert deeds.done == writing | set(BESIDE)


async def operate(deeds: Deeds) -> None:
    """Each kind of operation, one of them called off, and the backup that is downloaded."""
    at = "/operations"

    async def over(begun: Json) -> Json:
        async def is_over() -> bool:
            found = (await deeds.ann.ask("GET", f"/admin{at}/{begun['id']}"))[1]
            return bool(found["state"] != "running")

        await eventually(is_over, f"{begun['what']} is over")

    taken = await deeds.do("backup.begun", "POST", at, {"what": "backup"})
    await over(taken)
    file = taken["about"]
    await over(await deeds.do("backup.verified", "POST", at, {"what": "verify", "file": file}))
    put_back = {"what": "restore", "file": file, "folder": "again"}
    begun = await deeds.do("backup.restored", "POST", at, put_back)
    await deeds.do(
        "operation.cancelled", "POST", f"{at}/{{operation}}/cancel", operation=begun["id"]
    )
    await over(begun)
    await deeds.do("trace.pruned", "POST", at, {"what": "prune", "days": 3})
    before = len(await noted(deeds.ann, "backup.taken"))
    async with deeds.ann.http.get(f"{deeds.ann.node.url}/api/v1/admin/backup") as answer:
        await answer.read()

    async def is_noted() -> bool:
        return len(await noted(deeds.ann, "backup.taken")) == before + 1

    await eventually(is_noted, "the download is in the log")
    deeds.done.add(("GET", "/backup"))
