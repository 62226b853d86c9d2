"""TLS at the management address: tokens and certificates with ranks, and what is refused."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from server.errors import ServerError, SettingsProblem
from server.main import main
from server.management.finding import Shown, way_to
from server.management.own_token import FILE
from server.management_client import asked_at
from server.serve import RunningNode
from server.settings import read_settings
from tests.certificates import Authority
from tests.server.support import Cluster


@dataclass
class House:
    """A node with TLS, whose clients' authority is another one."""

    node: RunningNode
    servers: Authority
    clients: Authority

    def shown(self, *named: Path) -> Shown:
        """What a command shows beside the authority."""
        cert, key = named or (None, None)
        return Shown(ca=self.servers.path, cert=cert, cert_key=key)


@pytest_asyncio.fixture
async def house(cluster: Cluster, tmp_path: Path) -> House:
    servers, clients = Authority(tmp_path, "servers"), Authority(tmp_path, "clients")
    cert, key = servers.issue("node", "127.0.0.1", "node.example")
    flags = {"admin_cert": str(cert), "admin_key": str(key), "admin_clients": str(clients.path)}
    return House(await cluster.start("a", **flags), servers, clients)


async def test_the_nodes_own_user_needs_the_authority_alone(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    at = house.node.admin_url
    assert at.startswith("https://127.0.0.1:")
    words = ["node", "drain", "a", "--admin", at, "--ca", str(house.servers.path)]
    assert await asyncio.to_thread(main, words) == 0
    assert await asyncio.to_thread(main, ["status", "--admin", at]) == 1
    assert "certificate verify failed" in capsys.readouterr().err


@pytest.mark.parametrize("unit", ["viewer", "operator", "owner"])
async def test_a_certificate_has_the_rank_that_its_unit_says(house: House, unit: str) -> None:
    shown = house.shown(*house.clients.issue("ci", unit=unit))
    asked = {"viewer": ("GET", "/overview"), "operator": ("POST", "/drain")}
    asked |= {"owner": ("GET", "/files")}
    names = list(asked)
    async with asked_at(way_to(house.node.admin_url, shown), "") as node:
        for rank, (method, path) in asked.items():
            if names.index(rank) <= names.index(unit):
                await node.ask(method, path)
            else:
                with pytest.raises(ServerError, match=f"certificate:ci is {unit} at"):
                    await node.ask(method, path)
    notes = [one for one in house.node.node.files.accounts.notes if one.what == "node.drained"]
    assert {one.origin for one in notes} == ({"management certificate:ci"} if notes else set())
    assert bool(notes) == (unit != "viewer")


@pytest.mark.parametrize("unit", ["", "king"])
async def test_a_certificate_without_a_rank_may_nothing(house: House, unit: str) -> None:
    shown = house.shown(*house.clients.issue("ci", unit=unit))
    async with asked_at(way_to(house.node.admin_url, shown), "") as node:
        with pytest.raises(ServerError, match="OU"):
            await node.ask("GET", "/status")


async def test_a_certificate_of_another_authority_is_none(house: House, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    for authority in (Authority(tmp_path / "others", "others"), house.servers):
        shown = house.shown(*authority.issue("ci", unit="owner"))
        async with asked_at(way_to(house.node.admin_url, shown), "") as node:
            with pytest.raises(ServerError, match="no node answers"):
                await node.ask("GET", "/overview")


async def test_a_token_goes_over_tls_and_is_judged_as_elsewhere(
    house: House, tmp_path: Path
) -> None:
    at, own = house.node.admin_url, tmp_path / "a" / FILE
    shown = Shown(token_file=own, ca=house.servers.path)
    async with asked_at(way_to(at, shown), "") as node:
        assert (await node.ask("GET", "/overview"))["asked"] == "a"


async def test_the_name_in_the_certificate_is_a_name_of_the_host(house: House) -> None:
    context = ssl.create_default_context(cafile=house.servers.path)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as http:
        for host, status in (("node.example:9000", 200), ("evil.example", 403)):
            url, headers = f"{house.node.admin_url}/livez", {"Host": host}
            async with http.get(url, headers=headers) as answer:
                assert answer.status == status


async def test_what_does_not_speak_tls_is_told_nothing(house: House) -> None:
    url = house.node.admin_url.replace("https", "http")
    async with aiohttp.ClientSession() as http:
        with pytest.raises(aiohttp.ClientError):
            await http.get(f"{url}/livez")


# --- settings -------------------------------------------------------------------------------------


def test_a_wide_address_is_taken_with_tls_and_is_no_address_without(tmp_path: Path) -> None:
    given = ["--node-id", "a", "--admin", "0.0.0.0:9000"]
    with pytest.raises(SettingsProblem, match=r"give --admin-cert and --admin-key, or .*127\.0"):
        read_settings(given, {})
    read_settings([*given, "--admin-cert", "cert", "--admin-key", "key"], {})
    for narrow in ("127.0.0.1:9000", "127.9.9.9:9000", "[::1]:9000", "localhost:9000", "none"):
        read_settings(["--node-id", "a", "--admin", narrow], {})


@pytest.mark.parametrize("flag", ["admin_cert", "admin_key", "admin_clients"])
@pytest.mark.parametrize("text", [None, "no certificate"])
async def test_a_file_that_is_none_is_named(
    cluster: Cluster, tmp_path: Path, flag: str, text: str | None
) -> None:
    authority = Authority(tmp_path)
    cert, key = authority.issue("node", "127.0.0.1")
    bad = tmp_path / "bad"
    if text is not None:
        bad.write_text(text)
        bad.chmod(0o600)
    flags = {"admin_cert": str(cert), "admin_key": str(key), "admin_clients": str(authority.path)}
    with pytest.raises(SettingsProblem, match=r"^--admin-"):
        await cluster.start("a", **(flags | {flag: str(bad)}))


async def test_a_key_that_others_can_read_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    cert, key = Authority(tmp_path).issue("node", "127.0.0.1")
    key.chmod(0o640)
    with pytest.raises(SettingsProblem, match="chmod 600"):
        await cluster.start("a", admin_cert=str(cert), admin_key=str(key))


def test_certificates_are_shown_over_tls_alone(tmp_path: Path) -> None:
    with pytest.raises(SettingsProblem, match="https"):
        way_to("http://127.0.0.1:9000", Shown(cert=tmp_path / "cert"))
