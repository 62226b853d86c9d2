"""What a change over HTTP waits for: its place in the order, and then the disks of a quorum."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

from server.errors import BadMessageError
from server.node import Node

T = TypeVar("T")

ORDER_S = 10.0
"""How long a request waits for the order."""
SAVED_S = 5.0
"""How long it then waits to be on the disks of a quorum."""


async def done(node: Node, work: Awaitable[T]) -> T:
    """The result, once it is saved, or SAVED_S later; BadMessageError `not_primary`."""
    result = await ordered(work)
    with suppress(TimeoutError):
        async with asyncio.timeout(SAVED_S):
            await node.objects.saved()
    return result


async def ordered(work: Awaitable[T]) -> T:
    """A change; BadMessageError `not_primary` when the order does not take it in time."""
    return await _in_time(work, "the cluster takes no changes now; try again")


async def reached(work: Awaitable[T]) -> T:
    """A read of what may have to be opened; BadMessageError `not_primary` when that is not done."""
    return await _in_time(
        work, "this is not open at this node, and the others do not answer; ask another node"
    )


async def _in_time(work: Awaitable[T], otherwise: str) -> T:
    try:
        async with asyncio.timeout(ORDER_S):
            return await work
    except TimeoutError:
        raise BadMessageError("not_primary", otherwise) from None
