"""The rules of probing real channels on the loopback interface."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from groupcore.aio.channel import Channel
from groupcore.aio.prober import probe
from groupcore.errors import SettingsError
from groupcore.probe import main
from groupcore.stacks import DEFAULT_STACK
from tests.groupcore.aio.cluster import KEY, LIMIT_S, Cluster, close_all, free_port, names

pytestmark = pytest.mark.slow


@pytest.fixture(params=["multicast", "unicast"])
async def cluster(request: pytest.FixtureRequest) -> AsyncIterator[Cluster]:
    made = Cluster(request.param == "multicast")
    yield made
    await close_all(made)


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    path = tmp_path / "key"
    path.write_text(KEY.hex())
    path.chmod(0o600)
    return str(path)


def where(cluster: Cluster) -> list[str]:
    if cluster.with_multicast:
        return ["--multicast", cluster.group]
    return ["--host", f"127.0.0.1:{cluster.channels[0].socket_address[1]}"]


async def run(*arguments: str) -> int:
    return await asyncio.to_thread(main, ["--cluster", "test", *arguments])


async def test_every_member_tells_its_view_and_its_layers(
    cluster: Cluster, key_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "abc":
        await cluster.connected(name)
    limit = ["--timeout", str(LIMIT_S)]
    assert await run(*where(cluster), "--key-file", key_file, "--json", *limit) == 0
    reports = json.loads(capsys.readouterr().out)
    assert [report["node"] for report in reports] == ["a", "b", "c"]
    assert {report["view"]["coordinator"] for report in reports} == {"a"}
    layers = [layer["name"] for layer in reports[0]["layers"]]
    assert layers == [*DEFAULT_STACK.split(":")[1:], "stack", "transport"]
    assert reports[0]["layers"][-1]["counters"]["peers"] == 2
    assert names(cluster.channels[0]) == ("a", "b", "c")


async def test_people_get_a_block_a_node(
    cluster: Cluster, key_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await cluster.connected("a")
    limit = ["--timeout", str(LIMIT_S)]
    assert await run(*where(cluster), "--key-file", key_file, *limit) == 0
    head, *layers = capsys.readouterr().out.splitlines()
    assert "coordinator a, members a" in head
    assert layers[0].split()[:3] == ["PROBE", "answered", "1"]


async def test_without_the_key_nobody_answers_and_the_remedy_is_named(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    a = await cluster.connected("a")
    await cluster.connected("b")
    assert await run(*where(cluster), "--timeout", "0.5") == 1
    if cluster.with_multicast:
        assert "do not open: give the nodes' own" in capsys.readouterr().err
    assert a.counters()["transport.drops.has_certificate"] > 0


async def test_where_there_is_no_cluster_nobody_answers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    group = f"228.8.8.8:{free_port()}"
    assert await run("--multicast", group, "--timeout", "0.2") == 1
    said = capsys.readouterr().err
    assert "check that the nodes run with PROBE in their stack" in said
    assert "`make run` says at its start what reaches its nodes" in said


async def test_wrong_settings_are_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert await run("--bind", "nowhere") == 2
    assert "bind 'nowhere' is not an IPv4 address" in capsys.readouterr().err
    with pytest.raises(SettingsError, match="ttl 999"):
        await probe("test", ttl=999)


def test_no_node_may_have_the_id_of_a_prober() -> None:
    with pytest.raises(SettingsError, match="'probe:' is for probers"):
        Channel("test", node_id="probe:1", key=KEY)
