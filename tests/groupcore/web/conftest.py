"""What the tests of the gateway share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.groupcore.aio.test_objects import Cluster
from tests.groupcore.web.gateways import Site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    made = Site(Cluster())
    yield made
    for gateway in made.gateways.values():
        await gateway.close()
    for node in made.cluster.nodes.values():
        await node.close()
