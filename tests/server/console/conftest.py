"""Three nodes with accounts, and their owner's browser at the first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.accounts.passwords import Passwords
from tests.server.accounts.people import Browser, found_home
from tests.server.support import Cluster


@pytest.fixture
async def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    made = Cluster(tmp_path, 3)
    made.flags = {"accounts": "on"}
    await made.start_all("a", "b", "c")
    yield made
    await made.close()


@pytest.fixture
async def ann(cluster: Cluster) -> AsyncIterator[Browser]:
    """The owner's browser, at node a."""
    async with Browser(cluster.nodes["a"]) as browser:
        await found_home(browser)
        yield browser
