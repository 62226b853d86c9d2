"""A cluster with accounts for each test that asks for it; passwords are cheap to check."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvicorn

from server.accounts.passwords import Passwords
from tests.server.accounts.idp import CLIENT, TestProvider
from tests.server.accounts.people import Browser, found_home
from tests.server.support import Cluster, eventually


@pytest.fixture
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))


@pytest.fixture
async def cluster(tmp_path: Path, cheap_passwords: None) -> AsyncIterator[Cluster]:
    made = Cluster(tmp_path)
    made.flags = {"accounts": "on"}
    yield made
    await made.close()


@pytest.fixture
async def ann(cluster: Cluster) -> AsyncIterator[Browser]:
    """The owner's browser, at a cluster of one node."""
    node = await cluster.start("a")
    async with Browser(node) as browser:
        await found_home(browser)
        yield browser


@pytest.fixture
async def idp() -> AsyncIterator[TestProvider]:
    made = TestProvider()
    config = uvicorn.Config(made.app, port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await eventually(lambda: server.started, "the provider serves")
    made.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield made
    server.should_exit = True
    await serving


@pytest.fixture
async def ann_with_idp(
    cluster: Cluster, idp: TestProvider, tmp_path: Path
) -> AsyncIterator[Browser]:
    secret = tmp_path / "secret"
    secret.write_text("hush\n")
    flags = {"oidc_issuer": idp.url, "oidc_client": CLIENT, "oidc_secret_file": str(secret)}
    node = await cluster.start("a", **flags)
    async with Browser(node) as browser:
        await found_home(browser)
        yield browser
