"""The journal: what was committed is there after any crash, and damage is seen."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import DamagedStoreError, IdInUseProblem, SettingsProblem, VersionProblem
from server.journal import Journal
from server.store import Record, Recovered, Store, StoredDocument, open_store
from tests.server.support import until

DATABASE = "journal.sqlite3"


def record(position: int, epoch: int = 1) -> Record:
    return Record(position, epoch, b"operation %d" % position)


async def test_synced_is_told_after_the_commit_and_a_start_finds_everything(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "c", "a")
    synced: list[tuple[int, int]] = []
    journal.start(lambda epoch, position: synced.append((epoch, position)), lambda *_: None)
    journal.append([record(1), record(2)])
    journal.put_epoch(1, 0)
    await until(lambda: synced == [(1, 2)])
    await journal.close()
    again = Journal(tmp_path, "c", "a")
    assert [r.position for r in again.recovered.records] == [1, 2]
    assert again.recovered.epochs == {1: 0}
    await again.close()


async def test_a_crash_between_any_two_commits_leaves_a_prefix(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "live", "c", "a")
    journal.start(lambda *_: None, lambda *_: None)
    for position in range(1, 8):
        journal.append([record(position)])
        if position == 4:
            journal.put_document(StoredDocument("d", 4, b"state"))
            journal.checkpoint(4, 2)
        assert (await journal.flushed())[1] == position
        # What a kill leaves at this moment: the files as they are, without a closing.
        crashed = tmp_path / f"crash{position}"
        shutil.copytree(tmp_path / "live", crashed)
        found = Journal(crashed, "c", "a")
        assert found.recovered.position == position
        replayed = [r.position for r in found.recovered.records]
        assert replayed == list(range(5 if position >= 4 else 1, position + 1))
        await found.close()
    await journal.close()


async def test_pruning_keeps_what_no_snapshot_holds(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "c", "a")
    journal.start(lambda *_: None, lambda *_: None)
    journal.append([record(position) for position in range(1, 11)])
    journal.put_document(StoredDocument("d", 6, b"state"))
    journal.checkpoint(6, 3)
    assert [r.position for r, _ in await journal.read(0, 100)] == list(range(4, 11))
    assert await journal.chain_at(3) is not None
    assert await journal.chain_at(2) is None
    await journal.close()
    again = Journal(tmp_path, "c", "a")
    assert [r.position for r in again.recovered.records] == [7, 8, 9, 10]
    assert again.recovered.documents == [StoredDocument("d", 6, b"state")]
    await again.close()


async def test_a_state_that_is_taken_over_replaces_everything_even_with_a_lower_position(
    tmp_path: Path,
) -> None:
    journal = Journal(tmp_path, "c", "a")
    synced: list[tuple[int, int]] = []
    journal.start(lambda epoch, position: synced.append((epoch, position)), lambda *_: None)
    journal.append([record(position) for position in range(1, 11)])
    state = Recovered(2, 5, bytes(16), [StoredDocument("d", 5, b"s")], [], {1: 0, 2: 4})
    journal.replace(state)
    journal.append([record(6, 2)])
    await until(lambda: bool(synced) and synced[-1] == (2, 6))
    await journal.close()
    again = Journal(tmp_path, "c", "a")
    assert again.recovered.epochs == {1: 0, 2: 4}
    assert [r.position for r in again.recovered.records] == [6]
    await again.close()


async def test_each_life_of_the_channel_has_a_larger_incarnation(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "c", "a")
    journal.start(lambda *_: None, lambda *_: None)
    first, nothing = await asyncio.to_thread(journal.begin, 100)
    await asyncio.to_thread(journal.store, b"lineage")
    second, record_of_it = await asyncio.to_thread(journal.begin, 50)
    assert (first, nothing, second, record_of_it) == (100, None, 101, b"lineage")
    await journal.close()


async def test_two_processes_cannot_have_one_folder(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "c", "a")
    journal.start(lambda *_: None, lambda *_: None)
    with pytest.raises(IdInUseProblem, match="another --data"):
        Journal(tmp_path, "c", "a")
    await journal.close()


def filled(folder: Path) -> None:
    """A closed store with a log, a document and a lineage record."""
    store = open_store(folder, "c", "a")
    store.begin()
    store.append([record(position) for position in range(1, 40)])
    store.put_document(StoredDocument("d", 20, b"state" * 50))
    store.put_lineage(b"lineage")
    store.set_checkpoint(20, 10)
    store.commit()
    store.close()


def recover(folder: Path) -> Recovered:
    store = open_store(folder, "c", "a")
    try:
        return store.recover()
    finally:
        store.close()


CHANGES = [
    "UPDATE log SET payload = x'00' WHERE position = 25",
    "DELETE FROM log WHERE position = 25",
    "DELETE FROM log WHERE position > 30",
    "UPDATE log SET epoch = 9 WHERE position = 30",
    "UPDATE documents SET state = x'00'",
    "UPDATE documents SET position = 60",
    "UPDATE lineage SET record = x'00'",
    "DELETE FROM meta WHERE key = 'base'",
    "UPDATE meta SET value = x'00' WHERE key = 'base'",
    "DELETE FROM meta WHERE key = 'node'",
    "DROP TABLE epochs",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_the_program_did_not_make_is_seen(tmp_path: Path, change: str) -> None:
    filled(tmp_path)
    database = sqlite3.connect(tmp_path / DATABASE)
    database.execute(change)
    database.commit()
    database.close()
    with pytest.raises(DamagedStoreError, match="Move the folder away"):
        recover(tmp_path)


def test_a_log_that_lost_its_last_commits_is_not_taken_for_a_shorter_one(tmp_path: Path) -> None:
    store = open_store(tmp_path, "c", "a")
    for position in (1, 2):
        store.begin()
        store.append([record(position)])
        store.commit()
    shutil.copytree(tmp_path, tmp_path / "copy")
    wal = tmp_path / "copy" / f"{DATABASE}-wal"
    data = wal.read_bytes()
    # SQLite ends its log silently at the first frame whose checksum is wrong.
    wal.write_bytes(data[:-3000] + bytes(3000))
    with pytest.raises(DamagedStoreError):
        recover(tmp_path / "copy")
    store.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    filled(folder)
    return folder


def test_a_schema_whose_text_is_not_utf_8_is_seen(tmp_path: Path) -> None:
    filled(tmp_path)
    content = (tmp_path / DATABASE).read_bytes()
    at = content.index(b"CREATE TABLE")
    broken = content[: at + 3] + b"\xe4" + content[at + 4 :]
    (tmp_path / DATABASE).write_bytes(broken)
    with pytest.raises(DamagedStoreError):
        recover(tmp_path)


@given(place=st.integers(0, 10**9), bit=st.integers(0, 7), data=st.data())
def test_a_flipped_bit_or_a_torn_file_is_seen_or_harmless(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, place: int, bit: int, data: st.DataObject
) -> None:
    expected = recover(whole)
    folder = tmp_path_factory.mktemp("flipped")
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    content = bytearray((folder / DATABASE).read_bytes())
    place %= len(content)
    if data.draw(st.booleans()):
        content[place] ^= 1 << bit
    else:
        del content[place:]
    (folder / DATABASE).write_bytes(content)
    try:
        found = recover(folder)
    except (DamagedStoreError, VersionProblem, SettingsProblem):
        return
    assert found == expected


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    filled(tmp_path)
    database = sqlite3.connect(tmp_path / DATABASE)
    database.execute("PRAGMA user_version = 9")
    database.close()
    with pytest.raises(VersionProblem, match="format 9"):
        open_store(tmp_path, "c", "a")


@pytest.mark.parametrize(("cluster", "node"), [("other", "a"), ("c", "b")])
def test_a_store_of_another_node_or_cluster_is_refused(
    tmp_path: Path, cluster: str, node: str
) -> None:
    filled(tmp_path)
    with pytest.raises(SettingsProblem, match="belongs to"):
        open_store(tmp_path, cluster, node)


async def test_a_full_disk_is_reported_and_nothing_is_lost_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groupcore.aio.commits.RETRY_S", 0.01)
    journal = Journal(tmp_path, "c", "a")
    full = [True]
    append = Store.append

    def append_or_full(store: Store, records: list[Record]) -> None:
        append(store, records)
        if full[0]:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    monkeypatch.setattr(Store, "append", append_or_full)
    synced: list[int] = []
    trouble: list[str] = []
    journal.start(lambda _, position: synced.append(position), lambda kind, _: trouble.append(kind))
    journal.append([record(1)])
    await until(lambda: trouble == ["full"])
    assert synced == []
    full[0] = False
    await until(lambda: synced == [1])
    assert trouble == ["full", "recovered"]
    await journal.close()


async def test_after_a_failed_write_the_journal_believes_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, "c", "a")

    def broken(_: Store) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(Store, "commit", broken)
    synced: list[int] = []
    trouble: list[str] = []
    journal.start(lambda _, position: synced.append(position), lambda kind, _: trouble.append(kind))
    journal.append([record(1)])
    await until(lambda: trouble == ["failed"])
    with pytest.raises(OSError, match="journal has failed"):
        await journal.flushed()
    assert synced == []
    await journal.close()
