"""An edit of a block's text as it was, carried over what has happened to the block since then.

The page does the same with its own unanswered edits, to show them: `docs/vectors/rich.json`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from groupcore.objects.rich_delta import Rich, RichDelta, divide, inserted, joined, transform
from groupcore.shared.documents.parts import Step


class Located(NamedTuple):
    """A late edit: its part `here`, its parts for texts that have `gone`, and what is `lost`.

    `gone` names the block that the text went to, and the frame there that the part edits.
    """

    here: RichDelta
    gone: list[tuple[str, int, RichDelta]]
    lost: Rich


def carried(delta: RichDelta, steps: Iterable[Step]) -> Located:
    """The edit behind these steps, which came before it in the order."""
    gone: list[tuple[str, int, RichDelta]] = []
    lost: Rich = ()
    for step in steps:
        behind: RichDelta = ()
        match step.kind:
            case "edit":
                delta = transform(delta, step.delta, other_first=True)
            case "cut":
                delta, behind = divide(delta, step.at)
            case "all":
                delta, behind = (), delta
            case _:
                lost, delta = joined(lost, inserted(delta)), ()
        if behind:
            gone.append((step.new, step.frame, behind))
    return Located(delta, gone, lost)
