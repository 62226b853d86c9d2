"""A bot walks through a large place and has open only the cells around it, while others draw."""

import asyncio
from collections.abc import Callable

from groupcore.aio import Node
from groupcore.shared.places import Edit, Thing
from groupcore.shared.places.interest import View
from groupcore.shared.places.keeper import PlaceKeeper
from groupcore.shared.places.limits import SPLIT_ABOVE
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.squares import Box

UNIT = 64
LAMPS = 1_000
STREET = LAMPS * 10 * UNIT
STEP = 500 * UNIT


def lamp(number: int) -> Thing:
    """Every ten units there is a lamp, all along the street."""
    return Thing(f"lamp-{number}", "light", x=number * 10 * UNIT, width=8 * UNIT, height=8 * UNIT)


async def until(minding: Minding, condition: Callable[[], bool]) -> None:
    """Wait for what changes in the place to bring that about."""
    place, changed = minding.place, asyncio.Event()
    others = place.on_change

    def on_change() -> None:
        others()
        changed.set()

    place.on_change = on_change
    while not condition():
        changed.clear()
        await changed.wait()
    place.on_change = others


class Bot:
    """Sees 1,000 units around itself."""

    def __init__(self, place: Minding) -> None:
        self._place = place
        self.held: set[str] = set()
        self.cells = 0
        self.most = 0

    async def go(self, x: int) -> None:
        box = Box(x - 1_000 * UNIT, -1_000 * UNIT, x + 1_000 * UNIT, 1_000 * UNIT)
        needed = set(self._place.place.look(View(box, dx=STEP), self.held).needed)
        for path in needed - self.held:
            await self._place.need(path)
            self.cells += 1
        for path in self.held - needed:
            self._place.release(path)
        self.held = needed
        self.most = max(self.most, len(needed))

    def sees(self) -> set[str]:
        screen = self._place.place.screen()
        return {one for one in screen if screen[one].kind == "light"}


def is_settled(minding: Minding) -> bool:
    """Whether all lamps have come to where the cells, quartered again and again, put them."""
    cells = minding.place.cells.values()
    is_calm = all(len(cell.things) <= SPLIT_ABOVE and not cell.owes for cell in cells)
    return is_calm and len(minding.place.screen()) == LAMPS


async def main() -> None:
    nodes = [Node("street", node_id=name) for name in ("ann", "bob", "carol")]
    for node in nodes:
        await node.__aenter__()
    keepers = [PlaceKeeper(node) for node in nodes]
    ann, bob, _ = [await keeper.hold("street") for keeper in keepers]

    for first in range(0, LAMPS, 500):
        await ann.place.put([lamp(number) for number in range(first, first + 500)])
    await until(ann, lambda: is_settled(ann))
    print("1,000 lamps stand along a street; a cell holds 400 at most")

    bot, missed = Bot(bob), 0
    for x in range(0, STREET, STEP):
        await bot.go(x)
        around = range(
            max(0, (x - 900 * UNIT) // (10 * UNIT)), min(LAMPS, (x + 900 * UNIT) // (10 * UNIT))
        )
        seen = bot.sees()
        missed += sum(f"lamp-{number}" not in seen for number in around)
    print("bob's bot has walked past all of them, and missed:", missed)
    print("it never held more than a few cells of the street:", bot.most <= 8 < bot.cells)

    async with ann.needing([ann.place.leaf(STREET - 10 * UNIT, 0)]):
        await ann.place.change([Edit("lamp-999", (("y", 20 * UNIT),))])
    await until(bob, lambda: bob.place.screen()["lamp-999"].y == 20 * UNIT)
    print("where it stands it sees at once what ann does there")
    for keeper in keepers:
        await keeper.close()
    for node in nodes:
        await node.close()


asyncio.run(main())
