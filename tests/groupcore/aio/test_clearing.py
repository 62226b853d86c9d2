"""What is no part of the log any more is written over in its files."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from groupcore.aio import log_database
from groupcore.aio.box import Box
from groupcore.aio.file_shelf import FileShelf
from groupcore.aio.log_database import CLEARS, LogStore
from groupcore.aio.log_store import LogStorage
from groupcore.aio.read_log import ReadLog
from groupcore.sequencing.log import LogPart
from tests.groupcore.aio.key_files import bytes_below
from tests.groupcore.aio.test_log_store import Told, read_again

SECRET = b"what nobody is to find here any more"
LONG = SECRET * 2_000
DROPPED = [
    LogPart(1, LONG),
    *(LogPart(mark, SECRET + b"%d" % mark) for mark in range(2, 200)),
    LogPart(200, b"state", checkpoint=True),
    LogPart(201, b"behind", dropping=True),
]
FRESH = [*DROPPED[:-2], LogPart(200, b"state", fresh=True), LogPart(201, b"behind")]


async def written(storage: LogStorage, told: Told, parts: list[LogPart]) -> None:
    storage.append(parts, told.on_stored)
    await told.until(lambda told: bool(told.stored) and told.stored[-1] == parts[-1].mark)


async def cleared(storage: LogStorage) -> None:
    async with asyncio.timeout(20):
        while storage.is_clearing:
            storage.clear_again()
            await storage._running.ask(lambda store: None)


@pytest.mark.parametrize("parts", [DROPPED, FRESH], ids=["dropped", "fresh"])
def test_what_a_checkpoint_stands_for_is_written_over_while_the_node_runs(
    tmp_path: Path, parts: list[LogPart], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_database, "CUT_AGAIN_S", 0.0)

    async def run() -> None:
        storage, told = LogStorage(tmp_path, "c", "a"), Told()
        storage.open()
        storage.start(told.on_trouble)
        await written(storage, told, parts[:-1])
        assert SECRET in bytes_below(tmp_path)
        await written(storage, told, parts[-1:])
        await cleared(storage)
        assert SECRET not in bytes_below(tmp_path), "while it runs"
        assert storage.read() == [b"state", b"behind"]
        await storage.close()

    asyncio.run(run())
    assert SECRET not in bytes_below(tmp_path)
    assert read_again(tmp_path) == [b"state", b"behind"]


def test_it_is_written_over_some_megabytes_a_commit_and_is_no_part_of_the_log_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LogStorage(tmp_path, "c", "a")
    storage.open()
    store = storage._running.store
    store.begin()
    store.append(DROPPED)
    store.commit()
    commits = 0
    while store.has_dropped():
        assert store.read() == [b"state", b"behind"]
        store.verify()
        with ReadLog(store.path) as log:
            log.check()
            assert list(log) == [b"state", b"behind"]
        before = store.database.execute("SELECT count(*) FROM log").fetchone()[0]
        store.begin()
        store.clear_some(1_000)
        store.commit()
        left = store.database.execute("SELECT count(*) FROM log").fetchone()[0]
        assert left < before
        commits += 1
    assert commits > 5
    asyncio.run(storage.close())


def test_a_power_cut_while_it_is_written_over_leaves_the_log_and_the_next_start_clears(
    tmp_path: Path,
) -> None:
    folder, copy = tmp_path / "a", tmp_path / "copy"
    storage = LogStorage(folder, "c", "a")
    storage.open()
    store = storage._running.store
    store.begin()
    store.append(DROPPED)
    store.commit()
    store.begin()
    store.clear_some(1_000)
    store.commit()
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    asyncio.run(storage.close())
    assert SECRET in bytes_below(copy)
    assert read_again(copy) == [b"state", b"behind"]
    assert SECRET not in bytes_below(copy)


def test_who_reads_beside_the_node_puts_it_off_and_holds_no_commit_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_database, "CUT_AGAIN_S", 0.0)

    async def run() -> None:
        storage, told = LogStorage(tmp_path, "c", "a"), Told()
        storage.open()
        storage.start(told.on_trouble)
        await written(storage, told, DROPPED[:-1])
        with ReadLog(tmp_path / "log.sqlite3") as reader:
            assert len(list(reader)) == 200
            await written(storage, told, DROPPED[-1:])
            for mark in range(202, 220):
                await written(storage, told, [LogPart(mark, b"more")])
            assert storage.is_clearing
        await cleared(storage)
        assert SECRET not in bytes_below(tmp_path)
        await storage.close()

    asyncio.run(run())


def test_what_a_former_version_has_left_in_free_pages_goes_at_the_first_start(
    tmp_path: Path,
) -> None:
    storage = LogStorage(tmp_path, "c", "a")
    storage.open()
    asyncio.run(storage.close())
    database = sqlite3.connect(tmp_path / "log.sqlite3")
    database.execute("PRAGMA secure_delete = OFF")
    database.execute("CREATE TABLE once(part BLOB)")
    database.execute("INSERT INTO once VALUES (?)", (LONG,))
    database.commit()
    database.execute("DROP TABLE once")
    database.execute("DELETE FROM meta WHERE key = ?", (CLEARS,))
    database.commit()
    database.close()
    assert SECRET in bytes_below(tmp_path)
    assert read_again(tmp_path) == []
    assert SECRET not in bytes_below(tmp_path)


def test_without_room_for_that_the_node_starts_and_says_that_it_is_still_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = LogStorage(tmp_path, "c", "a")
    storage.open()
    store = storage._running.store
    store.begin()
    store.append(DROPPED)
    store.commit()
    asyncio.run(storage.close())

    def full(self: LogStore, most_bytes: int = 0) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(LogStore, "clear_some", full)
        again = LogStorage(tmp_path, "c", "a")
        again.open()
        assert again.is_clearing
        assert again.read() == [b"state", b"behind"]
        asyncio.run(again.close())
    assert SECRET in bytes_below(tmp_path)
    read_again(tmp_path)
    assert SECRET not in bytes_below(tmp_path)


@pytest.mark.parametrize("box", [None, Box.scratch("shelf")], ids=["plain", "sealed"])
def test_what_is_taken_off_the_shelf_is_written_over(tmp_path: Path, box: Box | None) -> None:
    shelf = FileShelf(tmp_path / "shelf", box)
    stays = shelf.put(b"what stays" * 100)
    number = shelf.put(LONG)
    stored = shelf._file.execute("SELECT data FROM shelf WHERE number = ?", (number,)).fetchone()[0]
    mark = bytes(stored[-60:-20])
    assert mark in bytes_below(tmp_path)
    shelf.drop(number)
    assert mark not in bytes_below(tmp_path)
    assert shelf.get(stays) == b"what stays" * 100
    shelf.close()
