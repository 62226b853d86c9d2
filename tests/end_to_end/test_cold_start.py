"""Nodes die one after the other, one loses its folder, all start: what is waited for is said, and
an operator goes on without it. Who comes back with the old folder later is told so, keeps it aside,
and begins as an empty node."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.cluster import Cluster, eventually, running_cluster

pytestmark = [pytest.mark.process, pytest.mark.slow]

NAMES = ("a", "b", "c")


async def dies_in_turn(cluster: Cluster) -> str:
    """a, then b, then c, each when the others have noticed: the last view is that of b and c.

    Which document b and c have saved in it.
    """
    await cluster.nodes["a"].kill()
    await cluster.view_of("c", "b", "c")
    later = await cluster.create("b", "saved by two of three.")
    await cluster.nodes["b"].kill()

    async def is_stale() -> bool:
        return bool((await cluster.status("c"))["state"] == "stale")

    await eventually(is_stale, "c has lost its quorum")
    await cluster.nodes["c"].kill()
    return later


async def spawn(cluster: Cluster, *names: str) -> None:
    for name in names:
        cluster.nodes[name] = await cluster.spawn(name)

    async def listen() -> bool:
        return all(cluster.nodes[name].listens for name in names)

    await eventually(listen, f"{names} listen")


async def recover(cluster: Cluster, name: str, *words: str) -> tuple[int, str, str]:
    """`python -m server recover` at this node: exit code, output, errors."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "server", "recover"),
        *("--admin", cluster.nodes[name].admin_url, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()


async def waits_for(
    cluster: Cluster, name: str, empty: list[str], others: list[str]
) -> dict[str, Any]:
    """What a node says that it waits for, once it knows of all."""
    found: dict[str, Any] = {}

    async def says() -> bool:
        found.clear()
        found.update((await cluster.status(name))["waiting"] or {})
        told = (found.get("reason"), found.get("empty"), found.get("others"))
        return told == ("quorum", empty, others)

    await eventually(says, f"{name} says that it waits for {empty}")
    return found


async def test_a_cold_start_goes_on_by_itself_with_two_whole_folders_of_three(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        doc = await cluster.create("a", "kept.")
        later = await dies_in_turn(cluster)
        shutil.rmtree(tmp_path / "b")
        await spawn(cluster, *NAMES)
        for name in NAMES:
            await cluster.ready(name)
            await cluster.view_of(name, *NAMES)
            await cluster.shows(name, doc, "kept.")
            await cluster.shows(name, later, "saved by two of three.")


async def test_a_cold_start_says_who_is_awaited_and_goes_on_without_when_told(
    tmp_path: Path,
) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        doc = await cluster.create("a", "kept.")
        await dies_in_turn(cluster)
        for name in ("a", "b"):
            (tmp_path / name).rename(tmp_path / f"{name}-old")
        await spawn(cluster, *NAMES)

        # Who is awaited, and why: in the status, at the public address, in the log, at the shell.
        waiting = await waits_for(cluster, "c", ["b", "a"], [])
        assert (waiting["members"], waiting["here"]) == (["b", "c"], ["c"])
        assert (waiting["voters"], waiting["needed"]) == (["b", "c", "a"], 2)
        for name in NAMES:
            text = (await waits_for(cluster, name, ["b", "a"], []))["text"]
            assert "the last view was [b c], and [b c a] vote on what follows" in text
        code, ready = await cluster.get(f"{cluster.nodes['a'].url}/readyz?verbose")
        assert (code, ready["waiting"]["reason"]) == (503, "quorum")

        code, told = await cluster.get(f"{cluster.nodes['c'].url}/api/v1/documents")
        assert (code, told["code"]) == (503, "awaits_nodes")
        assert "wait for some of their number (b, a)" in told["detail"]

        async def is_logged() -> bool:
            return "node c waits: the last view was [b c]" in cluster.nodes["c"].output()

        await eventually(is_logged, "the log says it")
        code, out, _ = await recover(cluster, "c")
        assert code == 3
        assert "waits for  b" in out
        assert "may be lost" in out

        # Not by chance: named wrongly, said once, asked at one that does not know best.
        for words in (
            ("--without", "a", "--without", "b", "--yes-i-may-lose"),
            ("--without", "a", "--without", "b"),
            ("--without", "a", "--yes-i-may-lose", "--yes-i-may-lose"),
        ):
            assert (await recover(cluster, "c", *words))[0] in (1, 2), words
        twice = (
            "--without",
            "a",
            "--without",
            "b",
            "--yes-i-may-lose",
            "--yes-i-may-lose",
            "--json",
        )
        code, _, errors = await recover(cluster, "a", *twice)
        assert (code, "ask at c" in errors) == (1, True), errors

        code, out, errors = await recover(cluster, "c", *twice)
        assert code == 0, errors
        assert json.loads(out)["without"] == ["a", "b"]
        for name in NAMES:
            await cluster.ready(name)
            await cluster.view_of(name, *NAMES)
            await cluster.shows(name, doc, "kept.")


async def test_who_comes_back_with_the_old_folder_keeps_it_aside_and_begins_empty(
    tmp_path: Path,
) -> None:
    """Of two the first goes on alone, and saves alone."""
    async with running_cluster(tmp_path, "a", "b") as cluster:
        doc = await cluster.create("a", "kept.")
        await cluster.nodes["b"].kill()
        await cluster.view_of("a", "a")
        alone = await cluster.create("a", "only at a.")
        await cluster.nodes["a"].kill()
        shutil.copytree(tmp_path / "a", tmp_path / "a-old")
        shutil.rmtree(tmp_path / "a")
        await spawn(cluster, "a", "b")
        await waits_for(cluster, "b", ["a"], [])
        twice = ("--without", "a", "--yes-i-may-lose", "--yes-i-may-lose")
        code, _, errors = await recover(cluster, "b", *twice)
        assert code == 0, errors
        for name in ("a", "b"):
            await cluster.ready(name)
        await cluster.nodes["a"].kill()
        await cluster.view_of("b", "b")
        shutil.rmtree(tmp_path / "a")
        (tmp_path / "a-old").rename(tmp_path / "a")
        await cluster.start("a")
        await cluster.view_of("b", "a", "b")
        await cluster.shows("a", doc, "kept.")
        code, _ = await cluster.get(f"{cluster.nodes['a'].url}/api/v1/documents/{alone}")
        assert code == 404
        await cluster.nodes["a"].kill()

        # What only it had can be read out of what was put aside.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "server", "dump-log", str(tmp_path / "a" / "left-1")),
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        assert process.returncode == 0
        assert f"doc/{alone}" in out.decode()
