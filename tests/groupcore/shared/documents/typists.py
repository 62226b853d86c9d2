"""Random typists in one document, on a bad network, and what must be true when they are done."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from groupcore.errors import GroupcoreError
from groupcore.objects.refusal import RefusalError
from groupcore.objects.rich_delta import Format, Rich, Run, canonical, length, plain, rich
from groupcore.shared.documents import Block, Document
from groupcore.shared.documents.parts import BlockClosed, BlockCut, Edited, Received
from groupcore.shared.errors import ClosedError, OutcomeUnknownError
from groupcore.shared.testing import BAD_WEATHER, Weather, World
from groupcore.sim.documents.looking import shown_twice
from tests.groupcore.shared.documents.office import sit_down

KEEPERS = ("k0", "k1")
TYPISTS = ("t0", "t1", "t2")
FIRST_CHARACTER = 0x4E00


@dataclass
class Ledger:
    """What has become of each character, as far as anybody was told."""

    draw: random.Random
    next: int = FIRST_CHARACTER
    typed: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    drafts: Counter[str] = field(default_factory=Counter)
    kept: set[str] = field(default_factory=set)
    twice: set[str] = field(default_factory=set)
    seen: dict[str, list[tuple[str, int, Rich]]] = field(default_factory=dict)
    looks: int = 0
    closing: bool = False
    giver: str = ""
    done: Counter[str] = field(default_factory=Counter)
    mine: dict[tuple[str, str, int], set[str]] = field(default_factory=dict)

    def words(self, count: int) -> str:
        """Characters that nobody has typed before."""
        text = "".join(chr(self.next + place) for place in range(count))
        self.next += count
        return text


async def typist(world: World, name: str, ledger: Ledger, turns: int) -> None:
    """Do random things to the document until the turns, or the node, are over."""
    try:
        doc = await sit_down(world, name, copies=2)
        for _ in range(turns):
            await world.elapse(ledger.draw.expovariate(4.0))
            try:
                await turn(doc, ledger)
            except RefusalError:
                ledger.done["refused"] += 1
        for _ in range(5):
            await world.settle()
            await world.elapse(1.0)
        for text in doc.drafts:
            ledger.drafts.update(plain(text))
    except (ClosedError, OutcomeUnknownError):
        ledger.done["ended"] += 1


async def turn(doc: Document, ledger: Ledger) -> None:
    """One thing that a person does."""
    draw, order = ledger.draw, list(doc.outline.order)
    what = draw.choices(
        [
            "type",
            "type far",
            "type old",
            "erase",
            "bold",
            "split",
            "join",
            "delete",
            "move",
            "paste",
            "undo",
            "scroll",
        ],
        [10, 4, 4, 2, 1, 5, 5, 2, 1, 2, 2, 1],
    )[0]
    if not order or (what == "delete" and len(order) < 4):
        what = "paste"
    block = draw.choice(order) if order else ""
    ledger.done[what] += 1
    match what:
        case "paste":
            texts = [rich(ledger.words(draw.randrange(4))) for _ in range(draw.randint(1, 3))]
            ledger.typed |= set("".join(map(plain, texts)))
            ledger.unsure |= set("".join(map(plain, texts)))
            await doc.insert(block, texts)
            ledger.unsure -= set("".join(map(plain, texts)))
        case "move":
            await doc.move([block], draw.choice(order))
        case "scroll":
            await doc.view(draw.randrange(len(order)), 2, margin=1)
        case "delete":
            seed = doc.outline.seeds.get(block)
            ledger.deleted |= set(plain(seed.content) if seed else "")
            await doc.delete(block)
        case "join":
            place = order.index(block)
            near = [one for one in (place - 1, place - 1, place + 1) if 0 <= one < len(order)]
            if near:
                await doc.join(block, order[draw.choice(near)])
        case "split":
            found = await doc.block(block)
            await doc.split(block, draw.randint(0, length(found.content)))
        case "undo":
            if doc.own.undo and not any(isinstance(one, Run) for one in doc.own.undo[-1].delta):
                ledger.deleted |= ledger.mine.get((doc.own.author, *doc.own.undo[-1][:2]), set())
                note(ledger, "", await doc.undo())
        case _:
            await write(doc, block, what, ledger)


async def write(doc: Document, block: str, what: str, ledger: Ledger) -> None:
    """Type, erase or format; `far`: against a version that is some time old."""
    draw = ledger.draw
    seen = ledger.seen.setdefault(doc.own.author, [])
    if what == "type old" and seen:
        block, base, content = draw.choice(seen)  # as an author that was away for a while
    found = await doc.block(block)
    if what != "type old" or not seen:
        base, content = found.version, found.content
        seen.append((block, base, content))
    if what == "type far":
        await doc.tender._host.world.elapse(draw.expovariate(1.0))  # type: ignore[attr-defined]
    size = length(content)
    at = draw.randint(0, size)
    if what in ("erase", "bold") and size:
        at = draw.randrange(size)
        count = draw.randint(1, min(3, size - at))
        if what == "erase":
            ledger.deleted |= set(plain(content)[at : at + count])
            await doc.write(block, canonical([at, -count]), base)
        else:
            await doc.write(block, (at, Format(count, (("bold", True),)))[at == 0 :], base)
        return
    words = ledger.words(draw.randint(1, 3))
    ledger.typed |= set(words)
    ledger.unsure |= set(words)
    try:
        far = what in ("type far", "type old") or found.version != base
        edited = await doc.write(block, canonical([at, Run(words)]), base if far else None)
    except RefusalError:
        ledger.drafts.update(words)
        ledger.unsure -= set(words)
        raise
    ledger.unsure -= set(words)
    ledger.mine.setdefault((doc.own.author, block, edited.version), set()).update(words)
    note(ledger, words, edited)


def note(ledger: Ledger, words: str, edited: Edited | None) -> None:
    """What a typist was told of an edit."""
    if edited is not None:
        ledger.done["moved"] += len(edited.moved)
        back = plain(edited.draft)
        assert set(back) <= set(words)
        ledger.drafts.update(back)


async def reading(world: World, doc: Document, ledger: Ledger) -> None:
    """Look at the screen all the time: no text stands there twice."""
    while not doc.tender.ended and not ledger.closing:
        ledger.twice.update(shown_twice(doc))
        ledger.looks += 1
        await world.elapse(0.05)


async def cuts(world: World, ledger: Ledger) -> None:
    """Cut somebody off now and then, for a while."""
    for _ in range(3):
        await world.elapse(ledger.draw.uniform(0.2, 3.0))
        name = ledger.draw.choice([*TYPISTS, "k1"])
        with suppress(KeyError):  # it is dead just now
            world.cut_off(name)
            ledger.done["cuts"] += 1
            await world.elapse(ledger.draw.uniform(0.1, 1.5))
            world.reconnect(name)


async def victim_of(world: World, ledger: Ledger) -> str:
    """Who dies now: anybody, or who has just begun to hand something over."""
    await world.elapse(ledger.draw.uniform(0.3, 3.0))
    if ledger.draw.random() < 0.3:
        return ledger.draw.choice([*TYPISTS, "k1"])
    ledger.giver = ""
    for _ in range(500):
        giver = ledger.giver
        if giver in TYPISTS:
            await world.elapse(ledger.draw.uniform(0, ledger.draw.choice([0.1, 0.8])))
            return giver
        await world.elapse(0.01)
    return "k1"


async def office(world: World, ledger: Ledger, turns: int, deaths: bool) -> list[str]:
    """Keepers, typists and their deaths; gives what is wrong in the end."""
    keepers = {name: await sit_down(world, name, keep=True, copies=2) for name in KEEPERS}
    first = ledger.words(20)
    ledger.typed |= set(first)
    await keepers["k0"].insert("", [rich(first[at : at + 5]) for at in range(0, 20, 5)])
    for doc in keepers.values():
        world.spawn(reading(world, doc, ledger))
    at_work = {name: world.spawn(typist(world, name, ledger, turns)) for name in TYPISTS}
    world.spawn(cuts(world, ledger))
    if deaths:
        for _ in range(2):
            victim = await victim_of(world, ledger)
            world.node(victim)
            world.crash(victim)
            at_work.pop(victim, None)  # it may wait for ever, as its node is gone
            ledger.done["deaths"] += 1
            await world.elapse(4.0)  # so that what one node alone has is nowhere
            if victim == "k1":
                keepers["k1"] = await sit_down(world, "k1", keep=True, copies=2)
            else:
                at_work[victim] = world.spawn(typist(world, victim, ledger, turns // 2))
            await world.elapse(2.0)
    for one in at_work.values():
        await one
    for _ in range(8):
        await world.settle()
        await world.elapse(1.0)
    return await findings(world, keepers, ledger)


async def findings(world: World, keepers: dict[str, Document], ledger: Ledger) -> list[str]:
    """What is not as it must be."""
    wrong: list[str] = []
    reader = await sit_down(world, "z", keep=True)
    await world.settle()
    shots = {name: await doc.snapshot() for name, doc in [*keepers.items(), ("z", reader)]}
    if any(shot != shots["z"] for shot in shots.values()):
        wrong.append(f"documents differ: {shots}")
    world.assert_equal("doc/plan")
    found: Counter[str] = Counter()
    for _, _, text in shots["z"]:
        found.update(plain(text))
    drafts = set(ledger.drafts) | ledger.kept
    for name in [*reader.outline.order, *reader.outline.gone]:
        world.assert_equal(f"doc/plan/{name}")
        block = keepers["k0"].blocks.get(name)
        if block is not None:
            if block.owes:
                wrong.append(f"{name} still owes {dict(block.owes)}")
            if (block.status == "open") != (name in reader.outline.entries):
                wrong.append(f"{name} is {block.status}, against the outline")
    for character in sorted(ledger.typed):
        count = found[character]
        if count > 1 or (count and character in drafts):
            wrong.append(f"{character} stands {count} times, draft {character in drafts}")
        if not count and character not in drafts | ledger.deleted | ledger.unsure:
            wrong.append(f"{character} is lost")
    if found.keys() - ledger.typed:
        wrong.append("somebody else has typed")
    ledger.closing = True
    if ledger.twice:
        wrong.append(f"stood twice on a screen: {sorted(ledger.twice)}")
    troubles = [one for doc in keepers.values() for one in doc.tender.troubles]
    ledger.done["troubles"] += len(troubles)
    return wrong


def play(seed: int, turns: int = 15, deaths: bool = True) -> tuple[list[str], Ledger]:
    """One day in the office; what is wrong, and the ledger."""
    ledger = Ledger(random.Random(f"typists {seed}"))
    emit = Block.emit

    def watch(block: Block, detail: object) -> None:
        if isinstance(detail, BlockClosed) and detail.into is None:
            ledger.deleted |= set(plain(detail.content))
        if isinstance(detail, Received) and detail.outcome == "drafted":
            draft = block.drafts[f"{detail.source}:{detail.number}"]
            ledger.kept |= set(plain(draft.content))
        if isinstance(detail, BlockCut | BlockClosed):
            ledger.giver = block.context.process.node.name
        emit(block, detail)

    weather = BAD_WEATHER if seed % 3 == 0 else Weather(loss=0.05 * (seed % 2))
    Block.emit = watch  # type: ignore[method-assign, assignment]
    try:
        world = World(seed, weather)
        wrong = world.run(lambda world: office(world, ledger, turns, deaths))
    except (AssertionError, GroupcoreError) as error:
        return [f"{type(error).__name__}: {error}"], ledger
    finally:
        Block.emit = emit  # type: ignore[method-assign]
    return wrong, ledger
