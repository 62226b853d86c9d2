"""What a node does that cannot or must not take part: it says so, and harms nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.end_to_end.cluster import Cluster, eventually, running_cluster

pytestmark = [pytest.mark.process, pytest.mark.slow]

KEY, DAMAGED, ID_IN_USE, ADDRESS_TAKEN = 3, 4, 6, 7


@pytest_asyncio.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(tmp_path, "a", "b") as cluster:
        yield cluster


async def still_whole(cluster: Cluster) -> None:
    """Both nodes are in one view, and what one takes the other has."""
    for name in ("a", "b"):
        await cluster.view_of(name, "a", "b")
    await cluster.create("b")


async def test_a_second_node_of_one_name_is_refused(pair: Cluster) -> None:
    second = await pair.spawn("b", data=str(pair.folder / "other"))
    assert await second.exit_code() == ID_IN_USE
    last = second.output().strip().splitlines()[-1]
    assert "'b'" in last
    assert "--node-id" in last
    await still_whole(pair)


async def test_a_second_process_on_one_folder_is_refused(pair: Cluster) -> None:
    second = await pair.spawn("a")
    assert await second.exit_code() == ID_IN_USE
    assert "--data" in second.output()
    await still_whole(pair)


async def test_a_taken_port_is_named(pair: Cluster) -> None:
    address = pair.nodes["a"].url.removeprefix("http://")
    second = await pair.spawn("c", http=address)
    assert await second.exit_code() == ADDRESS_TAKEN
    assert f"--http {address}" in second.output()


async def test_a_node_with_another_key_says_so_and_harms_nobody(pair: Cluster) -> None:
    stranger = await pair.spawn("c", key_file=str(pair.write_key("other-key")), cluster_size=2)
    pair.nodes["c"] = stranger

    async def counted_on_both_sides() -> bool:
        if not stranger.listens:
            return False
        drops = [(await pair.status(name))["drops"].get("forged", 0) for name in ("a", "c")]
        return bool(min(drops) >= 20)

    await eventually(counted_on_both_sides, "what does not open is counted")
    assert (await pair.status("c"))["view"] is None
    assert (await pair.get(f"{stranger.url}/readyz"))[0] == 503
    assert await pair.nodes.pop("c").exit_code() == KEY
    assert "--key-file" in stranger.output().strip().splitlines()[-1]
    await still_whole(pair)


async def test_a_damaged_journal_is_told_and_an_emptied_folder_is_filled_again(
    pair: Cluster,
) -> None:
    doc = await pair.create("a")
    text = await pair.text("a", doc)
    await pair.nodes["b"].kill()
    folder = pair.folder / "b"
    log = folder / "journal.sqlite3-wal"
    damaged = bytearray(log.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    log.write_bytes(damaged)
    again = await pair.spawn("b")
    assert await again.exit_code() == DAMAGED
    last = again.output().strip().splitlines()[-1]
    assert str(folder) in last
    assert "Traceback" not in again.output()

    folder.rename(pair.folder / "moved-away")
    await pair.start("b")
    await pair.shows("b", doc, text)
    await still_whole(pair)
