"""Reads of the audit log, exports and refusals are in it, and nobody floods it with them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import aiohttp
import pytest

from groupcore.aio import Node
from server.main import main
from server.people_cli import run_people_command
from tests.server.accounts.people import Browser, hire, service
from tests.server.support import Cluster, eventually

pytestmark = pytest.mark.slow

Noted = tuple[str, str, str]


def noted(ann: Browser, what: str) -> list[Noted]:
    """By whom, about what and whence."""
    notes = service(ann.node).accounts.notes
    return [(one.by, one.about, one.origin) for one in notes if one.what == what]


async def test_whoever_reads_the_audit_log_is_in_it_once_in_ten_minutes(
    ann: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    user = (await ann.ask("GET", "/me"))[1]["id"]
    for _ in range(5):
        status, answer = await ann.ask("GET", "/audit")
        assert status == 200
    assert [one["what"] for one in answer["entries"]].count("audit.read") == 1
    given = ["audit", "tail", "--admin", ann.node.admin_url, "--json"]
    for _ in range(2):
        await asyncio.to_thread(run_people_command, given)
    assert [one[:2] for one in noted(ann, "audit.read")] == [(f"user:{user}", ""), ("admin", "")]
    assert "audit.read" in capsys.readouterr().out


async def test_a_comparison_reads_hashes_and_is_no_read_of_the_log(
    ann: Browser, cluster: Cluster, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((cluster.folder / "a" / "audit.jsonl").read_bytes())
    words = ["audit", "verify", str(copy), "--against", ann.node.admin_url]
    for _ in range(2):
        assert await asyncio.to_thread(main, words) == 0
    assert not noted(ann, "audit.read")


async def test_a_node_that_is_not_let_in_is_noted_once_with_address_and_reason(
    ann: Browser, cluster: Cluster
) -> None:
    counters = ann.node.node.channel.counters
    stranger = Node("groupcore", node_id="z", key=b"x" * 32, multicast=cluster.multicast)
    joining = asyncio.create_task(stranger.__aenter__())
    try:
        await eventually(lambda: bool(noted(ann, "node.refused")), "the refusal is noted")
        asked = counters()["transport.drops.no_certificate"]
        await eventually(
            lambda: counters()["transport.drops.no_certificate"] > asked + 3, "it goes on asking"
        )
    finally:
        joining.cancel()
        await asyncio.wait({joining})
        await stranger.close()
    assert noted(ann, "node.refused") == [("", "no_certificate", "127.0.0.1")]


async def test_exports_are_noted_with_who_and_what(
    ann: Browser, capfd: pytest.CaptureFixture[str]
) -> None:
    user, doc = (await ann.ask("GET", "/me"))[1]["id"], await ann.create()
    for way in ("markdown", "export.zip", "markdown"):
        url = f"{ann.node.url}/api/v1/documents/{doc}/{way}"
        async with ann.http.get(url) as answer:
            assert answer.status == 200
            await answer.read()
    assert noted(ann, "document.exported") == [(f"user:{user}", doc, "127.0.0.1")]
    words = ["dump-log", "--admin", ann.node.admin_url]
    assert await asyncio.to_thread(main, words) == 0
    assert noted(ann, "log.exported") == [("admin", "", "management file")]
    capfd.readouterr()
    async with ann.http.get(f"{ann.node.url}/api/v1/admin/backup") as answer:
        assert answer.status == 200
        await answer.read()
    await eventually(lambda: bool(noted(ann, "backup.taken")), "the backup is noted")
    assert [one[0] for one in noted(ann, "backup.begun")] == [f"user:{user}"]


async def test_refusals_are_noted_by_person_and_route_and_do_not_flood_the_log(
    ann: Browser, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    bob = await hire(ann, "bob")
    async with Browser(ann.node) as browser:
        await browser.sign_in("bob@example.org")
        for _ in range(30):
            assert (await browser.ask("GET", "/admin/overview"))[0] == 403
            assert (await browser.ask("GET", "/audit"))[0] == 403
        routes = ["GET /admin/overview", "GET /audit"]
        await eventually(lambda: len(noted(ann, "request.refused")) >= 2, "they are noted")
        wanted = [(f"user:{bob}", route, "127.0.0.1") for route in routes]
        assert noted(ann, "request.refused") == wanted
    await cluster.stop("a")  # what was counted is written
    path = cluster.folder / "a" / "audit.jsonl"
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    abouts = [one["about"] for one in entries if one["what"] == "request.refused"]
    assert abouts == [*routes, *(f"{route} times=29" for route in routes)]
    assert await asyncio.to_thread(main, ["audit", "verify", str(path)]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("path", ["/admin/users", "/admin/log", "/admin/files"])
async def test_pages_at_the_management_address_are_noted(ann: Browser, path: str) -> None:
    async with aiohttp.ClientSession() as http:
        url, headers = ann.node.admin_url + path, {"Origin": "https://evil.example"}
        for _ in range(3):
            async with http.get(url, headers=headers) as answer:
                assert answer.status == 403
    await eventually(lambda: bool(noted(ann, "request.refused")), "it is noted")
    assert noted(ann, "request.refused") == [("", f"GET {path}", "127.0.0.1")]


async def test_a_token_without_the_scope_and_a_forged_request_are_noted(ann: Browser) -> None:
    user = (await ann.ask("GET", "/me"))[1]["id"]
    given = {"name": "ci", "scopes": ["documents:read"]}
    secret = (await ann.ask("POST", "/tokens", given))[1]["secret"]
    async with Browser(ann.node) as program:
        bearer = {"Authorization": f"Bearer {secret}"}
        assert (await program.ask("GET", "/admin/overview", **bearer))[0] == 403
    ann.csrf = "wrong"
    assert (await ann.ask("POST", "/admin/sessions/end", {"session": "x"}))[0] == 403
    await eventually(lambda: len(noted(ann, "request.refused")) == 2, "they are noted")
    found = {(by, about) for by, about, _ in noted(ann, "request.refused")}
    assert found == {
        (f"user:{user}", "GET /admin/overview"),
        (f"user:{user}", "POST /admin/sessions/end"),
    }
