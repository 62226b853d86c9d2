"""Tokens of the management address: made, known, listed, revoked; the commands for them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from server.accounts.errors import AccountError
from server.errors import DamagedStoreError
from server.main import main
from server.management import tokens
from server.management.ranks import Rank
from server.management.tokens import DAY_S, ManagementTokens
from tests.server.support import Cluster


async def test_a_token_is_known_until_it_is_revoked_and_by_the_next_life_too(
    tmp_path: Path,
) -> None:
    kept = ManagementTokens(tmp_path)
    token, secret = await kept.make("backups", "operator", 30)
    for one in (kept, ManagementTokens(tmp_path)):
        found = one.find(secret)
        assert found is not None
        assert (found.text, found.rank) == ("token:backups", Rank.OPERATOR)
    await kept.revoke(token.id)
    assert kept.find(secret) is None
    assert ManagementTokens(tmp_path).find(secret) is None
    with pytest.raises(AccountError, match="no such token"):
        await kept.revoke(token.id)


async def test_a_token_is_good_as_many_days_as_was_said(tmp_path: Path) -> None:
    now = 1000.0
    kept = ManagementTokens(tmp_path, lambda: now)
    _, secret = await kept.make("week", "viewer", 7)
    now += 7 * DAY_S - 1
    assert kept.find(secret) is not None
    now += 2
    assert kept.find(secret) is None
    assert kept.listed() == []


async def test_neither_the_file_nor_a_list_has_a_secret(tmp_path: Path) -> None:
    kept = ManagementTokens(tmp_path)
    token, secret = await kept.make("ci", "viewer", 1)
    path = tmp_path / tokens.FILE
    assert secret.partition("_")[2] not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert "digest" not in token.shown()
    assert secret not in repr(vars(kept))


async def test_a_name_is_one_token_and_there_are_not_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "TOKENS_MAX", 2)
    kept = ManagementTokens(tmp_path)
    await kept.make("a", "viewer", 1)
    with pytest.raises(AccountError, match="revoke it first"):
        await kept.make("a", "owner", 1)
    await kept.make("b", "viewer", 1)
    with pytest.raises(AccountError, match="at most 2"):
        await kept.make("c", "viewer", 1)


@pytest.mark.parametrize("secret", ["", "x" * 300, "gcm_\udcff", "gcm_ä"])
def test_what_is_no_secret_is_nobodys(tmp_path: Path, secret: str) -> None:
    assert ManagementTokens(tmp_path).find(secret) is None


ONE = {"id": "1", "name": "a", "rank": "viewer", "digest": "d", "created_s": 0, "expires_s": 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format": 2, "tokens": []}',
        '{"format": 1, "tokens": [{"id": 1}]}',
        json.dumps({"format": 1, "tokens": [{**ONE, "rank": "king"}]}),
    ],
)
def test_a_damaged_file_is_named_and_nothing_starts_without_it(tmp_path: Path, text: str) -> None:
    (tmp_path / tokens.FILE).write_text(text)
    with pytest.raises(DamagedStoreError, match="make the tokens anew"):
        ManagementTokens(tmp_path)


async def test_the_commands_make_list_and_revoke(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    at, out = ("--admin", node.admin_url, "--json"), tmp_path / "ci.token"

    async def run(*words: str, code: int = 0) -> Any:  # noqa: ANN401 - JSON
        assert await asyncio.to_thread(main, ["access", *words]) == code
        captured = capsys.readouterr()
        return json.loads(captured.out) if code == 0 else captured.err

    made = await run("create", "ci", "--rank", "viewer", "--out", str(out), *at)
    assert "secret" not in made
    assert out.stat().st_mode & 0o777 == 0o600
    assert [one["name"] for one in (await run("ls", *at))["tokens"]] == ["ci"]
    shown = ("--admin", node.admin_url, "--token-file", str(out))
    refused = await run("create", "more", "--rank", "owner", *shown, code=1)
    assert "token:ci is viewer at the management address; this takes owner" in refused
    assert await asyncio.to_thread(main, ["status", *shown]) == 0
    capsys.readouterr()
    await run("revoke", made["id"], *at)
    assert await asyncio.to_thread(main, ["status", *shown]) == 1
    assert "not good at this node" in capsys.readouterr().err
    what = [one.what for one in node.node.files.accounts.notes]
    assert what.count("management_token.created") == what.count("management_token.revoked") == 1
    again = await run("create", "ci", "--rank", "viewer", "--out", str(out), *at, code=2)
    assert "overwrites nothing" in again


@pytest.mark.parametrize("name", ["", "a b", "a" * 41, "../x", "a\n", "é"])
async def test_a_name_that_the_audit_log_could_not_have_is_refused(
    cluster: Cluster, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    node = await cluster.start("a")
    words = ["access", "create", name, "--rank", "viewer", "--admin", node.admin_url]
    assert await asyncio.to_thread(main, words) == 1
    assert "name" in capsys.readouterr().err
    assert node.management.tokens.listed() == []
