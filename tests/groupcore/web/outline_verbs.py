"""What the verbs of an outline send: the same from Python as from a page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

from groupcore.frames import Json
from groupcore.objects.changes import Transaction, transaction_to_wire
from groupcore.shared.types import Outline
from groupcore.shared.types.outline import ContentCodec

BLOCKS: list[list[Json]] = [
    ["A", {}, "😀one"],
    ["B", {"kind": "todo", "checked": True}, "two"],
    ["C", {"kind": "heading", "level": 2}, "a😀"],
]
STATE: dict[str, Json] = {"title": "Plan", "version": 5, "blocks": cast("Json", BLOCKS)}
VERBS: list[tuple[str, list[Json], dict[str, Json], list[Json]]] = [
    ("insert", ["new 😀", "A"], {"kind": "heading"}, ["new 😀", "A", {"kind": "heading"}]),
    ("insert", ["first"], {}, ["first"]),
    ("write", ["A", 1, 2, "é"], {}, ["A", 2, 2, "é"]),
    ("write", ["A", 0, 1, ""], {}, ["A", 0, 2, ""]),
    ("write", ["C", 2, 0, "end"], {}, ["C", 3, 0, "end"]),
    ("set", ["B"], {"checked": None, "kind": "quote"}, ["B", {"checked": None, "kind": "quote"}]),
    ("move", ["C", None], {}, ["C", None]),
    ("move", ["A", "C"], {}, ["A", "C"]),
    ("delete", ["B"], {}, ["B"]),
    ("split", ["A", 1, "n"], {"depth": 1}, ["A", 2, "n", {"depth": 1}]),
    ("join", ["B", "C"], {}, ["B", "C"]),
    ("rename", ["Plan of 2"], {}, ["Plan of 2"]),
]
"""Verb, arguments and keywords in Python, arguments in a page (places are UTF-16 units there)."""


class Recorded:
    """An outline as in STATE whose verbs are the real ones, and only noted."""

    version = 5

    def __init__(self) -> None:
        self._content = ContentCodec().from_wire([STATE["title"], BLOCKS])
        self.calls: list[Json] = []

    def __getattr__(self, name: str) -> Callable[..., object]:
        return partial(getattr(Outline, name), self)

    def submit(self, base: int, changes: Transaction) -> None:
        """Note the operation."""
        self.calls.append(["submit", [base, cast("Json", transaction_to_wire(changes))]])

    def create(self, base: int, after: str | None, text: str, attributes: dict[str, Json]) -> None:
        """Note the operation; a dict travels as pairs."""
        pairs: list[Json] = [[name, value] for name, value in attributes.items()]
        self.calls.append(["create", [base, after, text, pairs]])


def outline_verbs() -> dict[str, object]:
    """The state, and for each verb what a page says and what is sent."""
    cases = []
    for verb, arguments, keywords, in_page in VERBS:
        outline = Recorded()
        getattr(outline, verb)(*arguments, **keywords)
        (call,) = outline.calls
        cases.append({"verb": verb, "arguments": in_page, "call": call})
    return {"state": STATE, "cases": cases}
