"""`dump-log` of real nodes that were killed, restarted and moved about while pages called."""

from __future__ import annotations

import json
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from server.logs import dump_log
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster
from tests.end_to_end.page import BLOCK
from tests.server.support import Page

pytestmark = [pytest.mark.process, pytest.mark.slow]

Row = dict[str, Any]
Rows = dict[tuple[str, int], Row]
EDITS = 8


class Writer:
    """A page that edits, and remembers what it was told of each call."""

    def __init__(self, url: str, name: str, client: str) -> None:
        self.page = Page(url, client=client)
        self.name = name
        self.client = client
        self.told: dict[str, tuple[str, object]] = {}

    async def write(self, count: int) -> None:
        """So many edits, one of which in four is refused."""
        async with self.page:
            opened = await self.page.open("Block", self.name)
            version = opened["state"]["version"]
            size = sum(map(len, opened["state"]["content"]))
            for one in range(count):
                base = version + 9 if one % 4 == 3 else version
                answer = await self.page.call(self.name, "edit", base, [size, "x"], "")
                key = f"{self.client}:{answer['n']}"
                if answer["t"] == "error":
                    self.told[key] = ("refused", answer["code"])
                    continue
                version, size = answer["results"][0]["version"], size + 1
                self.told[key] = ("done", answer["results"])


def read(text: str) -> Rows:
    """The lines by group and number, each of which stands there once and none left out."""
    rows: Rows = {}
    last: dict[str, int] = {}
    for line in text.splitlines():
        row = json.loads(line)
        group, number = row["group"], row["sequence_number"]
        assert row.get("first", number) == last.get(group, 0) + 1, row
        last[group] = number
        rows[group, number] = row
    return rows


def agree(dumps: list[Rows]) -> int:
    """How many numbers stand in all dumps, and are the same there."""
    common = set.intersection(*(set(rows) for rows in dumps))
    same = 0
    for key in common:
        found = [rows[key] for rows in dumps]
        if all(row["settled"] and row["verdict"] != "compacted" for row in found):
            assert found == [found[0]] * len(found)
            same += 1
    return same


async def histories(cluster: Cluster) -> list[Rows]:
    """What each node says while it runs."""
    found = []
    for name in NAMES:
        asked = [
            sys.executable,
            "-m",
            "server",
            "dump-log",
            "--admin",
            cluster.nodes[name].admin_url,
        ]
        process = await create_subprocess_exec(*asked, stdout=PIPE)
        output, _ = await process.communicate()
        assert process.returncode == 0
        found.append(read(output.decode()))
    return found


async def test_the_history_is_whole_and_the_same_at_all_nodes_whatever_became_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        doc = await cluster.create("a")
        group = f"doc/{doc}/{BLOCK}"
        told: dict[str, tuple[str, object]] = {}

        async def write(at: str, client: str) -> None:
            writer = Writer(cluster.nodes[at].url, group, client)
            await writer.write(EDITS)
            told.update(writer.told)

        await write("a", "before-anything-1")
        await cluster.place("b", group)
        await write("c", "behind-the-move-2")
        await cluster.nodes["b"].kill()
        await cluster.view_of("a", "a", "c")
        await write("a", "behind-failover-3")
        await cluster.start("b")
        for name in NAMES:
            await cluster.view_of(name, *NAMES)
        await cluster.place("b", group)
        await cluster.place("c", group)
        await write("b", "after-a-restart-4")
        running = await histories(cluster)
        check(running, told, group)
        for name in NAMES:
            await cluster.nodes[name].kill()
        await cluster.start(*NAMES)
        await write("c", "all-were-killed-5")
        check(await histories(cluster), told, group)
        folders = [tmp_path / name for name in NAMES]
    stopped = []
    for folder in folders:
        capsys.readouterr()
        dump_log(folder)
        stopped.append(read(capsys.readouterr().out))
    assert agree(stopped) > 0


def check(dumps: list[Rows], told: dict[str, tuple[str, object]], group: str) -> None:
    """The dumps are one, have every epoch, and each call once, with what its page was told."""
    numbers = agree(dumps)
    assert numbers >= len(told)
    assert {verdict for verdict, _ in told.values()} == {"done", "refused"}
    for rows in dumps:
        calls = [row for row in rows.values() if row.get("client_operation_id")]
        by_id = {row["client_operation_id"]: row for row in calls}
        assert len(by_id) == len(calls)
        assert {key: outcome(by_id[key]) for key in told} == told
        epochs = [row["epoch"] for (name, _), row in sorted(rows.items()) if name == group]
        assert epochs == sorted(epochs)
        assert len(set(epochs)) >= 3, "a failover and moves"
        assert all(by_id[key]["time"] for key in told)


def outcome(row: Row) -> tuple[str, object]:
    """As the page was told it."""
    return row["verdict"], row["code"] if row["verdict"] == "refused" else row["results"]
