"""Writes the vectors in docs/vectors that the page's tests read too.

`python -m tests.groupcore.objects.vectors` rewrites them; a test fails while they are stale.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from groupcore.objects import (
    Limits,
    RefusalError,
    Transaction,
    transaction_to_wire,
)
from groupcore.objects.delta import apply, compose, divide, invert, transform, transform_position
from groupcore.objects.rebase import rebase_both, rebase_change
from tests.groupcore.objects.plays import letters, some_delta, some_state
from tests.groupcore.objects.plays import some_transaction as transaction
from tests.groupcore.objects.rebase_table import REFUSED, TABLE
from tests.groupcore.objects.rich_vectors import rich_vectors
from tests.groupcore.shared.places.place_vectors import place_vectors
from tests.groupcore.shared.types.anchor_vectors import anchor_vectors

FOLDER = Path(__file__).parents[3] / "docs" / "vectors"

Json = dict[str, object]
File = dict[str, list[Json]]

SCRIPT_LIMITS = Limits(history=6, clients=8, block_text=40, blocks=9, history_bytes=4_000)

NOT_CANONICAL: list[object] = [
    None, 1, "a", {}, [0], [""], ["a", "b"], [1, 2, "a"], [-1, -1], [-1, "a"], ["a", 1], [1],
    [True, "a"], [1.5, "a"], [[1, {}], "a"], [["a", {}]], [None], ["a\r"], ["\x00"],
]  # fmt: skip


def delta_vectors() -> File:
    """Cases of the delta algebra."""
    draw = random.Random(1)
    file: File = {"apply": [], "invert": [], "compose": [], "transform": [], "divide": []}
    for _ in range(100):
        text = letters(draw, 12)
        one, two = some_delta(draw, len(text)), some_delta(draw, len(text))
        edited = apply(one, text)
        follow = some_delta(draw, len(edited))
        at = draw.randint(0, len(text))
        before, behind = divide(one, at)
        file["apply"].append({"text": text, "delta": one, "result": edited})
        file["invert"].append({"text": text, "delta": one, "result": invert(one, text)})
        file["compose"].append({"first": one, "second": follow, "result": compose(one, follow)})
        for first in (True, False):
            result = transform(one, two, first)
            case: Json = {"delta": one, "other": two, "other_first": first, "result": result}
            file["transform"].append(case)
        moved = transform_position(at, one)
        file["divide"].append(
            {"delta": one, "at": at, "before": before, "behind": behind, "at_after": moved}
        )
    file["not_canonical"] = [{"wire": wire} for wire in NOT_CANONICAL]
    return file


def rebase_vectors() -> File:
    """Cases of one change over another, and of one transaction over another."""
    file: File = {"changes": [], "transactions": []}
    named = [(name, mine, other) for name, mine, other, _ in TABLE] + list(REFUSED)
    draw = random.Random(2)
    for number in range(150):
        state = some_state(draw, 3)
        mine, other = transaction(draw, state, "m", 1), transaction(draw, state, "o", 1)
        if mine and other:
            named.append((f"random {number}", mine[0], other[0]))
    for name, one, two in named:
        for mine_first in (False, True):
            case: Json = {
                "name": name,
                "mine": one.to_wire(),
                "other": two.to_wire(),
                "mine_first": mine_first,
            }
            file["changes"].append(case | _outcome(lambda: rebase_change(one, two, mine_first)))  # noqa: B023 (called at once)
    while len(file["transactions"]) < 200:
        state = some_state(draw)
        first, later = transaction(draw, state, "f"), transaction(draw, state, "l")
        if not first or not later:
            continue
        case = {"first": transaction_to_wire(first), "later": transaction_to_wire(later)}
        try:
            first_over, later_over = rebase_both(first, later)
        except RefusalError as error:
            case["refused"] = error.code
        else:
            case["first_result"] = transaction_to_wire(first_over)
            case["later_result"] = transaction_to_wire(later_over)
        file["transactions"].append(case)
    return file


def _outcome(rebase: Callable[[], Transaction]) -> Json:
    try:
        return {"result": transaction_to_wire(rebase())}
    except RefusalError as error:
        return {"refused": error.code}


def as_text(file: File) -> str:
    """JSON with one case a line, so that a change of one case is one line of a diff."""
    parts = []
    for name, cases in file.items():
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
        parts.append(f"{json.dumps(name)}: [\n{lines}\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


FILES: dict[str, Callable[[], File]] = {
    "anchors.json": anchor_vectors,
    "delta.json": delta_vectors,
    "rebase.json": rebase_vectors,
    "places.json": place_vectors,
    "rich.json": rich_vectors,
}


def main() -> None:
    """Writes all files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        (FOLDER / name).write_text(as_text(make()), encoding="utf-8")


if __name__ == "__main__":
    main()
