"""What the browser tests share: one Chromium, and one cluster that no test hurts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.end_to_end.browser import Tabs, running_browser
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster
from tests.end_to_end.wandering import wandering


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(chromium_path: Path) -> AsyncIterator[Browser]:
    """The browser process."""
    async with running_browser(chromium_path) as browser:
        yield browser


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """Three nodes that live as long as the tests do: every test makes its own documents.

    Their groups go from node to node all the time.
    """
    folder = tmp_path_factory.mktemp("cluster")
    async with running_cluster(folder, *NAMES) as cluster, wandering(cluster):
        yield cluster


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """Three nodes where people sign in, and which no test hurts. Groups go about there, too."""
    folder = tmp_path_factory.mktemp("town")
    async with running_cluster(folder, *NAMES, accounts="on") as cluster, wandering(cluster):
        yield cluster


@pytest.fixture(scope="package")
def ann_cookies() -> list[dict[str, Any]]:
    """Filled by the first test that needs the owner of the town: their cookies."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def tabs(browser: Browser, tmp_path: Path) -> AsyncIterator[Tabs]:
    """Opens tabs; at the end, what they complained about fails the test."""
    tabs = Tabs(browser, tmp_path)
    yield tabs
    await tabs.close()
    tabs.check()
