"""What may be asked of places and their cells, at random, for vectors."""

from __future__ import annotations

import random

from groupcore.shared.access import Right
from groupcore.shared.places import Cell, Edit, PlaceOutline, PlaceTalk, Thing
from groupcore.shared.places.digest import CellDigest
from groupcore.shared.places.limits import SIDE, START
from groupcore.shared.places.parts import Parcel, Signal
from groupcore.shared.places.talk import Remark

KINDS = ("sticky", "switch", "light", "dice", "vote", "ball", "timer", "furniture")
HERE, ASIDE = "r0", "r1"


def _somewhere(draw: random.Random) -> tuple[int, int]:
    """Mostly in the first quarter of a place."""
    side = SIDE // 2 if draw.random() < 0.85 else SIDE
    return START + draw.randrange(side), START + draw.randrange(SIDE // 2)


def _thing(word: str, draw: random.Random) -> Thing:
    x, y = _somewhere(draw)
    kind = draw.choice(KINDS)
    thing = Thing(f"t{draw.randrange(10_000)}", kind, x, y, width=640, height=64, text=word)
    if kind == "light":
        thing = thing.with_props(on=False)
    return thing


async def act_in_cell(cell: Cell, word: str, draw: random.Random) -> None:
    """One operation of a cell."""
    if cell.role != "leaf":
        await cell.become(HERE, 1, "leaf")
        return
    chosen = draw.random()
    if len(cell.things) < 3 or chosen < 0.2:
        await cell.put([_thing(word, draw), _thing(word, draw)], draw.choice(["", ASIDE]))
        return
    one, other = draw.sample(list(cell.things), 2)
    x, y = _somewhere(draw)
    edit = Edit(one, (("x", x), ("y", y), ("style.colour", word)), to=ASIDE)
    if chosen < 0.4:
        await cell.change([edit, Edit(other, (("text", word),), (("text", "a"),))], "me")
    elif chosen < 0.5:
        await cell.grab([one], draw.choice(["", "me"]))
    elif chosen < 0.55:
        await cell.release(list(cell.grabs), "me")
    elif chosen < 0.7:
        await _operate(cell, one, draw)
    elif chosen < 0.75:
        await cell.delete([one])
    elif chosen < 0.82:
        number = cell.received.get(ASIDE, 0) + 1
        await cell.accept(ASIDE, Parcel(number, (_thing(word, draw),), (Signal(one, True),)))
    elif chosen < 0.86:
        await cell.handed(ASIDE, 1)
    elif chosen < 0.92:
        await cell.prepare(f"j{draw.randrange(999)}", [HERE, ASIDE], [edit])
    elif chosen < 0.95:
        await cell.follow(draw.randrange(9), {"*": Right.WRITE})
    else:
        for joint in list(cell.joints):
            await cell.decide(joint, draw.random() < 0.7)
        await cell.tick(cell.ticks + 1)


async def _operate(cell: Cell, one: str, draw: random.Random) -> None:
    action, given = {
        "timer": ("start", [100]),
        "dice": ("roll", []),
        "vote": ("choose", [draw.randrange(2)]),
        "ball": ("kick", [900, -90]),
    }.get(cell.things[one].kind, ("toggle", []))
    await cell.operate(one, action, given, "me", {"t1": ASIDE})


def sight_in(draw: random.Random) -> tuple[int, int, int, int]:
    """A part of a place: small ones and large ones, near its beginning."""
    x, y = (START + SIDE // 8 + draw.randrange(SIDE // 8) for _ in range(2))
    size = SIDE >> draw.randrange(1, 9)
    return (x - size, y - size, x + size, y + size)


async def act_in_place(place: PlaceOutline, word: str, draw: random.Random) -> None:
    """One operation of a place's outline."""
    chosen, paths = draw.random(), list(place.tree)
    some = draw.choice(paths)
    if chosen < 0.1:
        await place.attend()
    elif chosen < 0.3:
        await place.divide(some)
    elif chosen < 0.4:
        await place.split([some, some + "0"])
    elif chosen < 0.6:
        await place.unite(some)
    elif chosen < 0.7:
        await place.meet(["r3", "r30"])
    elif chosen < 0.9:
        await place.describe(some, CellDigest(draw.randrange(9), -4, -3, 2, 1, (word,)))
    else:
        await place.rename(word)


async def act_in_talk(talk: PlaceTalk, word: str, draw: random.Random) -> None:
    """One operation of a place's chat; some remarks are so long that older ones make room."""
    chosen, ids = draw.random(), list(talk.remarks)
    if len(ids) < 3 or chosen < 0.6:
        await talk.say(word * draw.choice([1, 3]), draw.choice(["", "Ann"]), draw.choice("ab"))
    elif chosen < 0.75:
        await talk.take_back(draw.choice(ids), draw.choice("ab"))
    elif chosen < 0.85:
        await talk.remove([ids[0], "never"])
    elif chosen < 0.95:
        said = talk.said + 2
        again = [Remark(f"{said:x}", "user:1", "", 5, word), Remark(ids[0], "a", "", 1, word)]
        await talk.bring_back(again, said)
    else:
        await talk.follow(draw.randrange(9), {"*": Right.MANAGE})
