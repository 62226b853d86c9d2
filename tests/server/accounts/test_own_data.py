"""What the server holds of a person: a zip of it, and its end, by the person and the operator."""

from __future__ import annotations

import asyncio
import io
import json
import stat
import time
import zipfile
from pathlib import Path
from typing import Any

import pyotp
import pytest

from server.errors import ServerError, SettingsProblem
from server.people_cli import run_people_command
from server.person import export
from tests.server.accounts.people import PASSWORD, Browser, hire, service
from tests.server.accounts.test_lock_out import wait_out
from tests.server.followers import Follower
from tests.server.support import Cluster, eventually

BOB = "bob@example.org"


async def unzipped(browser: Browser) -> dict[str, str]:
    """The files of one's data, by their names."""
    url = f"{browser.node.url}/api/v1/me/export.zip"
    async with browser.http.get(url) as answer:
        assert answer.status == 200, await answer.text()
        assert answer.headers["Content-Disposition"] == 'attachment; filename="my-data.zip"'
        return files_of(await answer.read())


def files_of(data: bytes) -> dict[str, str]:
    """What is in a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name).decode() for name in packed.namelist()}


async def settled(ann: Browser, bob: Browser) -> str:
    """Bob with a document of his, a token, and a role in Ann's; the document."""
    await hire(ann, "bob")
    assert (await bob.sign_in(BOB))[0] == 201
    doc = await bob.create("Diary", "# Monday\n\ndear diary")
    body = {"name": "robot", "scopes": ["documents:read"]}
    assert (await bob.ask("POST", "/tokens", body))[0] == 201
    return doc


async def test_a_person_has_all_that_is_held_of_them(ann: Browser) -> None:
    hers = await ann.create("Plan", "the plan of ann")
    async with Browser(ann.node) as bob:
        doc = await settled(ann, bob)
        await bob.ask("PUT", f"/me/favourites/{doc}", {})
        place = (await bob.ask("POST", "/places", {"title": "Wall"}))[1]["id"]
        note = {"things": [{"kind": "sticky", "text": "mine"}]}
        assert (await bob.ask("POST", f"/places/{place}/things", note))[0] == 201
        files = await unzipped(bob)
        board = json.loads(files[f"places/{place}.json"])
        assert (board["title"], [one["text"] for one in board["things"]]) == ("Wall", ["mine"])
        assert "dear diary" in files[f"documents/{doc}.md"]
        blocks = json.loads(files[f"documents/{doc}.json"])["blocks"]
        assert [one["type"] for one in blocks] == ["heading", "paragraph"]
        assert f"documents/{hers}.md" not in files
        account = json.loads(files["account.json"])
        assert (account["email"], account["tokens"][0]["name"]) == (BOB, "robot")
        assert len(account["sign_ins"]) == 1
        roles = json.loads(files["roles.json"])
        assert roles["workspaces"] == [{"id": "home", "name": "Home", "role": "editor"}]
        assert roles["documents"][0]["title"] == "Diary"
        assert json.loads(files["files.json"])["favourites"] == [doc]
        assert "signed_in" in {one["what"] for one in json.loads(files["audit.json"])}
        assert json.loads(files["left-out.json"]) == []
        whole = "".join(files.values())
        assert "ann@example.org" not in whole
        accounts = service(ann.node).accounts
        secrets = [user.verifier for user in accounts.users.values()]
        secrets += [*accounts.sign_ins, *accounts.tokens, accounts.secret]
        assert not [one for one in secrets if one in whole]


async def test_what_is_too_much_for_one_file_is_named(
    ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "DOCUMENTS_MAX", 1)
    await ann.create("One")
    await ann.create("Two")
    files = await unzipped(ann)
    assert sum(name.endswith(".md") for name in files) == 1
    (left,) = json.loads(files["left-out.json"])
    assert left["why"] == "too much for one file"


async def test_a_person_erases_the_account_and_others_keep_what_was_shared(ann: Browser) -> None:
    async with Browser(ann.node) as bob, Browser(ann.node) as other:
        doc = await settled(ann, bob)
        user = (await bob.ask("GET", "/me"))[1]["id"]
        assert (await other.sign_in(BOB))[0] == 201
        _, coming = await bob.ask("GET", "/me/erase")
        assert coming == {
            "documents": 1,
            "workspaces": [],
            "shared_workspaces": [],
            "first_workspace": False,
        }
        status, problem = await bob.ask("POST", "/me/erase", {"fate": "stay", "current": "wrong"})
        assert (status, problem["code"]) == (401, "bad_credentials")
        page = Follower(ann.node.url, await other.ticket())
        async with page:
            await page.begun()
            body = {"fate": "stay", "current": PASSWORD}
            assert (await bob.ask("POST", "/me/erase", body))[0] == 204
            assert await page.close_code() == 4403
        for browser in (bob, other):
            assert (await browser.ask("GET", "/session"))[1]["principal"] is None
            assert (await browser.sign_in(BOB))[0] == 401
        _, members = await ann.ask("GET", f"/documents/{doc}/members")
        assert [one["name"] for one in members["members"]] == ["Ann"]
        _, files = await ann.ask("GET", "/files")
        assert files["documents"][0]["by"] == "", "an account that is no more has no name"
        assert files["documents"][0]["by_erased"] is True
        _, log = await ann.ask("GET", "/audit")
        (erased,) = [one for one in log["entries"] if one["what"] == "user.erased"]
        assert (erased["by"], erased["about"]) == (f"user:{user}", user)
        assert "bob" not in json.dumps(log)


async def test_erasing_asks_for_the_second_factor(ann: Browser) -> None:
    async with Browser(ann.node) as bob:
        await settled(ann, bob)
        _, key = await bob.ask("POST", "/me/totp")
        totp = pyotp.TOTP(key["secret"])
        now = totp.at(time.time())
        body: dict[str, Any] = {"secret": key["secret"], "code": now, "current": PASSWORD}
        _, made = await bob.ask("PUT", "/me/totp", body)
        erase = {"fate": "trash", "current": PASSWORD}
        assert (await bob.ask("POST", "/me/erase", erase))[1]["code"] == "bad_code"
        assert (await bob.ask("POST", "/me/erase", {**erase, "code": now}))[1]["code"] == "bad_code"
        good = {**erase, "code": made["recovery"][0]}
        assert (await bob.ask("POST", "/me/erase", good))[0] == 204


async def test_only_a_proved_account_takes_over_and_others_are_not_told_apart(
    ann: Browser,
) -> None:
    async with Browser(ann.node) as bob:
        doc = await settled(ann, bob)
        body = {"fate": "hand_over", "current": PASSWORD}
        answers = [
            await bob.ask("POST", "/me/erase", {**body, "heir": heir})
            for heir in ("nobody@example.org", "nobody2@example.org")
        ]
        assert answers[0] == answers[1]
        assert answers[0][0] == 404
        assert (await bob.ask("POST", "/me/erase", {**body, "heir": "ann@example.org"}))[0] == 204
        _, members = await ann.ask("GET", f"/documents/{doc}/members")
        assert [(one["name"], one["here"]) for one in members["members"]] == [("Ann", "owner")]


async def test_the_last_owner_of_the_first_workspace_is_told_what_to_do(ann: Browser) -> None:
    assert (await ann.ask("GET", "/me/erase"))[1]["first_workspace"] is True
    status, problem = await ann.ask("POST", "/me/erase", {"fate": "trash", "current": PASSWORD})
    assert (status, problem["code"]) == (409, "last_owner")
    assert "Home" in problem["detail"]


async def test_an_attack_on_the_password_does_not_keep_the_person_from_erasing(
    ann: Browser,
) -> None:
    async with Browser(ann.node) as bob, Browser(ann.node) as eve:
        await settled(ann, bob)
        await wait_out(eve, BOB)
        body = {"fate": "trash", "current": PASSWORD}
        assert (await bob.ask("POST", "/me/erase", body))[0] == 204


async def run(*arguments: str, url: str) -> None:
    """One command, as it is typed."""
    await asyncio.to_thread(run_people_command, [*arguments, "--admin", url, "--json"])


async def test_an_operator_exports_and_erases_from_a_shell(
    ann: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, file = ann.node.admin_url, tmp_path / "bob.zip"
    async with Browser(ann.node) as bob:
        doc = await settled(ann, bob)
        await run("user", "export", BOB, str(file), url=url)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "dear diary" in files_of(file.read_bytes())[f"documents/{doc}.md"]
        with pytest.raises(SettingsProblem, match="overwrites nothing"):
            await run("user", "export", BOB, str(file), url=url)
        with pytest.raises(SettingsProblem, match="--yes"):
            await run("user", "erase", BOB, "--documents", "trash", url=url)
        with pytest.raises(SettingsProblem, match="--to"):
            await run("user", "erase", BOB, "--documents", "hand_over", "--yes", url=url)
        capsys.readouterr()
        await run("user", "erase", BOB, "--documents", "trash", "--yes", url=url)
        assert json.loads(capsys.readouterr().out)["erased"] is True
        assert (await bob.ask("GET", "/session"))[1]["principal"] is None
        with pytest.raises(ServerError, match="no account"):
            await run("user", "erase", BOB, "--documents", "trash", "--yes", url=url)


async def test_an_erased_account_is_gone_behind_a_restart_and_listed_beside_the_log(
    cluster: Cluster, ann: Browser
) -> None:
    async with Browser(ann.node) as bob:
        await settled(ann, bob)
        user = (await bob.ask("GET", "/me"))[1]["id"]
        body = {"fate": "trash", "current": PASSWORD}
        assert (await bob.ask("POST", "/me/erase", body))[0] == 204
    listed = cluster.folder / "a" / "erased.json"
    await eventually(listed.exists, "the list is written")
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    assert [one["id"] for one in json.loads(listed.read_text())["erased"]] == [user]
    assert "bob" not in listed.read_text()
    await cluster.stop("a")
    node = await cluster.start("a")
    accounts = service(node).accounts
    assert user in accounts.erased
    assert user not in accounts.users
    async with Browser(node) as bob:
        assert (await bob.sign_in(BOB))[0] == 401
