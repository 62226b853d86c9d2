"""The log's file: no room while it is written, at a checkpoint, and while it is made smaller."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from groupcore.aio import commits
from groupcore.aio.log_store import LogStorage
from groupcore.sequencing.log import LogPart

BIG = b"x" * 20_000


class Room:
    """How many pages the database may have: SQLite says that the disk is full above them."""

    def __init__(self, storage: LogStorage) -> None:
        self._database = storage._running.store.database

    def _set(self, pages: int) -> None:
        self._database.execute(f"PRAGMA max_page_count = {pages}")

    def end(self) -> None:
        """There is none beside what is used."""
        self._set(1)

    def begin(self) -> None:
        """There is again."""
        self._set(1 << 30)


class Told:
    """What the storage has said: which marks are stored, which troubles it has."""

    def __init__(self) -> None:
        self.stored: list[int] = []
        self.troubles: list[str] = []
        self._news = asyncio.Event()

    def on_stored(self, mark: int) -> None:
        self.stored.append(mark)
        self._news.set()

    def on_trouble(self, kind: str, detail: str) -> None:
        self.troubles.append(kind)
        self._news.set()

    async def until(self, happened: Callable[[Told], bool]) -> None:
        async with asyncio.timeout(20):
            while not happened(self):
                self._news.clear()
                await self._news.wait()


async def played(folder: Path, before: list[LogPart], full: list[LogPart]) -> list[str]:
    """Write some parts, then others when there is no room, which comes back later."""
    storage, told = LogStorage(folder, "c", "a"), Told()
    storage.open()
    room = Room(storage)
    storage.start(told.on_trouble)
    storage.append(before, told.on_stored)
    await told.until(lambda told: told.stored == [before[-1].mark])
    room.end()
    storage.append(full, told.on_stored)
    await told.until(lambda told: bool(told.troubles))
    assert told.stored == [before[-1].mark], "nothing is said to be stored that found no room"
    room.begin()
    await told.until(lambda told: told.stored[-1] == full[-1].mark)
    await storage.close()
    return told.troubles


def read_again(folder: Path) -> list[bytes]:
    """The log as the next process finds it, whole."""
    storage = LogStorage(folder, "c", "a")
    storage.open()
    try:
        assert storage.set_aside is None
        return storage.read()
    finally:
        asyncio.run(storage.close())


@pytest.fixture(autouse=True)
def tried_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "RETRY_S", 0.01)


def test_what_finds_no_room_is_stored_when_there_is_some(tmp_path: Path) -> None:
    before, full = [LogPart(1, b"one")], [LogPart(2, BIG), LogPart(3, b"three")]
    assert asyncio.run(played(tmp_path, before, full)) == ["full", "recovered"]
    assert read_again(tmp_path) == [b"one", BIG, b"three"]


def test_a_checkpoint_that_finds_no_room_leaves_the_log_as_it_is(tmp_path: Path) -> None:
    full = [LogPart(2, BIG, checkpoint=True)]
    asyncio.run(played(tmp_path, [LogPart(1, b"one")], full))
    assert read_again(tmp_path) == [b"one", BIG]


def test_a_log_that_is_made_smaller_where_there_is_no_room_drops_no_more_than_it_may(
    tmp_path: Path,
) -> None:
    """The same commit drops what is before one checkpoint, and holds the next one."""
    before = [LogPart(1, b"one"), LogPart(2, b"two"), LogPart(3, b"state", checkpoint=True)]
    full = [
        LogPart(4, b"four", dropping=True),
        LogPart(5, b"five"),
        LogPart(6, BIG, checkpoint=True),
    ]
    asyncio.run(played(tmp_path, before, full))
    assert read_again(tmp_path) == [b"state", b"four", b"five", BIG]


def test_another_error_ends_the_writer(tmp_path: Path) -> None:
    async def run() -> Told:
        storage, told = LogStorage(tmp_path, "c", "a"), Told()
        storage.open()
        storage.start(told.on_trouble)

        def fail(parts: list[LogPart]) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        storage._running.store.append = fail  # type: ignore[method-assign]
        storage.append([LogPart(1, b"one")], told.on_stored)
        await told.until(lambda told: bool(told.troubles))
        await storage.close()
        return told

    told = asyncio.run(run())
    assert (told.troubles, told.stored) == (["failed"], [])
