"""The management address and the command line: owner link, accounts, tokens, the audit file."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from server.accounts.audit import FIRST, chained
from server.accounts.people import HOME
from server.errors import ServerError, SettingsProblem
from server.main import main
from server.people_cli import run_people_command
from server.serve import RunningNode
from tests.management import credentials
from tests.server.accounts.people import PASSWORD, Browser, found_home, hire, service
from tests.server.accounts.test_prehijacking import CEO, squat
from tests.server.support import Cluster, get

pytestmark = pytest.mark.slow


async def run(node: RunningNode, capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - JSON
    """What a command prints, which runs in a thread as another program would."""
    given = [*words, "--admin", node.admin_url, "--json"]
    await asyncio.to_thread(run_people_command, given)
    return json.loads(capsys.readouterr().out)


async def test_a_node_prints_the_owners_link_at_its_first_start(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "server")
    cluster.size = 2
    nodes = await cluster.start_all("a", "b")
    accounts = service(nodes[0]).accounts
    async with asyncio.timeout(10):
        while not accounts.owner_digest:
            await accounts.refresh()
    links = [line for line in caplog.messages if "/welcome#gco_" in line]
    async with asyncio.timeout(10):
        while not links:
            await accounts.refresh()
            links = [line for line in caplog.messages if "/welcome#gco_" in line]
    assert len(links) == 1
    secret = links[0].partition("#")[2]
    async with Browser(nodes[1]) as ann:
        body = {"secret": secret, "name": "Ann", "email": "ann@example.org", "password": PASSWORD}
        assert (await ann.ask("POST", "/users/first", body))[0] == 201


async def test_the_owners_link_can_be_had_again_until_there_is_an_owner(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    first = await run(node, capsys, "user", "owner-link")
    again = await run(node, capsys, "user", "owner-link")
    assert first["url"] != again["url"]
    async with Browser(node) as ann:
        for url, seen, status in ((first["url"], 410, 410), (again["url"], 204, 201)):
            secret = url.partition("#")[2]
            # Looking at it uses nothing up.
            for _ in range(2):
                looked, _ = await ann.ask("POST", "/users/first/look", {"secret": secret})
                assert looked == seen
            body = {"secret": secret, "name": "Ann", "email": "ann@example.org"}
            given = {**body, "password": PASSWORD}
            assert (await ann.ask("POST", "/users/first", given))[0] == status
    with pytest.raises(ServerError, match="there is an owner already"):
        await run(node, capsys, "user", "owner-link")


async def test_accounts_are_managed_from_a_shell(
    ann: Browser, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    node = ann.node
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    made = await run(node, capsys, "user", "add", "bob@example.org", "Bob", "--password-stdin")
    assert made["email"] == "bob@example.org"
    assert {row["name"] for row in await run(node, capsys, "user", "list")} == {"Ann", "Bob"}
    async with Browser(node) as bob:
        assert (await bob.sign_in("bob@example.org"))[0] == 201
        await run(node, capsys, "user", "disable", "bob@example.org")
        assert (await bob.ask("GET", "/me"))[0] == 401
        await run(node, capsys, "user", "enable", "bob@example.org")
        monkeypatch.setattr("sys.stdin", io.StringIO("another good one\n"))
        await run(node, capsys, "user", "password", "bob@example.org", "--password-stdin")
        assert (await bob.sign_in("bob@example.org", "another good one"))[0] == 201
        await run(node, capsys, "user", "sign-out", "BOB@example.org")
        assert (await bob.ask("GET", "/me"))[0] == 401
    with pytest.raises(ServerError, match="no account"):
        await run(node, capsys, "user", "disable", "eve@example.org")
    await asyncio.to_thread(run_people_command, ["user", "list", "--admin", node.admin_url])
    assert "name=Bob" in capsys.readouterr().out


async def test_addresses_are_confirmed_and_second_factors_removed_from_a_shell(
    ann: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    node = ann.node
    async with Browser(node) as ceo, Browser(node) as cfo:
        user = await squat(ann, ceo)
        invitations = f"/workspaces/{HOME}/invitations"
        _, made = await ann.ask("POST", invitations, {"role": "viewer"})
        new = {"name": "Cfo", "email": "cfo@corp.example", "password": PASSWORD}
        await cfo.ask("POST", "/invitations/accept", {"secret": made["secret"], **new})
        await service(node).accounts.set_totp(user, "A" * 32, 1, [], "", "")
        assert await run(node, capsys, "user", "reset-factors", CEO) is not None
        shown = await run(node, capsys, "user", "confirm", CEO, "--hand-over")
        assert (shown["proved"], shown["second_factor"]) == (True, False)
        assert (await ceo.sign_in(CEO))[0] == 401
        assert [one["name"] for one in await run(node, capsys, "user", "confirm", "--all")] == [
            "Cfo"
        ]
        assert await run(node, capsys, "user", "confirm", "--all") == []
        assert (await cfo.ask("GET", "/me"))[1]["proved"] is True
    with pytest.raises(SettingsProblem, match="--hand-over"):
        await run(node, capsys, "user", "confirm", "--all", "--hand-over")


async def test_tokens_are_made_and_revoked_from_a_shell(
    ann: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    await ann.create("Plan")
    words = ("token", "create", "ann@example.org", "ci", "--scope", "documents:read")
    made = await run(ann.node, capsys, *words)
    assert [row["id"] for row in await run(ann.node, capsys, "token", "list")] == [made["id"]]
    async with Browser(ann.node) as program:
        bearer = {"Authorization": f"Bearer {made['secret']}"}
        status, listed = await program.ask("GET", "/documents", **bearer)
        assert (status, len(listed["documents"])) == (200, 1)
        await run(ann.node, capsys, "token", "revoke", made["id"])
        assert (await program.ask("GET", "/documents", **bearer))[0] == 401


async def test_the_audit_log_is_read_and_verified_from_a_shell(
    ann: Browser, cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    await hire(ann, "bob")
    entries = await run(ann.node, capsys, "audit", "tail")
    whats = [entry["what"] for entry in entries]
    assert {"owner.created", "signed_in", "user.created", "role.editor"} <= set(whats)
    path = cluster.folder / "a" / "audit.jsonl"
    found = await run(ann.node, capsys, "audit", "verify", str(path))
    assert found == {
        "entries": len(entries),
        "last": len(entries),
        "missing": 0,
        "unkeyed_up_to_line": 0,
    }
    path.write_text(path.read_text().replace("owner.created", "owner.deleted"))
    assert await asyncio.to_thread(main, ["audit", "verify", str(path)]) == 4


def cut_tail(lines: list[str]) -> list[str]:
    return lines[:-2]


def insert_gap(lines: list[str]) -> list[str]:
    return [*lines[:1], json.dumps({"gap": [2, 2]}), *lines[2:]]


def rewrite_behind_gap(lines: list[str]) -> list[str]:
    note = {**json.loads(lines[2]), "by": "nobody"}
    return [*lines[:1], json.dumps({"gap": [2, 2]}), json.dumps(note)]


def chain_anew(lines: list[str]) -> list[str]:
    chain, made = FIRST, []
    for line in lines:
        note = {**json.loads(line), "by": "nobody"}
        words = (note["by"], note["what"], note["about"], note["origin"])
        chain = chained(chain, note["number"], note["at_ms"], words)
        made.append(json.dumps({**note, "chain": chain}))
    return made


def put_behind(lines: list[str]) -> list[str]:
    note = json.loads(lines[-1])
    words = (note["by"], note["what"], note["about"], note["origin"])
    number = note["number"] + 1
    chain = chained(note["chain"], number, note["at_ms"], words)
    return [*lines, json.dumps({**note, "number": number, "chain": chain})]


@pytest.mark.parametrize(
    "attack", [cut_tail, insert_gap, rewrite_behind_gap, chain_anew, put_behind]
)
async def test_what_a_file_cannot_show_by_itself_the_cluster_state_shows(
    ann: Browser,
    cluster: Cluster,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    attack: Callable[[list[str]], list[str]],
) -> None:
    await hire(ann, "bob")
    path = cluster.folder / "a" / "audit.jsonl"
    words = ["audit", "verify", str(path), "--against", ann.node.admin_url]
    assert await asyncio.to_thread(main, words) == 0
    altered = tmp_path / "audit.jsonl"
    altered.write_text("".join(f"{line}\n" for line in attack(path.read_text().splitlines())))
    words[2] = str(altered)
    assert await asyncio.to_thread(main, words[:3]) in (0, 4)
    assert await asyncio.to_thread(main, words) == 4
    assert "entr" in capsys.readouterr().err


@pytest.mark.parametrize("attack", [insert_gap, rewrite_behind_gap, chain_anew, put_behind])
async def test_without_the_key_nobody_alters_a_file_unseen(
    ann: Browser,
    cluster: Cluster,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    attack: Callable[[list[str]], list[str]],
) -> None:
    await hire(ann, "bob")
    path, key = cluster.folder / "a" / "audit.jsonl", cluster.folder / "a" / "audit.key"
    assert key.stat().st_mode & 0o777 == 0o600
    lines = path.read_text().splitlines()
    await cluster.stop("a")
    words = ["audit", "verify", str(path)]
    assert main(words) == 0
    stripped = [line.partition(', "mac"')[0] + "}" for line in lines]
    for altered in (attack(lines), attack(stripped), stripped):
        elsewhere = tmp_path / "audit.jsonl"
        elsewhere.write_text("".join(f"{line}\n" for line in altered))
        assert main(["audit", "verify", str(elsewhere)]) == 0  # what it was without a key
        assert main(["audit", "verify", str(elsewhere), "--key", str(key)]) == 4
        path.write_text(elsewhere.read_text())
        assert main(words) == 4
        assert "altered" in capsys.readouterr().err


async def test_any_node_verifies_the_file_of_another_by_the_cluster_key(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "cluster.key"
    key.write_text("ab" * 32)
    key.chmod(0o600)
    cluster.flags |= {"key_file": str(key)}
    node = await cluster.start("a")
    async with Browser(node) as ann:
        await found_home(ann)
    await cluster.stop("a")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes((cluster.folder / "a" / "audit.jsonl").read_bytes())
    words = ["audit", "verify", str(copy), "--json", "--key"]
    assert main([*words, str(key)]) == 0
    assert json.loads(capsys.readouterr().out)["unkeyed_up_to_line"] == 0
    key.write_text("cd" * 32)
    assert main([*words, str(key)]) == 4


async def test_a_file_of_before_there_were_keys_is_read_and_vouched_for_from_then_on(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    async with Browser(node) as ann:
        await found_home(ann)
    await cluster.stop("a")
    path, key = cluster.folder / "a" / "audit.jsonl", cluster.folder / "a" / "audit.key"
    lines = [line.partition(', "mac"')[0] + "}" for line in path.read_text().splitlines()]
    path.write_text("".join(f"{line}\n" for line in lines))
    key.unlink()
    words = ["audit", "verify", str(path), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["unkeyed_up_to_line"] == len(lines)
    await cluster.start("a")
    await cluster.stop("a")
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["unkeyed_up_to_line"] == len(lines)
    path.write_text(path.read_text().replace("owner.created", "owner.deleted"))
    assert main(words) == 4
    lines = chain_anew([line for line in path.read_text().splitlines() if "chain" in line])
    path.write_text("".join(f"{line}\n" for line in lines))
    assert main(words) == 4


@pytest.mark.parametrize(
    "words",
    [["user"], ["user", "dance"], ["token", "create", "a@b.org"], ["audit", "verify", "nowhere"]],
)
def test_wrong_use_ends_with_2_and_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_where_no_node_answers_the_command_says_so() -> None:
    with pytest.raises(ServerError, match="no node answers at"):
        run_people_command(["user", "list", "--admin", "http://127.0.0.1:9"])
    with pytest.raises(SettingsProblem, match="password-stdin"):
        run_people_command(["user", "add", "a@b.org", "A", "--admin", "http://127.0.0.1:9"])


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://127.0.0.1:1"}, {"Host": "evil.example"}, {"Sec-Fetch-Site": "x"}]
)
async def test_no_page_uses_the_management_of_accounts(
    ann: Browser, headers: dict[str, str]
) -> None:
    async with aiohttp.ClientSession() as http:
        for method, path in (("GET", "users"), ("POST", "owner-link"), ("GET", "tokens")):
            url = f"{ann.node.admin_url}/admin/{path}"
            async with http.request(method, url, headers=headers) as answer:
                assert (answer.status, (await answer.json())["code"]) == (403, "forbidden_origin")


async def imported(node: RunningNode, title: str) -> str:
    url = f"{node.admin_url}/admin/documents/import"
    async with (
        aiohttp.ClientSession(headers=credentials(url)) as http,
        http.post(url, data=f"# {title}") as answer,
    ):
        assert answer.status == 201
        return str((await answer.json())["id"])


async def test_documents_of_before_the_first_owner_are_that_ones(cluster: Cluster) -> None:
    node = await cluster.start("a")
    old = await imported(node, "Sample")
    async with Browser(node) as ann:
        await found_home(ann)
        new = await imported(node, "Later")
        listed = (await ann.ask("GET", "/documents"))[1]["documents"]
        assert {row["id"] for row in listed} == {old, new}
        async with await ann.page() as page:
            assert (await page.open("DocumentOutline", f"doc/{old}"))["t"] == "snapshot"
            assert (await page.call(f"doc/{old}", "rename", "Mine"))["t"] == "result"


async def test_a_restart_finds_all_accounts_and_documents(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with Browser(node) as ann:
        await found_home(ann)
        doc = await ann.create()
        await cluster.stop("a")
        ann.go(await cluster.start("a"))
        status, found = await ann.ask("GET", f"/documents/{doc}")
        assert (status, found["id"]) == (200, doc)
        async with await ann.page() as page:
            assert (await page.open("DocumentOutline", f"doc/{doc}"))["t"] == "snapshot"


async def test_the_policy_of_pages_lets_them_ask_the_other_nodes(cluster: Cluster) -> None:
    cluster.size = 2
    a, b = await cluster.start_all("a", "b")
    async with aiohttp.ClientSession() as http, http.get(f"{a.url}/livez") as answer:
        policy = answer.headers["Content-Security-Policy"]
    connect = next(part for part in policy.split("; ") if part.startswith("connect-src"))
    assert b.url in connect.split()
    async with Browser(a) as ann:
        await found_home(ann)
        headers = {"Origin": a.url, "X-Groupcore-CSRF": ann.csrf}
        async with ann.http.post(f"{b.url}/api/v1/ticket", headers=headers) as answer:
            assert answer.status == 201
            assert answer.headers["Access-Control-Allow-Origin"] == a.url
        # A page that could not read this refusal would take it for a node that is away.
        async with (
            aiohttp.ClientSession() as nobody,
            nobody.post(f"{b.url}/api/v1/ticket", headers={"Origin": a.url}) as answer,
        ):
            assert answer.status == 401
            assert answer.headers["Access-Control-Allow-Origin"] == a.url
        asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        async with ann.http.options(f"{b.url}/api/v1/ticket", headers=asked) as answer:
            assert "Access-Control-Allow-Origin" not in answer.headers


async def test_where_accounts_are_off_there_is_nothing_to_manage(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.flags = {}
    node = await cluster.start("a")
    assert (await get(f"{node.admin_url}/admin/users"))[0] == 404
    with pytest.raises(ServerError, match="--accounts on"):
        await asyncio.to_thread(run_people_command, ["user", "list", "--admin", node.admin_url])
    assert not (tmp_path / "a" / "audit.jsonl").exists()
