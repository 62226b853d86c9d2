"""The cluster's key is changed under load: nothing is lost, and the former key opens nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_asyncio

from groupcore.aio import GroupNode, KeyFile, keys
from groupcore.aio.prober import probe
from groupcore.errors import KeyRotationError
from groupcore.seal import key_epoch
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Process
from tests.groupcore.aio.cluster import free_port

OLD, NEW = b"o" * 32, b"n" * 32
LIMIT_S = 20.0


class Member:
    """A node with a key file of its own, and a process in the one group."""

    def __init__(self, folder: Path, name: str, port: int, multicast: bool = True) -> None:
        self.name = name
        self.given: list[bytes] = []
        self.changed = asyncio.Event()
        self.file = KeyFile(folder / f"{name}.key")
        if not self.file.path.exists():
            self.file.keep(OLD)
        self.node = GroupNode(
            "keys",
            node_id=name,
            receiver=self.receive,
            multicast=f"228.8.8.23:{port}" if multicast else None,
            key=self.file,
            cluster_size=3,
        )
        self.group: GroupId = 0
        self.process: Process | None = None

    def receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                self.given += event.payloads
        self.changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not holds():
                self.changed.clear()
                with suppress(TimeoutError):  # keys are let go without an event
                    async with asyncio.timeout(0.02):
                        await self.changed.wait()

    async def join(self) -> None:
        self.group = await self.node.create("sent to")
        self.process = self.node.open_process()
        await self.node.join(self.process, self.group)

    def send(self, text: str) -> None:
        assert self.process is not None, "it has joined"
        self.node.send(self.process, self.group, [text.encode()])

    def offer(self) -> None:
        """Put the new key behind the present one."""
        self.file.path.write_text(f"{OLD.hex()}\n{NEW.hex()}\n")

    @property
    def accepts(self) -> tuple[int, ...]:
        return self.node.keys.ring.epochs


class Cluster:
    """Members on one multicast address; all that still run are closed when the test ends."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.members: list[Member] = []

    async def start(self, *names: str) -> list[Member]:
        made = [Member(self.folder, name, self.port) for name in names]
        async with asyncio.timeout(LIMIT_S):
            await asyncio.gather(*(member.node.__aenter__() for member in made))
            for member in made:
                await member.join()
        self.members += made
        return made


@pytest_asyncio.fixture
async def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    monkeypatch.setattr(keys, "LINGER_S", 0.05)
    monkeypatch.setattr(keys, "LOOK_S", 0.05)
    made = Cluster(tmp_path)
    yield made
    for member in made.members:
        await member.node.close()


async def keep_sending(members: list[Member], until: asyncio.Event) -> int:
    """Every node sends at every turn of the loop or so; how many each has sent."""
    first, sent = members[0], 0
    while not until.is_set():
        for member in members:
            await member.node.room()
            member.send(f"{member.name}{sent}")
        sent += 1
        enough = (sent - 2) * len(members)
        await first.until(lambda enough=enough: len(first.given) >= enough)  # type: ignore[misc]
    return sent


@pytest.mark.asyncio
async def test_the_key_changes_under_load_and_nothing_is_lost(cluster: Cluster) -> None:  # row 48
    members = await cluster.start("a", "b", "c")
    changed = asyncio.Event()
    sending = asyncio.create_task(keep_sending(members, changed))
    for member in members:
        member.offer()
    async with asyncio.timeout(LIMIT_S):
        assert await members[1].node.rotate_key() == key_epoch(NEW)
    changed.set()
    sent = await sending
    for member in members:
        await member.until(lambda member=member: len(member.given) >= sent * 3)  # type: ignore[misc]
        assert member.given == members[0].given
        every = [f"{name}{number}".encode() for name in "abc" for number in range(sent)]
        assert sorted(member.given) == sorted(every)
        await member.until(lambda member=member: member.accepts == (key_epoch(NEW),))  # type: ignore[misc]
        assert member.file.read() == (NEW,)


@pytest.mark.asyncio
async def test_a_node_without_the_new_key_is_named_and_all_keep_theirs(cluster: Cluster) -> None:
    members = await cluster.start("a", "b", "c")
    members[0].offer()
    members[1].offer()
    with pytest.raises(KeyRotationError, match="c: its key file does not hold the new key"):
        await members[0].node.rotate_key()
    assert {member.node.keys.ring.current for member in members} == {key_epoch(OLD)}
    members[2].offer()
    async with asyncio.timeout(LIMIT_S):
        await members[0].node.rotate_key()


@pytest.mark.asyncio
async def test_a_node_that_was_away_follows_if_its_file_has_the_key(cluster: Cluster) -> None:
    a, b, c = await cluster.start("a", "b", "c")
    await c.node.close()
    cluster.members.remove(c)
    for member in (a, b, c):
        member.offer()
    async with asyncio.timeout(LIMIT_S):
        await a.node.rotate_key()
    (back,) = await cluster.start("c")
    await back.until(lambda: back.accepts == (key_epoch(NEW),))
    assert back.file.read() == (NEW,)


@pytest.mark.asyncio
async def test_a_node_that_runs_apart_reads_its_file_again_when_it_hears_a_new_key(
    cluster: Cluster,
) -> None:
    a, b = await cluster.start("a", "b")
    late = Member(cluster.folder, "c", cluster.port)
    for member in (a, b):
        member.offer()
    async with asyncio.timeout(LIMIT_S):
        await a.node.rotate_key()
        entering = asyncio.create_task(late.node.__aenter__())  # under the former key
        cluster.members.append(late)
        while late.node.counters().get("transport.drops.unknown_key_epoch", 0) == 0:
            await asyncio.wait([entering], timeout=0.01)
        assert not entering.done()
        late.offer()
        await entering
    await late.join()
    assert late.node.keys.ring.current == key_epoch(NEW)


@pytest.mark.asyncio
async def test_the_former_key_opens_nothing_any_more(cluster: Cluster) -> None:  # T5
    members = await cluster.start("a", "b", "c")
    for member in members:
        member.offer()
    async with asyncio.timeout(LIMIT_S):
        await members[0].node.rotate_key()
        for member in members:
            await member.until(lambda member=member: member.accepts == (key_epoch(NEW),))  # type: ignore[misc]
    group = f"228.8.8.23:{cluster.port}"
    assert (await probe("keys", multicast=group, key=OLD, timeout_s=0.5)).reports == ()
    assert len((await probe("keys", multicast=group, key=NEW, timeout_s=LIMIT_S)).reports) == 3


@pytest.mark.asyncio
async def test_a_node_without_a_key_file_or_a_new_key_says_what_to_do(cluster: Cluster) -> None:
    (alone, _) = await cluster.start("a", "b")
    with pytest.raises(KeyRotationError, match="put a new one on a line behind it"):
        await alone.node.rotate_key()
    loose = GroupNode("loose", node_id="l", receiver=print, multicast=f"228.8.8.24:{free_port()}")
    async with loose:
        with pytest.raises(KeyRotationError, match="no key file"):
            await loose.rotate_key()
