"""Backups: taken while people write, verified, put back, and the same again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from server.accounts.passwords import Passwords
from server.backup.archive import Reader
from server.backup.cli import create, make_parser, put_back
from server.backup.restoring import read_document
from server.errors import DamagedStoreError, SettingsProblem
from server.main import main
from server.management.finding import way_to
from server.serve import RunningNode
from tests.server.accounts.people import Browser, found_home, hire, service
from tests.server.pictures.files import made, photo
from tests.server.pictures.test_pictures_http import download, upload
from tests.server.support import Cluster, eventually, get, post
from tests.server.support import create as make


def restored(file: Path, folder: Path) -> dict[str, object]:
    """Put a backup back, in a thread: it runs a loop of its own."""
    return put_back(make_parser().parse_args(["restore", str(file), "--data", str(folder)]))


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.tar*"))


async def documents(node: RunningNode) -> dict[str, Any]:
    """All documents with their blocks, as a node shows them."""
    _, listed = await get(f"{node.url}/api/v1/documents")
    found = {}
    for row in listed["documents"]:
        _, found[row["id"]] = await get(f"{node.url}/api/v1/documents/{row['id']}")
    return {"listed": listed, "texts": found}


async def test_a_restored_cluster_has_the_same_documents_and_pictures(
    cluster: Cluster, tmp_path: Path
) -> None:
    node = await cluster.start("a")
    plan = await make(node, "Plan", "## Steps\n\n- **one**\n- two\n\n```py\nx = 1\n```")
    notes = await make(node, "Notes", "\n\n".join(f"line {number}" for number in range(300)))
    _, told = await upload(node, plan, photo())
    async with node.node.keeper.holding(plan) as document:
        block = await document.block(document.outline.order[0])
        await block.set({"type": "image", "picture": told["picture"]})
        await document.split(document.outline.order[1], 1)
    old = await make(node, "Old")
    assert (await post(f"{node.url}/api/v1/files/trash", {"items": [old]}))[0] == 204
    before = await documents(node)
    assert old not in before["texts"]
    file = tmp_path / "backup.tar"
    shown = await create(way_to(node.admin_url), file)
    assert (shown["documents"], shown["pictures"]) == (3, 1)
    assert file.stat().st_mode & 0o077 == 0
    await cluster.stop("a")
    told_of = await asyncio.to_thread(restored, file, tmp_path / "new")
    assert (told_of["documents"], told_of["pictures"]) == (3, 1)
    cluster.folder = tmp_path / "clusters"
    cluster.size = 2
    first = await cluster.begin("a", data=str(tmp_path / "new"))
    second = await cluster.begin("b")
    for one in (first, second):
        await eventually(lambda one=one: one.node.ready, "ready")  # type: ignore[misc]
        assert await documents(one) == before
        assert (await download(one, plan, told["picture"]))[0] == 200
        assert (await download(one, notes, told["picture"]))[0] == 404
    assert (await post(f"{second.url}/api/v1/files/restore", {"items": [old]}))[0] == 204
    assert old in (await documents(second))["texts"]


async def test_a_backup_that_is_taken_while_people_write_has_each_text_at_one_place(
    cluster: Cluster, tmp_path: Path
) -> None:
    """A text that is cut and joined again all the time is in the backup once, and whole."""
    node = await cluster.start("a")
    doc = await make(node, "Plan", "abcdefghij")
    writing = True

    async def write() -> None:
        async with node.node.keeper.holding(doc) as document:
            while writing:
                first = document.outline.order[0]
                new = await document.split(first, 4)
                await document.join(new, first)

    writer = asyncio.create_task(write())
    texts = set()
    for number in range(8):
        file = tmp_path / f"{number}.tar"
        await create(way_to(node.admin_url), file)
        packed = Reader(file).one(f"documents/{doc}")
        assert packed is not None
        texts.add("".join(line for line in text_of(packed)))
    writing = False
    await writer
    assert texts == {"abcdefghij"}


def text_of(packed: bytes) -> list[str]:
    """The texts of the blocks of a packed document."""
    return ["".join(run.text for run in seed.content) for seed in read_document(packed)[1]]


async def test_accounts_come_back_with_roles_and_log_and_nobody_is_signed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    cluster = Cluster(tmp_path / "one")
    cluster.flags = {"accounts": "on"}
    node = await cluster.start("a")
    file = tmp_path / "backup.tar"
    async with Browser(node) as ann:
        await found_home(ann)
        doc = await ann.create("Secret plan")
        await hire(ann, "bob", "viewer")
        await create(way_to(node.admin_url), file)
    await cluster.close()
    told = await asyncio.to_thread(restored, file, tmp_path / "new")
    assert told["people"] == 2
    again = Cluster(tmp_path / "two")
    again.flags = {"accounts": "on"}
    node = await again.start("a", data=str(tmp_path / "new"))
    log = tmp_path / "new" / "audit.jsonl"
    assert main(["audit", "verify", str(log)]) == 0
    async with Browser(node) as bob:
        assert (await bob.ask("GET", "/documents"))[0] == 401
        assert (await bob.sign_in("bob@example.org"))[0] == 201
        assert (await bob.ask("GET", f"/documents/{doc}"))[1]["title"] == "Secret plan"
        status, _ = await bob.ask(
            "POST", f"/documents/{doc}/pictures", {"from": doc, "picture": ""}
        )
        assert status == 403
    await again.close()


async def test_who_was_erased_stays_so_behind_an_older_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    cluster = Cluster(tmp_path / "one")
    cluster.flags = {"accounts": "on"}
    node = await cluster.start("a")
    old = tmp_path / "old.tar"
    async with Browser(node) as ann:
        await found_home(ann)
        await ann.create("Plan")
        bob = await hire(ann, "bob")
        await create(way_to(node.admin_url), old)
        node_accounts = service(node).accounts
        await node_accounts.erase("admin", bob, "stay", "", "")
        await eventually((tmp_path / "one" / "a" / "erased.json").exists, "the list is written")
        later = tmp_path / "elsewhere" / "later.tar"
        later.parent.mkdir()
        await create(way_to(node.admin_url), later)
        ids = {*node_accounts.users}
    await cluster.close()

    def back(name: str, *lists: Path) -> dict[str, object]:
        given = [word for path in lists for word in ("--erased", str(path))]
        arguments = ["restore", str(old), "--data", str(tmp_path / name), *given]
        return put_back(make_parser().parse_args(arguments))

    told = await asyncio.to_thread(back, "silent")
    assert (told["people"], told["erased"]) == (2, 0)
    assert "--erased" in caplog.text, "it is not silent"
    for name, path in (
        ("by-node", tmp_path / "one" / "a" / "erased.json"),
        ("by-backup", later),
        ("by-list", later.with_name("erased.json")),
    ):
        told = await asyncio.to_thread(back, name, path)
        assert (told["people"], told["erased"]) == (1, 1), name
    again = Cluster(tmp_path / "two")
    again.flags = {"accounts": "on"}
    node = await again.start("a", data=str(tmp_path / "by-list"))
    assert main(["audit", "verify", str(tmp_path / "by-list" / "audit.jsonl")]) == 0
    async with Browser(node) as ann, Browser(node) as eve:
        assert (await eve.sign_in("bob@example.org"))[0] == 401
        assert (await ann.sign_in("ann@example.org"))[0] == 201
        assert bob in service(node).accounts.erased
        # Places in the order begin anew: found that ids did, too, and met those of before.
        made = [await hire(ann, f"new{number}") for number in range(5)]
        assert ids.isdisjoint(made)
    await again.close()


async def test_new_accounts_behind_an_old_backup_have_ids_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: ids were places in the order, which begins anew, so they met those of others."""
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    cluster = Cluster(tmp_path / "one")
    cluster.flags = {"accounts": "on"}
    node = await cluster.start("a")
    file = tmp_path / "backup.tar"
    async with Browser(node) as ann:
        await found_home(ann)
        for number in range(40):
            await hire(ann, f"one{number}", "")
        await create(way_to(node.admin_url), file)
        ids = {*service(node).accounts.users}
    await cluster.close()
    await asyncio.to_thread(restored, file, tmp_path / "new")
    again = Cluster(tmp_path / "two")
    again.flags = {"accounts": "on"}
    node = await again.start("a", data=str(tmp_path / "new"))
    async with Browser(node) as ann:
        await ann.sign_in("ann@example.org")
        made = {await hire(ann, f"two{number}", "") for number in range(40)}
        assert len(made) == 40
        assert ids.isdisjoint(made)
        assert len(service(node).accounts.users) == 81
    await again.close()


@pytest.fixture
async def backup(cluster: Cluster, tmp_path: Path) -> Path:
    """A small backup with everything in it."""
    node = await cluster.start("a")
    doc = await make(node)
    await upload(node, doc, made("PNG"))
    await create(way_to(node.admin_url), tmp_path / "good.tar")
    return tmp_path / "good.tar"


async def test_a_damaged_file_is_refused_and_the_damage_is_named(
    backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = bytes_of(backup)
    bad = tmp_path / "bad.tar"
    places = {"first": "documents/", "PNG": "pictures/", '"sha256"': "manifest.json"}
    for words, named in places.items():
        at = whole.index(words.encode())
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(DamagedStoreError, match=named):
            Reader(bad)
    for end in range(0, len(whole) - 1100, 700):
        bad.write_bytes(whole[:end])
        with pytest.raises(DamagedStoreError, match="damaged"):
            Reader(bad)
    assert main(["backup", "verify", str(bad)]) == 4
    restoring = ["backup", "restore", str(bad), "--data", str(tmp_path / "new")]
    assert await asyncio.to_thread(main, restoring) == 4
    assert "damaged" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    assert main(["backup", "verify", str(backup), "--json"]) == 0


async def test_any_changed_byte_is_found(backup: Path, tmp_path: Path) -> None:
    """But in the filling behind entries, which means nothing."""
    whole, bad = bytes_of(backup), tmp_path / "bad.tar"
    good = Reader(backup).manifest
    for at in range(0, len(whole), 211):
        bad.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
        try:
            found = Reader(bad).manifest
        except DamagedStoreError:
            continue
        assert found == good


async def test_nothing_is_overwritten(backup: Path, tmp_path: Path) -> None:
    folder = tmp_path / "used"
    folder.mkdir()
    (folder / "note").write_text("mine")
    with pytest.raises(SettingsProblem, match="not empty"):
        await asyncio.to_thread(restored, backup, folder)
    with pytest.raises(SettingsProblem, match="overwrites nothing"):
        await create(way_to("http://127.0.0.1:1"), backup)
    creating = ["backup", "create", str(tmp_path / "x.tar"), "--from", "http://127.0.0.1:1"]
    assert await asyncio.to_thread(main, creating) == 1
    assert main(["backup", "restore", str(backup)]) == 2
    assert main(["backup", "verify", str(tmp_path / "none.tar")]) == 2
    assert names_in(tmp_path) == ["good.tar"]
