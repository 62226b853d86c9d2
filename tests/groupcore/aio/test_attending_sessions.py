"""Sessions that attend: their node is the member, and they come and go without a number."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from groupcore.aio import Node
from groupcore.errors import ChannelClosedError
from groupcore.events import Excluded
from groupcore.shared import Changed, ForbiddenError, operation
from groupcore.shared.access import Guarded, Right
from groupcore.shared.types import Counter, HeldError, Lock, Map, Presence, Topic
from tests.groupcore.aio.test_objects import Cluster, until

pytestmark = pytest.mark.slow


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster()
    yield made
    for node in made.nodes.values():
        await node.close()


class Notes(Guarded):
    """Lines that not everybody may read."""

    lines: list[str]

    @operation
    def add(self, line: str) -> int:
        self.lines.append(line)
        return len(self.lines)


def head(node: Node, name: str) -> int:
    """The last number of an object's group."""
    return node.groups.service.plane.records[node.groups.names[name]].seqno


async def test_a_session_that_only_reads_has_no_entry_in_the_order(cluster: Cluster) -> None:
    a, b = await cluster.start("a", "b")
    counter = await b.open(Counter, "clicks")
    first = a.session(attends=True)
    await first.open(Counter, "clicks")
    before = head(a, "clicks")
    sessions = [a.session(attends=True) for _ in range(10)]
    opened = await asyncio.gather(*(one.open(Counter, "clicks") for one in sessions))
    await asyncio.gather(*(one.close() for one in sessions))
    assert head(a, "clicks") == before
    assert len(counter.members) == 2  # a node each
    assert len({one.process for one in opened}) == 10


async def test_each_session_that_attends_gets_its_own_results_in_its_own_name(
    cluster: Cluster,
) -> None:
    a, b = await cluster.start("a", "b")
    sessions = [node.session(attends=True) for node in (a, b) for _ in range(3)]
    opened = await asyncio.gather(*(one.open(Map[str, int], "m") for one in sessions))
    changes = opened[0].changes()
    await asyncio.gather(*(one.set(f"k{at}", at) for at, one in enumerate(opened)))
    await opened[0].refresh()
    told = {one.process for one in changes.take() if isinstance(one, Changed)}
    assert told >= {one.process for one in sessions}
    assert opened[5].copy() == {f"k{at}": at for at in range(6)}


async def test_what_a_session_that_attends_holds_is_free_when_it_ends(cluster: Cluster) -> None:
    a, b = await cluster.start("a", "b")
    ann, bob = a.session(attends=True), b.session(attends=True)
    lock, same = await ann.open(Lock, "lock"), await bob.open(Lock, "lock")
    ticket = await lock.acquire()
    assert ticket.process == ann.process
    with pytest.raises(HeldError):
        await same.try_acquire()
    waiting = asyncio.create_task(same.acquire())
    await until(lambda: same.waiting == [bob.process])
    await ann.close()
    assert (await waiting).process == bob.process
    assert len(same.queue) == 1


async def test_when_a_node_is_gone_all_sessions_of_it_have_ended(cluster: Cluster) -> None:
    a, b, c = await cluster.start("a", "b", "c")
    bob = a.session(attends=True)
    same = await bob.open(Lock, "lock")
    for _ in range(2):
        await (await c.session(attends=True).open(Lock, "lock")).request()
    assert len((await b.open(Lock, "lock")).queue) == 2
    waiting = asyncio.create_task(same.acquire())
    await until(lambda: len(same.queue) == 3)
    c.groups.channel.end(ChannelClosedError("a test ends it"))
    assert (await waiting).process == bob.process


async def test_the_right_to_read_is_judged_at_its_place_for_who_attends(cluster: Cluster) -> None:
    a, b = await cluster.start("a", "b")
    boss = await b.session("boss").open(Notes, "notes")
    await boss.claim()
    await boss.grant("ann", Right.READ)
    ann = a.session("ann", attends=True)
    notes = await ann.open(Notes, "notes")
    replica = ann.port(Notes, "notes").user
    await boss.add("one")
    with pytest.raises(ForbiddenError):
        await notes.add("two")
    await boss.revoke("ann")
    await boss.add("three")
    await until(lambda: replica.closed.done)
    assert notes.lines == ["one"]
    with pytest.raises(ForbiddenError):
        await a.session("ann", attends=True).open(Notes, "notes")


async def test_the_nodes_member_leaves_with_the_last_session_and_the_copy_goes(
    cluster: Cluster,
) -> None:
    a, b = await cluster.start("a", "b")
    counter = await b.open(Counter, "clicks")
    ann, bob = a.session(attends=True), a.session(attends=True)
    await ann.open(Counter, "clicks")
    await bob.open(Counter, "clicks")
    await ann.close()
    assert len(counter.members) == 2
    await bob.close()
    await until(lambda: counter.members == (b.process,))
    await until(lambda: not a.host.sites and not a.host.open_groups)
    again = await a.session(attends=True).open(Counter, "clicks")
    assert await again.add(1) == 1


async def test_topics_and_presences_are_attended(cluster: Cluster) -> None:
    a, b = await cluster.start("a", "b")
    ann, bob = a.session(attends=True), b.session(attends=True)
    bell, heard = await ann.open(Topic[int], "bell"), await bob.open(Topic[int], "bell")
    async with heard.subscribe() as events:
        await bell.publish(7)
        assert (await anext(aiter(events))).process == ann.process
    room, other = await ann.open(Presence[str], "room"), await bob.open(Presence[str], "room")
    room.set("Ann")
    await until(lambda: other.others == {ann.process: "Ann"})
    third = a.session(attends=True)
    late = await third.open(Presence[str], "room")
    assert late.others == {ann.process: "Ann"}
    await ann.close()
    await until(lambda: other.others == {} == late.others)


async def test_sessions_that_attend_come_back_when_the_cluster_went_on_without_their_node(
    cluster: Cluster,
) -> None:
    a, b = await cluster.start("a", "b")
    ann, bob = b.session(attends=True), b.session(attends=True)
    left, right = await ann.open(Counter, "c"), await bob.open(Counter, "c")
    lock = await ann.open(Lock, "lock")
    at_a, same = await a.open(Counter, "c"), await a.open(Lock, "lock")
    await at_a.add(5)
    await lock.request()
    formers = {ann.process, bob.process}
    b.groups.channel._on_deliveries([Excluded("the view went on")])
    await until(lambda: not formers & {ann.process, bob.process})
    await asyncio.gather(left.add(1), right.add(1))
    await at_a.refresh()
    assert at_a.value == left.value == right.value == 7
    assert set(at_a.members) == {a.process, b.host.member}
    await until(lambda: not same.queue)  # the process of its former life has ended


async def test_sessions_that_attend_come_and_go_by_the_hundred(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    keeper = await a.open(Counter, "c")

    async def one() -> None:
        async with a.session(attends=True) as session:
            await (await session.open(Counter, "c")).add(1)

    await asyncio.gather(*(one() for _ in range(200)))
    await keeper.refresh()
    assert keeper.value == 200
    assert keeper.members == (a.process, a.host.member)  # while somebody has it open
    assert len(a.host.sessions) == 1
