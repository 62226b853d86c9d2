"""Nodes of the sequencing service on real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from groupcore.aio import GroupNode
from groupcore.errors import (
    BadArgumentError,
    ChannelClosedError,
    CompositionError,
    GroupRefusedError,
    PlanError,
)
from groupcore.membership.state import MembershipOptions
from groupcore.sequencing.events import (
    Deleted,
    Delivered,
    OwnerChanged,
    ServiceEvent,
    StateInstalled,
)
from groupcore.sequencing.names import GroupId, Order
from groupcore.stacks import StackOptions
from tests.groupcore.aio.cluster import free_port


class Program:
    """A program on a node: the state of a group is the list of its messages."""

    def __init__(self, name: str, multicast: str) -> None:
        self.state: dict[GroupId, list[bytes]] = {}
        self.owners: dict[GroupId, str] = {}
        self.changed = asyncio.Event()
        self.node = GroupNode(
            "group-node-test",
            node_id=name,
            receiver=self.receive,
            copy_state=lambda group: b"\0".join(self.state[group]),
            multicast=multicast,
        )

    def receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            match event:
                case Delivered():
                    self.state.setdefault(event.group, []).extend(event.payloads)
                case StateInstalled(group, _, state):
                    self.state[group] = state.split(b"\0") if state else []
                case OwnerChanged(group, owner, _):
                    self.owners[group] = owner
        self.changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


def make_programs() -> list[Program]:
    """Three of one cluster, which no other test's nodes meet."""
    multicast = f"228.8.8.21:{free_port()}"
    return [Program(name, multicast) for name in "abc"]


@pytest_asyncio.fixture
async def programs() -> AsyncIterator[list[Program]]:
    made = make_programs()
    for one in made:
        await one.node.channel.connect()
    yield made
    for one in made:
        await one.node.close()


@pytest.mark.asyncio
async def test_three_programs_share_a_group(programs: list[Program]) -> None:
    group = await programs[0].node.create("news")
    processes = [one.node.open_process() for one in programs]
    for one, process in zip(programs, processes, strict=True):
        assert await one.node.create("news") == group
        await one.node.join(process, group)
    for one, process in zip(programs, processes, strict=True):
        one.node.send(process, group, [b"from " + process.node.name.encode(), b"!"])
    for one in programs:
        await one.until(lambda one=one: len(one.state[group]) == 6)  # type: ignore[misc]
    assert programs[0].state[group] == programs[1].state[group] == programs[2].state[group]


@pytest.mark.asyncio
async def test_a_group_moves_while_its_members_send(programs: list[Program]) -> None:
    a, b, _ = programs
    group = await a.node.create("moving", Order.STRICT)
    process = a.node.open_process()
    await a.node.join(process, group)
    await b.node.join(b.node.open_process(), group)
    for n in range(30):
        a.node.send(process, group, [str(n).encode()])
        if n % 10 == 5:
            target = programs[n // 10].node.channel.address
            await a.node.move([group], target)
        await asyncio.sleep(0)
    await b.until(lambda: len(b.state[group]) == 30)
    assert b.state[group] == [str(n).encode() for n in range(30)]


@pytest.mark.asyncio
async def test_what_a_program_gives_wrongly_is_told_at_the_call(programs: list[Program]) -> None:
    node = programs[0].node
    for name in ("x" * 65, 5):
        with pytest.raises(GroupRefusedError) as refused:
            await node.create(name)  # type: ignore[arg-type]
        assert refused.value.code == "bad_name"
    group, process = await node.create("x" * 64), node.open_process()
    with pytest.raises(BadArgumentError):
        await node.join("me", group)  # type: ignore[arg-type]
    await node.join(process, group)
    for payloads in (["text"], [{1: object()}], b"abc"):
        with pytest.raises(BadArgumentError):
            node.send(process, group, payloads)  # type: ignore[arg-type]
    with pytest.raises(BadArgumentError):
        await node.move([group], "b")  # type: ignore[arg-type]
    with pytest.raises(GroupRefusedError) as refused:
        node.send(process, group + 9, [b"x"])
    assert refused.value.code == "unknown_group"
    node.send(process, group, [b"next"])
    await programs[0].until(lambda: programs[0].state.get(group) == [b"next"])


@pytest.mark.asyncio
async def test_a_late_program_takes_the_state(programs: list[Program]) -> None:
    a, _, c = programs
    group = await a.node.create("late")
    process = a.node.open_process()
    await a.node.join(process, group)
    a.node.send(process, group, [b"one", b"two"])
    await a.until(lambda: len(a.state[group]) == 2)
    await c.node.join(c.node.open_process(), group)
    assert c.state[group] == [b"one", b"two"]


@pytest.mark.asyncio
async def test_what_is_refused_says_why(programs: list[Program]) -> None:
    node = programs[0].node
    process = node.open_process()
    with pytest.raises(GroupRefusedError, match="no group 99") as refused:
        await node.join(process, 99)
    assert refused.value.code == "unknown_group"
    await node.create("total")
    with pytest.raises(GroupRefusedError) as other:
        await node.create("total", Order.FIFO)
    assert other.value.code == "bad_order"


def plan(**groups: str) -> str:
    return json.dumps({"plan": 1, "groups": groups})


@pytest.mark.asyncio
async def test_a_plan_is_carried_out_and_its_progress_followed(programs: list[Program]) -> None:
    a, b, _ = programs
    groups = [await a.node.create(f"p{number}") for number in range(6)]
    process = a.node.open_process()
    await a.node.join(process, groups[0])
    wanted = {f"p{number}": "bc"[number % 2] for number in range(6)}
    seen = []
    async for progress in a.node.run_plan(plan(**wanted), at_once=1):
        a.node.send(process, groups[0], [b"x"])
        seen.append(progress.done)
    assert seen == sorted(seen)
    assert seen[-1] == 6
    directory = a.node.service.plane.directory
    owners = {name: directory.owner_of(group) for name, group in directory.names.items()}
    assert {name: owner.name for name, owner in owners.items() if owner} == wanted
    await b.until(lambda: b.owners.get(groups[5]) == "c")


@pytest.mark.asyncio
async def test_a_plan_that_names_an_unknown_node_is_refused_and_nothing_moves(
    programs: list[Program],
) -> None:
    node = programs[0].node
    group = await node.create("stays")
    owner = node.service.plane.owner(group)
    with pytest.raises(PlanError, match="no node 'nobody'"):
        node.run_plan(plan(stays="nobody"))
    assert node.service.plane.owner(group) == owner
    assert not node.service.plane.directory.moves


@pytest.mark.asyncio
async def test_a_plan_ends_when_it_is_cancelled_and_when_its_node_leaves(
    programs: list[Program],
) -> None:
    a, _, c = programs
    await a.node.create("q0")
    target = {"a": "b", "b": "c", "c": "a"}
    owner = a.node.service.plane.owner(a.node.service.plane.directory.names["q0"])
    assert owner is not None
    running = a.node.run_plan(plan(q0=target[owner.name]))
    running.cancel()
    last = [progress async for progress in running][-1]
    assert last.cancelled
    running.cancel()
    waiting = c.node.run_plan(plan(q0="b"))
    await c.node.close()
    with pytest.raises(GroupRefusedError) as refused:
        async for _ in waiting:
            pass
    assert refused.value.code == "left"


@pytest.mark.asyncio
async def test_programs_that_start_at_once_join_a_group_by_the_number_that_one_is_told() -> None:
    made = make_programs()
    await asyncio.gather(*(one.node.channel.connect() for one in made))
    try:
        for number in range(5):
            group = await made[number % 3].node.create(f"at once {number}")
            joins = [one.node.join(one.node.open_process(), group) for one in made]
            await asyncio.gather(*joins)
            for one in made:
                assert one.node.owner_of(group) == one.owners[group]
    finally:
        for one in made:
            await one.node.close()


def test_a_node_takes_the_stack_and_its_options() -> None:
    with pytest.raises(CompositionError):
        GroupNode("stack-test", node_id="a", receiver=print, stack="NAKACK:GMS")
    membership = MembershipOptions(cluster_size=1)
    options = StackOptions(membership=membership)
    node = GroupNode("stack-test", node_id="a", receiver=print, stack_options=options)
    with pytest.raises(ChannelClosedError):
        node.owner_of(1)


@pytest.mark.asyncio
async def test_who_waits_for_something_in_a_group_that_is_deleted_waits_no_more(
    programs: list[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, _ = programs
    group = await a.node.create("gone")
    process = b.node.open_process()
    await b.node.join(process, group)
    late = b.node.open_process()
    monkeypatch.setattr(b.node.service, "join", lambda *_, **__: 999)  # no sequencer hears of it
    joining = asyncio.ensure_future(b.node.join(late, group))
    await asyncio.sleep(0)  # it has asked
    b.node.requests.unsaved.sent(process, group, 1)
    saving = asyncio.ensure_future(b.node.saved())
    await asyncio.sleep(0)
    assert not saving.done()
    b.node.requests.settle(Deleted(group, 0))  # before the answer to its JOIN
    with pytest.raises(GroupRefusedError) as refused:
        await joining
    assert refused.value.code == "unknown_group"
    await saving
    await a.node.delete(group)
    await b.until(lambda: "gone" not in b.node.names)
    with pytest.raises(GroupRefusedError) as refused:
        b.node.send(process, group, [b"late"])
    assert refused.value.code == "unknown_group"
    with pytest.raises(GroupRefusedError) as refused:
        await a.node.delete(group)
    assert refused.value.code == "unknown_group"
