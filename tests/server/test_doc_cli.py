"""`python -m server doc`: documents from a shell."""

from __future__ import annotations

import asyncio
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from server.main import main
from tests.server.accounts.people import Browser, found_home
from tests.server.support import Cluster

Json = Any
"""Whatever a command prints."""


class Shell:
    """Runs the command, in a thread: it has a loop of its own."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._url = url
        self._capsys = capsys

    async def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, output, errors."""
        self._capsys.readouterr()
        code = await asyncio.to_thread(main, ["doc", *arguments, "--url", self._url])
        out, err = self._capsys.readouterr()
        return code, out, err

    async def json(self, *arguments: str) -> Json:
        """What it prints as JSON."""
        code, out, err = await self.run(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def text_of(path: Path) -> str:
    return path.read_text()


def names_in(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as zipped:
        return zipped.namelist()


async def test_a_document_is_imported_listed_shown_and_exported(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell((await cluster.start("a")).url, capsys)
    source = "# Plan\n\n- one\n- two\n"
    made = await shell.json("import", written(tmp_path / "plan.md", source))
    doc = made["id"]
    assert [row["id"] for row in await shell.json("list")] == [doc]
    shown = await shell.json("show", doc)
    assert [block["text"] for block in shown["blocks"]] == ["one", "two"]
    assert "  bullet     one\n" in (await shell.run("show", doc))[1]
    out, zipped = tmp_path / "out.md", tmp_path / "out.zip"
    assert (await shell.run("export", doc, "--out", str(out)))[0] == 0
    assert text_of(out) == source
    assert (await shell.run("export", doc, "--out", str(zipped)))[0] == 0
    assert names_in(zipped) == [f"{doc}.md"]
    assert (await shell.json("trash", doc)) == {"id": doc, "trashed": True}
    assert await shell.json("list") == []
    code, _, err = await shell.run("export", doc, "--out", str(out))
    assert (code, "nothing is overwritten" in err) == (2, True)


async def test_what_is_wrong_is_said_in_a_line(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell((await cluster.start("a")).url, capsys)
    cases = [
        (("show", "none"), 1, "no_such_document"),
        (("show", "../../x"), 1, "no"),
        (("import", str(tmp_path / "none.md")), 2, "cannot be read"),
        (("list", "--token-file", str(tmp_path / "none")), 2, "cannot be read"),
        (("list", "--token-file", written(tmp_path / "t", "two words")), 2, "no token"),
        (("paint", "x"), 2, "invalid choice"),
    ]
    for arguments, code, words in cases:
        found, _, err = await shell.run(*arguments)
        assert (found, words in err, err.count("\n")) == (code, True, 1), err
    code, _, err = await Shell("http://127.0.0.1:1", capsys).run("list")
    assert (code, "no node answers" in err) == (1, True)


async def test_a_token_says_who_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster(tmp_path)
    cluster.flags = {"accounts": "on"}
    node = await cluster.start("a")
    shell = Shell(node.url, capsys)
    async with Browser(node) as ann:
        await found_home(ann)
        doc = await ann.create("Plan")
        body = {"name": "shell", "scopes": ["documents:read"]}
        _, made = await ann.ask("POST", "/tokens", body)
    assert "unauthenticated" in (await shell.run("list"))[2]
    token = written(tmp_path / "token", made["secret"] + "\n")
    assert [row["id"] for row in await shell.json("list", "--token-file", token)] == [doc]
    monkeypatch.setenv("DOC_TOKEN", made["secret"])
    assert (await shell.run("list"))[0] == 0
    assert "forbidden" in (await shell.run("import", written(tmp_path / "x.md", "x")))[2]
    await cluster.close()
