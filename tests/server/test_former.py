"""Data folders of former versions: a node starts from them and shows everything."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from groupcore.shared.machine import Machine
from server.accounts.accounts import Accounts
from server.accounts.passwords import Passwords
from server.accounts.people import HOME
from tests.server.accounts.people import Browser
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
