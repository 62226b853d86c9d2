"""What the browser tests share: one Chromium, and one cluster that no test hurts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.end_to_end.browser import Tabs, running_browser
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster
from tests.end_to_end.wandering import Wanderers, wandering


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(chromium_path: Path) -> AsyncIterator[Browser]:
    """The browser process."""
    async with running_browser(chromium_path) as browser:
        yield browser


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wanderers]:
    """Three nodes that live as long as the tests do: every test makes its own documents."""
    folder = tmp_path_factory.mktemp("cluster")
    async with running_cluster(folder, *NAMES) as cluster, wandering(cluster) as wanderers:
        yield wanderers


@pytest.fixture
def cluster(shared_cluster: Wanderers) -> Iterator[Cluster]:
    """Three nodes that no test hurts. Their groups go from node to node all the time."""
    with shared_cluster.used() as cluster:
        yield cluster


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def shared_town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wanderers]:
    """Three nodes where people sign in, which live as long as the tests do."""
    folder = tmp_path_factory.mktemp("town")
    running = running_cluster(folder, *NAMES, accounts="on")
    async with running as town, wandering(town) as wanderers:
        yield wanderers


@pytest.fixture
def town(shared_town: Wanderers) -> Iterator[Cluster]:
    """Three nodes where people sign in, and which no test hurts. Groups go about there, too."""
    with shared_town.used() as town:
        yield town


@pytest.fixture(scope="package")
def ann_cookies() -> list[dict[str, Any]]:
    """Filled by the first test that needs the owner of the town: their cookies."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def tabs(browser: Browser) -> AsyncIterator[Tabs]:
    """Opens tabs; at the end, what they complained about fails the test."""
    tabs = Tabs(browser)
    yield tabs
    await tabs.close()
    tabs.check()
