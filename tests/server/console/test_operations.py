"""Backups, their check, their restoration, and pruning, as operations that are watched."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from server.backup.archive import Reader
from server.console import operations
from server.console.operations import Operation, Operations
from server.errors import BadMessageError, ServerError
from server.main import main
from server.shelf import Shelf
from tests.server.accounts.people import Browser
from tests.server.support import Cluster, eventually
from tests.server.trace.test_cli import written

Json = Any


@pytest.fixture
def made(tmp_path: Path) -> Operations:
    return a_life(tmp_path, 7)


def a_life(folder: Path, incarnation: int) -> Operations:
    """The operations of a life of node a."""
    begun = Operations("a", lambda: incarnation, Shelf(folder / operations.NAME))
    begun.start()
    return begun


async def ended(one: Operation) -> Operation:
    await eventually(lambda: one.ended_s is not None, f"{one.what} is over")
    return one


async def test_an_operation_is_watched_to_its_end(made: Operations) -> None:
    gate = asyncio.Event()

    async def work(one: Operation) -> Json:
        one.total = 10
        one.step(4)
        await gate.wait()
        return {"found": 1}

    one = made.begin("verify", "x.tar", "ann", "bytes", work)
    await eventually(lambda: one.done == 4, "a step")
    assert made.shown()[0]["state"] == "running"
    gate.set()
    await ended(one)
    shown = made.told("a-7-1")
    assert (shown["state"], shown["result"], shown["done"]) == ("done", {"found": 1}, 4)
    with pytest.raises(BadMessageError) as refused:
        made.told("a-7-2")
    assert refused.value.code == "unknown_operation"


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ServerError("the disk is no disk"), "the disk is no disk"),
        (FileNotFoundError(2, "No such file", "x.tar"), "x.tar: No such file"),
        (ZeroDivisionError("ours"), "the node has failed on this; see its log"),
    ],
)
async def test_what_fails_says_why(made: Operations, error: Exception, says: str) -> None:
    async def work(one: Operation) -> Json:
        raise error

    one = await ended(made.begin("backup", "x.tar", "ann", "bytes", work))
    assert (one.state, one.problem) == ("failed", says)


async def test_one_that_is_called_off_goes_no_further(made: Operations) -> None:
    async def work(one: Operation) -> Json:
        while True:
            one.step(1)
            await asyncio.sleep(0)

    one = made.begin("verify", "x.tar", "ann", "bytes", work)
    await eventually(lambda: one.done > 0, "it goes on")
    made.cancel(one.id)
    assert (await ended(one)).state == "cancelled"


async def test_so_many_are_under_way_and_kept(
    made: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "KEPT_MAX", 3)
    gate = asyncio.Event()

    async def work(one: Operation) -> Json:
        await gate.wait()
        return {}

    for _ in range(operations.RUNNING_MAX):
        made.begin("verify", "", "", "bytes", work)
    with pytest.raises(BadMessageError, match="two operations") as refused:
        made.begin("verify", "", "", "bytes", work)
    assert refused.value.code == "too_many_operations"
    await made.close()
    assert {one["state"] for one in made.shown()} == {"cancelled"}
    gate.set()
    for _ in range(6):
        await ended(made.begin("verify", "", "", "bytes", work))
    assert len(made.shown()) == 4


async def test_what_became_of_them_is_known_in_the_next_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def quick(one: Operation) -> Json:
        return {"found": 1}

    async def slow(one: Operation) -> Json:
        await gate.wait()
        return {}

    first = a_life(tmp_path, 7)
    await ended(first.begin("verify", "x.tar", "ann", "bytes", quick))
    await ended(first.begin("backup", "y.tar", "ann", "bytes", quick))
    begun = first.begin("backup", "z.tar", "ann", "bytes", slow)
    kept = Shelf(tmp_path / operations.NAME)
    await eventually(lambda: begun.id in kept.load(), "it is kept that it was begun")
    monkeypatch.setattr(operations, "KEPT_MAX", 2)
    second = a_life(tmp_path, 8)  # the former one is killed: nobody closes it
    assert [(one["id"], one["state"]) for one in second.shown()] == [
        ("a-7-3", "lost"),
        ("a-7-2", "done"),
    ]
    assert second.told("a-7-2")["result"] == {"found": 1}
    assert second.told("a-7-3")["ended_s"] is not None
    assert second.cancel("a-7-3")["state"] == "lost"
    with pytest.raises(BadMessageError):
        second.told("a-7-1")
    (tmp_path / operations.NAME).write_text('{"id": 5}\n[]\n{"id": "a-7-', encoding="utf-8")
    assert a_life(tmp_path, 9).shown() == []
    await first.close()


async def test_one_that_the_node_s_end_calls_off_is_kept_as_cancelled(tmp_path: Path) -> None:
    async def slow(one: Operation) -> Json:
        await asyncio.Event().wait()
        return {}

    first = a_life(tmp_path, 7)
    begun = first.begin("backup", "z.tar", "ann", "bytes", slow)
    kept = Shelf(tmp_path / operations.NAME)
    await eventually(lambda: begun.id in kept.load(), "it is kept that it was begun")
    await first.close()
    assert [one["state"] for one in a_life(tmp_path, 8).shown()] == ["cancelled"]


# --- at a cluster ---------------------------------------------------------------------------------


async def run(ann: Browser, want: str = "done", **body: object) -> Json:
    """Begin an operation, and watch it to its end."""
    status, begun = await ann.ask("POST", "/admin/operations", body)
    assert status == 202, begun

    async def is_over() -> bool:
        return bool((await look(ann, begun["id"]))["state"] != "running")

    await eventually(is_over, f"{body} is over", 0.05)
    found = await look(ann, begun["id"])
    assert found["state"] == want, found
    return found


async def look(ann: Browser, operation: str) -> Json:
    status, found = await ann.ask("GET", f"/admin/operations/{operation}")
    assert status == 200, found
    return found


async def refused(ann: Browser, **body: object) -> str:
    status, found = await ann.ask("POST", "/admin/operations", body)
    assert status >= 400, found
    return str(found["code"])


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
async def test_a_backup_is_taken_verified_and_put_back_beside_the_cluster(
    ann: Browser, cluster: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    assert await refused(ann, what="backup") == "no_backups"
    object.__setattr__(cluster.nodes["a"].settings, "backups", folder)
    doc = await ann.create("Kept")
    taken = await run(ann, what="backup")
    file = taken["result"]["file"]
    assert taken["result"]["documents"] == 1
    assert names(folder) == {file}
    found = (await ann.ask("GET", "/admin/operations"))[1]
    assert [one["file"] for one in found["backups"]] == [file]
    assert [one["what"] for one in found["operations"]] == ["backup"]
    checked = await run(ann, what="verify", file=file)
    assert checked["done"] == checked["total"] == found["backups"][0]["bytes"]
    back = await run(ann, what="restore", file=file, folder="again")
    assert (back["result"]["documents"], back["done"], back["total"]) == (1, 1, 1)
    assert names(folder) == {file, "again"}
    assert await refused(ann, what="restore", file=file, folder="again") == "taken"
    assert await refused(ann, what="restore", file=file, folder="../x") == "bad_request"
    assert await refused(ann, what="verify", file="../a/key.tar") == "no_such_backup"
    damage(folder / file)
    assert "damaged" in (await run(ann, "failed", what="verify", file=file))["problem"]
    assert "damaged" in (await run(ann, "failed", what="restore", file=file, folder="b"))["problem"]
    assert names(folder) == {file, "again"}
    # What was put back is a cluster as of the backup; the running one has lost nothing.
    assert (await ann.ask("GET", f"/documents/{doc}"))[0] == 200
    await cluster.stop("c")
    other = Cluster(tmp_path / "other")
    other.flags = {"accounts": "on"}
    try:
        node = await other.start("a", data=str(folder / "again"))
        async with Browser(node) as again:
            await again.sign_in("ann@example.org")
            assert (await again.ask("GET", f"/documents/{doc}"))[1]["title"] == "Kept"
    finally:
        await other.close()
    entries = (await ann.ask("GET", "/audit"))[1]["entries"]
    noted = {one["what"]: one["about"] for one in entries}
    assert noted["backup.taken"] == noted["backup.verified"] == file
    assert noted["backup.restored"] == f"{file} into b"


@pytest.mark.slow
async def test_every_node_prunes_its_own_trace_and_says_first_what_would_go(
    ann: Browser, cluster: Cluster, tmp_path: Path
) -> None:
    written(tmp_path / "trace", 9, 3, 0)  # as node a has written
    for name in "ab":
        object.__setattr__(cluster.nodes[name].settings, "trace", tmp_path / "trace")
    would = await run(ann, what="prune", days=5, dry_run=True)
    assert would["what"] == "prune-dry-run"
    kept = sorted((tmp_path / "trace").glob("date=*/node=*/*"))
    assert len(kept) == 3
    gone = await run(ann, what="prune", days=5)
    assert would["result"]["nodes"] == gone["result"]["nodes"]
    nodes = gone["result"]["nodes"]
    assert [nodes[name]["segments"] for name in "abc"] == [1, 0, 0]
    assert [nodes[name]["trace"] for name in "abc"] == [True, True, False]
    assert len(list((tmp_path / "trace").glob("date=*/node=*/*"))) == 2
    entries = (await ann.ask("GET", "/audit"))[1]["entries"]
    assert [one["about"] for one in entries if one["what"] == "trace.pruned"] == ["5 days kept"]
    ann.go(cluster.nodes["b"])
    assert (await look(ann, gone["id"]))["state"] == "done"  # asked at another node
    status, answer = await ann.ask("POST", "/admin/operations/nothing/cancel")
    assert (status, answer["code"]) == (404, "unknown_operation")


@pytest.mark.slow
async def test_the_same_from_a_shell(
    ann: Browser, cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    object.__setattr__(cluster.nodes["a"].settings, "backups", tmp_path / "backups")
    await ann.create("Kept")
    admin = ("--admin", cluster.nodes["a"].admin_url, "--json")

    async def said(*words: str) -> Json:
        assert await asyncio.to_thread(main, ["operation", *words, *admin]) == 0
        return json.loads(capsys.readouterr().out)

    taken = await said("backup", "--wait")
    assert taken["state"] == "done"
    file = taken["result"]["file"]
    assert Reader(tmp_path / "backups" / file).manifest.documents
    begun = await said("verify", file)
    assert (await said("show", begun["id"]))["what"] == "verify"
    assert (await said("prune", "--days", "3", "--dry-run", "--wait"))["result"]["dry_run"]
    assert [one["what"] for one in (await said("ls"))["operations"]] == [
        "prune-dry-run",
        "verify",
        "backup",
    ]
    assert await asyncio.to_thread(main, ["operation", "verify", "none.tar", *admin[:2]]) == 1
    assert "no backup 'none.tar'" in capsys.readouterr().err
