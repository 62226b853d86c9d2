"""Brokers watch prices; each price is a group. The story is Kindberg's (section 3.1)."""

import asyncio
from collections.abc import Callable
from functools import partial

from groupcore.aio import GroupNode
from groupcore.sequencing.events import Delivered, ServiceEvent
from groupcore.sequencing.names import GroupId, Order
from groupcore.shared import SharedObject, operation
from groupcore.shared.testing import World

CHIPS, COMPUTERS = "memory chips", "Computer Manufacturing Company"
ROUNDS = 50


class Broker:
    """One node with one process; `seen` is what it is told, in the order in which it is told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[tuple[GroupId, str]] = []
        self.react: Callable[[GroupId, str], None] | None = None
        self.told = asyncio.Event()
        self.node = GroupNode("brokers", node_id=name, receiver=self.receive)

    async def connect(self) -> None:
        await self.node.channel.connect()
        self.process = self.node.open_process()

    async def watch(self, price: str, order: Order) -> GroupId:
        group = await self.node.create(price, order)
        await self.node.join(self.process, group)
        return group

    def send(self, group: GroupId, text: str) -> None:
        self.node.send(self.process, group, [text.encode()])

    def receive(self, events: list[ServiceEvent]) -> None:
        for event in events:
            if isinstance(event, Delivered):
                for payload in event.payloads:
                    self.seen.append((event.group, payload.decode()))
                    if self.react is not None:
                        self.react(event.group, payload.decode())
        self.told.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self.told.clear()
            await self.told.wait()

    async def until_seen(self, count: int) -> None:
        await self.until(lambda: len(self.seen) == count)

    def sequencer_of(self, group: GroupId) -> str:
        owner = self.node.service.plane.directory.owner_of(group)
        return "" if owner is None else owner.name

    def of(self, group: GroupId) -> list[str]:
        return [text for where, text in self.seen if where == group]


async def cause_and_effect(brokers: list[Broker]) -> None:
    """Causally-total: one order in each group, and across groups no effect before its cause."""
    ann, bob, carol = brokers
    for broker in brokers:
        chips = await broker.watch(CHIPS, Order.CAUSALLY_TOTAL)
        computers = await broker.watch(COMPUTERS, Order.CAUSALLY_TOTAL)
    for group, home in ((chips, ann), (computers, bob)):  # so nobody orders both
        if carol.sequencer_of(group) != home.name:
            await carol.node.move([group], home.node.channel.address)
    await carol.until(
        lambda: [carol.sequencer_of(group) for group in (chips, computers)] == ["ann", "bob"]
    )
    print(f"{CHIPS}: numbered by ann; {COMPUTERS}: by bob")

    def sell(group: GroupId, text: str) -> None:
        if group == chips:
            bob.send(computers, f"sold, as {text}")

    bob.react = sell
    for n in range(ROUNDS):
        ann.send(chips, f"chips have tripled on day {n}")
        carol.send(computers, f"carol's offer {n}")
        await asyncio.sleep(0)
    for broker in brokers:
        await broker.until_seen(3 * ROUNDS)
    too_early = [
        (broker.name, text)
        for broker in brokers
        for place, (_, text) in enumerate(broker.seen)
        if text.startswith("sold, as ")
        and (chips, text.removeprefix("sold, as ")) not in broker.seen[:place]
    ]
    first_sale = next(text for _, text in carol.seen if text.startswith("sold"))
    print(f"carol is told: {first_sale}")
    print("sales that anybody saw before their cause:", len(too_early))
    for name, group in ((CHIPS, chips), (COMPUTERS, computers)):
        print(f"all see {name} in one order:", ann.of(group) == bob.of(group) == carol.of(group))


async def one_order_of_all(brokers: list[Broker]) -> None:
    """Strict: two groups that two processes share are seen in one order by both."""
    ann, bob, carol = brokers
    for broker in brokers:
        broker.seen.clear()
        broker.react = None
    gold = await ann.watch("gold", Order.STRICT)
    silver = await bob.node.create("silver", Order.STRICT)
    for broker in (bob, carol):
        await broker.watch("gold", Order.STRICT)
        await broker.watch("silver", Order.STRICT)
    for n in range(ROUNDS):
        ann.send(gold, f"gold {n} by ann")
        bob.send(silver, f"silver {n} by bob")
        carol.send(gold, f"gold {n} by carol")
        await asyncio.sleep(0)
    for broker in (bob, carol):
        await broker.until_seen(3 * ROUNDS)
    await ann.until_seen(2 * ROUNDS)
    same = bob.sequencer_of(gold) == bob.sequencer_of(silver)
    print("one node numbers gold and silver:", same)
    print(f"bob and carol see all {3 * ROUNDS} changes in one order:", bob.seen == carol.seen)
    print("ann, who watches gold only, sees it in theirs:", ann.of(gold) == bob.of(gold))


class Price(SharedObject):
    """A price whose changes everybody writes down in the order in which they come."""

    @operation
    def change(self, text: str) -> None:
        NOTEBOOKS[self.process.node.name].append(text)


class StrictPrice(Price, order=Order.STRICT):
    """The same, in one order with all the others of its kind."""


NOTEBOOKS: dict[str, list[str]] = {}


async def notebooks_agree(world: World, kind: type[Price]) -> bool:
    """Ann changes one price and Dave another, at once; Bob and Carol watch both."""
    NOTEBOOKS.update({name: [] for name in ("ann", "bob", "carol", "dave")})
    gold = await world.node("ann").open(kind, "gold")
    silver = await world.node("dave").open(kind, "silver")
    for name in ("bob", "carol"):
        for price in ("gold", "silver"):
            await world.node(name).open(kind, price)
    for day in range(20):
        gold.change(f"gold {day}")
        silver.change(f"silver {day}")
    await world.settle()
    bob, carol = NOTEBOOKS["bob"], NOTEBOOKS["carol"]
    for price in ("gold", "silver"):  # each price by itself is in one order, whatever the kind
        both = [[text for text in book if text.startswith(price)] for book in (bob, carol)]
        assert both[0] == both[1] == [f"{price} {day}" for day in range(20)]
    return bob == carol


def what_is_not_promised() -> None:
    """Causally-total: changes that nobody caused may be seen otherwise by two who watch both."""
    for kind, order in ((Price, "causally-total"), (StrictPrice, "strict")):
        agreed = sum(World(seed).run(partial(notebooks_agree, kind=kind)) for seed in range(20))
        print(f"{order}: bob and carol note gold and silver in one order in {agreed} of 20 runs")


async def main() -> None:
    brokers = [Broker(name) for name in ("ann", "bob", "carol")]
    for broker in brokers:
        await broker.connect()
    print("causally-total")
    await cause_and_effect(brokers)
    print("strict")
    await one_order_of_all(brokers)
    for broker in brokers:
        await broker.node.close()


asyncio.run(main())
print("on 20 simulated networks")
what_is_not_promised()
