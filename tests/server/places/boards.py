"""Places for tests: made over HTTP, and what pages send of things."""

from __future__ import annotations

from server.serve import RunningNode
from tests.server.support import post

FAR = 800_000_000
"""In another quarter of a place than the origin."""


def thing(id: str, kind: str = "sticky", x: int = 0, y: int = 0, text: str = "") -> list[object]:
    """A thing as an argument of `put`."""
    size = [0, 0, 640, 640, 0, 0]
    props = [["on", False]] if kind == "light" else []
    return [id, kind, x, y, *size, text, "", False, [], props, [], [], [], 0, 0]


def edit(id: str, **changes: object) -> list[object]:
    """An edit as an argument of `change`."""
    return [id, [list(pair) for pair in changes.items()], [], ""]


async def create_place(node: RunningNode, title: str = "Board") -> str:
    """A new place through a node; its id."""
    status, made = await post(f"{node.url}/api/v1/places", {"title": title})
    assert status == 201, made
    return str(made["id"])
