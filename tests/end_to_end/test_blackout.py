"""What nodes answer while there is no cluster: refusals that pass, and no trace of a fault."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.end_to_end.askers import Asker, free_port
from tests.end_to_end.cluster import LIMIT_S, NAMES, Cluster, eventually

pytestmark = [pytest.mark.process, pytest.mark.slow]

PASSING = {"not_ready", "not_primary", "closed", "busy", "behind", "channel_closed"}
"""What a page may be told of an object while nodes come and go; all of it is temporary."""
CLOSED = {1000, 1001, 1006, 1012, 1013, 4001}
"""How its connection may end: by itself; the process, or the node has gone, or is not there yet."""


async def test_a_blackout_is_told_as_what_it_is_and_leaves_no_traceback(tmp_path: Path) -> None:
    ports = {name: free_port() for name in NAMES}
    async with Cluster(tmp_path) as cluster:

        async def begin(*names: str) -> None:
            for name in names:
                http = f"127.0.0.1:{ports[name]}"
                cluster.nodes[name] = await cluster.spawn(name, http=http)

        async def ready(*names: str) -> None:
            for name in names:
                await cluster.ready(name)

        await begin(*NAMES)
        await ready(*NAMES)
        doc = await cluster.create("a")
        asker = Asker(cluster.urls(), doc)
        asking = asyncio.create_task(asker.ask())

        async def answered(least: int, status: int) -> None:
            """Wait for so many more of these answers."""
            before = asker.count(status)

            async def there() -> bool:
                return asker.count(status) >= before + least

            await eventually(there, f"{least} times {status}")

        await answered(5, 200)
        for name in NAMES:  # all at once
            await cluster.nodes[name].kill()
        await begin("a")
        await answered(20, 503)  # alone it is nobody's cluster
        await begin("b", "c")
        await ready(*NAMES)
        for name in "bc":  # a goes on without the others
            await cluster.nodes[name].kill()

        async def has_read_alone() -> bool:
            return asker.stale > 0

        await eventually(has_read_alone, "a read of a that says that it may be old", 2 * LIMIT_S)
        await begin("b", "c")
        await ready(*NAMES)
        assert not asking.done(), asking.exception()
        asking.cancel()
        await asyncio.wait([asking])
        assert ("internal", True) not in asker.codes
        assert {code for code, _ in asker.codes} <= PASSING
        assert all(temporary for _, temporary in asker.codes)
        assert set(asker.closes) <= CLOSED
        assert {status for status, _ in asker.answers} <= {200, 201, 503}
        assert asker.closes[1013] > 0, "who came while there was no cluster"
        assert asker.answers[503, "not_ready"] > 0
        for node in cluster.all_nodes:
            assert "Traceback" not in node.output(), node.output()[:6000]
