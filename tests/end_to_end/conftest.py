"""What the browser tests share: one Chromium, and a cluster that no test hurts."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.end_to_end.browser import Tabs, running_browser
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.stage import CLUSTER, TOWN, Stage, in_turn

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a cluster stand together."""
    places = [place for place, item in enumerate(items) if item.path.parent == HERE]
    for place, item in zip(places, in_turn([items[place] for place in places]), strict=True):
        items[place] = item


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(chromium_path: Path) -> AsyncIterator[Browser]:
    """The browser process."""
    async with running_browser(chromium_path) as browser:
        yield browser


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Where the cluster is that tests share."""
    stage = Stage(tmp_path_factory)
    yield stage
    await stage.close()


@pytest_asyncio.fixture(loop_scope="session")
async def cluster(stage: Stage) -> AsyncIterator[Cluster]:
    """Three nodes that no test hurts. Their groups go from node to node all the time."""
    wanderers = await stage.of(CLUSTER)
    with wanderers.used() as cluster:
        yield cluster


@pytest_asyncio.fixture(loop_scope="session")
async def town(stage: Stage) -> AsyncIterator[Cluster]:
    """Three nodes where people sign in, and which no test hurts. Groups go about there, too."""
    wanderers = await stage.of(TOWN, accounts="on")
    with wanderers.used() as town:
        yield town


@pytest.fixture
def ann_cookies(stage: Stage) -> list[dict[str, Any]]:
    """Filled by the first test that needs the owner of the town: their cookies."""
    return stage.cookies


@pytest_asyncio.fixture(loop_scope="session")
async def tabs(browser: Browser) -> AsyncIterator[Tabs]:
    """Opens tabs; at the end, what they complained about fails the test."""
    tabs = Tabs(browser)
    yield tabs
    await tabs.close()
    tabs.check()
