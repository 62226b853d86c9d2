"""T2 at the receiver: what one sequencer has numbered is delivered in that order, one by one."""

from __future__ import annotations

from groupcore.sequencing.names import GroupId, Order, Process
from tests.groupcore.sequencing.packets import frames_of
from tests.groupcore.sequencing.world import World


def place(world: World, group: GroupId, node: str) -> GroupId:
    """Have the node sequence the group."""
    world.run(50)
    if world.own(group) != node:
        world.move(group, node)
        world.run(50)
    assert world.own(group) == node
    return group


def said_to(world: World, process: Process) -> list[bytes]:
    return [payload for _, payload in world.hosts[process.node].log[process]]


def test_i3_a_strict_run_waits_for_the_frame_just_before_its_own() -> None:
    world = World("abc")
    cause = place(world, world.create("cause"), "a")
    first = place(world, world.create("first", Order.STRICT), "b")
    second = place(world, world.create("second", Order.STRICT), "b")
    asker, answerer, other = world.open("a"), world.open("b"), world.open("b")
    watcher = world.open("c")
    world.join(answerer, cause)
    for group in (cause, first, second):
        world.join(watcher, group)
    world.run(50)
    world.lost = frames_of(world, "a", "c")
    world.send(asker, cause, b"why?")
    world.run(5)
    assert said_to(world, answerer) == [b"why?"]
    before = world["b"].service.plane.own.received
    world.send(answerer, first, b"because")
    world.send(other, second, b"apart")
    world.run(5)
    assert world["b"].service.plane.own.received == before + 2
    assert said_to(world, watcher) == []
    world.lose_nothing()
    world.run(100)
    assert said_to(world, watcher) == [b"why?", b"because", b"apart"]


def test_i3_a_run_waits_for_the_runs_before_it_in_its_own_frame() -> None:
    """The first run waits for a frame before, with whose group the second one shares nobody."""
    world = World("abcd")
    cause = place(world, world.create("cause"), "a")
    strict = [world.create(name, Order.STRICT) for name in ("zeroth", "first", "second")]
    zeroth, first, second = (place(world, group, "c") for group in strict)
    asker, answerer, speaker = world.open("a"), world.open("c"), world.open("c")
    world.join(answerer, cause)
    watchers = [world.open("d") for _ in range(3)]
    for watcher, groups in zip(
        watchers, ((cause, zeroth), (zeroth, first), (first, second)), strict=True
    ):
        for group in groups:
            world.join(watcher, group)
    world.run(100)
    world.lost = frames_of(world, "a", "d")
    world.send(asker, cause, b"why?")
    world.run(5)
    assert said_to(world, answerer) == [b"why?"]
    world.send(answerer, zeroth, b"because")
    world.run(5)
    c, before = world["c"].service, world["c"].service.plane.own.received
    c.send(speaker, first, [b"so"], world.now)
    c.send(speaker, second, [b"then"], world.now)
    world.turn()
    world.run(5)
    assert c.plane.own.received == before + 1
    assert [said_to(world, watcher) for watcher in watchers] == [[], [], []]
    world.lose_nothing()
    world.run(100)
    assert [said_to(world, watcher) for watcher in watchers] == [
        [b"why?", b"because"],
        [b"because", b"so"],
        [b"so", b"then"],
    ]
