"""Cases of anchors that are carried over steps, for the page."""

from __future__ import annotations

import random
from dataclasses import asdict

from groupcore.objects.rich_delta import RichDelta
from groupcore.objects.rich_parsing import to_wire
from groupcore.shared.types.anchor import (
    Anchor,
    AnchorStep,
    TextAgain,
    TextBack,
    TextCut,
    TextEdit,
    TextGone,
    TextJoin,
    carried,
    range_carried,
    stretch,
)
from tests.groupcore.shared.types.letters import Letters

Json = dict[str, object]
File = dict[str, list[Json]]

KINDS = {TextCut: "cut", TextJoin: "join", TextGone: "gone", TextBack: "back"}


def anchor_vectors() -> File:
    """Anchors and ranges, each with steps, and what they are behind each of these."""
    draw = random.Random(7)
    file: File = {"anchors": [], "ranges": []}
    for _ in range(120):
        letters = Letters(draw)
        size = len(letters.texts["a"])
        anchor = Anchor("a", 0, draw.randint(0, size), draw.choice(["left", "right"]))
        steps = [step for _ in range(draw.randint(1, 5)) for step in letters.step()]
        given, behind = asdict(anchor), list[Json]()
        for step in steps:
            anchor = carried(anchor, step)
            behind.append(asdict(anchor))
        file["anchors"].append(
            {"anchor": given, "steps": [step_to_wire(one) for one in steps], "behind": behind}
        )
        start = draw.randint(0, size)
        one = stretch("a", 0, start, draw.randint(start, size), grows=draw.random() < 0.3)
        case: Json = {"range": asdict(one), "steps": [step_to_wire(step) for step in steps]}
        for step in steps:
            one = range_carried(one, step)
        file["ranges"].append(case | {"behind": asdict(one)})
    return file


def step_to_wire(step: AnchorStep) -> list[object]:
    """As the page has it."""
    if isinstance(step, TextAgain):
        return ["again", step.block, step.version, step.at, asdict(step.source), step.size]
    if not isinstance(step, TextEdit):
        return [KINDS[type(step)], *step]
    delta: RichDelta = step.delta  # type: ignore[assignment]
    return ["edit", step.block, step.version, to_wire(delta)]
