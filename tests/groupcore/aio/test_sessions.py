"""Sessions: many processes on one node, over one copy of each object."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from groupcore.aio import Node
from groupcore.errors import ChannelClosedError
from groupcore.events import Excluded
from groupcore.shared import (
    Changed,
    ClosedError,
    DeclarationError,
    ForbiddenError,
    MemberChanged,
    SharedObject,
    operation,
)
from groupcore.shared.access import Guarded, Right
from groupcore.shared.session import Session
from groupcore.shared.types import Counter, HeldError, Lock, Map, Presence, Topic
from tests.groupcore.aio.cluster import LIMIT_S
from tests.groupcore.aio.test_objects import Cluster, until

pytestmark = pytest.mark.slow


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    made = Cluster()
    yield made
    for node in made.nodes.values():
        await node.close()


DONE: list[str] = []


class Tally(SharedObject, check_every=0):
    """Notes in the program how often an operation is done."""

    total: int = 0

    @operation
    def add(self, by: int) -> int:
        DONE.append("add")
        self.total += by
        return self.total


async def test_an_operation_is_done_once_a_node_however_many_have_the_object_open(
    cluster: Cluster,
) -> None:
    DONE.clear()
    a, b = await cluster.start("a", "b")
    sessions = [a.session() for _ in range(20)]
    opened = await asyncio.gather(*(session.open(Tally, "tally") for session in sessions))
    other = await b.open(Tally, "tally")
    sums = await asyncio.gather(*(tally.add(1) for tally in opened))
    assert sorted(sums) == list(range(1, 21))
    await other.refresh()
    assert [tally.total for tally in opened] == [20] * 20
    assert len(DONE) == 2 * 20  # once at each of the two nodes


async def test_each_session_is_a_process_with_results_and_an_order_of_its_own(
    cluster: Cluster,
) -> None:
    (a,) = await cluster.start("a")
    async with a.session() as ann, a.session() as bob:
        assert len({a.process, ann.process, bob.process}) == 3
        left, right = await ann.open(Map[str, int], "left"), await ann.open(Map[str, int], "right")
        theirs = await bob.open(Map[str, int], "right")
        changes = ann.changes()
        await left.set("x", 1)
        await theirs.set("y", 2)
        await left.set("z", 3)
        await right.refresh()
        told = [
            (one.name, one.change.process == bob.process)
            for one in changes.take()
            if isinstance(one.change, Changed)
        ]
        assert told == [("left", False), ("right", True), ("left", False)]
        assert left.process == ann.process
        assert theirs.members == (ann.process, bob.process)
    with pytest.raises(ClosedError):
        await ann.open(Counter, "c")


async def test_what_a_session_holds_is_free_when_it_ends_and_not_before(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    ann, bob = a.session(), a.session()
    lock, same = await ann.open(Lock, "lock"), await bob.open(Lock, "lock")
    await lock.acquire()
    with pytest.raises(HeldError) as held:
        await same.try_acquire()
    assert held.value.holder == ann.process
    waiting = asyncio.create_task(same.acquire())
    await until(lambda: same.waiting == [bob.process])
    await ann.close()
    assert (await waiting).process == bob.process
    assert same.members == (bob.process,)


async def test_the_copy_goes_when_the_last_session_has_closed_the_object(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    ann, bob = a.session(), a.session()
    counter = await ann.open(Counter, "clicks")
    await counter.add(5)
    again = await bob.open(Counter, "clicks")
    with pytest.raises(DeclarationError, match="is open as"):
        await bob.open(Map[str, int], "clicks")
    await ann.close()
    assert (again.value, await again.add(1)) == (5, 6)
    await bob.close()
    await until(lambda: not a.host.sites and not a.host.open_groups)
    carol = a.session()
    assert (await carol.open(Counter, "clicks")).value == 0  # nobody had it: it is a new one
    assert (await carol.open(Map[str, int], "other")).copy() == {}


async def test_topics_and_presences_are_each_sessions_own(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    ann, bob = a.session(), a.session()
    bell, listener = await ann.open(Topic[int], "bell"), await bob.open(Topic[int], "bell")
    async with listener.subscribe() as events:
        await bell.publish(7)
        async for event in events:
            assert (event.value, event.process) == (7, ann.process)
            break
    here, there = await ann.open(Presence[str], "room"), await bob.open(Presence[str], "room")
    here.set("Ann")
    await until(lambda: there.others == {ann.process: "Ann"})
    assert here.others == {}
    await ann.close()
    await until(lambda: there.others == {})


async def test_access_is_judged_by_the_sessions_principal(cluster: Cluster) -> None:
    class Board(Guarded):
        lines: list[str]

        @operation
        def note(self, line: str) -> None:
            self.lines.append(line)

    (a,) = await cluster.start("a")
    ann, eve = a.session("ann"), a.session("eve")
    mine = await ann.open(Board, "board")
    await mine.claim()
    await mine.grant("eve", Right.READ)
    hers = await eve.open(Board, "board")
    with pytest.raises(ForbiddenError, match="eve may not call note"):
        await hers.note("x")
    await mine.note("for both")
    await hers.refresh()
    await mine.revoke("eve")
    await mine.note("secret")
    assert (hers.lines, mine.lines) == (["for both"], ["for both", "secret"])
    with pytest.raises(ForbiddenError):
        hers.refresh()
    with pytest.raises(ForbiddenError):
        await a.session("eve").open(Board, "board")


async def test_sessions_come_back_by_themselves_when_the_cluster_went_on_without_the_node(
    cluster: Cluster,
) -> None:
    a, b = await cluster.start("a", "b")
    ann, bob = b.session(), b.session()
    left, right = await ann.open(Counter, "c"), await bob.open(Counter, "c")
    at_a = await a.open(Counter, "c")
    await at_a.add(5)
    formers = {ann.process, bob.process}
    b.groups.channel._on_deliveries([Excluded("the view went on")])
    await until(lambda: not formers & {ann.process, bob.process})
    await asyncio.gather(left.add(1), right.add(1))
    await at_a.refresh()
    assert at_a.value == left.value == right.value == 7
    assert set(at_a.members) == {a.process, ann.process, bob.process}


async def test_sessions_come_and_go_by_the_hundred(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    keeper = await a.open(Counter, "c")
    changes = keeper.changes()

    async def one() -> None:
        async with a.session() as session:
            await (await session.open(Counter, "c")).add(1)

    await asyncio.gather(*(one() for _ in range(200)))
    await keeper.refresh()
    assert keeper.value == 200
    assert keeper.members == (a.process,)
    gone = [one for one in changes.take() if isinstance(one, MemberChanged) and not one.joined]
    assert len(gone) == 200
    assert len(a.host.sessions) == 1


async def test_what_cannot_be_a_session_says_so(cluster: Cluster) -> None:
    (a,) = await cluster.start("a")
    with pytest.raises(ValueError, match="characters"):
        a.session("x" * 201)
    await a.close()
    with pytest.raises((ClosedError, ChannelClosedError)):
        a.session()


@pytest.mark.parametrize(
    "stage",
    [
        lambda node, session: "c" in session._ports,
        lambda node, session: bool(node.groups.requests.joining),
    ],
    ids=["found", "joined"],
)
async def test_what_is_let_go_while_it_is_opened_is_left_and_opens_again(
    cluster: Cluster, stage: Callable[[Node, Session], bool]
) -> None:
    a, b = await cluster.start("a", "b")
    await b.open(Counter, "c")
    async with a.session() as session:
        opening = asyncio.ensure_future(session.open(Counter, "c"))
        await until(lambda: stage(a, session), pause_s=0)
        assert not opening.done()
        await session.let_go("c")
        with pytest.raises(ClosedError):
            await (await opening).add(1)
        counter = await asyncio.wait_for(session.open(Counter, "c"), LIMIT_S)
        assert await counter.add(1) == 1
        await session.let_go("c")
        group = await b.groups.create("c")
        members = b.groups.service.plane.records[group].members
        await until(lambda: all(process.node.name == "b" for process in members))
