"""A ball between two walls, kicked once: it rolls and bounces the same at all nodes."""

import asyncio

from groupcore.aio import Node
from groupcore.shared.places import Thing
from groupcore.shared.places.keeper import PlaceKeeper

UNIT = 64
"""Lengths are integers, 1/64 of a unit."""
HALL = [
    Thing("left-wall", "furniture", x=-80 * UNIT, width=20 * UNIT, height=400 * UNIT),
    Thing("right-wall", "furniture", x=80 * UNIT, width=20 * UNIT, height=400 * UNIT),
    Thing("ball", "ball", width=40 * UNIT, height=40 * UNIT),
]


async def main() -> None:
    nodes = [Node("hall", node_id=name) for name in ("ann", "bob", "carol")]
    for node in nodes:
        await node.__aenter__()
    keepers = [PlaceKeeper(node) for node in nodes]
    ann, bob, carol = [await keeper.hold("hall") for keeper in keepers]

    where = ann.place.leaf(0, 0)
    balls = {"ann": await ann.need(where), "bob": await bob.need(where)}
    await ann.place.put(HALL)
    rolling = balls["bob"].changes()
    await balls["ann"].operate("ball", "kick", [300, 0])
    print("ann kicks the ball to the right")
    bounces, before = 0, 300
    async for _ in rolling:
        now = balls["bob"].things["ball"].prop("vx")
        bounces += before * now < 0
        if now == 0:
            break
        before = now
    print("bob sees it bounce:", bounces, "times")

    late = await carol.need(where)
    for cell in (balls["ann"], late):
        await cell.refresh()  # nobody is behind bob
    ball = late.things["ball"]
    print("carol comes late, and sees it lie between the walls:", abs(ball.x) < 80 * UNIT)
    same = {balls["ann"].things["ball"], balls["bob"].things["ball"], ball}
    print("it lies in the same place for all three:", len(same) == 1)
    print("nothing moves, so nothing ticks any more:", late.next_tick_ms(0) is None)
    for keeper in keepers:
        await keeper.close()
    for node in nodes:
        await node.close()


asyncio.run(main())
