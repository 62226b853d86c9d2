"""Long work of the loop, in turns: what else the loop has to do is done in between."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

TURN_S = 0.005
"""Seconds after which the loop has its turn: little beside what a person notices, and much beside
what giving it the turn costs."""


async def in_turns(steps: Iterator[None]) -> None:
    """Take all these steps; a turn ends with the step in which `TURN_S` is over."""
    loop = asyncio.get_running_loop()
    ends_at = loop.time() + TURN_S
    for _ in steps:
        if loop.time() >= ends_at:
            await asyncio.sleep(0)
            ends_at = loop.time() + TURN_S
