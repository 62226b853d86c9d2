"""Cases of text with marks for the page: the algebra, and late edits of blocks."""

from __future__ import annotations

import random

from groupcore.objects.rich_delta import (
    Format,
    MarkChanges,
    Marks,
    Rich,
    RichDelta,
    RichItem,
    Run,
    apply,
    canonical,
    compose,
    divide,
    invert,
    length,
    transform,
    transform_position,
)
from groupcore.objects.rich_parsing import to_wire
from groupcore.shared.documents.late_edits import carried
from groupcore.shared.documents.parts import Step
from groupcore.shared.types.rich_text import marks_at

Json = dict[str, object]
File = dict[str, list[Json]]

LETTERS = "abcä𝄞\ufffc"
REFUSED: list[object] = [
    "text", [0], [""], ["a", "b"], [1, 1, "a"], [-1, "a"], ["a", 3], [["a", {}]],
    [["a", {"bold": None}]], [["a", {"Bold": True}]], [["a", {"bold": 1.5}]], [None], [True],
    [["a", {"link": "javascript:alert(1)"}]], [["a", {"embed": "p1"}]], [[2, {"embed": "p2"}]],
]  # fmt: skip


def _marks(draw: random.Random) -> Marks:
    names = ["bold", "link", "size"]
    values: dict[str, str | int | bool] = {"bold": True, "link": "/x", "size": draw.randint(1, 2)}
    return tuple([(name, values[name]) for name in names if draw.random() < 0.3])


def _changes(draw: random.Random) -> MarkChanges:
    given = _marks(draw) or (("bold", True),)
    return tuple([(name, draw.choice([value, None])) for name, value in given])


def _run(draw: random.Random) -> Run:
    return Run("".join(draw.choices(LETTERS, k=draw.randint(1, 3))), _marks(draw))


def _text(draw: random.Random) -> Rich:
    runs = canonical([_run(draw) for _ in range(draw.randint(0, 4))])
    return tuple([run for run in runs if isinstance(run, Run)])


def _edit(draw: random.Random, size: int) -> RichDelta:
    items: list[RichItem] = []
    while size:
        count = draw.randint(1, min(4, size))
        size -= count
        items += [_run(draw)] if draw.random() < 0.3 else []
        kinds: list[RichItem] = [count, -count, Format(count, _changes(draw))]
        items.append(draw.choice(kinds))
    items += [_run(draw)] if draw.random() < 0.3 else []
    return canonical(items)


def rich_vectors() -> File:
    """Cases of the algebra of text with marks, and of late edits."""
    draw = random.Random(4)
    names = ("apply", "invert", "compose", "transform", "divide", "marks_at", "late", "extending")
    file: File = {name: [] for name in names}
    for _ in range(100):
        text = _text(draw)
        size = length(text)
        one, two = _edit(draw, size), _edit(draw, size)
        edited = apply(one, text)
        follow = _edit(draw, length(edited))
        wire, on = to_wire(one), to_wire(text)
        file["apply"].append({"text": on, "delta": wire, "result": to_wire(edited)})
        file["invert"].append({"text": on, "delta": wire, "result": to_wire(invert(one, text))})
        result = to_wire(compose(one, follow))
        file["compose"].append({"first": wire, "second": to_wire(follow), "result": result})
        for first in (True, False):
            result = to_wire(transform(one, two, first))
            case: Json = {"delta": wire, "other": to_wire(two), "other_first": first}
            file["transform"].append(case | {"result": result})
        at = draw.randint(0, size)
        before, behind = map(to_wire, divide(one, at))
        moved = transform_position(at, one)
        case = {"delta": wire, "at": at, "before": before, "behind": behind, "at_after": moved}
        file["divide"].append(case)
        file["marks_at"].append({"text": on, "at": at, "result": dict(marks_at(text, at))})
        file["late"].append(_late(draw, text))
    for number in range(100):
        case = _late(draw, _text(draw), extends=True)
        one, two = (_edit(draw, 4) for _ in range(2))
        first = number % 2 == 0
        over = to_wire(transform(one, two, other_first=first, other_left=not first))
        case |= {"one": to_wire(one), "two": to_wire(two), "one_first": not first, "over": over}
        file["extending"].append(case)
    file["refused"] = [{"wire": wire} for wire in REFUSED]
    return file


def _late(draw: random.Random, text: Rich, extends: bool = False) -> Json:
    """A late edit, over steps of a block."""
    size = length(text)
    late, steps = _edit(draw, size), list[Step]()
    for number in range(draw.randint(1, 4)):
        kind = draw.choices(["edit", "text", "cut", "all", "gone"], [4, 3, 4, 1, 1])[0]
        if kind in ("edit", "text"):
            # Behind this text comes that of a block which is joined to it.
            came = Step("edit", canonical((size, *_text(draw))), new="from", frame=2)
            steps.append(came if kind == "text" else Step("edit", _edit(draw, size)))
            text = apply(steps[-1].delta, text)
            size = length(text)
        elif kind == "cut":
            size = draw.randint(0, size)
            steps.append(Step("cut", new=f"n{number}", frame=1, at=size))
            text = apply((size, size - length(text)), text) if size < length(text) else text
        else:
            steps.append(Step("all", new="into", frame=3) if kind == "all" else Step("gone"))
            break
    here, gone, lost, _ = carried(late, steps, extends=extends)
    wire = [[one.kind, to_wire(one.delta), one.new, one.frame, one.at] for one in steps]
    parts = [[block, frame, to_wire(part)] for block, frame, part in gone]
    outcome: Json = {"here": to_wire(here), "gone": parts, "lost": to_wire(lost)}
    return {"delta": to_wire(late), "steps": wire} | outcome
