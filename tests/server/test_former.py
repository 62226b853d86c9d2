"""Data folders of former versions: a node starts from them and shows everything."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from groupcore.shared.machine import Machine
from server.accounts.accounts import Accounts
from server.accounts.passwords import Passwords
from server.accounts.people import HOME
from server.accounts.roles import USER, Role
from server.administered import Administered
from server.documents.catalogue import DOCUMENT, Catalogue, Nodes
from server.files.erasures import Erasures
from server.serve import RunningNode
from tests.server.accounts.people import Browser, hire, service
from tests.server.places.boards import create_place
from tests.server.support import Cluster, eventually, get, post

FORMER = Path(__file__).parent / "former"


def unpack(name: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    with tarfile.open(FORMER / f"{name}.tar.xz") as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # none before 3.11.4
        packed.extractall(folder)


async def test_documents_from_before_there_were_folders_are_there_and_move(
    cluster: Cluster,
) -> None:
    unpack("open", cluster.folder / "a")
    node = await cluster.start("a")

    async def are_filed() -> bool:
        _, found = await get(f"{node.url}/api/v1/files")
        return {row["title"] for row in found["documents"]} == {"Plan", "Budget"}

    await eventually(are_filed, "both are in the first workspace")
    _, found = await get(f"{node.url}/api/v1/files")
    doc = next(row["id"] for row in found["documents"] if row["title"] == "Plan")
    _, text = await get(f"{node.url}/api/v1/documents/{doc}/markdown")
    assert text == "# Plan\n\n# Steps\n\nfirst\n"
    _, folder = await post(f"{node.url}/api/v1/folders", {"workspace": HOME, "name": "Old"})
    body = {"items": [doc], "workspace": HOME, "folder": folder["id"]}
    assert (await post(f"{node.url}/api/v1/files/move", body))[0] == 204
    _, place = await get(f"{node.url}/api/v1/documents/{doc}/place")
    assert [one["name"] for one in place["path"]] == ["Old"]


async def test_accounts_from_before_there_were_folders_are_there(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    unpack("with-accounts", cluster.folder / "a")
    for _ in range(2):  # also what it has written then
        node = await cluster.start("a", accounts="on")
        async with Browser(node) as ann:
            assert (await ann.sign_in("ann@example.org"))[0] == 201
            _, found = await ann.ask("GET", "/files")
            assert {row["title"] for row in found["documents"]} == {"Plan", "Budget"}
            assert {row["name"] for row in found["workspaces"]} == {"Home", "Choir"}
            doc = found["documents"][0]["id"]
            assert (await ann.ask("POST", "/files/trash", {"items": [doc]}))[0] == 204
            assert (await ann.ask("POST", "/files/restore", {"items": [doc]}))[0] == 204
        await cluster.stop("a")


def test_a_state_of_the_accounts_from_before_there_were_folders_is_taken() -> None:
    accounts = Accounts()
    state = (FORMER / "accounts.bin").read_bytes()
    Machine(accounts, 1).load(state)
    assert set(accounts.documents) == {"plan", "budget"}
    assert set(accounts.workspaces) == {HOME, "choir"}
    assert accounts.folders == {}
    assert accounts.trash == {}


def test_a_list_from_before_there_were_places_has_documents_only() -> None:
    catalogue = Catalogue()
    Machine(catalogue, 1).load((FORMER / "catalogue.bin").read_bytes())
    assert {doc: one.title for doc, one in catalogue.items()} == {
        "plan": "Plan",
        "budget": "Budget",
    }
    assert {catalogue.kind_of(doc) for doc in catalogue} == {DOCUMENT}


async def test_places_are_made_beside_documents_of_a_former_version_and_are_kept(
    cluster: Cluster,
) -> None:
    unpack("open", cluster.folder / "a")
    places = set()
    for number in range(2):  # also what it has written then
        node = await cluster.start("a")
        places.add(await create_place(node, f"Board {number}"))

        async def are_filed(node: RunningNode = node) -> bool:
            _, found = await get(f"{node.url}/api/v1/files")
            rows = found["documents"]
            return {row["id"] for row in rows if row["kind"] == "place"} == places and {
                row["title"] for row in rows if row["kind"] == "document"
            } == {"Plan", "Budget"}

        await eventually(are_filed, "documents and places are in the list")
        await cluster.stop("a")


def test_a_state_of_the_accounts_from_before_addresses_were_proved_is_taken() -> None:
    accounts = Accounts()
    Machine(accounts, 1).load((FORMER / "accounts-unproved.bin").read_bytes())
    proved = {user.name: accounts.is_proved(user.id) for user in accounts.users.values()}
    # Carol was made by the provider; Dave's account was linked by his address, and has a password.
    assert proved == {"Ann": False, "bob": False, "Eve": False, "Carol": True, "Dave": False}
    assert accounts.document_offers == {}


async def test_accounts_from_before_addresses_were_proved_lose_nothing_and_can_be_proved(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    unpack("unproved", cluster.folder / "a")
    for _ in range(2):  # also what it has written then
        node = await cluster.start("a", accounts="on")
        async with Browser(node) as ann, Browser(node) as eve, Browser(node) as bob:
            for browser, name in ((ann, "ann"), (eve, "eve"), (bob, "bob")):
                assert (await browser.sign_in(f"{name}@example.org"))[0] == 201
            _, found = await eve.ask("GET", "/files")
            plan = next(row for row in found["documents"] if row["title"] == "Plan")
            assert plan["role"] == "editor"  # what she was given by her address then
            _, session = await ann.ask("GET", "/session")
            assert session["manages"] is True
            _, listed = await ann.ask("GET", "/users")
            for user in listed["users"]:
                if user["name"] in ("Ann", "Eve"):
                    status, shown = await ann.ask("POST", f"/users/{user['id']}/confirm", {})
                    assert (status, shown["proved"]) == (200, True)
        await cluster.stop("a")


async def test_who_was_linked_by_an_address_before_is_proved_there_and_a_squatter_is_out(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dave's account was linked by his address: its password may be a squatter's."""
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    unpack("unproved", cluster.folder / "a")
    node = await cluster.start("a", accounts="on")
    accounts = service(node).accounts
    dave = accounts.by_email("dave@example.org")
    assert dave is not None
    async with Browser(node) as browser:
        assert (await browser.sign_in(dave.email))[0] == 201
        assert await accounts.prove_at_provider(dave.id, dave.subject, dave.email, "")
        assert (await browser.ask("GET", "/session"))[1]["principal"] is None
        assert (await browser.sign_in(dave.email))[0] == 401
    assert accounts.by_subject(dave.subject) is not None


def test_objects_from_before_they_were_entrusted_to_an_operator_are_entrusted_to_nobody() -> None:
    accounts, nodes, erasures = Accounts(), Nodes(), Erasures()
    states: dict[str, Administered] = {
        "accounts-unentrusted": accounts,
        "nodes": nodes,
        "erasures": erasures,
    }
    for name, target in states.items():
        Machine(target, 1).load((FORMER / f"{name}.bin").read_bytes())
        assert (target.operator, target.revoked, target.authorized) == (b"", set(), {})
    roles = {
        user.name: accounts.workspace_role(USER + user.id, HOME) for user in accounts.users.values()
    }
    assert roles == {"Ann": Role.OWNER, "Bob": Role.EDITOR}
    assert dict(nodes.items()) == {"a": "http://a.example"}
    assert erasures.by_node() == {"a": 1, "b": 1}


async def test_accounts_from_before_ids_were_keyed_keep_theirs_and_new_ones_are_keyed(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    unpack("sequential", cluster.folder / "a")
    made = {""}
    for round in range(2):  # also what it has written then
        node = await cluster.start("a", accounts="on")
        accounts = service(node).accounts
        async with Browser(node) as ann, Browser(node) as eve:
            assert (await eve.sign_in("eve@example.org"))[0] == 201
            assert (await ann.sign_in("ann@example.org"))[0] == 201
            assert {"4", "6", "8"} <= accounts.users.keys()
            _, files = await eve.ask("GET", "/files")
            assert [row["title"] for row in files["documents"]] == ["Songs"]
            songs = files["documents"][0]["id"]
            _, links = await eve.ask("GET", f"/documents/{songs}/links")
            assert [one["id"] for one in links["links"]] == ["e"]
            made.add(await hire(ann, f"new{round}"))
            assert all(len(one) == 20 for one in made if one)
        await cluster.stop("a")
    assert len(made) == 3
