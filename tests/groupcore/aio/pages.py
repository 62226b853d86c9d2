"""Runs the programs of documentation pages as they stand, on the loopback interface.

Only the multicast port is another one, so that nobody else on this machine is met.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from groupcore import aio
from tests.groupcore.aio.cluster import LIMIT_S, free_port

DOCS = Path(__file__).parents[3] / "docs"
BLOCK = re.compile(
    r"^## ([^\n]+)$|^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Program:
    """One program of a page: the heading above it, its text, and what the page says it prints."""

    page: str
    heading: str
    text: str
    printed: str | None

    def run(self, module: str = "__main__") -> dict[str, Any]:
        """Run it; gives its names."""
        names: dict[str, Any] = {"__name__": module}
        name = f"{self.page}: {self.heading}"
        exec(compile(self.text, name, "exec", dont_inherit=True), names)
        return names


def programs(page: str) -> dict[str, Program]:
    """The programs of a page under docs/, by the heading that they stand under."""
    found: dict[str, Program] = {}
    heading = ""
    for match in BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")):
        heading = match[1] or heading
        if match[2]:
            assert heading not in found, f"two programs stand under '{heading}' of {page}"
            found[heading] = Program(page, heading, match[2], match[3])
    return found


def set_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let channels and nodes use a multicast port of their own, and programs run for LIMIT_S."""
    group = f"228.8.8.8:{free_port()}"

    class ApartChannel(aio.Channel):
        def __init__(self, cluster: str, **settings: Any) -> None:  # noqa: ANN401
            super().__init__(cluster, **{"multicast": group, **settings})

    class ApartNode(aio.Node):
        def __init__(self, cluster: str, **settings: Any) -> None:  # noqa: ANN401
            super().__init__(cluster, **{"multicast": group, **settings})

    def run_bounded(program: Coroutine[Any, Any, None]) -> None:
        loop_run(asyncio.wait_for(program, LIMIT_S))

    loop_run = asyncio.run
    monkeypatch.setattr(aio, "Channel", ApartChannel)
    monkeypatch.setattr(aio, "Node", ApartNode)
    monkeypatch.setattr(asyncio, "run", run_bounded)
