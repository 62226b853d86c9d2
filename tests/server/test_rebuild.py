"""Objects out of a node's log: at the end, at a number, at a time; held against live copies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from groupcore.shared.machine import digest_of
from groupcore.shared.rebuilding import COLUMNS, from_row, rebuild
from server.documents.catalogue import NAME
from server.errors import ServerError, SettingsProblem
from server.export_cli import run_export_command
from server.rebuild_cli import run_rebuild_command
from server.rebuilding import kind_of
from tests.server.support import Cluster, Page, create


def rebuilt(
    capsys: pytest.CaptureFixture[str], folder: Path, *words: str
) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    run_rebuild_command(["rebuild", str(folder), *words])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {row["name"]: row for row in rows}


async def test_a_block_as_it_was_at_any_place(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    doc = await create(node, markdown="Milk")
    name = f"doc/{doc}/b1"
    async with Page(node.url, client="client-of-sixteen") as page:
        version = (await page.open("Block", name))["state"]["version"]
        await page.call(name, "edit", version, [4, " and bread"])
        await page.hear("saved", name=name)
    block = await node.node.objects.open(kind_of(name), name)  # type: ignore[arg-type]
    live = block._shared.caller.body.machine  # type: ignore[attr-defined]
    position, packed = live.position, live.packed()
    await cluster.stop("a")
    folder = cluster.folder / "a"

    at_end = rebuilt(capsys, folder, "--name", f"doc/{doc}*")
    assert {row["class"] for row in at_end.values()} == {"DocumentOutline", "Block"}
    assert "Milk and bread" in json.dumps(at_end[name]["fields"])
    there = rebuilt(capsys, folder, "--name", name, "--at-seq", str(position))[name]
    assert there["position"] == position
    assert there["hash"] == digest_of(packed).hex()
    before = rebuilt(capsys, folder, "--name", name, "--at-seq", "4")[name]
    assert "bread" not in json.dumps(before["fields"])
    long_ago = rebuilt(capsys, folder, "--name", name, "--at-time", "2020-01-01")[name]
    assert "Milk" not in json.dumps(long_ago["fields"])
    everything = rebuilt(capsys, folder, "--no-fields")
    assert {NAME, name, f"doc/{doc}"} <= set(everything)
    assert "fields" not in everything[name]
    with pytest.raises(ServerError, match="no object of that name"):
        run_rebuild_command(["rebuild", str(folder), "--name", "doc/none"])

    exported = cluster.folder / "a.parquet"
    run_export_command(["export-log", str(folder), str(exported)])
    assert exported.stat().st_mode & 0o077 == 0
    rows = parquet.read_table(exported).to_pydict()
    entries = map(from_row, zip(*(rows[column] for column, _ in COLUMNS), strict=True))
    hashes = {one.name: one.digest for one in rebuild(entries, kind_of, lambda name: True)}
    assert hashes == {name: row["hash"] for name, row in everything.items()}
    with pytest.raises(SettingsProblem, match="cannot be written"):
        run_export_command(["export-log", str(folder), str(cluster.folder / "none" / "a")])


def test_groups_without_a_state_are_left_out() -> None:
    assert kind_of("presence/x") is None
    with pytest.raises(SettingsProblem):
        run_rebuild_command(["rebuild", "/nowhere", "--name", "x"])
