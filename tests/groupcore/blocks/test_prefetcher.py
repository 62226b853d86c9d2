"""Prefetcher: databases on real channels, joined while requests go on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from groupcore.aio import FileLineage
from groupcore.aio import lives as lives_module
from groupcore.aio.errors import PortInUseError, TransferError
from groupcore.aio.transfer import fetch
from groupcore.aio.transfer_keys import Secret
from groupcore.blocks import prefetch_client
from groupcore.blocks.errors import TransferFailedError
from groupcore.blocks.prefetch_client import BackupClient
from groupcore.blocks.prefetcher import Prefetcher
from groupcore.events import Excluded
from groupcore.seal import Keyring
from groupcore.transfer.events import SetState
from groupcore.transfer.sources import Intake
from groupcore.transfer.version import StateVersion
from tests.groupcore.aio.cluster import LIMIT_S, Cluster, close_all
from tests.groupcore.blocks.test_channels import crash, until

pytestmark = pytest.mark.slow

ROWS = 2_000


def setup(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS calls (number INTEGER, text TEXT)")
    connection.execute("CREATE TABLE IF NOT EXISTS total (n INTEGER)")
    connection.execute("INSERT INTO total VALUES (0)")


def apply(connection: sqlite3.Connection, request: bytes) -> None:
    """Doing it twice would show: nothing here is idempotent."""
    if request == b"bad":
        connection.execute("INSERT INTO calls VALUES (0, 'undone')")
        raise ValueError("a bad request")
    connection.execute("INSERT INTO calls VALUES (?, ?)", (int(request), "x" * 200))
    connection.execute("UPDATE total SET n = n + 1")


class Switches:
    """Makes prefetchers of one cluster, each knowing those made before it as sources."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.made: list[Prefetcher] = []

    def make(self, name: str, **settings: object) -> Prefetcher:
        channel = self.cluster.channel(name, lineage=FileLineage(self.folder / f"{name}.lineage"))
        sources = [f"127.0.0.1:{made.address[1]}" for made in self.made if made.address[1]]
        options = {"setup": setup, "sources": sources, "retry_s": 0.02, **settings}
        made = Prefetcher(channel, self.folder / f"{name}.db", apply, **options)  # type: ignore[arg-type]
        self.made.append(made)
        return made

    async def joined(self, name: str, **settings: object) -> Prefetcher:
        made = self.make(name, **settings)
        async with asyncio.timeout(LIMIT_S):
            await made.get_database()
        return made


@pytest.fixture
async def switches(tmp_path: Path) -> AsyncIterator[Switches]:
    cluster = Cluster(with_multicast=True)
    made = Switches(cluster, tmp_path)
    yield made
    for prefetcher in made.made:
        await prefetcher.close()
    await close_all(cluster)


def content(prefetcher: Prefetcher) -> list[tuple[object, ...]]:
    """All rows, in the order of their making."""
    connection = sqlite3.connect(prefetcher._path)
    try:
        total = connection.execute("SELECT n FROM total").fetchall()
        return total + connection.execute("SELECT number FROM calls ORDER BY rowid").fetchall()
    finally:
        connection.close()


async def write(prefetcher: Prefetcher, first: int, count: int) -> None:
    for number in range(first, first + count):
        await prefetcher.multicast(str(number).encode())
        if number % 20 == 0:
            await asyncio.sleep(0)


async def alike(*prefetchers: Prefetcher, count: int) -> None:
    """All have done the same requests, each once."""

    def equal() -> bool:
        contents = [content(prefetcher) for prefetcher in prefetchers]
        return contents[0][0] == (count,) and all(other == contents[0] for other in contents)

    await until(equal, interval_s=0.02)
    numbers = [row[0] for row in content(prefetchers[0])[1:]]
    assert len(set(numbers)) == len(numbers) == count


def leftovers(switches: Switches) -> list[str]:
    """Files of a prefetch that should be gone."""
    words = (".backup-", ".updates", ".prefetched")
    return [p.name for p in switches.folder.iterdir() if any(word in p.name for word in words)]


async def test_a_joiner_fetches_a_backup_and_takes_only_the_log_while_requests_go_on(
    switches: Switches,
) -> None:
    a = await switches.joined("a")
    await write(a, 0, ROWS)
    await alike(a, count=ROWS)
    writing = asyncio.create_task(write(a, ROWS, ROWS))
    b = await switches.joined("b")
    await writing
    await write(b, 2 * ROWS, 5)
    await alike(a, b, count=2 * ROWS + 5)
    assert b.counters() == {"backups_taken": 1, "logs_applied": 1, "request_failures": 0}
    await until(lambda: not leftovers(switches))
    assert not b.stale


async def test_the_first_member_begins_with_its_own_database(switches: Switches) -> None:
    a = await switches.joined("a")
    assert not a.stale
    assert content(a) == [(0,)]


async def test_what_a_backup_holds_already_is_not_applied_again(
    switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = await switches.joined("a")
    await write(a, 0, 10)
    await alike(a, count=10)
    b = switches.make("b")
    fetch = b._client.fetch

    async def fetch_late(address: tuple[str, int]) -> Path:
        # The log has begun; ten requests go into it, and into the backup as well.
        ready = b._client._until_ready

        async def until_ready() -> None:
            make = a._service._make

            async def make_late(*arguments: object) -> None:
                await write(a, 10, 10)
                await alike(a, count=20)
                await make(*arguments)  # type: ignore[arg-type]

            monkeypatch.setattr(a._service, "_make", make_late)
            await ready()

        monkeypatch.setattr(b._client, "_until_ready", until_ready)
        path = await fetch(address)
        await write(a, 20, 10)
        await alike(a, count=30)
        return path

    monkeypatch.setattr(b._client, "fetch", fetch_late)
    async with asyncio.timeout(LIMIT_S):
        await b.get_database()
    await alike(a, b, count=30)


async def test_a_joiner_begins_again_with_another_member_when_the_giver_dies(
    switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = await switches.joined("a")
    b = await switches.joined("b")
    await switches.joined("c")
    await write(a, 0, 50)
    await alike(a, b, count=50)
    d = switches.make("d")
    fetch = d._client.fetch

    async def fetch_and_lose(address: tuple[str, int]) -> Path:
        path = await fetch(address)
        if address[1] == a.address[1]:
            await write(b, 50, 5)
            await alike(b, count=55)
            crash(a._channel)  # type: ignore[arg-type]
            a._service.close()
        return path

    monkeypatch.setattr(d._client, "fetch", fetch_and_lose)
    async with asyncio.timeout(LIMIT_S):
        await d.get_database()
    await write(b, 55, 45)
    await alike(b, d, count=100)
    assert d.counters()["backups_taken"] == 2


async def test_a_joiner_that_dies_is_forgotten_and_the_log_is_deleted(switches: Switches) -> None:
    a = await switches.joined("a", session_s=0.1)
    await write(a, 0, 10)
    client = BackupClient(a._service.server.secret, switches.folder / "x.db", 60.0)
    (await client.fetch(a.address)).unlink()
    assert a._service.log is not None
    assert leftovers(switches)
    assert client._staying is not None
    client._staying.cancel()
    await until(lambda: a._service.log is None)
    assert leftovers(switches) == []
    assert a.counters()["joiners_lost"] == 1


async def test_a_log_that_grows_too_large_is_deleted_and_the_joiner_begins_again(
    switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = await switches.joined("a", log_bytes_max=50)
    b = switches.make("b")
    load = b._client.fetch
    floods = iter([100, 0])

    async def fetch_slowly(address: tuple[str, int]) -> Path:
        path = await load(address)
        await write(a, 0, flood := next(floods))
        await until(lambda: flood == 0 or a._service.log is None)
        return path

    monkeypatch.setattr(b._client, "fetch", fetch_slowly)
    async with asyncio.timeout(LIMIT_S):
        await b.get_database()
    await alike(a, b, count=100)
    assert a.counters()["log_overflows"] == 1


async def test_a_member_that_was_excluded_fetches_the_database_again(
    switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lives_module, "REJOIN_INTERVAL_S", 0.0)
    a, b, c = [await switches.joined(name) for name in "abc"]
    await write(a, 0, 10)
    await alike(a, b, c, count=10)
    b._sources = c._sources  # of a and b: its own answers nothing
    b._channel._on_deliveries([Excluded("the view went on")])  # type: ignore[attr-defined]
    await until(lambda: b.stale)
    await write(a, 10, 10)
    await until(lambda: not b.stale)
    await alike(a, b, c, count=20)


async def test_databases_outlive_the_restart_of_all_members(switches: Switches) -> None:
    a, b = [await switches.joined(name) for name in "ab"]
    await write(a, 0, 10)
    await alike(a, b, count=10)
    for prefetcher in (b, a):
        await prefetcher.close()
    switches.made.clear()
    switches.cluster.channels.clear()
    c, d = switches.make("a"), switches.make("b")
    async with asyncio.timeout(LIMIT_S):
        await asyncio.gather(c.get_database(), d.get_database())
    await write(d, 10, 10)
    await alike(c, d, count=20)


async def test_a_request_that_raises_is_undone_at_all_members_and_passed_over(
    switches: Switches, caplog: pytest.LogCaptureFixture
) -> None:
    a, b = [await switches.joined(name) for name in "ab"]
    await a.multicast(b"1")
    await a.multicast(b"bad")
    await a.multicast(b"2")
    await alike(a, b, count=2)
    assert a.counters()["request_failures"] == b.counters()["request_failures"] == 1
    assert "failed and was undone" in caplog.text


async def test_when_nobody_can_give_what_is_missing_that_is_told(switches: Switches) -> None:
    a = await switches.joined("a")
    await write(a, 0, 10)
    await alike(a, count=10)
    a._service.close()
    b = switches.make("b", attempts_max=2)
    async with asyncio.timeout(LIMIT_S):
        with pytest.raises(TransferFailedError, match="complete"):
            await b.get_database()
    assert b.stale


async def test_a_backup_that_breaks_off_goes_on_at_the_same_byte(
    switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = await switches.joined("a")
    await write(a, 0, ROWS)
    await alike(a, count=ROWS)
    offsets: list[int] = []

    async def breaking(*arguments: object, **named: object) -> None:
        name, intake = arguments[2], arguments[3]
        assert isinstance(name, bytes)
        assert isinstance(intake, Intake)
        if not name.startswith(b"backup"):
            await fetch(*arguments, **named)  # type: ignore[arg-type]
            return
        offsets.append(intake.offset)
        if len(offsets) == 1:
            take = intake.take

            def take_one(data: bytes, digest: bytes | None = None) -> bool:
                if intake.offset:
                    raise OSError("cut")
                return take(data, digest)

            monkeypatch.setattr(intake, "take", take_one, raising=False)
            try:
                await fetch(*arguments, **named)  # type: ignore[arg-type]
            finally:
                monkeypatch.setattr(intake, "take", take)
        else:
            await fetch(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(prefetch_client, "fetch", breaking)
    b = await switches.joined("b")
    await alike(a, b, count=ROWS)
    assert len(offsets) == 2
    assert offsets[1] > 0


@pytest.mark.parametrize(
    "name",
    [b"", b"prepare", b"prepare ", b"prepare " + b"x" * 33, b"backup ab", b"done ab", b"up a"],
)
async def test_what_is_asked_under_another_name_is_refused(switches: Switches, name: bytes) -> None:
    a = await switches.joined("a")
    assert a._service.find(name) is None
    assert leftovers(switches) == []


async def test_a_stranger_without_the_key_gets_no_backup(switches: Switches) -> None:
    a = await switches.joined("a")
    secret = Secret("test", Keyring.of("test", [b"o" * 32]))
    with pytest.raises(TransferError):
        await BackupClient(secret, switches.folder / "x.db", 60.0).fetch(a.address)
    assert a._service.sessions == {}


async def test_a_log_that_does_not_follow_the_backup_is_refused(switches: Switches) -> None:
    a = await switches.joined("a")
    await write(a, 0, 3)
    await alike(a, count=3)
    a._on_state(SetState(StateVersion(1, 1, a._channel.address), 1, 9, a._channel.address, b"\xc1"))
    assert a.counters()["unasked_states"] == 1
    a._expecting = True
    for state in (b"\xc1", b"\x93\x01\x63\x90", b"\x93\x02\x00\x90"):
        a._on_state(
            SetState(StateVersion(1, 1, a._channel.address), 1, 9, a._channel.address, state)
        )
    assert a.counters()["logs_refused"] == 3
    assert a.position == 3


async def test_a_port_that_is_taken_is_told(switches: Switches) -> None:
    a = await switches.joined("a")
    b = switches.make("b", port=a.address[1])
    with pytest.raises(PortInUseError, match="another port"):
        await b.get_database()
