"""What a node tells of settings that have to do with secrets: that they are set, and no more."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import aiohttp
import pytest

from groupcore.aio import KeyFile
from groupcore.seal import key_epoch
from server.main import main
from tests.management import credentials
from tests.server.support import Cluster

pytestmark = pytest.mark.slow

SECRETS = ("--key-file", "--trace-key-file", "--oidc-secret-file")


async def test_neither_the_api_nor_a_command_tells_a_secret_or_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster(tmp_path)
    key, words = b"sesame" + b"k" * 26, ("cluster", "trace", "provider")
    files = {flag: tmp_path / f"{word}-sesame" for flag, word in zip(SECRETS, words, strict=True)}
    for file in files.values():
        KeyFile(file).keep(key)
    cluster.flags = {flag[2:].replace("-", "_"): str(file) for flag, file in files.items()}
    try:
        node = await cluster.start("a", trace=str(tmp_path / "trace"))
        admin = node.admin_url
        async with aiohttp.ClientSession(headers=credentials(admin)) as http:
            told = [
                await (await http.get(f"{admin}/admin/{path}")).text()
                for path in ("nodes/a", "overview", "status")
            ]
        for command in (["node", "show", "a"], ["node", "ls"], ["status"]):
            for form in ([], ["--json"]):
                await asyncio.to_thread(main, [*command, *form, "--admin", admin])
                told.append(capsys.readouterr().out)
        settings = {one["flag"]: one for one in json.loads(told[0])["settings"]}
    finally:
        await cluster.close()
    for flag in SECRETS:
        assert (settings[flag]["masked"], settings[flag]["value"]) == (True, "")
        assert f"{flag}  (set)" in told[3]
    assert settings["--trace"]["value"] == str(tmp_path / "trace")  # others are told
    epoch = key_epoch(key)
    for text in (told[3], told[5]):  # of the key only which it is
        assert f"key_epoch={epoch}  accepted={epoch}" in text
    for text in told:
        assert "sesame" not in text
        assert key.hex() not in text
