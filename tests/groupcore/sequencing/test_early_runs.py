"""Runs that come before their group's former ones, as the group has migrated."""

from __future__ import annotations

from groupcore.sequencing.headers import Accept, Repair
from tests.groupcore.sequencing.world import World


def test_a_run_that_was_early_and_waits_again_holds_back_what_names_its_frame() -> None:
    world = World("abcd")
    g, h, other = world.create("g"), world.create("h", at="d"), world.create("other")
    mine, late, writer = world.open("a"), world.open("c"), world.open("d")
    for process in (mine, late):
        for group in (g, h, other):
            world.join(process, group)
    world.lose(Accept, Repair, to="c")
    for process, group, payload in (
        (writer, h, b"cause"),
        (mine, g, b"former"),
    ):
        world.send(process, group, payload)
        world.run(20)
    world.move(g, "b")
    world.run(20)
    for group, payload in ((other, b"between"), (g, b"early"), (other, b"last")):
        world.send(mine, group, payload)
        world.run(20)
    for name in "bad":  # the group's former message comes later, and has to wait itself
        own = world[name].service.plane.own
        for _, batch in own.kept(1, own.received):
            world["c"].service.receive(batch, world.now)
        world.turn()
    given = [payload for _, payload in world["c"].log[late]]
    assert given == [b"cause", b"former", b"between", b"early", b"last"]
