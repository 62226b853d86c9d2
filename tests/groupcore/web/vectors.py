"""Writes docs/vectors/objects.json, which the tests of the TypeScript client read, too.

`frames`: messages, and a frame that has them, in hex. `objects`: what a page that follows an object
from `snapshot` on is told, and the state as somebody new is shown it at the end. `outline`: what
the verbs of an outline send.
"""

from __future__ import annotations

import random
from contextlib import suppress
from typing import cast

from msgpack import packb, unpackb

from groupcore.frames import Json, Message
from groupcore.gateway.feed import Feed
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.kinds import kinds_of
from groupcore.gateway.outlet import Outlet
from groupcore.objects.changes import MoveChange, TextChange
from groupcore.objects.delta import canonical as canonical_text
from groupcore.objects.refusal import RefusalError
from groupcore.objects.rich_delta import Run, canonical, length, rich
from groupcore.shared.documents import Block, DocumentOutline, Seed
from groupcore.shared.documents.parts import Parcel
from groupcore.shared.places import Cell, PlaceOutline, PlaceTalk
from groupcore.shared.testing import World
from groupcore.shared.types import Counter, List, Lock, Map, Outline, Register, RichText, Text
from tests.groupcore.objects.vectors import FOLDER, File, as_text
from tests.groupcore.web.outline_verbs import outline_verbs
from tests.groupcore.web.place_acts import act_in_cell, act_in_place, act_in_talk, sight_in

NAME = "objects.json"
KINDS = kinds_of(
    [
        Counter,
        List[str],
        Lock,
        Map[str, int],
        Register[str],
        Text,
        RichText,
        Block,
        DocumentOutline,
        Outline,
        Cell,
        PlaceOutline,
        PlaceTalk,
    ]
)
STEPS = 24
CELL_STEPS = 100
PART_STEPS = 120
CLIENT = "nobody in particular"


class Recorder:
    """A gateway and a follower in one: it keeps what is told."""

    client = CLIENT

    def __init__(self) -> None:
        self.told: list[Json] = []

    def turn_to(self, feed: Feed | None) -> None:
        del feed

    def send_changes(self, feed: Feed, packed: bytes, before: int) -> None:
        self.told.append(unpackb(packed))

    def send_parts(self, feed: Feed, message: Message) -> None:
        self.told.append(cast("Json", message))


async def act(kind: str, target: object, draw: random.Random) -> None:
    """One operation that these objects may be asked for."""
    word = draw.choice(["a", "é", "😀", "zz"])
    match target:
        case Counter():
            await target.add(draw.randrange(-3, 4))
        case Register():
            await target.set(word)
        case Lock():
            if target.ticket is not None and draw.random() < 0.4:
                await target.release(target.ticket.token)
            else:
                await target.request()
        case Map():
            if target.keys() and draw.random() < 0.3:
                await target.delete(draw.choice(target.keys()))
            else:
                await target.set(word, draw.randrange(9))
        case List():
            ids: list[str] = target.ids()
            some = draw.choice([None, *ids])
            chosen = draw.random()
            if some is None or chosen < 0.5:
                await target.insert(word, some)
            elif chosen < 0.65:
                await target.delete(some)
            elif chosen < 0.8:
                await target.set(some, word)
            else:
                await target.move(some, draw.choice([None, *ids]))
        case Text():
            at = draw.randrange(len(target) + 1)
            count = draw.randrange(min(3, len(target) - at) + 1)
            await target.replace(at, count, draw.choice(["", word, word + word]))

        case RichText():
            at = draw.randrange(len(target) + 1)
            count = draw.randrange(min(3, len(target) - at) + 1)
            if draw.random() < 0.6:
                await target.insert(at, word, **draw.choice([{}, {"bold": True}]))
            elif draw.random() < 0.5:
                await target.delete(at, count)
            elif count:
                await target.format(at, count, bold=draw.choice([True, None]))
        case Outline():
            with suppress(RefusalError):
                await act_in_outline(target, word, draw)
        case Cell():
            with suppress(RefusalError):
                await act_in_cell(target, word, draw)
        case PlaceOutline():
            with suppress(RefusalError):
                await act_in_place(target, word, draw)
        case PlaceTalk():
            with suppress(RefusalError):
                await act_in_talk(target, word, draw)
        case _:
            with suppress(RefusalError):
                await act_in_document(target, word, draw)


async def act_in_outline(target: Outline, word: str, draw: random.Random) -> None:
    """One operation of an outline; some are two changes at once, of an old version."""
    ids = [block for block, _, _ in target.blocks()]
    chosen, some = draw.random(), draw.choice([None, *ids])
    if some is None or len(ids) < 3:
        await target.insert(word + "\n😀b", some, kind="heading", level=2)
        return
    size, other = len(target.text(some)), draw.choice(ids)
    if chosen < 0.2:
        at = draw.randrange(size + 1)
        await target.write(some, at, draw.randrange(size - at + 1), word)
    elif chosen < 0.35:
        level = draw.choice([1, None])
        await target.set(some, level=level, checked=draw.choice([True, None]))
    elif chosen < 0.5:
        await target.move(some, draw.choice([None, *ids]))
    elif chosen < 0.6:
        await target.delete(some)
    elif chosen < 0.75:
        await target.split(some, draw.randrange(size + 1), f"n{draw.randrange(10_000)}", depth=1)
    elif chosen < 0.85:
        await target.join(some, other)
    elif chosen < 0.9:
        await target.rename(word)
    else:
        changes = (TextChange(some, canonical_text([0, word])), MoveChange(some, None, None))
        await target.submit(max(0, target.version - 1), changes)


async def act_in_document(target: object, word: str, draw: random.Random) -> None:
    """One operation of a block, or an outline."""
    chosen = draw.random()
    new = f"n{draw.randrange(10_000)}"
    if isinstance(target, Block):
        size = length(target.content)
        if target.status == "unborn":
            birth = Parcel(1, "birth", rich("Once"), attributes=(("type", "heading"),))
            await target.accept("", "it", birth)
        elif chosen < 0.5:
            await target.edit(target.version, canonical([draw.randrange(size + 1), Run(word)]))
        elif chosen < 0.6:
            await target.split(target.version, draw.randrange(size + 1), new, (("level", 2),))
        elif chosen < 0.7:
            number = target.received.get("other", 0) + 1
            await target.accept("other", "it", Parcel(number, "append", rich(word, bold=True)))
        elif chosen < 0.9 or target.version < 12:
            await target.set({"checked": draw.choice([True, False, None])})
        elif chosen < 0.95:
            await target.join("far")
        else:
            await target.delete()
    elif isinstance(target, DocumentOutline):
        some = draw.choice(["", *target.order])
        several = draw.sample(target.order, min(len(target.order), 2))
        if chosen < 0.4:
            one, two = Seed(new, (("type", "quote"),), rich(word)), Seed(new + "b", (), ())
            await target.insert(some, [one, two])
        elif chosen < 0.5:
            await target.move(several, some)
        elif chosen < 0.6:
            await target.remove(several[:1], draw.choice([True, False]))
        elif chosen < 0.7:
            await target.admit(some, [(new, "todo", 3)])
        elif chosen < 0.8:
            await target.wake(several)
            await target.planted(several[:1])
        elif chosen < 0.9:
            await target.describe([(one, "code", 7) for one in several])
        elif target.gone:
            await target.restore(draw.choice([*target.gone]))
        else:
            await target.rename(word)


async def hold_and_go(world: World, kind: type[object]) -> None:
    """Somebody grabs a thing of a cell, and is gone."""
    cell = await world.node("eve").open(kind, "it")
    assert isinstance(cell, Cell)
    free = [one for one in cell.things if one not in cell.grabs and one not in cell.busy]
    await cell.grab(free[:1])
    await world.settle()
    await cell.close()
    await world.settle()


def script(name: str, seed: int) -> dict[str, object]:
    """What a page is told of an object of this type."""
    kind, recorder = KINDS[name], Recorder()

    async def main(world: World) -> dict[str, object]:
        ann, bob = [await world.node(node).open(kind.kind, "it") for node in ("ann", "bob")]
        replica = world.replicas("it")["ann"]
        feed = Feed(cast("Gateway", recorder), "it", kind, replica.body)
        feed.followers[recorder] = None  # type: ignore[index]
        first = feed.snapshot(-1, CLIENT)
        for _ in range(CELL_STEPS if name == "Cell" else STEPS):
            await act(name, world.draw.choice([ann, bob]), world.draw)
            await world.settle()
            feed.close_entry()
        if name == "Cell":
            await hold_and_go(world, kind.kind)
            feed.close_entry()
        last = feed.snapshot(-1, CLIENT)
        told = list(recorder.told)
        return {"type": name, "snapshot": first, "changes": told, "final": last["state"]}

    return World(seed).run(main)


def part_script(seed: int) -> dict[str, object]:
    """What a page is told that sees a part of a place, and another one from time to time."""
    kind, recorder = KINDS["PlaceOutline"], Recorder()
    page = cast("Outlet", recorder)

    async def main(world: World) -> dict[str, object]:
        outline = await world.node("ann").open(PlaceOutline, "it")
        feed = Feed(cast("Gateway", recorder), "it", kind, world.replicas("it")["ann"].body)
        feed.follow(page, sight_in(world.draw))
        first = feed.snapshot(-1, CLIENT, feed.followers[page])
        for _ in range(PART_STEPS):
            if world.draw.random() < 0.15:
                feed.close_entry()
                feed.look(page, sight_in(world.draw))
            with suppress(RefusalError):
                await act_in_place(outline, world.draw.choice("abc"), world.draw)
            await world.settle()
            feed.close_entry()
        last = feed.snapshot(-1, CLIENT, feed.followers[page])
        told = list(recorder.told)
        return {"type": kind.name, "snapshot": first, "changes": told, "final": last["state"]}

    return World(seed).run(main)


MESSAGES: list[list[Json]] = [
    [{"t": "hello", "v": 1, "client": "0123456789abcdef"}],
    [{"t": "open", "name": "clicks", "type": "Counter"}],
    [
        {"t": "open", "name": "note", "type": "Text", "birth": "a#1/2:1", "version": 7, "base": 3},
        {"t": "call", "name": "note", "n": 1, "answered": 0, "calls": [["edit", [3, [2, "é😀"]]]]},
    ],
    [{"t": "present", "name": "room", "value": None}, {"t": "pong"}],
    [{"t": "publish", "name": "bell", "n": 2, "value": 1.5}],
    [{"t": "inspect", "n": 1}],
    [{"t": "look", "name": "place/office", "sight": [-640, 0, 640, 1280]}],
]


def object_vectors() -> File:
    """Frames, and scripts of objects."""
    frames: list[dict[str, object]] = [
        {"messages": one, "hex": packb(one).hex()} for one in MESSAGES
    ]
    scripts = [*(script(name, 7) for name in KINDS), part_script(7)]
    return {"frames": frames, "objects": scripts, "outline": [outline_verbs()]}


def main() -> None:
    """Writes the file."""
    (FOLDER / NAME).write_text(as_text(object_vectors()), encoding="utf-8")


if __name__ == "__main__":
    main()
