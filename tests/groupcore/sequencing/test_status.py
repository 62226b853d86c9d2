"""What a node tells of one group to those who look closely."""

from __future__ import annotations

from groupcore.context import encode_context
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.test_chains import placed, watcher_of
from tests.groupcore.sequencing.world import World


def test_who_looks_is_told_how_far_a_group_is_and_what_its_last_message_depended_on() -> None:
    world = World("abc", 1)
    first, second = placed(world, "ab")
    watcher_of(world, "a", [first, second])
    service, sender = world["c"].service, world.open("c")
    seen = set()
    for n in range(40):
        service.send(sender, (first, second)[n % 2], [b"x"], world.now)
        world.run(1)
        facts = service.facts(second)
        assert facts is not None
        seen.add((facts.context_entries, facts.context_bytes))
    one = len(encode_context({world["a"].address: 1}))
    assert max(seen) >= (1, one)
    world.run(200)
    for name in "abc":
        facts = world[name].service.facts(second)
        assert facts is not None
        assert (facts.sequencer, facts.order) == ("b", "causally_total")
        assert (facts.head, facts.position) == (21, 21 if name == "a" else 0)  # one came, 20 said
        assert (facts.members, facts.nodes, facts.unsaved) == (1, ("a",), 0)


def test_of_a_group_that_there_is_not_nothing_is_told() -> None:
    assert World("a", 1)["a"].service.facts(77) is None


def test_how_many_frames_of_a_group_are_not_on_the_node_s_disk_is_told() -> None:
    world = DurableWorld("abc")
    group, process = world.create("g"), world.open("a")
    world.join(process, group)
    world.run(40)
    for name in "bc":
        world.disks[name].is_stuck = True

    def told() -> list[int]:
        facts = [world[name].service.facts(group) for name in "abc"]
        return [one.unsaved for one in facts if one is not None]

    assert told() == [0, 0, 0]
    for payload in (b"one", b"two"):
        world.send(process, group, payload)
        world.run(40)
    assert told() == [0, 2, 2]
    for name in "bc":
        world.disks[name].is_stuck = False
    world.run(80)
    assert told() == [0, 0, 0]
