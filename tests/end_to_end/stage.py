"""The cluster that tests share: one at a time, as nodes that nobody asks take of others' time."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.cluster import NAMES, running_cluster
from tests.end_to_end.wandering import Wanderers, wandering

CLUSTER, TOWN = "cluster", "town"
"""Three nodes, and three where people sign in; the names of the fixtures, too."""


class Stage:
    """Starts a cluster when a test asks for it, and ends it when one asks for another.

    `cookies` are those of the owner who was made in it, if one was.
    """

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self.cookies: list[dict[str, Any]] = []
        self._folders = folders
        self._name = ""
        self._up = AsyncExitStack()
        self._wanderers: Wanderers | None = None

    async def of(self, name: str, **flags: str | int) -> Wanderers:
        """The cluster of this name."""
        if self._wanderers is None or self._name != name:
            await self.close()
            running = running_cluster(self._folders.mktemp(name), *NAMES, **flags)
            cluster = await self._up.enter_async_context(running)
            self._wanderers = await self._up.enter_async_context(wandering(cluster))
            self._name = name
        return self._wanderers

    async def close(self) -> None:
        """End it."""
        self._wanderers = None
        self.cookies.clear()
        await self._up.aclose()


TURNS: list[set[str]] = [set(), {TOWN}, {TOWN, CLUSTER}, {CLUSTER}]
"""Files by what their tests share: so each cluster is started once, and ended soon."""


def in_turn(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests of all files, by `TURNS`."""
    asked: dict[Path, set[str]] = {}
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        asked.setdefault(item.path, set()).update(names & {CLUSTER, TOWN})
    return sorted(items, key=lambda item: TURNS.index(asked[item.path]))
