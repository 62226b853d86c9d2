"""What is done is in the audit log before it is begun, at the management address, too."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from server.backup.taking import take
from server.node import Node
from server.routes import deeds
from tests.management import credentials
from tests.server.accounts.people import Browser
from tests.server.support import Cluster

pytestmark = pytest.mark.slow

Json = Any


class Seen:
    """What is begun at node a, and what the audit log said last then."""

    def __init__(self, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
        self.node = cluster.nodes["a"]
        self.begun: list[tuple[str, str]] = []
        groups = self.node.node.objects.groups
        for owner, name in (
            (groups, "drain"),
            (groups, "rotate_key"),
            (groups, "run_plan"),
            (self.node.console.pages, "send_away"),
        ):
            monkeypatch.setattr(owner, name, self._watched(name, getattr(owner, name)))
        monkeypatch.setattr("server.routes.management.take", self._taken)

    def _look(self, name: str) -> None:
        self.begun.append((name, self.notes[-1]))

    def _watched(self, name: str, deed: Callable[..., object]) -> Callable[..., object]:
        def watched(*given: object) -> object:
            self._look(name)
            return deed(*given)

        return watched

    def _taken(self, node: Node) -> AsyncIterator[bytes]:
        self._look("take")
        return take(node)

    @property
    def notes(self) -> list[str]:
        """What was done, as the log has it."""
        return [note.what for note in self.node.node.files.accounts.notes]

    async def ask(self, method: str, path: str, body: object = None) -> int:
        """At the management address; the status."""
        url = f"{self.node.admin_url}/admin{path}"
        data = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json", **credentials(url)}
        async with (
            aiohttp.ClientSession() as http,
            http.request(method, url, data=data, headers=headers) as answer,
        ):
            await answer.read()
            return answer.status


async def test_all_that_is_done_at_the_management_address_is_noted_first(
    cluster: Cluster, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await cluster.nodes["a"].node.objects.groups.create("wanderer")
    seen = Seen(cluster, monkeypatch)
    plan = {"plan": 1, "groups": {"wanderer": "b"}}
    for method, path, body, began, what in (
        ("POST", "/drain", {"node": "c"}, "drain", "node.drained"),
        ("POST", "/revive", {"node": "c"}, "drain", "node.revived"),
        ("POST", "/end-sessions", None, "send_away", "sessions.sent_away"),
        ("POST", "/rotate-key", None, "rotate_key", "key.rotated"),
        ("POST", "/migrate", plan, "run_plan", "plan.given"),
        ("GET", "/backup", None, "take", "backup.begun"),
    ):
        assert await seen.ask(method, path, body) < 500, path
        assert seen.begun == [(began, what)]
        seen.begun.clear()
    given = [one.about for one in seen.node.node.files.accounts.notes if one.what == "plan.given"]
    (carried,) = seen.node.console.plans.listed()
    assert given[0].startswith(f"{carried['id']}, groups: ")
    assert await seen.ask("POST", "/leave") == 202
    assert seen.notes[-1] == "node.left"


async def test_a_key_is_rotated_at_the_console_once_that_is_noted(
    cluster: Cluster, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen(cluster, monkeypatch)
    await ann.ask("POST", "/admin/keys/rotate")
    assert seen.begun == [("rotate_key", "key.rotated")]


async def test_where_nothing_can_be_noted_who_is_at_the_machine_goes_on_and_the_log_says_so(
    cluster: Cluster,
    ann: Browser,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen = Seen(cluster, monkeypatch)

    async def never(node: Node, work: Awaitable[object]) -> None:
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(deeds, "NOTED_S", 0.05)
        patched.setattr(deeds, "done", never)
        assert await seen.ask("POST", "/drain", {"node": "c"}) == 200
    assert "node.drained (c) goes on, and is not in the audit log yet" in caplog.text
    with monkeypatch.context() as patched:
        patched.setattr(Node, "primary", property(lambda node: False))
        assert await seen.ask("POST", "/leave") == 202
    assert "node.left (a) goes on, and is not in the audit log yet" in caplog.text
    assert [name for name, _ in seen.begun] == ["drain"]
