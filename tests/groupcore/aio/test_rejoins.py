"""A node that is excluded again and again: nothing of its former lives is kept."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter

import pytest

from groupcore.aio import lives as lives_module
from groupcore.aio.node import Node
from groupcore.endpoint import Endpoint
from groupcore.events import Excluded
from groupcore.layer import Layer
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.service import Service
from groupcore.sequencing.stream import Stream
from groupcore.stack import Stack
from groupcore.transport import Transport
from tests.groupcore.aio.test_group_node import Program, make_programs

OF_A_LIFE = (Node, Endpoint, Stack, Transport, Layer, Service, Plane, Record, Stream)
REJOINS = 4


def alive() -> Counter[str]:
    """How many objects of each kind that belongs to a life there are."""
    gc.collect()
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, OF_A_LIFE))


async def rejoin(away: Program, others: list[Program]) -> None:
    """The node is told that it was excluded, and waits until all have its next life."""
    channel = away.node.channel
    former = channel.address
    channel._on_deliveries([Excluded("the view went on")])

    def is_back() -> bool:
        view = channel.view
        if channel._lives.node is None or view is None or channel.address == former:
            return False
        views = [other.node.channel.view for other in others]
        return all(one is not None and channel.address in one.members for one in [view, *views])

    async with asyncio.timeout(15):
        while not is_back():
            await away.changed.wait()
            away.changed.clear()


@pytest.mark.slow
async def test_a_node_that_comes_and_goes_keeps_nothing_of_its_former_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lives_module, "REJOIN_INTERVAL_S", 0.0)
    monkeypatch.setattr(lives_module, "STARVED_INTERVAL_S", 0.0)
    programs = make_programs()
    a, b, c = programs
    try:
        for one in programs:
            await one.node.channel.connect()
        group = await a.node.create("news")
        for one in programs:
            await one.node.create("news")
            await one.node.join(one.node.open_process(), group)
        await rejoin(b, [a, c])
        before = alive()
        for _ in range(REJOINS):
            await rejoin(b, [a, c])
        grown = alive() - before
        assert max(grown.values(), default=0) < REJOINS, grown
    finally:
        for one in programs:
            await one.node.close()
