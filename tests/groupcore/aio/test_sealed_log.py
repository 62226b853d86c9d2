"""A node's log and membership record under a key: what the disk shows, and what it is told from."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from groupcore.aio.data_key import NAMES
from groupcore.aio.errors import DamagedLogError, FormatError, RestKeyError
from groupcore.aio.log_database import LogStore
from groupcore.aio.log_records import SEALED_VERSION, VERSION, DamagedError, version_of
from groupcore.aio.log_store import FILES, LogStorage
from groupcore.aio.read_log import ReadLog
from groupcore.aio.rest_key import RestKey
from groupcore.sequencing.log import LogPart
from tests.groupcore.aio.key_files import FORMER, LATER, bytes_below, key_file

TEXT = b"what people wrote"
RECORD = b"names and addresses"
DATABASE = FILES[0]


def storage_of(folder: Path, rest: RestKey | None, *, sets_aside: bool = False) -> LogStorage:
    return LogStorage(folder, "c", "a", sets_aside=sets_aside, rest=rest)


def written(store: LogStore, *marks: int, dropping: bool = False, text: bytes = TEXT) -> None:
    store.begin()
    store.append([LogPart(mark, text + b" %d" % mark, dropping=dropping) for mark in marks])
    store.put_record(RECORD)
    store.commit()


def lived(folder: Path, rest: RestKey | None, *marks: int) -> None:
    """A life that appends these parts, and ends."""
    storage = storage_of(folder, rest)
    storage.open()
    written(storage._running.store, *marks)
    asyncio.run(storage.close())


def found(folder: Path, rest: RestKey | None) -> tuple[list[bytes], bytes | None]:
    """Parts and record, as the next life reads them."""
    storage = storage_of(folder, rest)
    storage.open()
    try:
        return storage.read(), storage._running.store.get_record()
    finally:
        asyncio.run(storage.close())


def texts(*marks: int) -> list[bytes]:
    return [TEXT + b" %d" % mark for mark in marks]


@pytest.fixture
def rest(tmp_path: Path) -> RestKey:
    return RestKey(key_file(tmp_path, FORMER))


def test_no_file_shows_text_names_or_addresses_while_it_is_open_and_closed(
    tmp_path: Path, rest: RestKey
) -> None:
    folder = tmp_path / "a"
    storage = storage_of(folder, rest)
    storage.open()
    shelf = storage.new_shelf()
    number = shelf.put(TEXT * 5_000)  # larger than what SQLite keeps in memory of it
    written(storage._running.store, 1, 2)
    assert (folder / f"{DATABASE}-wal").stat().st_size > 0
    shown = bytes_below(folder)
    assert TEXT not in shown
    assert RECORD not in shown
    assert shelf.get(number) == TEXT * 5_000
    asyncio.run(storage.close())
    assert TEXT not in bytes_below(folder)
    assert found(folder, rest) == (texts(1, 2), RECORD)


def test_the_shelf_of_a_life_is_sealed_by_a_key_that_is_nowhere_on_the_disk(
    tmp_path: Path, rest: RestKey
) -> None:
    storage = storage_of(tmp_path / "a", rest)
    storage.open()
    shelf = storage.new_shelf()
    for _ in range(40):
        shelf.put(TEXT * 10_000)
    assert (tmp_path / "a" / "shelf.sqlite3").stat().st_size > 1 << 22
    assert TEXT not in bytes_below(tmp_path / "a")
    asyncio.run(storage.close())


def test_a_folder_without_a_key_is_sealed_when_it_is_opened_with_one(
    tmp_path: Path, rest: RestKey
) -> None:
    folder = tmp_path / "a"
    lived(folder, None, 1, 2, 3)
    assert TEXT in bytes_below(folder)
    lived(folder, rest, 4)
    shown = bytes_below(folder)
    assert TEXT not in shown
    assert RECORD not in shown
    assert found(folder, rest) == (texts(1, 2, 3, 4), RECORD)
    assert version_of(folder / DATABASE) == SEALED_VERSION


def test_what_a_kill_left_in_the_log_ahead_goes_too(tmp_path: Path, rest: RestKey) -> None:
    storage = storage_of(tmp_path / "a", None)
    storage.open()
    written(storage._running.store, *range(1, 100), text=TEXT * 100)
    folder = tmp_path / "killed"
    shutil.copytree(tmp_path / "a", folder)
    asyncio.run(storage.close())
    assert TEXT in (folder / f"{DATABASE}-wal").read_bytes()
    storage = storage_of(folder, rest)
    storage.open()
    assert TEXT not in bytes_below(folder), "while it is open"
    assert len(storage.read()) == 99
    asyncio.run(storage.close())


def test_what_was_deleted_before_goes_from_the_file_too(tmp_path: Path, rest: RestKey) -> None:
    folder = tmp_path / "a"
    storage = storage_of(folder, None)
    storage.open()
    store = storage._running.store
    store.database.execute("PRAGMA secure_delete = OFF")  # some builds of SQLite have it on
    written(store, *range(1, 200), text=TEXT * 20)
    store.begin()
    store.append([LogPart(200, b"state", fresh=True)])
    store.commit()
    asyncio.run(storage.close())
    assert TEXT in bytes_below(folder), "SQLite leaves it in pages that it uses no more"
    lived(folder, rest)
    assert TEXT not in bytes_below(folder)


def test_without_room_it_goes_on_and_says_how_much_is_plain(
    tmp_path: Path, rest: RestKey, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "a"
    lived(folder, None, 1, 2)

    def full(store: LogStore) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(LogStore, "_seal_parts", full)
        storage = storage_of(folder, rest)
        storage.open()
        assert "until the next start (2 parts)" in caplog.text
        assert storage.plain_parts == 2
        store = storage._running.store
        written(store, 3)
        assert store.read() == texts(1, 2, 3)
        assert bytes_below(folder).count(TEXT + b" 3") == 0, "sealed from then on"
        assert version_of(folder / DATABASE) == SEALED_VERSION, "older programs keep away"
        asyncio.run(storage.close())
    again = storage_of(folder, rest)
    again.open()
    assert again.plain_parts == 0
    asyncio.run(again.close())
    assert TEXT not in bytes_below(folder)
    assert found(folder, rest) == (texts(1, 2, 3), RECORD)


def test_a_checkpoint_ends_what_is_plain(
    tmp_path: Path, rest: RestKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(tmp_path / "a", None, 1, 2)
    monkeypatch.setattr(LogStore, "_seal_parts", lambda store: sqlite3.connect("/").close())
    storage = storage_of(tmp_path / "a", rest)
    storage.open()
    assert storage.plain_parts == 2
    store = storage._running.store
    store.begin()
    store.append([LogPart(3, b"state", checkpoint=True)])
    store.append([LogPart(4, b"more", dropping=True)])
    store.commit()
    assert storage.plain_parts == 0
    asyncio.run(storage.close())


@pytest.mark.parametrize("given", ["none", "wrong"])
@pytest.mark.parametrize("sets_aside", [True, False])
def test_a_missing_or_wrong_key_is_refused_and_nothing_is_written(
    tmp_path: Path, rest: RestKey, given: str, sets_aside: bool
) -> None:
    folder = tmp_path / "a"
    lived(folder, rest, 1)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    other = None if given == "none" else RestKey(key_file(tmp_path, LATER))
    storage = storage_of(folder, other, sets_aside=sets_aside)
    with pytest.raises(RestKeyError, match="is sealed" if given == "none" else "put that key"):
        storage.open()
    after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert after == before
    assert found(folder, rest) == (texts(1), RECORD), "the folder is free again"


def altered(database: sqlite3.Connection) -> None:
    database.execute("UPDATE log SET part = zeroblob(length(part)) WHERE position = 2")


def exchanged(database: sqlite3.Connection) -> None:
    """Two parts change their places, and all hashes are made to fit."""
    one, two = (row[0] for row in database.execute("SELECT part FROM log ORDER BY position"))
    rehash(database, [two, one])


def put_in(database: sqlite3.Connection) -> None:
    """A part that is not sealed, with hashes that fit."""
    one = database.execute("SELECT part FROM log ORDER BY position").fetchone()[0]
    rehash(database, [one, b"\x90forged"])


def rehash(database: sqlite3.Connection, parts: list[bytes]) -> None:
    from groupcore.aio.sealed_store import HEAD
    from groupcore.log_chain import GENESIS, chained

    chain = GENESIS
    for at, part in enumerate(parts, 1):
        chain = chained(chain, 0, at, part)
        row = (part, chain, at)
        database.execute("UPDATE log SET part = ?, chain = ? WHERE position = ?", row)
    commits = HEAD.unpack(database.execute("SELECT value FROM meta WHERE key='head'").fetchone()[0])
    head = HEAD.pack(commits[0], len(parts), chain)
    database.execute("UPDATE meta SET value = ? WHERE key = 'head'", (head,))


@pytest.mark.parametrize(
    ("damage", "said"),
    [(altered, "checksum of part 2"), (exchanged, "for this place"), (put_in, "not sealed")],
)
def test_damage_exchange_and_forgery_are_told_and_not_as_a_wrong_key(
    tmp_path: Path, rest: RestKey, damage: Callable[[sqlite3.Connection], None], said: str
) -> None:
    folder = tmp_path / "a"
    lived(folder, rest, 1, 2)
    database = sqlite3.connect(folder / DATABASE)
    damage(database)
    database.commit()
    database.close()
    with pytest.raises(DamagedLogError, match=said):
        storage_of(folder, rest).open()


def test_a_part_of_another_folder_under_the_same_key_file_is_none(
    tmp_path: Path, rest: RestKey
) -> None:
    lived(tmp_path / "a", rest, 1)
    lived(tmp_path / "b", rest, 1)
    for name in FILES:
        if (tmp_path / "b" / name).exists():
            shutil.copyfile(tmp_path / "b" / name, tmp_path / "a" / name)
    with pytest.raises(DamagedLogError, match="for this place"):
        storage_of(tmp_path / "a", rest).open()


@pytest.mark.parametrize("harm", ["lost", "damaged"])
def test_a_lost_data_key_is_told_as_damage_and_the_log_is_set_aside_where_that_is_asked(
    tmp_path: Path, rest: RestKey, harm: str
) -> None:
    folder = tmp_path / "a"
    lived(folder, rest, 1)
    kept = {name: (folder / name).read_bytes() for name in NAMES}
    for name in NAMES:
        (folder / name).unlink() if harm == "lost" else (folder / name).write_bytes(b"x")
    with pytest.raises(DamagedLogError, match="missing" if harm == "lost" else "cannot be read"):
        storage_of(folder, rest).open()
    for name in NAMES:
        assert (folder / name).exists() == (harm == "damaged")
    storage = storage_of(folder, rest, sets_aside=True)
    storage.open()
    assert storage.read() == []
    aside = storage.set_aside
    asyncio.run(storage.close())
    assert aside is not None
    for name, data in kept.items():  # somebody finds a copy
        (aside / name).write_bytes(data)
    assert found(aside, rest) == (texts(1), RECORD)
    lived(folder, rest, 5)
    assert found(folder, rest)[0] == texts(5)


async def test_a_log_that_is_left_keeps_its_key_beside_it(tmp_path: Path, rest: RestKey) -> None:
    storage = storage_of(tmp_path / "a", rest)
    storage.open()
    written(storage._running.store, 1)
    storage.start(lambda kind, detail: None)
    aside = await storage.begin_empty()
    await storage.close()
    with ReadLog(aside / DATABASE) as log, pytest.raises(RestKeyError):
        list(log)
    storage = storage_of(aside, rest)
    await asyncio.to_thread(storage.open)
    assert await asyncio.to_thread(storage.read) == texts(1)
    await storage.close()
    assert TEXT not in bytes_below(tmp_path / "a")


def test_a_log_is_checked_without_its_key_and_read_with_it(tmp_path: Path, rest: RestKey) -> None:
    folder = tmp_path / "a"
    storage = storage_of(folder, rest)
    storage.open()
    written(storage._running.store, 1, 2)
    assert storage.data_key is not None
    with ReadLog(folder / DATABASE) as log:
        log.check()
        with pytest.raises(RestKeyError, match=r"part 1 of .* is sealed"):
            list(log)
    with ReadLog(folder / DATABASE, storage.data_key.box("log")) as log:
        assert list(log) == texts(1, 2)
    other = ReadLog(folder / DATABASE, storage.data_key.box("other"))
    with other as log, pytest.raises(DamagedError, match="for this place"):
        list(log)
    asyncio.run(storage.close())


def test_a_program_of_before_refuses_a_sealed_log_by_its_version(
    tmp_path: Path, rest: RestKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived(tmp_path / "a", rest, 1)
    for name in NAMES:
        (tmp_path / "a" / name).unlink()
    monkeypatch.setattr("groupcore.aio.log_store.VERSIONS", (VERSION,))
    with pytest.raises(FormatError, match="has format 2"):
        storage_of(tmp_path / "a", None).open()


def test_a_rollback_and_a_second_attempt_leave_records_that_open(
    tmp_path: Path, rest: RestKey
) -> None:
    storage = storage_of(tmp_path / "a", rest)
    storage.open()
    store = storage._running.store
    store.begin()
    store.append([LogPart(1, TEXT + b" 1")])
    store.rollback()
    written(store, 1)
    asyncio.run(storage.close())
    assert found(tmp_path / "a", rest)[0] == texts(1)


def test_a_kill_at_any_step_of_the_first_sealing_leaves_a_log_that_is_read(
    tmp_path: Path, rest: RestKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies on the disk before each statement that SQLite is given, and behind the last."""
    folder, images = tmp_path / "a", tmp_path / "images"
    lived(folder, None, 1, 2, 3)
    steps: list[str] = []

    def keep(statement: str) -> None:
        steps.append(statement)
        shutil.copytree(folder, images / str(len(steps)))

    prepare = LogStore.prepare

    def traced(store: LogStore, tables: str, version: int, owner: dict[str, str]) -> int:
        found = prepare(store, tables, version, owner)
        store.database.set_trace_callback(keep)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(LogStore, "prepare", traced)
        storage = storage_of(folder, rest)
        storage.open()
    keep("the end")
    asyncio.run(storage.close())
    done = " ".join(steps)
    assert all(word in done for word in ("UPDATE log", "COMMIT", "VACUUM", "wal_checkpoint"))
    for number in range(1, len(steps) + 1):
        image = images / str(number)
        assert found(image, rest) == (texts(1, 2, 3), RECORD), steps[number - 1]
        assert TEXT not in bytes_below(image), steps[number - 1]
