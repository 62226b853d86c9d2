"""What the browser tests share: one Chromium, and one cluster that no test hurts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.end_to_end.browser import Tabs, running_browser
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(chromium_path: Path) -> AsyncIterator[Browser]:
    """The browser process."""
    async with running_browser(chromium_path) as browser:
        yield browser


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """Three nodes that live as long as the tests do: every test makes its own documents."""
    async with running_cluster(tmp_path_factory.mktemp("cluster"), *NAMES) as cluster:
        yield cluster


@pytest_asyncio.fixture(loop_scope="session")
async def tabs(browser: Browser, tmp_path: Path) -> AsyncIterator[Tabs]:
    """Opens tabs; at the end, what they complained about fails the test."""
    tabs = Tabs(browser, tmp_path)
    yield tabs
    await tabs.close()
    tabs.check()
