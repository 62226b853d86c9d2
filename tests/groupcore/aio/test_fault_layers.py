"""The rules of fault layers in real channels: what the reliable layers make good, and what not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest

from groupcore.faults import DiscardOptions, Faults, Victims
from groupcore.stacks import DEFAULT_STACK, StackOptions
from tests.groupcore.aio.cluster import Cluster, close_all, read

pytestmark = pytest.mark.slow

COUNT = 200
BENEATH = DEFAULT_STACK.replace(
    ":PING:", ":DISCARD(up=0.1):SHUFFLE(window=3,wait_s=0.005):DUPLICATE(up=0.2):PING:"
)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster(with_multicast=True)
    yield made
    await close_all(made)


async def test_harm_beneath_the_reliable_layers_is_made_good(cluster: Cluster) -> None:
    for seed, name in enumerate("abc"):
        options = StackOptions(faults=Faults(random=Random(seed)))
        await cluster.connected(name, stack=BENEATH, stack_options=options)
    for number in range(COUNT):
        await cluster.channels[number % 3].multicast(b"%d" % number)
        await asyncio.sleep(0)
    a, b, c = [await read(channel, COUNT) for channel in cluster.channels]
    assert a == b == c
    assert {payload for _, payload, _ in a} == {b"%d" % number for number in range(COUNT)}
    assert sum(each.counters()["DISCARD.discarded"] for each in cluster.channels) > 0


async def test_harm_above_them_shows_what_an_application_does_with_it(cluster: Cluster) -> None:
    faults = Faults()
    spec = DEFAULT_STACK + ":DISCARD"
    a = await cluster.connected("a", stack=spec, stack_options=StackOptions(faults=faults))
    b = await cluster.connected("b")
    faults.discard = DiscardOptions(up=1.0, victims=Victims(frozenset({b.address})))
    await b.multicast(b"lost at a")
    assert (await read(b, 1))[0][1] == b"lost at a"
    await a.multicast(b"1")
    assert (await read(a, 1))[0][1] == b"1"
    faults.on = False
    await b.multicast(b"2")
    assert (await read(a, 1))[0][1] == b"2"
