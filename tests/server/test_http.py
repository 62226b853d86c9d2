"""The HTTP surfaces: API, health, headers, management."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.applications import Starlette

from groupcore.shared.documents import Document
from groupcore.shared.documents.outline import DocumentOutline
from server.announce import owner_link
from server.listening import make_server
from server.routes import done
from server.routes.reports import PATH as REPORTS
from server.routes.reports import REPORT_MAX
from tests.server.support import Cluster, create, eventually, get


async def test_a_document_is_created_listed_read_and_exported(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node, "Plan", "## Steps\n\n- one")
    api = f"{node.url}/api/v1/documents"
    status, listed = await get(api)
    assert status == 200
    assert [(row["id"], row["title"]) for row in listed["documents"]] == [(doc, "Plan")]
    _, read = await get(f"{api}/{doc}")
    assert [(block["type"], block["text"]) for block in read["blocks"]] == [
        ("heading", "Steps"),
        ("bullet", "one"),
    ]
    assert await get(f"{api}/{doc}/markdown") == (200, "# Plan\n\n## Steps\n\n- one\n")


async def test_headings_are_told_with_their_places_and_once_a_version(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node, "Plan", "words\n\n## Steps\n\n- one\n\n### Last **step**")
    api = f"{node.url}/api/v1/documents/{doc}/headings"
    status, told = await get(api)
    assert status == 200
    assert [(row["place"], row["level"], row["text"]) for row in told["headings"]] == [
        (1, 2, "Steps"),
        (3, 3, "Last step"),
    ]
    again = f"{api}?known={told['version']}"
    assert await get(again) == (200, {"version": told["version"]})
    block = told["headings"][0]["id"]
    async with node.node.objects.session("") as session:
        outline = await session.open(DocumentOutline, f"doc/{doc}")
        await outline.move([told["headings"][1]["id"]], "")
        await outline.remove([block])
    _, now = await get(again)
    assert [(row["place"], row["text"]) for row in now["headings"]] == [(0, "Last step")]
    assert (await get(f"{node.url}/api/v1/documents/none/headings"))[0] == 404


async def test_the_same_idempotency_key_makes_one_document_on_any_node(cluster: Cluster) -> None:
    cluster.size = 2
    nodes = await cluster.start_all("a", "b")
    ids = set()
    async with aiohttp.ClientSession() as session:
        for node in [*nodes, *nodes]:
            url = f"{node.url}/api/v1/documents/import"
            headers = {"Idempotency-Key": "k1", "Content-Type": "text/markdown"}
            async with session.post(url, data=b"# One\n\ntext", headers=headers) as answer:
                assert answer.status == 201
                body = await answer.json()
                assert answer.headers["Location"] == f"/api/v1/documents/{body['id']}"
                ids.add(body["id"])
    assert len(ids) == 1
    assert len(nodes[0].node.whole_catalogue) == 1


NGINX_KEEPS_S = 60


async def test_it_is_clients_and_proxies_that_close_idle_connections() -> None:
    async with aiohttp.TCPConnector() as client:
        kept_s = client._keepalive_timeout
    assert kept_s is not None
    assert make_server(Starlette()).config.timeout_keep_alive > max(kept_s, NGINX_KEEPS_S)


BAD_BODIES = [
    (b"", 400),
    (b"[]", 400),
    (b'{"title": ""}', 400),
    (b'{"title": 1}', 400),
    (b'{"title": "x", "colour": 1}', 400),
    (b"[" * 100_000, 400),
    (b'{"title": "x", "markdown": "' + b"y" * 120_000 + b'"}', 413),
]


@pytest.mark.parametrize(("body", "status"), BAD_BODIES)
async def test_a_bad_body_is_a_problem_document(cluster: Cluster, body: bytes, status: int) -> None:
    node = await cluster.start("a")
    url = f"{node.url}/api/v1/documents"
    said = {"Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession(headers=said) as session,
        session.post(url, data=body) as answer,
    ):
        assert answer.status == status
        assert answer.content_type == "application/problem+json"
        problem = await answer.json()
        assert problem["status"] == status
        assert problem["code"]
        assert problem["detail"]


async def test_an_import_above_the_limit_is_refused(cluster: Cluster) -> None:
    node = await cluster.start("a", import_kib=1)
    url = f"{node.url}/api/v1/documents/import"
    async with aiohttp.ClientSession() as session, session.post(url, data=bytes(3000)) as answer:
        assert answer.status == 413
        assert (await answer.json())["code"] == "too_large"
    assert (await get(f"{node.url}/api/v1/session"))[1]["import_kib"] == 1


async def test_a_foreign_page_cannot_write(cluster: Cluster) -> None:
    node = await cluster.start("a")
    url = f"{node.url}/api/v1/documents"
    headers = {"Origin": "http://evil.example"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json={"title": "x"}, headers=headers) as answer,
    ):
        assert answer.status == 403


@pytest.mark.parametrize("path", ["/api/v1/documents/none", "/nowhere", "/api/v1/x"])
async def test_what_is_not_there_is_a_problem_document(cluster: Cluster, path: str) -> None:
    node = await cluster.start("a")
    status, body = await get(node.url + path)
    assert (status, body["status"]) == (404, 404)


async def test_every_answer_carries_the_security_headers(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with aiohttp.ClientSession() as session:
        for path in ("/", "/doc/x", "/assets/none.js", "/api/v1/documents", "/livez"):
            async with session.get(node.url + path) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert "require-trusted-types-for 'script'" in policy
                assert f"report-uri {REPORTS}" in policy
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"


async def test_reports_of_a_broken_policy_are_taken_up_to_a_size(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with aiohttp.ClientSession() as session:
        async with session.post(node.url + REPORTS, data=b"{}") as answer:
            assert answer.status == 204
        async with session.post(node.url + REPORTS, data=b" " * (REPORT_MAX + 1)) as answer:
            assert answer.status == 413


async def test_the_page_is_served_for_every_address_that_it_knows(
    cluster: Cluster, tmp_path: Path
) -> None:
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<title>Groupcore</title>")
    (page / "assets" / "main.js").write_text("1")
    node = await cluster.start("a", page=str(page))
    for path in ("/", "/doc/some-id"):
        assert await get(node.url + path) == (200, "<title>Groupcore</title>")
    assert (await get(node.url + "/assets/main.js"))[0] == 200
    assert (await get(node.url + "/assets/../index.html"))[0] == 404
    assert (await get(node.url + "/assets/%2e%2e/%2e%2e/a/lock"))[0] == 404


async def test_a_node_whose_others_are_gone_says_stale(cluster: Cluster) -> None:
    cluster.size = 2
    nodes = await cluster.start_all("a", "b")
    view = nodes[0].node.view
    assert view is not None
    nodes.sort(key=lambda node: node.settings.node_id == view.coordinator.name)
    other, coordinator = nodes
    assert await get(other.url + "/readyz") == (200, "ok")
    # It stands still, so it does not say good-bye; half without the coordinator is no quorum.
    life = coordinator.node.channel._lives.node
    assert life is not None
    life.halt()
    await eventually(lambda: not other.node.ready, "the other one notices")
    assert (await get(other.url + "/readyz"))[0] == 503
    assert (await get(other.url + "/readyz?verbose"))[1]["state"] == "stale"
    assert (await get(other.url + "/livez"))[0] == 200


async def test_nodes_are_named_with_their_addresses_this_one_first(cluster: Cluster) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    _, body = await get(second.url + "/api/v1/nodes")
    assert body["nodes"] == [{"id": "b", "url": second.url}, {"id": "a", "url": first.url}]


async def test_the_status_tells_view_groups_and_their_numbers(cluster: Cluster) -> None:
    cluster.size = 2
    node, _ = await cluster.start_all("a", "b")
    doc = await create(node)

    async def group() -> dict[str, Any]:
        _, status = await get(node.admin_url + "/admin/status")
        assert status["view"]["members"] == ["a", "b"]
        assert status["state"] == "serving"
        found: dict[str, Any] = status["groups"][f"doc/{doc}"]
        return found

    async def is_synced() -> bool:
        found = await group()
        return bool(found["synced"] == found["head"] > 0)

    await eventually(is_synced, "what is saved is on this disk, too")
    assert (await group())["epoch"] == 1
    assert (await group())["sequencer"] in ("a", "b")


async def test_metrics_have_the_documented_names(cluster: Cluster) -> None:
    node = await cluster.start("a")
    await create(node)
    _, text = await get(node.admin_url + "/metrics")
    for line in (
        "groupcore_operations_submitted_total 0.0",
        'groupcore_build_info{version="0.1.0"} 1.0',
        "groupcore_documents 1.0",
        "groupcore_documents_held 1.0",
        "groupcore_groups 8.0",
    ):
        assert line in text


async def test_the_public_address_serves_nothing_of_the_management(cluster: Cluster) -> None:
    node = await cluster.start("a")
    for path in ("/admin/status", "/metrics"):
        assert (await get(node.url + path))[0] == 404


async def test_a_node_without_accounts_says_so_and_has_no_owner_to_make(cluster: Cluster) -> None:
    node = await cluster.start("a")
    status, session = await get(f"{node.url}/api/v1/session")
    assert (status, session["accounts"], session["principal"]) == (200, False, "guest")
    assert await owner_link(node.admin_url) == ""


async def test_reads_of_a_node_that_is_cut_off_are_marked_stale(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    paths = ("/documents", f"/documents/{doc}", f"/documents/{doc}/markdown", "/files", "/nodes")
    page = {"Origin": node.url}

    async def marks() -> set[str | None]:
        found = set()
        async with aiohttp.ClientSession() as http:
            for path in paths:
                async with http.get(f"{node.url}/api/v1{path}", headers=page) as answer:
                    assert answer.status == 200
                    found.add(answer.headers.get("Groupcore-Stale"))
                    assert answer.headers["Access-Control-Expose-Headers"] == "Groupcore-Stale"
        return found

    assert await marks() == {None}
    monkeypatch.setattr(type(node.node), "primary", property(lambda self: False))
    assert await marks() == {"true"}
    monkeypatch.undo()
    _, described = await get(f"{node.url}/api/v1/openapi.json")
    for verbs in described["paths"].values():
        if "get" in verbs:
            [given] = [one for at, one in verbs["get"]["responses"].items() if at < "300"]
            assert "Groupcore-Stale" in given["headers"]


async def test_a_read_that_waits_in_vain_is_told_what_is_missing_not_that_changes_are(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asked for no change; what it wants is not open at a node that is cut off."""
    node = await cluster.start("a")
    doc = await create(node)

    async def never(doc: str) -> Document:
        del doc
        forever: asyncio.Future[Document] = asyncio.get_running_loop().create_future()
        return await forever

    monkeypatch.setattr(done, "ORDER_S", 0.05)
    monkeypatch.setattr(node.node.keeper, "hold", never)
    for path in ("", "/markdown", "/headings"):
        status, problem = await get(f"{node.url}/api/v1/documents/{doc}{path}")
        assert (status, problem["code"]) == (503, "not_primary")
        assert "not open at this node" in problem["detail"]
        assert "changes" not in problem["detail"]
