"""Nodes with a folder of their own: what is saved outlives all processes."""

from __future__ import annotations

import asyncio
import logging
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from groupcore.aio import GroupNode, Node
from groupcore.aio.errors import JoinRefusedError, StorageError
from groupcore.aio.log_store import LogStorage
from groupcore.errors import SettingsError
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.log import LogPart
from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.types import Counter, Presence, Topic
from tests.groupcore.aio.cluster import LIMIT_S, free_port

pytestmark = pytest.mark.slow


def multicast() -> str:
    return f"228.8.8.8:{free_port()}"


class Program:
    """A process of its own that counts."""

    def __init__(self, name: str, folder: Path, address: str) -> None:
        self.name = name
        self.folder = folder / name
        self.address = address
        self.found = 0
        self.saved = 0

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.groupcore.aio.durable_counter",
            self.name,
            self.address,
            str(self.folder),
            stdout=asyncio.subprocess.PIPE,
        )

    async def until_saved(self, count: int) -> None:
        """Read what it says until so much is saved."""
        async with asyncio.timeout(3 * LIMIT_S):
            while self.saved < count:
                self.hear(await self.line())

    async def until_found(self) -> None:
        async with asyncio.timeout(3 * LIMIT_S):
            self.hear(await self.line())

    async def line(self) -> bytes:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        assert line.endswith(b"\n"), f"{self.name} has ended by itself after {line!r}"
        return line

    def hear(self, line: bytes) -> None:
        word, number = line.decode().split()
        if word == "found":
            self.found = int(number)
        else:
            self.saved = int(number)

    async def kill(self) -> None:
        """As a power cut would; what it had still said counts."""
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()
        assert self.process.stdout is not None
        *lines, _ = (await self.process.stdout.read()).split(b"\n")  # the last one may be torn
        for line in lines:
            self.hear(line)


async def test_all_processes_are_killed_and_every_saved_operation_is_there(tmp_path: Path) -> None:
    address, total = multicast(), 0
    for _ in range(3):
        programs = [Program(name, tmp_path, address) for name in "abc"]
        for program in programs:
            await program.start()
        for program in programs:
            await program.until_found()
            assert program.found >= total
        for program in programs:
            await program.until_saved(10)
        for program in programs:
            await program.kill()
        total += sum(program.saved for program in programs)


async def test_an_empty_folder_in_the_place_of_one_takes_everything_from_the_others(
    tmp_path: Path,
) -> None:
    address = multicast()
    programs = [Program(name, tmp_path, address) for name in "abc"]
    for program in programs:
        await program.start()
    for program in programs:
        await program.until_saved(5)
    for program in programs:
        await program.kill()
    total = sum(program.saved for program in programs)
    (tmp_path / "c").rename(tmp_path / "lost")
    again = [Program(name, tmp_path, address) for name in "abc"]
    for program in again:
        await program.start()
    for program in again:
        await program.until_found()
        assert program.found >= total
    for program in again:
        await program.kill()


async def test_one_node_goes_on_where_it_was(tmp_path: Path) -> None:
    address = multicast()
    for begun in range(3):
        async with Node("alone", node_id="a", multicast=address, data_dir=tmp_path / "a") as node:
            counter = await node.open(Counter, "count")
            assert counter.value == begun
            await counter.add(1)
            await node.saved()


async def test_messages_of_a_group_come_again_in_their_order(tmp_path: Path) -> None:
    address = multicast()
    told: list[bytes] = []

    def hear(events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                told.extend(event.payloads)

    for turn in range(2):
        async with GroupNode(
            "again", node_id="a", multicast=address, receiver=hear, data_dir=tmp_path / "a"
        ) as node:
            group = await node.create("g")
            process = node.open_process()
            await node.join(process, group)
            assert told == ([b"0", b"1", b"2"] if turn else [])
            if not turn:
                node.send(process, group, [b"0", b"1", b"2"])
                await node.saved()
                told.clear()


async def test_a_damaged_log_is_set_aside_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, address = tmp_path / "a", multicast()
    async with Node("damaged", node_id="a", multicast=address, data_dir=folder) as node:
        await (await node.open(Counter, "count")).add(1)
        await node.saved()
    database = sqlite3.connect(folder / "log.sqlite3")
    database.execute("UPDATE log SET part = part || x'00' WHERE position = 2")
    database.commit()
    database.close()
    with caplog.at_level(logging.ERROR):
        storage = GroupNode(
            "damaged", node_id="a", multicast=address, data_dir=folder, receiver=print
        ).storage
        assert storage is not None
        storage.open()
    assert storage.set_aside == folder / "damaged-1"
    assert str(folder / "log.sqlite3") in caplog.text
    await storage.close()


async def test_a_folder_belongs_to_one_node_and_one_process(tmp_path: Path) -> None:
    folder, address = tmp_path / "a", multicast()
    async with Node("owned", node_id="a", multicast=address, data_dir=folder):
        with pytest.raises(StorageError, match="another process uses"):
            async with Node("owned", node_id="b", multicast=address, data_dir=folder):
                pass
    with pytest.raises(StorageError, match="belongs to node 'a'"):
        async with Node("owned", node_id="b", multicast=address, data_dir=folder):
            pass


async def test_a_node_without_a_folder_does_not_join_those_that_have_one(tmp_path: Path) -> None:
    address = multicast()
    async with Node("demo", node_id="a", data_dir=tmp_path / "a", multicast=address):
        with pytest.raises(
            JoinRefusedError, match="start all of them with one, or none"
        ) as refused:
            async with Node("demo", node_id="b", multicast=address):
                pass
        assert refused.value.code == "mixed_logs"


def test_a_log_needs_a_folder() -> None:
    with pytest.raises(SettingsError, match="data_dir"):
        GroupNode("x", node_id="a", receiver=print, options=ServiceOptions(durable=True))


def test_with_logs_no_more_copies_are_asked_for_than_nodes_keep_without_one_disk(
    tmp_path: Path,
) -> None:
    def node(k: int, cluster_size: int) -> None:
        settings = {"node_id": "a", "data_dir": tmp_path, "receiver": print}
        GroupNode("x", options=ServiceOptions(k=k), cluster_size=cluster_size, **settings)  # type: ignore[arg-type]

    with pytest.raises(SettingsError, match=r"options\.k 2 is too many: .* at most 1"):
        node(2, 3)
    node(2, 4)


async def test_a_log_is_read_while_it_is_written(tmp_path: Path) -> None:
    storage = LogStorage(tmp_path / "a", "c", "a")
    storage.open()
    storage.start(lambda kind, detail: None)
    stored: list[int] = []
    for mark in range(1, 201):
        storage.append([LogPart(mark, b"%d" % mark)], stored.append)
        if mark % 50 == 0:
            parts = await asyncio.to_thread(storage.read)
            assert parts == [b"%d" % number for number in range(1, mark + 1)]
    storage.append([LogPart(201, b"state", checkpoint=True), LogPart(202, b"x")], stored.append)
    storage.append([LogPart(203, b"", dropping=True)], stored.append)
    assert await asyncio.to_thread(storage.read) == [b"state", b"x", b""]
    await storage.close()
    assert stored[-1] == 203
    again = LogStorage(tmp_path / "a", "c", "a")
    again.open()
    assert again.read() == [b"state", b"x", b""]
    await again.close()


async def test_a_session_opens_again_what_it_had_open_alone(tmp_path: Path) -> None:
    """What is told from the log has the session's own LEAVE of before in it."""
    address = multicast()
    async with (
        Node("again", node_id="a", multicast=address, data_dir=tmp_path / "a") as node,
        node.session() as session,
    ):
        for number in range(1, 4):
            counter = await session.open(Counter, "c")
            room = await session.open(Presence[str], "room")
            bell = await session.open(Topic[int], "bell")
            async with bell.subscribe() as events:
                assert await counter.add(1) == number
                room.set("here")
                await bell.publish(number)
                event = await asyncio.wait_for(anext(aiter(events)), LIMIT_S)
                assert event.value == number
            await asyncio.gather(*map(session.let_go, ("c", "room", "bell")))
