"""The console from a shell, against three real nodes."""

from __future__ import annotations

import asyncio
import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from groupcore.sequencing.names import Order
from server.main import main
from tests.server.accounts.people import Browser
from tests.server.console.stores import certified
from tests.server.support import Cluster, eventually

pytestmark = pytest.mark.slow

BOUND = "choir", "band"


async def run(cluster: Cluster, *words: str) -> tuple[int, str]:
    """Exit code and output of a command, asked of node b."""
    printed = io.StringIO()
    admin = cluster.nodes["b"].admin_url

    def call() -> int:
        with redirect_stdout(printed), redirect_stderr(printed):
            return main([*words, "--admin", admin])

    code = await asyncio.to_thread(call)
    return code, printed.getvalue()


async def test_all_that_is_shown_is_printed(cluster: Cluster, ann: Browser) -> None:
    await ann.create()
    async with await ann.page():
        for words, part in (
            (("status",), "cluster groupcore: good"),
            (("node", "ls"), "serving  groups="),
            (("node", "show", "c"), "--node-id  c"),
            (("group", "ls", "--sort", "name"), "page 1 of 1"),
            (("group", "show", "accounts"), "node a  position="),
            (("migration", "ls"), ""),
            (("session", "ls"), "Ann  objects="),
        ):
            code, said = await run(cluster, *words)
            assert code == 0, (words, said)
            assert part in said, (words, said)
            code, said = await run(cluster, *words, "--json")
            assert code == 0
            assert isinstance(json.loads(said), dict)


async def bind(cluster: Cluster) -> None:
    """Two groups that must have one sequencer, at node a or b."""
    groups = cluster.nodes["a"].node.objects.groups
    ids = [await groups.create(name, Order.STRICT) for name in BOUND]
    for process in (groups.open_process(), groups.open_process()):
        for group in ids:
            await groups.join(process, group)


async def test_all_that_is_done_is_done(cluster: Cluster, ann: Browser) -> None:
    code, said = await run(cluster, "node", "drain", "c")
    assert (code, said.strip()) == (0, "node=c  draining=True")

    async def is_shown() -> bool:
        return "c  drained" in (await run(cluster, "node", "ls"))[1]

    await eventually(is_shown, "c is drained")
    assert (await run(cluster, "node", "revive", "c"))[0] == 0
    for node in ("a", "b"):
        assert (await run(cluster, "group", "migrate", "accounts", node))[0] == 0

        async def is_there(node: str = node) -> bool:
            return f"accounts  {node}  " in (await run(cluster, "group", "show", "accounts"))[1]

        await eventually(is_there, f"accounts is at {node}")
    code, said = await run(cluster, "migration", "ls")
    assert "a -> b  plan" in said
    assert "stopped_after_ms=" in said
    await bind(cluster)
    assert (await run(cluster, "group", "migrate", "band", "c"))[0] == 0

    async def is_told() -> bool:
        said = (await run(cluster, "migration", "ls"))[1]
        places = [re.search(rf"^    {name}  last=\d+  first=\d+$", said, re.M) for name in BOUND]
        return all(places)

    await eventually(is_told, "of each group that has gone along its numbers are told")
    async with await ann.page() as page:
        found = json.loads((await run(cluster, "session", "ls", "--search", "ann", "--json"))[1])
        (row,) = found["sessions"]
        assert (await run(cluster, "session", "end", row["session"]))[0] == 0
        await page.closed()
    code, said = await run(cluster, "node", "leave", "c")
    assert code == 0
    await eventually(lambda: cluster.nodes["c"].leaving.done(), "c leaves")


async def test_what_is_refused_is_said_in_one_line(cluster: Cluster) -> None:
    for words, code, part in (
        (("node", "drain", "zebra"), 1, "no node 'zebra'"),
        (("group", "show", "no such"), 1, "there is no group"),
        (("migration", "cancel", "77"), 1, "this move is over"),
        (("session", "end", "a#1/99"), 1, "this session is over"),
        (("node", "paint", "c"), 2, "invalid choice"),
    ):
        found, said = await run(cluster, *words)
        assert found == code, (words, said)
        assert part in said
        assert len(said.strip().splitlines()) == 1


async def test_a_cluster_that_lacks_a_node_is_told_by_the_exit_code(cluster: Cluster) -> None:
    await cluster.stop("c")

    async def is_missed() -> bool:
        return (await run(cluster, "status"))[0] == 3

    await eventually(is_missed, "c is missed")


async def test_what_an_audit_says_against_the_order_is_told_by_the_exit_code(
    cluster: Cluster, tmp_path: Path
) -> None:
    object.__setattr__(cluster.nodes["b"].settings, "results", tmp_path)
    kept = certified({"result": "kept", "deliveries": 7})
    broken = certified({"result": "broken", "rules": {"gap": {"violations": 2}}})
    forged = {**broken, "certificate": kept["certificate"]}
    for document, show, status, part in (
        (kept, 0, 0, "kept  deliveries=7"),
        (broken, 1, 3, "the order was broken"),
        (forged, 1, 3, "the signature is NOT good"),
    ):
        (tmp_path / "order.json").write_text(json.dumps(document), encoding="utf-8")
        code, said = await run(cluster, "order", "show")
        assert (code, part in said) == (show, True), said
        assert (await run(cluster, "status"))[0] == status
