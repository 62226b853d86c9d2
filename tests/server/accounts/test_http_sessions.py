"""Signing in over HTTP: uniform answers, cookies, forgery, tickets at the socket."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from starlette.requests import Request

from server.accounts.guard import RULES, Guard, Rule, Secret
from server.routes.gate import address_of
from server.serve import RunningNode
from tests.server.accounts.people import PASSWORD, Browser, found_home, hire, service
from tests.server.support import Cluster, Page, eventually, within

pytestmark = pytest.mark.slow


async def test_the_first_owners_link_makes_an_owner_once(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with Browser(node) as ann, Browser(node) as eve:
        _, before = await ann.ask("GET", "/session")
        assert (before["principal"], before["has_owner"]) == (None, False)
        user = await found_home(ann)
        _, session = await ann.ask("GET", "/session")
        assert session["principal"] == f"user:{user}"
        assert session["manages"]
        assert await service(node).offer_ownership(anew=True) is None
        body = {"secret": "gco_x", "name": "Eve", "email": "e@e.org", "password": PASSWORD}
        status, problem = await eve.ask("POST", "/users/first", body)
        assert (status, problem["code"]) == (410, "expired")


async def test_all_wrong_sign_ins_are_answered_alike(ann: Browser) -> None:
    off = await hire(ann, "off")
    await ann.ask("PATCH", f"/users/{off}", {"disabled": True})
    async with Browser(ann.node) as eve:
        answers = [
            await eve.sign_in("ann@example.org", "wrong"),
            await eve.sign_in("off@example.org"),
            await eve.sign_in("nobody@example.org"),
            await eve.sign_in("no address", "x" * 300),
            await eve.sign_in("", ""),
        ]
        assert all(answer == answers[0] for answer in answers)
        assert answers[0][0] == 401
        assert answers[0][1]["code"] == "bad_credentials"
        assert eve.cookies == {}


async def test_a_password_in_the_field_of_the_address_is_not_noted(ann: Browser) -> None:
    async with Browser(ann.node) as eve:
        for email in (PASSWORD, "hunter2", " Ann@Example.org", "x" * 240 + "@example.org"):
            assert (await eve.sign_in(email, "wrong"))[0] == 401
    notes = service(ann.node).accounts.notes
    await eventually(lambda: sum(one.what == "sign_in.denied" for one in notes) == 4, "noted")
    denied = [one.about for one in notes if one.what == "sign_in.denied"]
    assert denied == ["", "", service(ann.node).accounts.emails["ann@example.org"], ""]


async def test_every_wrong_sign_in_checks_one_password(
    ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the time it takes does not tell whether there is such an account."""
    seen: list[str] = []
    verify = service(ann.node).passwords._verify

    def watched(verifier: str, password: str) -> bool:
        seen.append(verifier)
        return verify(verifier, password)

    monkeypatch.setattr(service(ann.node).passwords, "_verify", watched)
    async with Browser(ann.node) as eve:
        for email in ("ann@example.org", "nobody@example.org", "no address"):
            await eve.sign_in(email, "wrong password")
    assert len(seen) == 3
    assert len(set(seen)) == 2
    assert all(one.startswith("$argon2id$") for one in seen)


async def test_guessing_has_to_wait_whether_there_is_an_account_or_not(ann: Browser) -> None:
    async with Browser(ann.node) as eve:
        for email in ("ann@example.org", "nobody@example.org"):
            codes = [(await eve.sign_in(email, "wrong"))[1]["code"] for _ in range(6)]
            assert codes == ["bad_credentials"] * 5 + ["wait"]
        status, problem = await eve.sign_in("ann@example.org")
        assert (status, problem["code"]) == (429, "wait")


def allow(node: RunningNode, places: int) -> None:
    """So many tries of a password for a place, and one a minute."""
    rules = {**RULES, Secret.PASSWORD: Rule((40, 60.0, 0), (places, 60.0, 0))}
    service(node).guard = Guard(asyncio.get_running_loop().time, rules)


async def test_an_address_that_guesses_many_accounts_has_to_wait(ann: Browser) -> None:
    allow(ann.node, 3)
    async with Browser(ann.node) as eve:
        codes = [(await eve.sign_in(f"{one}@example.org"))[1]["code"] for one in "abcd"]
        assert codes == ["bad_credentials"] * 3 + ["wait"]


@pytest.mark.parametrize(
    ("proxies", "said", "found"),
    [
        ((), "9.9.9.9", "127.0.0.1"),
        (("127.0.0.1",), "9.9.9.9", "9.9.9.9"),
        (("127.0.0.1",), "6.6.6.6, 9.9.9.9", "9.9.9.9"),
        (("127.0.0.1", "10.0.0.1"), "9.9.9.9, 10.0.0.1", "9.9.9.9"),
        (("127.0.0.1",), "", "127.0.0.1"),
        (("127.0.0.1",), "garbage\x01", "127.0.0.1"),
        (("127.0.0.1",), "2001:DB8::1", "2001:db8::1"),
        (("10.0.0.1",), "9.9.9.9", "127.0.0.1"),
    ],
)
def test_only_proxies_that_are_named_say_from_where_somebody_comes(
    proxies: tuple[str, ...], said: str, found: str
) -> None:
    headers = [(b"x-forwarded-for", said.encode())]
    request = Request({"type": "http", "headers": headers, "client": ("127.0.0.1", 1)})
    assert address_of(request, proxies) == found


async def test_who_guesses_behind_a_proxy_keeps_nobody_else_out(cluster: Cluster) -> None:
    node = await cluster.start("a", proxies="127.0.0.1")
    async with Browser(node) as ann:
        await found_home(ann)
        allow(node, 2)
        for _ in range(3):
            body = {"email": "nobody@example.org", "password": "wrong"}
            _, problem = await ann.ask("POST", "/session", body, X_Forwarded_For="6.6.6.6")
        assert problem["code"] == "wait"
        body = {"email": "ann@example.org", "password": PASSWORD}
        status, _ = await ann.ask("POST", "/session", body, X_Forwarded_For="9.9.9.9")
        assert status == 201


async def test_a_right_password_takes_back_the_accounts_mistakes(ann: Browser) -> None:
    async with Browser(ann.node) as other:
        for _ in range(3):
            for _ in range(4):
                await other.sign_in("ann@example.org", "wrong")
            status, _ = await other.sign_in("ann@example.org")
            assert status == 201


async def test_the_cookie_is_kept_from_scripts_and_other_sites(ann: Browser) -> None:
    body = {"email": "ann@example.org", "password": PASSWORD}
    url = f"{ann.node.url}/api/v1/session"
    async with aiohttp.ClientSession() as http, http.post(url, json=body) as answer:
        cookie = answer.headers["Set-Cookie"].lower()
        assert cookie.startswith("groupcore=gcb_")
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert "secure" not in cookie  # loopback, without https
        assert answer.headers["Cache-Control"] == "no-store"


async def test_behind_https_the_cookie_is_bound_to_the_host(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a", public_url="https://docs.example.org")
    secret = await service(node).offer_ownership(anew=True)
    body = {"secret": secret, "name": "Ann", "email": "ann@example.org", "password": PASSWORD}
    port = node._sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}/api/v1/users/first"
    async with aiohttp.ClientSession() as http, http.post(url, json=body) as answer:
        cookie = answer.headers["Set-Cookie"].lower()
        assert cookie.startswith("__host-groupcore=gcb_")
        assert "secure" in cookie
        assert "path=/" in cookie
        assert "domain" not in cookie


async def test_without_https_nobody_signs_in_from_afar(cluster: Cluster) -> None:
    node = await cluster.start("a", public_url="http://docs.example.org")
    url = f"http://127.0.0.1:{node._sockets[0].getsockname()[1]}/api/v1/session"
    body = {"email": "ann@example.org", "password": PASSWORD}
    async with aiohttp.ClientSession() as http, http.post(url, json=body) as answer:
        assert (answer.status, (await answer.json())["code"]) == (403, "insecure")


@pytest.mark.parametrize("csrf", ["", "x", "0" * 64])
async def test_a_forged_request_changes_nothing(ann: Browser, csrf: str) -> None:
    ann.csrf = csrf
    for method, path, body in (
        ("PATCH", "/me", {"name": "Eve"}),
        ("POST", "/ticket", None),
        ("DELETE", "/session", None),
        ("POST", "/documents", {"title": "x"}),
    ):
        status, problem = await ann.ask(method, path, body)
        assert (status, problem["code"]) == (403, "forged")


async def test_a_foreign_page_may_not_write(ann: Browser) -> None:
    status, problem = await ann.ask("PATCH", "/me", {"name": "E"}, Origin="https://evil.example")
    assert (status, problem["code"]) == (403, "forbidden_origin")
    status, problem = await ann.ask("POST", "/ticket", Origin="null")
    assert (status, problem["code"]) == (403, "forbidden_origin")


async def test_nothing_but_the_door_answers_who_is_not_signed_in(ann: Browser) -> None:
    doc = await ann.create()
    async with Browser(ann.node) as eve:
        for path in ("/documents", f"/documents/{doc}", "/me", "/users", "/audit", "/tokens"):
            status, problem = await eve.ask("GET", path)
            assert (status, problem["code"]) == (401, "unauthenticated"), path
        status, problem = await eve.ask("POST", "/documents", {"title": "x"})
        assert (status, problem["code"]) == (401, "unauthenticated")


async def test_signing_out_closes_the_sockets_of_that_sign_in_only(ann: Browser) -> None:
    async with Browser(ann.node) as phone:
        await phone.sign_in("ann@example.org")
        async with await ann.page() as one, await phone.page() as other:
            status, _ = await phone.ask("DELETE", "/session")
            assert status == 204
            await within(1.0, other.closed(), "the socket of that sign-in is closed")
            assert other.close_code == 4403
            doc = await ann.create()
            assert (await one.open("DocumentOutline", f"doc/{doc}"))["t"] == "snapshot"
        assert (await phone.ask("GET", "/me"))[0] == 401


async def test_a_new_password_ends_other_sign_ins_and_needs_the_old_one(ann: Browser) -> None:
    async with Browser(ann.node) as phone:
        await phone.sign_in("ann@example.org")
        new = "another good one"
        wrong = await ann.ask("PUT", "/me/password", {"current": "no", "password": new})
        assert (wrong[0], wrong[1]["code"]) == (401, "bad_credentials")
        weak = await ann.ask("PUT", "/me/password", {"current": PASSWORD, "password": "short"})
        assert (weak[0], weak[1]["code"]) == (422, "weak_password")
        done = await ann.ask("PUT", "/me/password", {"current": PASSWORD, "password": new})
        assert done[0] == 204
        assert (await phone.ask("GET", "/me"))[0] == 401
        assert (await ann.ask("GET", "/me"))[0] == 200
        assert (await phone.sign_in("ann@example.org", new))[0] == 201


async def test_a_socket_wants_a_ticket_of_this_node_that_nobody_has_shown(ann: Browser) -> None:
    good = await ann.ticket()
    async with Page(ann.node.url, ticket=good) as page:
        assert page.welcome["principal"].startswith("user:")
    for ticket in ("", "gcs_garbage", good, "x" * 900):
        page = Page(ann.node.url, ticket=ticket)
        assert await page.refusal() == 4401


async def test_the_openapi_document_knows_every_route(ann: Browser) -> None:
    from server.app import api_routes

    status, described = await ann.ask("GET", "/openapi.json")
    assert status == 200
    routes = api_routes(ann.node.node, ann.node.console)
    asked = {
        (route.path, method.lower())
        for route in routes
        for method in (route.methods or set()) - {"HEAD", "OPTIONS"}
        if route.path != "/openapi.json"
    }
    known = {(path, verb) for path, verbs in described["paths"].items() for verb in verbs}
    assert asked == known


async def test_bad_bodies_are_refused_by_name(ann: Browser) -> None:
    for body, word in (
        ({"name": 7}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"name": "x" * 10_000}, "name"),
        ({}, "name is missing"),
        ({"name": "Ann", "admin": True}, "admin"),
        (["name"], "object"),
        (None, "application/json"),
    ):
        status, problem = await ann.ask("PATCH", "/me", body)
        assert (status, problem["code"]) == (400, "bad_request"), body
        assert word in problem["detail"]
    status, problem = await ann.ask("PATCH", "/me", {"name": "x" * 70_000})
    assert (status, problem["code"]) == (413, "too_large")
