"""How texts with marks, blocks and outlines of documents look to a browser.

A client that has a block up to some version is given the steps since then: so it can carry its own
unanswered edits over them, as the block itself does.
"""

from __future__ import annotations

from groupcore.objects.rich_parsing import to_wire
from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.documents.handing import JOINED
from groupcore.shared.documents.parts import (
    Again,
    BlockClosed,
    BlockCut,
    BlockEdited,
    BlockOpened,
    BlockSet,
    BlocksKnown,
    BlocksLeft,
    BlocksPlaced,
    Entry,
    Handed,
    LettersAgain,
    Parcel,
    Received,
    Renamed,
    Seed,
    SeedsPlanted,
    SeedsSown,
    Step,
)
from groupcore.shared.object import SharedObject
from groupcore.shared.types import RichText, RichTextEdited

SHOWN_RECENT_MAX = 200
"""Most steps that a snapshot has in addition."""


def rich_text(target: SharedObject, base: int) -> object:
    """Content, version, and the deltas behind `base`."""
    assert isinstance(target, RichText)
    recent = target.recent(base) if base >= 0 else None
    if recent is not None and len(recent) > SHOWN_RECENT_MAX:
        recent = None
    deltas = None if recent is None else [to_wire(delta) for delta in recent]
    return {"content": to_wire(target.content), "version": target.version, "recent": deltas}


def rich_text_detail(detail: object) -> object:
    """Version and delta."""
    if not isinstance(detail, RichTextEdited):
        return None
    return [detail.version, to_wire(detail.delta)]


def block(target: SharedObject, base: int) -> object:
    """What a page needs to show a block, and to follow its text to where it goes."""
    assert isinstance(target, Block)
    recent = target.recent(base) if base >= 0 else None
    if recent is not None and len(recent) > SHOWN_RECENT_MAX:
        recent = None
    leaving: Parcel | None = None
    for parcel in target.owes.get(target.into, ()) if target.status == JOINED else ():
        is_own = parcel.kind == "append" and not parcel.trail  # else it came from another block
        leaving = parcel if is_own else leaving
    births = [
        [block, dict(parcels[0].attributes), to_wire(parcels[0].delta)]
        for block, parcels in target.owes.items()
        if parcels[0].kind == "birth"
    ]
    return {
        "status": target.status,
        "into": target.into,
        "number": 0 if leaving is None else leaving.number,
        "leaving": [] if leaving is None else to_wire(leaving.delta),
        "content": to_wire(target.content),
        "attributes": dict(target.attributes),
        "version": target.version,
        "births": births,
        "received": [list(pair) for pair in target.received.items()],
        "refused": [_number(key) for key, frame in target.frames.items() if frame.refused],
        "passed": [
            [*_number(key.rpartition(":")[0]), frame.to, frame.frame]
            for key, frame in target.frames.items()
            if key.count(":") > 1
        ],
        "onward": [
            [*_number(key), frame.to, frame.frame]
            for key, frame in target.frames.items()
            if key.count(":") == 1 and frame.to
        ],
        "drafts": [[key, one.author, to_wire(one.content)] for key, one in target.drafts.items()],
        "again": [_again(one) for one in target.again if one.step],
        "recent": None if recent is None else [_step(step) for step in recent],
    }


def _again(one: Again) -> list[object]:
    return [one.step, one.start, one.count, one.block, one.version, one.at]


def _number(key: str) -> list[object]:
    source, number = key.split(":")
    return [source, int(number)]


def _step(step: Step) -> object:
    return [step.kind, to_wire(step.delta), step.new, step.frame, step.at]


def block_detail(detail: object) -> object:
    """A step of a block, small."""
    match detail:
        case BlockEdited():
            return ["edited", detail.version, to_wire(detail.delta)]
        case BlockCut():
            return ["cut", detail.version, detail.at, detail.new, dict(detail.attributes)]
        case BlockClosed():
            return ["closed", detail.version, detail.into, detail.number]
        case BlockOpened():
            text, kinds = to_wire(detail.content), dict(detail.attributes)
            late = [[*one[:2], to_wire(one[2])] for one in detail.late]
            return ["opened", detail.version, text, kinds, late, list(detail.back)]
        case LettersAgain():
            sent = [list(place) for place in detail.sent]
            return ["again", [_again(one) for one in detail.letters], sent]
        case BlockSet():
            return ["set", dict(detail.changes)]
        case Handed():
            return ["handed", detail.block, detail.number]
        case Received():
            passed = [detail.to, detail.parcel, detail.is_text]
            late = [[list(pair) for pair in detail.moved], to_wire(detail.draft)]
            return ["received", detail.source, detail.number, detail.outcome, *passed, *late]
    return None


def outline(target: SharedObject, _base: int) -> object:
    """Title and blocks in their order; seeds with the texts of those that have no group."""
    assert isinstance(target, DocumentOutline)
    entries = target.entries
    return {
        "title": target.title,
        "blocks": [_entry(name, entries[name]) for name in target.order],
        "seeds": [_seed(seed) for seed in target.seeds.values()],
    }


def _entry(name: str, entry: Entry) -> list[object]:
    return [name, entry.type, entry.length, entry.live]


def _seed(seed: Seed) -> list[object]:
    return [seed.id, dict(seed.attributes), to_wire(seed.content)]


def outline_detail(detail: object) -> object:
    """What has changed, so that a page needs not the whole outline anew."""
    match detail:
        case BlocksPlaced():
            return ["placed", detail.after, list(detail.blocks)]
        case BlocksLeft():
            return ["left", list(detail.blocks), detail.joined]
        case BlocksKnown():
            return ["known", [_entry(*one) for one in detail.news]]
        case SeedsSown():
            return ["seeds", [_seed(seed) for seed in detail.seeds]]
        case SeedsPlanted():
            return ["planted", list(detail.blocks)]
        case Renamed():
            return ["title", detail.title]
    return None
