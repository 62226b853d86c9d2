"""A node's log from outside."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from server.errors import IdInUseProblem, SettingsProblem
from server.logs import dump_log, run_command, verify_log
from tests.server.support import Cluster, Page, create


def rows_of(capsys: pytest.CaptureFixture[str], folder: Path) -> list[dict[str, Any]]:
    capsys.readouterr()
    dump_log(folder)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


async def test_the_log_is_dumped_as_json_lines(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    doc = await create(node, markdown="Milk")
    async with Page(node.url, client="client-of-sixteen") as page:
        name = f"doc/{doc}/b1"
        version = (await page.open("Block", name))["state"]["version"]
        await page.call(name, "edit", version, [4, "!"])
        await page.hear("saved", name=name)
    with pytest.raises(IdInUseProblem, match="stop it first"):
        verify_log(cluster.folder / "a")
    await cluster.stop("a")
    verify_log(cluster.folder / "a")
    rows = rows_of(capsys, cluster.folder / "a")
    [edit] = [row for row in rows if row.get("subject") == "guest"]
    assert edit["group"] == name
    assert edit["operation"] == [["edit", [version, [4, "!"], "", False]]]
    assert edit["client_operation_id"] == "client-of-sixteen:1"
    assert (edit["verdict"], edit["settled"]) == ("done", True)
    assert [one["version"] for one in edit["results"]] == [version + 1]
    sent = datetime.fromisoformat(edit["time"])
    assert abs((datetime.now(UTC) - sent).total_seconds()) < 60
    numbers = [row["sequence_number"] for row in rows if row["group"] == name]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {row["epoch"] for row in rows} == {1}
    assert {"joined", "left", "done"} <= {row["verdict"] for row in rows}


async def test_a_restarted_node_has_everything_and_its_log_goes_on(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    doc = await create(await cluster.start("a"))
    await cluster.stop("a")
    node = await cluster.start("a")
    assert [doc] == node.node.whole_catalogue.keys()
    await cluster.stop("a")
    rows = rows_of(capsys, cluster.folder / "a")
    numbers = [row["sequence_number"] for row in rows if row["group"] == "documents"]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_folder_without_a_log_is_named(tmp_path: Path) -> None:
    for name in ("verify-log", "dump-log"):
        with pytest.raises(SettingsProblem, match="holds no log"):
            run_command(name, [str(tmp_path)])
    with pytest.raises(SettingsProblem, match="one folder"):
        run_command("verify-log", [])
    with pytest.raises(SettingsProblem, match="folder --admin"):
        run_command("dump-log", [])
