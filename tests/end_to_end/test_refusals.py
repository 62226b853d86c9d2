"""What a node does that cannot or must not take part: it says so, and harms nobody."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import aiohttp
import pytest
import pytest_asyncio

from tests.end_to_end.cluster import Cluster, eventually, running_cluster

pytestmark = [pytest.mark.process, pytest.mark.slow]

KEY, DAMAGED, ID_IN_USE, ADDRESS_TAKEN = 3, 4, 6, 7
POLICY_VIOLATION = 1008
NO_DATAGRAM = ("bad_size", "bad_clear_header")


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
        drops = [(await pair.status(name))["drops"] for name in ("a", "c")]
        return all(one.get("unknown_key_epoch", 0) > 0 for one in drops)  # with 20 it ends soon

    await eventually(counted_on_both_sides, "what does not open is counted")
    assert (await pair.status("c"))["view"] is None
    assert (await pair.get(f"{stranger.url}/readyz"))[0] == 503
    assert await pair.nodes.pop("c").exit_code() == KEY
    assert "--key-file" in stranger.output().strip().splitlines()[-1]
    await still_whole(pair)


def throw_datagrams(group: tuple[str, int], count: int) -> None:
    """Random bytes of every length to the nodes' multicast address."""
    chance = Random(1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thrower:
        loopback = socket.inet_aton("127.0.0.1")
        thrower.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, loopback)
        thrower.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0)
        for _ in range(count):
            thrower.sendto(chance.randbytes(chance.choice((0, 1, 40, 1_400, 9_000))), group)


async def throw_frames(url: str, count: int) -> list[int | None]:
    """Random bytes as the first frame of sessions; the codes with which those were closed."""
    chance, codes = Random(2), []
    async with aiohttp.ClientSession() as http:
        for _ in range(count):
            address = f"{url.replace('http', 'ws', 1)}/ws"
            protocols = ("groupcore.v1.msgpack",)
            async with http.ws_connect(address, protocols=protocols, origin=url) as session:
                await session.send_bytes(chance.randbytes(chance.randrange(1, 2_000)))
                async for _ in session:
                    pass
                codes.append(session.close_code)
    return codes


async def test_what_is_no_datagram_and_no_frame_is_counted_and_harms_nobody(pair: Cluster) -> None:
    host, _, port = str(pair.flags["multicast"]).rpartition(":")
    before = {name: (await pair.status(name))["view"] for name in ("a", "b")}
    await asyncio.to_thread(throw_datagrams, (host, int(port)), 200)
    codes = await throw_frames(pair.nodes["a"].url, 20)
    assert set(codes) == {POLICY_VIOLATION}

    async def counted() -> bool:
        drops = [(await pair.status(name))["drops"] for name in ("a", "b")]
        counts = [sum(int(found.get(reason, 0)) for reason in NO_DATAGRAM) for found in drops]
        return min(counts) >= 100

    await eventually(counted, "what is no datagram is counted")
    assert (await pair.status("a"))["drops"][f"session_{POLICY_VIOLATION}"] == len(codes)
    assert {name: (await pair.status(name))["view"] for name in ("a", "b")} == before
    await still_whole(pair)


async def test_a_damaged_log_is_told_and_an_emptied_folder_is_filled_again(
    pair: Cluster,
) -> None:
    doc = await pair.create("a")
    text = await pair.text("a", doc)
    await pair.nodes["b"].kill()
    folder = pair.folder / "b"
    log = folder / "log.sqlite3-wal"
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
