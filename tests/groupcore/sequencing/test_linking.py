"""T2 for groups that become strongly intersecting while the past of one is elsewhere."""

from __future__ import annotations

import pytest

from groupcore.sequencing.choosing import score
from groupcore.sequencing.events import Joined
from groupcore.sequencing.names import GroupId, Order
from tests.groupcore.sequencing.packets import frames_of
from tests.groupcore.sequencing.world import World


def linked_late(world: World) -> tuple[GroupId, GroupId, str, str]:
    """Two strict groups at two nodes; the second one stays where it is when they meet."""
    groups = [world.create(name, Order.STRICT) for name in ("one", "other")]
    world.run(50)
    for group, node in zip(groups, "bc", strict=True):
        world.move(group, node)
    world.run(50)
    places = dict(zip("bc", groups, strict=True))
    stays = max(places, key=lambda node: score(places[node], node))
    (goes,) = set(places) - {stays}
    return places[goes], places[stays], goes, stays


@pytest.mark.parametrize("seed", range(4))
def test_t2_a_joiner_links_groups_behind_what_a_former_sequencer_has_numbered(seed: int) -> None:
    """P is in both groups; Q in the one that goes, where a message is numbered; then it joins."""
    world = World("abc", seed)
    goes, stays, source, target = linked_late(world)
    both, joiner, sender = world.open("a"), world.open(target), world.open("a")
    for group in (goes, stays):
        world.join(both, group)
    world.join(joiner, goes)
    assert world.own(goes) == source
    world.lost = frames_of(world, source, target)
    world.send(sender, goes, b"first")
    world.run(10)
    world[target].service.join(joiner, stays, world.now)
    world.run(10)
    assert world.own(goes) == target
    world.send(sender, stays, b"second")
    world.run(60)
    world.lost = lambda _: False
    world.run(200)
    logs = [
        [payload for _, payload in world.hosts[process.node].log[process]]
        for process in (both, joiner)
    ]
    assert sorted(logs[0]) == [b"first", b"second"]
    assert [payload for payload in logs[0] if payload in logs[1]] == logs[1]
    joined = [e for e in world[target].events if isinstance(e, Joined) and e.process == joiner]
    assert len(joined) == 2


def test_t2_what_was_numbered_elsewhere_binds_all_groups_that_are_linked_later() -> None:
    """The one that goes has moved before the two are linked, and its past is late at P."""
    world = World("abc")
    goes, stays, source, target = linked_late(world)
    both, joiner, sender = world.open("a"), world.open(target), world.open(target)
    for group in (goes, stays):
        world.join(both, group)
    world.join(joiner, goes)
    world.lost = frames_of(world, source, "a")
    world.send(sender, goes, b"first")
    world.run(10)
    world.move(goes, target)
    world.run(30)
    assert world.own(goes) == target
    world.join(joiner, stays)
    other = world.open(target)
    world.send(other, stays, b"second")
    world.run(30)
    world.lost = lambda _: False
    world.run(200)
    assert [payload for _, payload in world["a"].log[both]] == [b"first", b"second"]
