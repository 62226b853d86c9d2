"""A node with `--data-key-file`: what is found on its disk, how its key changes, who reads it."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from groupcore.aio.data_key import NAMES, DataKey
from groupcore.aio.rest_key import RestKey, print_of
from server.accounts.passwords import Passwords
from server.backup.archive import Writer
from server.backup.cli import create as back_up
from server.backup.sealing import Sealing
from server.errors import DamagedStoreError
from server.main import main
from server.management.finding import way_to
from server.pictures.store import Store
from server.rest import VARIABLE, Seals
from server.sealed_lines import MARK
from server.shelf import Shelf
from tests.groupcore.aio.key_files import FORMER, LATER, bytes_below, key_file
from tests.server.accounts.people import Browser, found_home, hire
from tests.server.console.test_operations import run
from tests.server.pictures.files import photo
from tests.server.support import Cluster, eventually, get
from tests.server.test_private_files import upload
from tests.server.test_settings import addresses, run_server

TITLE = "Board only: the plan"
SECRETS = (TITLE.encode(), b"bob@", b"Board only", photo()[-200:-160])
"""What must be on no disk: a title, an address, a bit of a picture."""


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return key_file(tmp_path, FORMER)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    (tmp_path / "whole").mkdir()
    return tmp_path / "whole"


def files(folder: Path, pattern: str = "*") -> list[Path]:
    """The files of the folder and those below it."""
    return sorted(path for path in folder.rglob(pattern) if path.is_file())


def shown(folder: Path) -> list[bytes]:
    """Which secrets the files of the folder show."""
    data = bytes_below(folder)
    return [secret for secret in SECRETS if secret in data]


async def lived(folder: Path, key: Path | None) -> None:
    """A node with accounts, pictures and backups does all that leaves a file."""
    cluster = Cluster(folder)
    cluster.flags = {"accounts": "on", "backups": str(folder / "backups")}
    if key is not None:
        cluster.flags["data_key_file"] = str(key)
    node = await cluster.start("a")
    async with Browser(node) as ann:
        await found_home(ann)
        await upload(ann, await ann.create(TITLE))
        await hire(ann, "bob")
        status, _ = await ann.ask("POST", "/admin/operations", {"what": "backup"})
        assert status == 202
        await eventually(lambda: bool(files(folder, "*.tar")), "the console's backup")
        await eventually(lambda: bool(files(folder, "operations.jsonl")), "its record")
    if key is not None:
        assert shown(folder) == [], "while it is open: -wal, -shm, the shelf"
    await cluster.close()


async def status_of(folder: Path, key: Path) -> dict[str, object]:
    """What a node says of itself that starts there, once all is sealed, and stops."""
    cluster = Cluster(folder)
    cluster.flags = {"accounts": "on", "data_key_file": str(key)}
    node = await cluster.start("a")
    data_key = node.node.seals.data_key
    assert data_key is not None
    await eventually(lambda: "blobs" in data_key.whole, "all is sealed")
    _, said = await get(f"{node.admin_url}/admin/status")
    await cluster.close()
    found: dict[str, object] = said["at_rest"]
    return found


async def test_no_file_of_a_node_shows_text_names_addresses_or_pictures(
    whole: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lived(whole, key)
    names = {path.name for path in files(whole)}
    assert {"log.sqlite3", "audit.jsonl", "audit.key", "operations.jsonl", *NAMES} <= names
    assert files(whole / "a" / "blobs")
    assert files(whole, "*.tar")
    assert shown(whole) == []
    assert b"audit:" not in bytes_below(whole)
    monkeypatch.setenv(VARIABLE, str(key))
    assert main(["verify-log", str(whole / "a")]) == 0


async def test_the_same_node_without_a_key_shows_all_of_it(whole: Path) -> None:
    """So the search finds what it looks for."""
    await lived(whole, None)
    assert shown(whole) == list(SECRETS)


async def test_a_folder_without_a_key_is_sealed_by_the_first_start_with_one(
    whole: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await lived(whole, None)
    shutil.rmtree(whole / "backups")
    audit_before = (whole / "a" / "audit.jsonl").read_bytes().splitlines()
    assert await status_of(whole, key) == {"key": print_of(FORMER), "plain": {}}
    assert shown(whole) == []
    lines = (whole / "a" / "audit.jsonl").read_bytes().splitlines()
    assert len(lines) >= len(audit_before)
    assert all(line.startswith(MARK) for line in lines)
    capsys.readouterr()
    path = str(whole / "a" / "audit.jsonl")
    assert main(["audit", "verify", path, f"--data-key-file={key}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["entries"] >= len(audit_before)
    assert found["unkeyed_up_to_line"] == 0
    assert await status_of(whole, key) == {"key": print_of(FORMER), "plain": {}}, "read again"


async def test_tools_find_the_key_by_flag_or_variable_and_refuse_without(
    whole: Path, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await lived(whole, key)
    data, tar = str(whole / "a"), str(files(whole, "*.tar")[0])
    commands = [
        ["verify-log", data],
        ["dump-log", data],
        ["rebuild", data],
        ["export-log", data, str(tmp_path / "log.parquet")],
        ["audit", "verify", f"{data}/audit.jsonl"],
        ["backup", "verify", tar],
    ]
    before = bytes_below(whole)
    other = tmp_path / "other"
    other.mkdir()
    wrong = str(key_file(other, LATER))
    for command in commands:
        capsys.readouterr()
        assert await asyncio.to_thread(main, command) == 3, command
        assert "--data-key-file" in capsys.readouterr().err
        assert await asyncio.to_thread(main, [*command, "--data-key-file", wrong]) == 3, command
        assert print_of(FORMER) in capsys.readouterr().err
    assert bytes_below(whole) == before, "nothing is written"
    for command in commands:
        said = await asyncio.to_thread(main, [*command, f"--data-key-file={key}"])
        assert said == 0, (command, capsys.readouterr().err)
    assert VARIABLE not in os.environ
    assert TITLE in capsys.readouterr().out


async def test_a_backup_is_put_back_into_a_sealed_folder(
    whole: Path, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await lived(whole, key)
    tar = str(files(whole, "*.tar")[0])
    monkeypatch.setenv(VARIABLE, str(key))
    put_back = ["backup", "restore", tar, "--data", str(whole / "new")]
    assert await asyncio.to_thread(main, put_back) == 0
    assert shown(whole) == []
    assert main(["verify-log", str(whole / "new")]) == 0
    assert main(["audit", "verify", str(whole / "new" / "audit.jsonl")]) == 0
    cluster = Cluster(whole)
    cluster.flags = {"accounts": "on", "data_key_file": str(key)}
    node = await cluster.start("a")
    monkeypatch.delenv(VARIABLE)
    await back_up(
        way_to(node.admin_url), tmp_path / "plain.tar"
    )  # an operator's machine without the key
    assert main(["backup", "verify", str(tmp_path / "plain.tar")]) == 0
    await cluster.close()


async def test_the_console_verifies_and_puts_back_what_it_has_sealed(
    whole: Path, key: Path
) -> None:
    """Its child is given the flag: nothing stands in the environment."""
    cluster = Cluster(whole)
    cluster.flags = {"accounts": "on", "backups": str(whole / "backups"), "data_key_file": str(key)}
    async with Browser(await cluster.start("a")) as ann:
        await found_home(ann)
        await ann.create(TITLE)
        await run(ann, what="backup")
        file = files(whole, "*.tar")[0].name
        await run(ann, what="verify", file=file)
        await run(ann, what="restore", file=file, folder="again")
    await cluster.close()
    assert shown(whole) == []
    command = ["verify-log", str(whole / "backups" / "again"), f"--data-key-file={key}"]
    assert await asyncio.to_thread(main, command) == 0


async def test_a_key_is_changed_by_rekey_and_the_former_goes(
    whole: Path, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await lived(whole, key)
    data, backups = whole / "a", whole / "backups"
    flag = f"--data-key-file={key}"
    key_file(tmp_path, FORMER, LATER)
    capsys.readouterr()
    assert main(["rekey", str(data), str(backups), flag]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["wrapped anew"] * 2
    assert main(["rekey", str(data), str(backups), flag]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["as it should be"] * 2
    key_file(tmp_path, LATER)
    assert main(["verify-log", str(data), flag]) == 0
    assert main(["backup", "verify", str(next(backups.glob("*.tar"))), flag]) == 0
    assert await status_of(whole, key) == {"key": print_of(LATER), "plain": {}}
    key_file(tmp_path, FORMER)
    assert main(["verify-log", str(data), flag]) == 3


async def test_a_start_with_two_keys_changes_the_key_too(
    whole: Path, key: Path, tmp_path: Path
) -> None:
    await lived(whole, key)
    key_file(tmp_path, FORMER, LATER)
    assert (await status_of(whole, key))["key"] == print_of(LATER)
    key_file(tmp_path, LATER)
    assert (await status_of(whole, key))["key"] == print_of(LATER)


async def test_rekey_seals_plain_backups_and_logs_and_leaves_other_files(
    whole: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await lived(whole, None)
    other = whole / "backups" / "other.tar"
    other.write_bytes(b"of somebody else")
    flag = f"--data-key-file={key}"
    assert main(["rekey", str(whole / "a"), str(whole / "backups")]) == 2
    assert main(["rekey", str(whole / "none"), flag]) == 2
    capsys.readouterr()
    assert main(["rekey", str(whole / "a"), str(whole / "backups"), flag]) == 0
    said = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert said == ["sealed", "sealed", "no backup, left as it is"]
    assert other.read_bytes() == b"of somebody else"
    assert main(["verify-log", str(whole / "a"), flag]) == 0
    shutil.rmtree(whole / "a" / "blobs")  # the node seals pictures when it starts
    for name in ("audit.jsonl", "audit.key"):
        (whole / "a" / name).unlink()
    assert shown(whole) == []


async def test_a_lost_data_key_is_told_as_damage_by_node_and_tools(
    whole: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await lived(whole, key)
    for name in NAMES:
        (whole / "a" / name).unlink()
    for command in (["verify-log", str(whole / "a")], ["rekey", str(whole / "a")]):
        assert await asyncio.to_thread(main, [*command, f"--data-key-file={key}"]) == 4, command
        assert "data.key and its copy are missing" in capsys.readouterr().err
    cluster = Cluster(whole)
    with pytest.raises(DamagedStoreError, match="put it back from a copy"):
        await cluster.begin("a", data_key_file=str(key))
    assert not any((whole / "a" / name).exists() for name in NAMES)


async def test_what_was_moved_aside_is_sealed_by_rekey(whole: Path, key: Path) -> None:
    await lived(whole, None)
    (whole / "b").mkdir()
    (whole / "a").rename(whole / "b" / "left-1")
    assert await asyncio.to_thread(main, ["rekey", str(whole / "b"), f"--data-key-file={key}"]) == 0
    log = (whole / "b" / "left-1" / "log.sqlite3").read_bytes()
    assert not any(secret in log for secret in SECRETS)


async def test_rekey_of_a_running_node_is_refused(whole: Path, key: Path) -> None:
    cluster = Cluster(whole)
    cluster.flags = {"data_key_file": str(key)}
    await cluster.start("a")
    command = ["rekey", str(whole / "a"), f"--data-key-file={key}"]
    assert await asyncio.to_thread(main, command) == 6
    await cluster.close()


def spoil(key: Path, kind: str) -> None:
    """Do this to the key file."""
    if kind == "missing":
        key.unlink()
    elif kind == "open":
        key.chmod(0o644)
    elif kind == "wrong":
        key.write_text("secret")
    elif kind == "other":
        key_file(key.parent, LATER)


@pytest.mark.process
@pytest.mark.parametrize("kind", ["missing", "open", "wrong", "none", "other"])
async def test_a_data_key_that_is_not_right_exits_3_and_nothing_is_written(
    tmp_path: Path, key: Path, kind: str
) -> None:
    folder = tmp_path / "d"
    DataKey(folder, RestKey(key))
    spoil(key, kind)
    flags = [] if kind == "none" else ["--data-key-file", str(key)]
    before = bytes_below(folder)
    code, _, error = await run_server("--node-id", "a", "--data", str(folder), *flags, *addresses())
    assert code == 3
    assert error.startswith("groupcore: --data-key-file")
    assert "secret" not in error
    assert bytes_below(folder) == before
    assert {path.name for path in folder.iterdir()} == set(NAMES)


def sealed_folder(folder: Path, key: Path) -> Seals:
    DataKey(folder, RestKey(key))
    return Seals(folder, RestKey(key))


def test_pictures_are_sealed_for_their_names(tmp_path: Path, key: Path) -> None:
    seals = sealed_folder(tmp_path / "d", key)
    store = Store(tmp_path / "d", seals)
    one, other = store.write(photo()), store.write(b"another picture")
    assert store.read(one) == photo()
    store.path(one).write_bytes(store.path(other).read_bytes())
    assert store.read(one) is None, "a picture under another name is damaged"
    assert store.read(other) == b"another picture"


def test_plain_pictures_are_sealed_with_their_times_and_damaged_ones_too(
    tmp_path: Path, key: Path
) -> None:
    plain = Store(tmp_path / "d")
    one, other = plain.write(photo()), plain.write(b"another picture")
    os.utime(plain.path(one), (1_000, 2_000))
    plain.path(other).rename(plain.path(other).with_suffix(".damaged"))
    store = Store(tmp_path / "d", sealed_folder(tmp_path / "d", key))
    assert store.read(one) == photo(), "before they are sealed"
    assert store.seal_plain(lambda: False) == 2
    assert store.seal_plain() == 0
    data = bytes_below(tmp_path / "d" / "blobs")
    assert photo()[-200:-160] not in data
    assert b"another picture" not in data
    assert store.read(one) == photo()
    assert store.path(one).stat().st_mtime == 2_000


async def test_a_shelf_is_sealed_line_by_line_and_outlasts_a_cut(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "d" / "plans.jsonl"
    plain = Shelf(path)
    await plain.put({"id": "1", "text": "of before"}, {})
    await plain.put({"id": "2", "text": "of before"}, {})
    path.write_bytes(path.read_bytes()[:-9])
    seals = sealed_folder(tmp_path / "d", key)
    shelf = Shelf(path, seals)
    assert set(shelf.load()) == {"1"}
    await shelf.put({"id": "3", "text": "sealed"}, {})
    assert set(Shelf(path, seals).load()) == {"1", "3"}
    await seals.seal_plain()
    assert b"of before" not in path.read_bytes()
    assert seals.data_key is not None
    assert "plans.jsonl" in seals.data_key.whole
    await shelf.put({"id": "4", "text": "sealed"}, {})
    again = Shelf(path, Seals(tmp_path / "d", RestKey(key)))
    assert set(again.load()) == {"1", "3", "4"}
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:-2], lines[-1], lines[-2]]) + b"\n")
    exchanged = Shelf(path, Seals(tmp_path / "d", RestKey(key)))
    assert set(exchanged.load()) == {"1"}, "lines that were exchanged count as damaged"


def cut_off(data: bytes) -> bytes:
    return data[: -(65_552 + 100)]


def exchange(data: bytes) -> bytes:
    head, piece = 8_192, 65_552
    first, second = data[head : head + piece], data[head + piece : head + 2 * piece]
    return data[:head] + second + first + data[head + 2 * piece :]


def alter(data: bytes) -> bytes:
    return data[:9_000] + bytes([data[9_000] ^ 1]) + data[9_001:]


@pytest.mark.parametrize("damage", [cut_off, exchange, alter])
def test_a_sealed_backup_that_is_damaged_is_told_as_damage(
    tmp_path: Path, key: Path, damage: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    path = sealed_backup(tmp_path / "b.tar", key)
    flag = f"--data-key-file={key}"
    assert main(["backup", "verify", str(path), flag]) == 0
    path.write_bytes(damage(path.read_bytes()))
    assert main(["backup", "verify", str(path), flag]) == 4
    assert "is damaged" in capsys.readouterr().err


def sealed_backup(path: Path, key: Path) -> Path:
    writer = Writer({"cluster": "c"})
    with path.open("wb") as file:
        sealing = Sealing(file, RestKey(key))
        sealing.write(writer.begin())
        sealing.write(writer.entry("objects/documents", os.urandom(300_000)))
        sealing.write(writer.end())
        sealing.end()
    sealing.write_keys(path)
    return path


@pytest.mark.parametrize("block", [0, 1])
def test_one_block_of_a_backups_head_is_enough(
    tmp_path: Path, key: Path, block: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """So a power cut while one of them is written anew loses nothing."""
    path = sealed_backup(tmp_path / "b.tar", key)
    with path.open("r+b") as file:
        file.seek(block * 4_096)
        file.write(os.urandom(4_096))
    flag = f"--data-key-file={key}"
    assert main(["backup", "verify", str(path), flag]) == 0
    key_file(tmp_path, FORMER, LATER)
    assert main(["rekey", str(path), flag]) == 0
    key_file(tmp_path, LATER)
    assert main(["backup", "verify", str(path), flag]) == 0


async def test_pictures_that_cannot_be_sealed_are_counted_and_said(
    tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seals = sealed_folder(tmp_path / "d", key)

    async def fails() -> int:
        raise OSError("no space left on device")

    async def stops() -> int:
        return 3

    seals.later("one", fails)
    seals.later("two", stops)
    with caplog.at_level(logging.WARNING):
        await seals.seal_plain()
    assert "one: what was written before it was sealed stays: no space left" in caplog.text
    assert seals.shown() == {"key": print_of(FORMER), "plain": {"two": 3}}
    assert seals.data_key is not None
    assert seals.data_key.whole == frozenset()
