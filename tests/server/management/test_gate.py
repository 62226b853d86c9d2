"""The management address: every route and whoever asks, by the table of ranks and the routes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import aiohttp
import pytest
import pytest_asyncio
from starlette.requests import Request
from starlette.routing import Route
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from server.accounts.secrets import new_secret
from server.errors import BadMessageError, TooFastError
from server.management.own_token import FILE, read_token
from server.management.peer import PEER, Peer
from server.management.ranks import GIVEN, RANKS, Rank
from server.management.tokens import ManagementTokens
from server.routes.management_gate import FREE, Judge
from server.serve import RunningNode
from tests.management import credentials
from tests.server.support import Cluster, create, eventually, get

ENDS_IT = {
    ("POST", "/admin/leave"),
    ("POST", "/admin/end-sessions"),
    ("GET", "/admin/log"),
    ("GET", "/admin/backup"),
}
"""What is not done by who may: the node would be gone, or the answer is long."""


class Who(NamedTuple):
    """An identity: what it sends, and its rank; None: refused whatever it asks for."""

    headers: dict[str, str]
    rank: Rank | None
    code: str = ""


@pytest_asyncio.fixture
async def node(cluster: Cluster) -> RunningNode:
    cluster.flags = {"accounts": "on"}
    return await cluster.start("a")


def routes_of(node: RunningNode) -> set[tuple[str, str]]:
    """All that the application answers, HEAD aside, which is GET's."""
    found: set[tuple[str, str]] = set()
    assert node.management.app is not None, "it serves"
    for route in node.management.app.routes:
        assert isinstance(route, Route), route
        found |= {(method, route.path) for method in (route.methods or ()) if method != "HEAD"}
    return found


async def test_every_route_has_a_rank_and_every_rank_a_route(node: RunningNode) -> None:  # M2
    assert routes_of(node) == set(RANKS)


def test_what_needs_no_credentials_is_only_this() -> None:
    opened = {route for route, rank in RANKS.items() if rank is Rank.OPEN}
    paths = {"/livez", "/readyz", "/metrics", "/admin/status"}
    assert opened == {("GET", path) for path in paths}


async def everybody(node: RunningNode) -> dict[str, Who]:
    """Each identity that is played."""
    tokens: ManagementTokens = node.management.tokens
    found = {
        "none": Who({}, Rank.OPEN),
        "own": Who(bearer(read_token(node.settings.data / FILE)), Rank.OWNER),
    }
    for name, rank in GIVEN.items():
        _, secret = await tokens.make(name, name, 1)
        found[name] = Who(bearer(secret), rank)
    owner = found["owner"].headers
    page, wrong = "forbidden_origin", "unauthenticated"
    found |= {
        "wrong": Who(bearer(new_secret("gcm")), None, wrong),
        "basic": Who({"Authorization": "Basic YTpi"}, None, wrong),
        "host": Who({**owner, "Host": "evil.example"}, None, page),
        "origin": Who({**owner, "Origin": "https://evil.example"}, None, page),
        "null": Who({**owner, "Origin": "null"}, None, page),
        "own_origin": Who({**owner, "Origin": node.admin_url}, None, page),
        "site": Who({**owner, "Sec-Fetch-Site": "same-origin"}, None, page),
    }
    return found


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


async def test_every_route_judges_everybody_by_rank(node: RunningNode) -> None:  # M1, M2, M3
    identities = await everybody(node)
    async with aiohttp.ClientSession() as http:
        for method, path in sorted(routes_of(node)):
            needed = RANKS[method, path]
            for name, who in identities.items():
                may = who.rank is not None and who.rank >= needed
                if may and (method, path) in ENDS_IT:
                    continue
                url = node.admin_url + path.replace("{", "").replace("}", "")
                async with http.request(method, url, headers=who.headers) as answer:
                    text, said = await answer.text(), f"{name}: {method} {path}"
                found = json.loads(text).get("code") if answer.status >= 400 else ""
                if may:
                    assert found not in ("unauthenticated", "forbidden", "forbidden_origin"), said
                elif who.code == "unauthenticated":
                    assert found in (who.code, "wait"), said
                elif who.code:
                    assert found == who.code, said
                else:
                    wanted = "unauthenticated" if name == "none" else "forbidden"
                    assert (found, answer.status) == (wanted, 401 if name == "none" else 403), said
                for secret in (one.headers.get("Authorization", "") for one in identities.values()):
                    assert not secret or secret.split()[1] not in text, said


async def test_what_is_no_route_is_judged_for_pages_too(node: RunningNode) -> None:  # M1
    async with aiohttp.ClientSession() as http:
        for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
            for path in ("/nothing", "/admin/users/", "/admin/status", "/metrics", "/livez"):
                async with http.get(node.admin_url + path, headers=headers) as answer:
                    assert (answer.status, (await answer.json())["code"]) == (
                        403,
                        "forbidden_origin",
                    )


async def test_what_a_person_types_into_a_browser_may_look_at_what_is_open(
    node: RunningNode,
) -> None:  # M1
    typed = {"Sec-Fetch-Site": "none", **credentials(node.admin_url)}
    async with aiohttp.ClientSession(headers=typed) as http:
        for path, status in (("/metrics", 200), ("/admin/overview", 403), ("/nothing", 403)):
            async with http.get(node.admin_url + path) as answer:
                assert answer.status == status, path


async def test_the_status_names_no_document_to_who_has_shown_nothing(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    url = f"{node.admin_url}/admin/status"
    async with aiohttp.ClientSession() as http, http.get(url) as answer:
        text = await answer.text()
    open_status, named = json.loads(text), (await get(url))[1]
    assert doc not in text
    assert named["groups"].keys() - open_status["groups"].keys() == {f"doc/{doc}"}
    assert len(named["groups"]) == len(open_status["groups"])
    number = str(named["groups"][f"doc/{doc}"]["group"])
    assert open_status["groups"][number]["sequencer"] == "a"
    assert (open_status["documents"], open_status["documents_held"]) == ({}, 1)
    assert named["documents"].keys() == {doc}


async def test_metrics_and_the_open_status_name_nobody(node: RunningNode) -> None:
    body = {"name": "Zelda", "email": "zelda@example.org", "password": "a lot of zebras"}
    url = f"{node.admin_url}/admin/users"
    async with aiohttp.ClientSession() as http:
        async with http.post(url, json=body, headers=credentials(url)) as answer:
            assert answer.status == 201, await answer.text()
        for path in ("/metrics", "/admin/status", "/livez?verbose", "/readyz?verbose"):
            async with http.get(node.admin_url + path) as answer:
                assert "zelda" not in (await answer.text()).lower()


async def test_who_guesses_waits_and_who_knows_does_not(node: RunningNode) -> None:  # M4
    url = f"{node.admin_url}/admin/overview"
    statuses = []
    async with aiohttp.ClientSession() as http:
        for _ in range(FREE + 3):
            async with http.get(url, headers=bearer(new_secret("gcm"))) as answer:
                statuses.append(answer.status)
                wait = answer.headers.get("Retry-After", "")
    assert statuses == [401] * FREE + [429] * 3
    assert 1 <= int(wait) <= 60
    assert (await get(url))[0] == 200


async def test_refusals_are_counted_and_noted_without_what_was_shown(
    node: RunningNode,
) -> None:  # M5
    identities = await everybody(node)
    url, secrets = f"{node.admin_url}/admin/drain", []
    async with aiohttp.ClientSession() as http:
        for name in ("none", "wrong", "viewer", "host", "origin"):
            secrets.append(identities[name].headers.get("Authorization", "Bearer -").split()[1])
            async with http.post(url, headers=identities[name].headers) as answer:
                assert answer.status in (401, 403)
    _, text = await get(f"{node.admin_url}/metrics")
    for reason in ("credentials", "wrong", "rank", "host", "page"):
        assert f'groupcore_management_refused_total{{reason="{reason}"}} 1.0' in text
    notes = node.node.files.accounts.notes

    def noted() -> set[tuple[str, str]]:
        return {(one.about, one.origin) for one in notes if one.what == "request.refused"}

    wanted = {("POST /admin/drain", origin) for origin in ("127.0.0.1", "management token:viewer")}
    await eventually(lambda: noted() == wanted, "they are noted")
    assert not [
        one for one in notes for secret in secrets if len(secret) > 1 and secret in str(one)
    ]


async def test_what_is_done_is_noted_with_the_name_of_the_token(node: RunningNode) -> None:
    identities = await everybody(node)
    async with aiohttp.ClientSession() as http:
        for path in ("drain", "revive", "nodes/a/drain", "nodes/a/revive", "end-sessions"):
            url = f"{node.admin_url}/admin/{path}"
            async with http.post(url, headers=identities["operator"].headers) as answer:
                assert answer.status == 200, path
    notes = [
        one for one in node.node.files.accounts.notes if one.what.startswith(("node.", "sess"))
    ]
    assert len(notes) == 5
    assert {(one.by, one.origin) for one in notes} == {("admin", "management token:operator")}


async def test_a_socket_of_a_page_is_closed_at_once(node: RunningNode) -> None:
    url = node.admin_url.replace("http", "ws", 1)
    for path in ("/ws", "/admin/status"):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url + path, additional_headers=credentials(node.admin_url))
        assert refused.value.response.status_code == 403


# --- the judge alone ------------------------------------------------------------------------------


def request(client: str, peer: Peer | None = None, **headers: str) -> Request:
    """As it comes from an address; empty: by a Unix socket."""
    given = {"host": "127.0.0.1:9000", **headers}
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in given.items()],
        "client": (client, 1) if client else None,
        "state": {} if peer is None else {PEER: peer},
    }
    return Request(scope)


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(ManagementTokens(tmp_path), names=("node.example",), uids=(7,))


async def test_open_routes_ask_other_machines_for_credentials(judge: Judge) -> None:  # M3
    status, lives = ("GET", "/admin/status"), ("GET", "/livez")
    for here in ("127.0.0.1", "127.4.5.6", "::1"):
        assert judge.let_in(request(here), status).rank is Rank.OPEN
    for away in ("10.0.0.7", "::ffff:10.0.0.7", "fe80::1"):
        for row in (status, lives):
            with pytest.raises(BadMessageError) as refused:
                judge.let_in(request(away), row)
            assert refused.value.code == "unauthenticated"


async def test_wrong_credentials_are_refused_where_none_are_needed(judge: Judge) -> None:  # M3
    with pytest.raises(BadMessageError) as refused:
        judge.let_in(request("127.0.0.1", authorization="Bearer gcm_x"), ("GET", "/livez"))
    assert refused.value.code == "unauthenticated"


async def test_the_host_is_an_address_or_a_name_of_the_certificate(judge: Judge) -> None:  # M1
    row = ("GET", "/livez")
    for host in ("127.0.0.1:9000", "[::1]:9000", "localhost", "Node.Example:9000", "10.1.2.3"):
        judge.let_in(request("127.0.0.1", host=host), row)
    for host in ("evil.example", "localhost.evil.example", "", "[::1", "node.example.evil:1"):
        with pytest.raises(BadMessageError) as refused:
            judge.let_in(request("127.0.0.1", host=host), row)
        assert refused.value.code == "forbidden_origin"


async def test_a_route_without_a_rank_is_closed_to_owners_too(judge: Judge) -> None:  # M2
    with pytest.raises(BadMessageError, match="no rank"):
        judge.let_in(request("", Peer(uid=7)), ("GET", "/admin/new"))
    assert judge.refused["unranked"] == 1


async def test_guesses_from_one_address_do_not_keep_another_waiting(judge: Judge) -> None:  # M4
    row = ("GET", "/admin/overview")
    for _ in range(FREE):
        with pytest.raises(BadMessageError):
            judge.let_in(request("10.0.0.7", authorization="Bearer gcm_x"), row)
    with pytest.raises(TooFastError):
        judge.let_in(request("10.0.0.7", authorization="Bearer gcm_x"), row)
    with pytest.raises(BadMessageError) as refused:
        judge.let_in(request("10.0.0.8", authorization="Bearer gcm_x"), row)
    assert refused.value.code == "unauthenticated"
