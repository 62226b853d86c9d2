"""Real nodes with logs: what one of them orders that is no command ends none, in no life."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from groupcore.aio import GroupNode
from groupcore.sequencing.commands import Arrived
from groupcore.sequencing.events import ServiceEvent, SetAside
from server.logs import verify_log
from tests.groupcore.aio.cluster import LIMIT_S, free_port

pytestmark = pytest.mark.slow
FOUR_BYTES = b"\xc1\x92\x90\x00"


class Program:
    """A node of the cluster, and what it was told to be set aside."""

    def __init__(self, name: str, folder: Path, address: str) -> None:
        self.told: list[SetAside] = []
        self.changed = asyncio.Event()
        self.node = GroupNode(
            "set-aside",
            node_id=name,
            multicast=address,
            receiver=self.hear,
            data_dir=folder / name,
            cluster_size=3,
        )

    def hear(self, events: list[ServiceEvent]) -> None:
        self.told += [event for event in events if isinstance(event, SetAside)]
        self.changed.set()

    async def until_told(self) -> SetAside:
        async with asyncio.timeout(LIMIT_S):
            while not self.told:
                self.changed.clear()
                await self.changed.wait()
        (event,) = self.told
        return event


async def test_four_bytes_in_the_order_end_no_node_now_or_after_a_restart_of_all(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"228.8.8.8:{free_port()}"
    groups, places = [], []
    for turn in range(2):
        programs = [Program(name, tmp_path, address) for name in "abc"]
        with caplog.at_level(logging.WARNING):
            async with AsyncExitStack() as stack, asyncio.timeout(6 * LIMIT_S):
                await asyncio.gather(
                    *(stack.enter_async_context(program.node) for program in programs)
                )
                if not turn:
                    programs[2].node.service.plane.commands.append(FOUR_BYTES)
                    programs[2].node.propose(Arrived())
                said = [await program.until_told() for program in programs]
                places.append({(event.place, event.by.name) for event in said})
                groups.append(await programs[0].node.create("g"))
                await programs[0].node.saved()
        assert "is set aside by all nodes: bad_command" in caplog.text
        caplog.clear()
    assert groups[0] == groups[1]
    assert len(places[0]) == 1
    assert places[0] == places[1]
    place = places[0].pop()[0]
    verify_log(tmp_path / "a")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("good: node a of set-aside")
    at = f"set aside: command {place.commands} of view {place.view}, by c#"
    assert len([line for line in lines if line.startswith(at)]) == 1
