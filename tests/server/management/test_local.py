"""A node's Unix socket: for its own user alone, found by the node's folder, also without TCP."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request

from server.errors import BadMessageError
from server.main import main
from server.management import runtime
from server.management.finding import way_to
from server.management.local import FILE, PATH_MAX, LocalSocket, name_for, socket_of
from server.management.peer import Peer
from server.management.tokens import ManagementTokens
from server.management_client import asked_at, management_session
from server.routes.management_gate import Judge
from tests.server.management.test_gate import bearer, request
from tests.server.support import Cluster

ROW = ("GET", "/admin/overview")


async def test_the_nodes_own_user_needs_nothing_at_the_socket_and_is_named(
    cluster: Cluster, tmp_path: Path
) -> None:
    node = await cluster.start("a")
    path = socket_of(tmp_path / "a")
    assert path is not None
    found = path.stat()
    assert stat.S_ISSOCK(found.st_mode)
    assert found.st_mode & 0o777 == 0o600
    for said in (f"unix:{path}", f"unix:{tmp_path / 'a'}"):
        async with asked_at(way_to(said), "") as asked:
            await asked.ask("POST", "/drain", {"node": "a"})
    (first, _) = [one for one in node.node.files.accounts.notes if one.what == "node.drained"]
    assert (first.by, first.origin) == ("admin", f"management uid:{os.geteuid()}")


async def test_commands_take_the_socket_and_the_folder(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await cluster.start("a")
    at = ("--admin", f"unix:{tmp_path / 'a'}")
    backup = ["backup", "create", str(tmp_path / "b.tar"), "--from", at[1]]
    for words in (
        ["status", *at],
        ["plan", "ls", *at],
        ["dump-log", *at],
        ["recover", *at],
        backup,
    ):
        assert await asyncio.to_thread(main, words) == 0, words
    capsys.readouterr()
    nowhere = ("--admin", f"unix:{tmp_path / 'none' / ('x' * 120)}")
    assert await asyncio.to_thread(main, ["status", *nowhere]) == 1
    assert "see --admin" in capsys.readouterr().err


async def test_a_node_may_have_the_socket_alone_and_commands_its_folder(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a", admin="none")
    assert node.admin_url == f"unix:{tmp_path / 'a'}"
    path = socket_of(tmp_path / "a")
    assert path is not None
    way = way_to(node.admin_url)
    async with management_session(way) as http:
        async with http.get(f"{way.url}/admin/status") as answer:
            assert json.loads(await answer.text())["documents"] == {}
        async with http.get(f"{way.url}/metrics") as answer:
            assert answer.status == 200
    await cluster.stop("a")
    assert not path.exists()
    assert not (tmp_path / "a" / FILE).exists()
    assert await asyncio.to_thread(main, ["status", "--admin", node.admin_url]) == 2
    assert "no node runs there" in capsys.readouterr().err


async def test_a_runtime_folder_may_have_a_long_name(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / ("x" * 60) / ("y" * 60)
    place.mkdir(parents=True)
    monkeypatch.setattr(runtime, "folders", lambda: [place / "groupcore"])
    await cluster.start("a")
    found = socket_of(tmp_path / "a")
    assert found is not None
    assert len(str(found)) > PATH_MAX
    async with asked_at(way_to(f"unix:{tmp_path / 'a'}"), "") as node:
        assert (await node.ask("GET", "/overview"))["asked"] == "a"


async def test_a_socket_of_a_former_life_is_replaced(cluster: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir(0o700)
    LocalSocket(folder).listener.close()  # as a node that was killed
    await cluster.start("a")
    async with asked_at(way_to(f"unix:{folder}"), "") as node:
        assert (await node.ask("GET", "/overview"))["asked"] == "a"


async def test_a_folder_can_be_copied_and_its_copy_is_not_the_node(
    cluster: Cluster, tmp_path: Path
) -> None:
    await cluster.start("a")
    await asyncio.to_thread(shutil.copytree, tmp_path / "a", tmp_path / "copy")
    assert (tmp_path / "copy" / FILE).exists()
    assert socket_of(tmp_path / "copy") is None
    assert name_for(tmp_path / "copy") != name_for(tmp_path / "a")


async def test_where_no_socket_can_be_the_node_goes_on_without(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a" / FILE).mkdir(parents=True)  # nothing can be noted there
    node = await cluster.start("a")
    assert "no Unix socket" in caplog.text
    async with asked_at(way_to(node.admin_url), "") as asked:
        assert (await asked.ask("GET", "/overview"))["asked"] == "a"


async def test_a_token_at_the_socket_is_what_it_is(cluster: Cluster, tmp_path: Path) -> None:
    node = await cluster.start("a")
    _, secret = await node.management.tokens.make("ci", "viewer", 1)
    way = replace(way_to(f"unix:{tmp_path / 'a'}"), token=secret)
    async with management_session(way) as http:
        async with http.get(f"{way.url}/admin/overview") as answer:
            assert answer.status == 200
        async with http.post(f"{way.url}/admin/drain") as answer:
            assert answer.status == 403


async def test_pages_are_refused_at_the_socket_too(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.start("a")
    way = way_to(f"unix:{tmp_path / 'a'}")
    async with management_session(way) as http:
        for headers in ({"Origin": "http://localhost"}, {"Host": "evil.example"}):
            async with http.get(f"{way.url}/admin/overview", headers=headers) as answer:
                assert answer.status == 403


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(ManagementTokens(tmp_path), uids=(0, 7))


def asked_by(uid: int) -> Request:
    return request("", Peer(uid=uid))


async def test_the_socket_is_for_the_nodes_user_and_root(judge: Judge) -> None:
    assert judge.let_in(asked_by(7), ROW).text == "uid:7"
    assert judge.let_in(asked_by(0), ROW).text == "uid:0"
    with pytest.raises(BadMessageError, match="not for uid 8"):
        judge.let_in(asked_by(8), ROW)


async def test_another_user_with_a_token_has_the_tokens_rank(judge: Judge) -> None:
    _, secret = await judge.tokens.make("ci", "viewer", 1)
    asked = request("", Peer(uid=8), **{k.lower(): v for k, v in bearer(secret).items()})
    assert judge.let_in(asked, ROW).text == "token:ci"
