"""Three nodes: what was decided at one holds at the others, and sockets are closed within 1 s."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from server.accounts.people import HOME
from server.serve import RunningNode
from tests.server.accounts.people import Browser, found_home, hire, service
from tests.server.support import Cluster, Page, eventually, within

pytestmark = pytest.mark.slow

SOON_S = 1.0
"""How long a page may go on once what it may has changed."""


@pytest.fixture
async def nodes(cluster: Cluster) -> list[RunningNode]:
    cluster.size = 3
    return await cluster.start_all("a", "b", "c")


@pytest.fixture
async def ann(nodes: list[RunningNode]) -> AsyncIterator[Browser]:
    async with Browser(nodes[0]) as browser:
        await found_home(browser)
        yield browser


async def signed_in(node: RunningNode, name: str) -> Browser:
    browser = Browser(node)
    await eventually(
        lambda: service(node).accounts.by_email(f"{name}@example.org") is not None, "known there"
    )
    status, answer = await browser.sign_in(f"{name}@example.org")
    assert status == 201, answer
    return browser


async def first_block(page: Page, doc: str) -> str:
    """Open the outline and the first block; its name."""
    assert (await page.open("DocumentOutline", f"doc/{doc}"))["t"] == "snapshot"
    block = f"doc/{doc}/b1"
    assert (await page.open("Block", block))["t"] == "snapshot"
    return block


async def test_a_session_holds_at_all_nodes_and_ends_at_all(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    """The sockets of all nodes are closed within 1 s of the sign-out's place in the order."""
    pages = []
    for node in nodes:
        ann.go(node)
        status, _ = await ann.ask("GET", "/me")
        assert status == 200
        pages.append(await ann.page())
    async with pages[0], pages[1], pages[2]:
        ann.go(nodes[1])
        assert (await ann.ask("DELETE", "/me/sessions"))[0] == 204
        closed = asyncio.gather(*[page.closed() for page in pages])
        await within(SOON_S, closed, "the sockets of all nodes are closed")
        assert {page.close_code for page in pages} == {4403}
    for node in nodes:
        assert not service(node).accounts.sign_ins


async def test_an_account_that_is_switched_off_is_out_everywhere(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    bob = await hire(ann, "bob")
    at_b, at_c = await signed_in(nodes[1], "bob"), await signed_in(nodes[2], "bob")
    async with at_b, at_c, await at_b.page() as one, await at_c.page() as other:
        status, _ = await ann.ask("PATCH", f"/users/{bob}", {"disabled": True})
        assert status == 200
        await within(SOON_S, asyncio.gather(one.closed(), other.closed()), "both are closed")
        for browser in (at_b, at_c):
            assert (await browser.ask("GET", "/documents"))[0] == 401
        status, problem = await at_b.sign_in("bob@example.org")
        assert (status, problem["code"]) == (401, "bad_credentials")


async def test_a_revoke_at_one_node_is_in_force_at_the_others(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    """Who loses the role is told nothing more and writes nothing more; who keeps it goes on."""
    bob = await hire(ann, "bob", "editor")
    await hire(ann, "eve", "editor")
    doc = await ann.create("Plan", "text")
    at_b, at_c = await signed_in(nodes[1], "bob"), await signed_in(nodes[2], "eve")
    async with at_b, at_c, await at_b.page() as page, await at_c.page() as other:
        block = await first_block(page, doc)
        await first_block(other, doc)
        assert (await page.open("Presence", f"doc/{doc}/here"))["t"] == "opened"
        insert = await page.call(f"doc/{doc}", "rename", "Bobs")
        assert insert["t"] == "result", insert
        status, _ = await ann.ask("DELETE", f"/workspaces/{HOME}/members/{bob}")
        assert status == 204
        errors = asyncio.gather(*[page.hear("error") for _ in range(3)])
        lost = {error["name"] for error in await within(SOON_S, errors, "what was open is over")}
        assert lost == {f"doc/{doc}", block, f"doc/{doc}/here"}
        page.heard.clear()
        refused = await page.call(f"doc/{doc}", "rename", "Late")
        assert refused["code"] in ("forbidden", "not_open")
        assert (await page.open("DocumentOutline", f"doc/{doc}"))["code"] == "forbidden"
        going_on = await other.call(f"doc/{doc}", "rename", "Eves")
        assert going_on["t"] == "result", going_on
        assert all(one["t"] == "ping" for one in page.heard), page.heard
        assert (await at_b.ask("GET", f"/documents/{doc}"))[1]["code"] == "no_such_document"
        assert (await at_b.ask("GET", "/documents"))[1] == {"documents": []}


async def test_a_viewer_reads_and_writes_nothing_and_may_write_once_promoted(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    bob = await hire(ann, "bob", "viewer")
    doc = await ann.create("Plan", "text")
    at_b = await signed_in(nodes[1], "bob")
    async with at_b, await at_b.page() as page:
        await first_block(page, doc)
        refused = await page.call(f"doc/{doc}", "rename", "Mine")
        assert refused["code"] == "forbidden"
        assert (await at_b.ask("POST", "/documents", {"title": "x"}))[1]["code"] == "forbidden"
        body = {"role": "editor"}
        status, _ = await ann.ask("PUT", f"/documents/{doc}/members/{bob}", body)
        assert status == 204

        async def may_write() -> bool:
            return bool((await page.call(f"doc/{doc}", "rename", "Mine"))["t"] == "result")

        known = "an editor may write"
        await within(SOON_S, eventually(may_write, known), known)


async def test_who_has_just_been_given_a_role_is_let_in_at_once(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    """Others have the document open, with the list of before."""
    await hire(ann, "bob", "")
    doc = await ann.create("Plan", "text")
    at_b = await signed_in(nodes[1], "bob")
    async with at_b, await ann.page() as open_before, await at_b.page() as page:
        await first_block(open_before, doc)
        for role in ("viewer", "editor"):
            ann.go(nodes[0])
            assert (await page.open("DocumentOutline", f"doc/{doc}"))["code"] == "forbidden"
            body = {"email": "bob@example.org", "role": role}
            status, made = await ann.ask("POST", f"/documents/{doc}/members", body)
            assert status == 201
            place = f"/documents/{doc}/members/{made['id']}"
            await eventually(
                lambda: service(nodes[1]).may_read(f"user:{made['id']}", doc),  # noqa: B023
                "the other node knows",
            )
            await first_block(page, doc)
            assert (await ann.ask("DELETE", place))[0] == 204
            errors = asyncio.gather(*[page.hear("error") for _ in range(2)])
            lost = await within(SOON_S, errors, "what was open is over")
            assert {error["code"] for error in lost} == {"forbidden"}


async def test_an_owner_of_one_document_cannot_go_through_the_accounts_of_other_tenants(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    """Ids are small: one who gave each a role was shown all names and addresses."""
    bob, eve = await hire(ann, "bob", "viewer"), await hire(ann, "eve", "")
    doc, other = await ann.create("Plan", "text"), await ann.create("Other", "text")
    for one in (doc, other):
        at = f"/documents/{one}/members"
        body = {"email": "eve@example.org", "role": "owner"}
        assert (await ann.ask("POST", at, body))[0] == 201
    async with await signed_in(nodes[0], "eve") as tenant:
        place, role = f"/documents/{doc}/members", {"role": "viewer"}
        for id in (bob, "7", "zzz"):
            answers = [
                await tenant.ask("PUT", f"{place}/{id}", role),
                await tenant.ask("DELETE", f"{place}/{id}"),
            ]
            assert {(status, told["code"]) for status, told in answers} == {(404, "not_found")}
        body = {"email": "bob@example.org", **role}
        assert (await tenant.ask("POST", place, body))[0] == 201  # whose address one knows
        assert (await tenant.ask("PUT", f"{place}/{bob}", {"role": "editor"}))[0] == 204
        elsewhere = f"/documents/{other}/members/{bob}"
        assert (await tenant.ask("PUT", elsewhere, role))[0] == 404
        assert (await tenant.ask("PUT", f"{place}/{eve}", {"role": "owner"}))[0] == 204
    assert (await ann.ask("PUT", f"/documents/{other}/members/{bob}", role))[0] == 204


async def test_a_document_is_its_makers_before_anybody_can_find_it(ann: Browser) -> None:
    doc = await ann.create("Plan", "text")
    outline = ann.node.node.keeper.documents[doc].outline
    assert dict(outline.rights) == service(ann.node).accounts.rights(doc)


async def test_a_page_may_neither_take_a_list_nor_read_all_titles(ann: Browser) -> None:
    doc = await ann.create("Plan", "text")
    async with await ann.page() as page:
        await first_block(page, doc)
        for operation, arguments in (
            ("claim", []),
            ("grant", ["user:9", "WRITE"]),
            ("revoke", ["accounts"]),
            ("entitle", [1 << 50, [["user:9", "MANAGE"]]]),
        ):
            refused = await page.call(f"doc/{doc}", operation, *arguments)
            assert refused["code"] == "forbidden", operation
        assert (await page.open("Catalogue", "documents"))["code"] == "forbidden"
        assert (await page.open("Accounts", "accounts"))["code"] == "unknown_type"
        assert (await page.open("DocumentOutline", "accounts"))["code"] == "forbidden"


async def test_who_visits_by_a_link_has_its_document_until_it_is_revoked(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    doc, other = await ann.create("Plan", "text"), await ann.create("Other", "text")
    body = {"role": "viewer", "valid_days": 1}
    status, link = await ann.ask("POST", f"/documents/{doc}/links", body)
    assert status == 201
    async with Browser(nodes[2]) as visitor:
        wrong = link["secret"][:-1] + ("A" if link["secret"][-1] != "A" else "B")
        status, problem = await visitor.ask("POST", "/links/enter", {"secret": wrong})
        assert (status, problem["code"]) == (404, "no_such_link")
        status, found = await visitor.ask("POST", "/links/enter", {"secret": link["secret"]})
        assert (status, found) == (201, {"document": doc, "role": "viewer"})
        _, session = await visitor.ask("GET", "/session")
        assert session["principal"] == f"link:{link['id']}"
        async with await visitor.page() as page:
            await first_block(page, doc)
            assert (await page.call(f"doc/{doc}", "rename", "x"))["code"] == "forbidden"
            for kind, name in (("DocumentOutline", other), ("Presence", f"{other}/here")):
                assert (await page.open(kind, f"doc/{name}"))["code"] == "forbidden"
            listed = (await visitor.ask("GET", "/documents"))[1]["documents"]
            assert [row["id"] for row in listed] == [doc]
            status, _ = await ann.ask("DELETE", f"/documents/{doc}/links/{link['id']}")
            assert status == 204
            await within(SOON_S, page.closed(), "the visitor's socket is closed")
            assert page.close_code == 4403
        status, problem = await visitor.ask("POST", "/links/enter", {"secret": link["secret"]})
        assert (status, problem["code"]) == (404, "no_such_link")


async def test_addresses_of_mail_are_for_owners_and_no_names_for_visitors(ann: Browser) -> None:
    bob = await hire(ann, "bob", "editor")
    doc = await ann.create()
    _, link = await ann.ask("POST", f"/documents/{doc}/links", {"role": "viewer"})
    paths = (f"/documents/{doc}/members", f"/workspaces/{HOME}/members")
    at_b = await signed_in(ann.node, "bob")
    async with at_b, Browser(ann.node) as visitor:
        for path in paths:
            _, found = await ann.ask("GET", path)
            assert all("email" in row for row in found["members"])
            _, found = await at_b.ask("GET", path)
            assert len(found["members"]) == 2
            assert [row["id"] for row in found["members"] if "email" in row] == [bob]
        await visitor.ask("POST", "/links/enter", {"secret": link["secret"]})
        status, found = await visitor.ask("GET", paths[0])
        assert (status, found) == (200, {"workspace": None, "role": "viewer", "members": []})
        assert (await visitor.ask("GET", paths[1]))[0] == 404


async def test_a_link_with_a_password_asks_for_it(ann: Browser) -> None:
    doc = await ann.create()
    body = {"role": "editor", "password": "open sesame"}
    _, link = await ann.ask("POST", f"/documents/{doc}/links", body)
    async with Browser(ann.node) as visitor:
        for given in ({}, {"password": "open says me"}):
            asked = {"secret": link["secret"], **given}
            status, problem = await visitor.ask("POST", "/links/enter", asked)
            assert (status, problem["code"]) == (401, "bad_credentials")
        asked = {"secret": link["secret"], "password": "open sesame"}
        assert (await visitor.ask("POST", "/links/enter", asked))[0] == 201


async def test_a_list_is_right_before_anybody_is_let_in_to_a_document_nobody_had_open(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    """The role was taken while no node had the document open."""
    for node in nodes:
        node.node.keeper.linger_s = 0.0
    bob = await hire(ann, "bob", "editor")
    doc = await ann.create("Plan", "text")
    at_b = await signed_in(nodes[1], "bob")
    async with at_b:
        assert (await at_b.ask("GET", f"/documents/{doc}"))[0] == 200
        await eventually(lambda: not any(len(node.node.keeper) for node in nodes), "all closed")
        await ann.ask("DELETE", f"/workspaces/{HOME}/members/{bob}")
        async with await ann.page() as page:
            await first_block(page, doc)
            outline = nodes[0].node.keeper.documents[doc].outline
            assert f"user:{bob}" not in outline.rights
            assert outline.rights == service(nodes[0]).accounts.rights(doc)


async def test_a_token_reads_within_its_scopes_at_every_node_until_it_is_revoked(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    doc = await ann.create()
    body = {"name": "ci", "scopes": ["documents:read"]}
    status, token = await ann.ask("POST", "/tokens", body)
    assert status == 201
    async with Browser(nodes[1]) as program:
        bearer = {"Authorization": f"Bearer {token['secret']}"}
        await eventually(lambda: bool(service(nodes[1]).accounts.tokens), "known there")
        assert (await program.ask("GET", f"/documents/{doc}", **bearer))[0] == 200
        for method, path, code in (
            ("POST", "/documents", "forbidden"),
            ("POST", "/ticket", "forbidden"),
            ("GET", "/users", "forbidden"),
            ("POST", "/tokens", "forbidden"),
        ):
            status, problem = await program.ask(method, path, {"title": "x"}, **bearer)
            assert (status, problem["code"]) == (403, code), path
        assert (await ann.ask("DELETE", f"/tokens/{token['id']}"))[0] == 204
        await eventually(lambda: not service(nodes[1]).accounts.tokens, "over there")
        assert (await program.ask("GET", f"/documents/{doc}", **bearer))[0] == 401
        for bad in ("Bearer gct_x", "Bearer", "Basic YTpi", "Bearer " + "x" * 900):
            assert (await program.ask("GET", "/documents", Authorization=bad))[0] == 401


async def test_asking_again_with_the_same_key_makes_one_thing(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    doc = await ann.create()
    made: dict[str, set[str]] = {}
    for node in (nodes[0], nodes[1], nodes[0]):
        ann.go(node)
        for path, body in (
            (f"/documents/{doc}/links", {"role": "viewer"}),
            ("/tokens", {"name": "ci", "scopes": ["documents:read"]}),
            ("/workspaces", {"name": "Club"}),
            (f"/workspaces/{HOME}/invitations", {"role": "viewer"}),
            ("/documents", {"title": "Twice"}),
        ):
            status, answer = await ann.ask("POST", path, body, Idempotency_Key="k1")
            assert status == 201, answer
            made.setdefault(path, set()).add(f"{answer['id']} {answer.get('secret')}")
    assert all(len(ids) == 1 for ids in made.values()), made


async def test_the_audit_files_of_all_nodes_say_the_same(
    ann: Browser, nodes: list[RunningNode], cluster: Cluster
) -> None:
    from server.accounts.audit_file import verify

    await hire(ann, "bob")
    noted = service(nodes[0]).accounts.noted
    await eventually(lambda: all(service(n).accounts.noted == noted for n in nodes), "all know")
    files = [verify(cluster.folder / name / "audit.jsonl") for name in "abc"]
    assert len({file.chain for file in files}) == 1
    assert {(file.last, file.missing) for file in files} == {(noted, 0)}
    status, answer = await ann.ask("GET", "/audit")
    assert status == 200
    *_, last, read = answer["entries"]
    assert last["chain"] == files[0].chain
    assert read["what"] == "audit.read"

    def all_have_it() -> bool:
        found = [verify(cluster.folder / name / "audit.jsonl").chain for name in "abc"]
        return set(found) == {read["chain"]}

    await eventually(all_have_it, "the read is in all files")
