"""A cluster with accounts for each test that asks for it; passwords are cheap to check."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.accounts.passwords import Passwords
from tests.server.accounts.people import Browser, found_home
from tests.server.support import Cluster


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
