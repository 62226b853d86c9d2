"""What a node writes is for its owner alone, whatever the umask, and however it was before."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from groupcore.aio.log_store import LogStorage
from groupcore.aio.private import make_folder, narrow, open_file
from server.accounts.passwords import Passwords
from server.backup.cli import create as back_up
from server.main import main
from server.management.finding import way_to
from tests.server.accounts.people import Browser, found_home, hire
from tests.server.pictures.files import photo
from tests.server.support import Cluster, eventually


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A process whose new files are readable by everybody: the least careful umask there is."""
    former = os.umask(0)
    yield
    os.umask(former)


def wider(folder: Path) -> list[str]:
    """Files and folders, the folder itself too, that somebody else may do anything with."""
    found = [folder, *folder.rglob("*")]
    return [
        f"{path.relative_to(folder)} {stat.filemode(path.lstat().st_mode)}"
        for path in found
        if path.lstat().st_mode & 0o077
    ]


async def upload(browser: Browser, doc: str) -> None:
    url = f"{browser.node.url}/api/v1/documents/{doc}/pictures"
    headers = {"Content-Type": "application/octet-stream", "X-Groupcore-CSRF": browser.csrf}
    async with browser.http.post(url, data=BytesIO(photo()), headers=headers) as answer:
        assert answer.status == 201, await answer.text()


async def lived(cluster: Cluster, folder: Path) -> None:
    """A node with accounts, trace, pictures and backups does all that leaves a file."""
    node = await cluster.start("a", trace=str(folder / "trace"), backups=str(folder / "backups"))
    async with Browser(node) as ann:
        await found_home(ann)
        await upload(ann, await ann.create("Secret plan"))
        await hire(ann, "bob")
        status, _ = await ann.ask("POST", "/admin/operations", {"what": "backup"})
        assert status == 202
        made = folder / "backups"
        await eventually(lambda: bool(list(made.glob("*.tar"))), "the console's backup")
    await back_up(way_to(node.admin_url), folder / "by-command.tar")
    assert wider(folder) == []  # beside the log while it is open: -wal, -shm, the shelf
    await cluster.close()


@pytest.mark.usefixtures("open_umask")
async def test_nobody_else_can_read_what_a_node_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    whole = tmp_path / "whole"
    make_folder(whole)
    cluster = Cluster(whole)
    cluster.flags = {"accounts": "on"}
    await lived(cluster, whole)
    names = {path.name for path in whole.rglob("*") if path.is_file()}
    assert {"log.sqlite3", "head", "lock", "audit.jsonl", "audit.key", "by-command.tar"} <= names
    assert list(whole.glob("trace/**/*.arrows")), names
    assert list(whole.glob("a/blobs/??/*"))
    assert main(["export-log", str(whole / "a"), str(whole / "log.parquet")]) == 0
    put_back = ["backup", "restore", str(whole / "by-command.tar"), "--data", str(whole / "new")]
    assert await asyncio.to_thread(main, put_back) == 0
    assert wider(whole) == []


@pytest.mark.usefixtures("open_umask")
async def test_a_start_closes_what_an_earlier_version_left_open_and_says_so(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.start("a", trace=str(tmp_path / "trace"))
    await cluster.stop("a")
    for folder in (tmp_path / "a", tmp_path / "trace"):
        folder.chmod(0o755)
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
    outside = tmp_path / "outside"
    outside.write_text("of somebody else")
    outside.chmod(0o644)
    (tmp_path / "a" / "link").symlink_to(outside)
    with caplog.at_level(logging.WARNING):
        await cluster.start("a", trace=str(tmp_path / "trace"))
    (tmp_path / "a" / "link").unlink()
    assert wider(tmp_path / "a") == wider(tmp_path / "trace") == []
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644, "links are not followed"
    told = [record.getMessage() for record in caplog.records if "others could" in record.msg]
    assert [str(tmp_path / name) in line for name, line in zip("at", told, strict=False)]
    assert len(told) == 2
    await cluster.stop("a")
    caplog.clear()
    await cluster.start("a", trace=str(tmp_path / "trace"))
    assert "others could" not in caplog.text, "said once, when something has changed"


@pytest.mark.usefixtures("open_umask")
def test_a_program_that_embeds_a_node_gets_its_log_closed_and_nothing_else(tmp_path: Path) -> None:
    """Its folder may hold other things, which are not the library's to close."""
    tmp_path.chmod(0o755)
    (tmp_path / "theirs").write_text("x")
    (tmp_path / "log.sqlite3").touch(0o644)
    storage = LogStorage(tmp_path, "c", "a")
    storage.open()
    own = ("log.sqlite3", "log.sqlite3-wal", "log.sqlite3-shm", "head", "lock")
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in own}
    assert set(modes.values()) == {0o600}, modes
    assert stat.S_IMODE((tmp_path / "theirs").stat().st_mode) == 0o666
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    asyncio.run(storage.close())


@pytest.mark.usefixtures("open_umask")
def test_folders_above_that_are_made_are_closed_too(tmp_path: Path) -> None:
    make_folder(tmp_path / "one" / "two")
    make_folder(tmp_path / "one" / "two")
    with open_file(tmp_path / "one" / "text", "w") as file:
        file.write("ä")
    assert wider(tmp_path / "one") == []
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        make_folder(tmp_path / "file")


def test_what_cannot_be_closed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder of another user, as after a copy by root."""
    tmp_path.chmod(0o755)

    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("groupcore.aio.private.os.chmod", refuse)
    assert narrow(tmp_path).refused == f"{tmp_path}: Operation not permitted"
    assert "others can still get at files" in caplog.text
