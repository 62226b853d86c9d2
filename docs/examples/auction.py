"""An auction: who has the lock has the floor, and bids. The lock is fair."""

import asyncio

from groupcore.aio import Node
from groupcore.shared import SharedObject, operation
from groupcore.shared.types import HeldError, Lock


class LostTheFloorError(Exception):
    pass


class Auction(SharedObject):
    bidder: str = ""
    amount: int = 0
    floor: int = 0

    @operation
    def bid(self, token: int, amount: int) -> None:
        """Refuse whoever had the floor before: it may not know yet that somebody else has it."""
        if token < self.floor:
            raise LostTheFloorError
        self.floor = token
        if amount <= self.amount:
            raise ValueError(f"{amount} is not more than {self.amount}")
        self.bidder, self.amount = self.context.process.node.name, amount


async def main() -> None:
    ann, bob, carol = nodes = [Node("auction", node_id=name) for name in ("ann", "bob", "carol")]
    for node in nodes:
        await node.__aenter__()
    floor = {node: await node.open(Lock, "floor") for node in nodes}
    painting = {node: await node.open(Auction, "painting") for node in nodes}

    anns = await floor[ann].acquire()
    bobs = await floor[bob].request()  # second in the queue
    try:
        await floor[carol].try_acquire()
    except HeldError as error:
        print("carol is told who was first:", error.holder.node.name)
    carols_turn = asyncio.create_task(floor[carol].acquire())

    await painting[ann].bid(anns.token, 10)
    print("ann bids 10 and gives the floor to the next")
    await floor[ann].release(anns.token)

    await painting[bob].bid(bobs.token, 20)
    print("bob bids 20")
    try:
        await painting[ann].bid(anns.token, 30)
    except LostTheFloorError:
        print("ann wants to bid again, but has the floor no more")
    try:
        await painting[bob].bid(bobs.token, 20)
    except ValueError as error:
        print("bob is told:", error)

    await bob.close()
    print("bob goes home, with the lock in his pocket")
    carols = await carols_turn
    await painting[carol].bid(carols.token, 40)
    await painting[ann].refresh()
    print("so carol has the floor, and bids", painting[ann].amount)
    print("ann and carol see the same:", painting[ann].bidder, painting[carol].bidder)
    for node in (ann, carol):
        await node.close()


asyncio.run(main())
