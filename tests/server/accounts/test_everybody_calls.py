"""Every operation of every object that pages open, by everybody, over the socket.

The table of operations is that of the classes: one that is new has to be said here for whom it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, get_origin

import pytest

from groupcore.shared.declaration import declaration_of
from groupcore.shared.object import SharedObject
from server.documents.names import TYPES
from tests.groupcore.decoders.samples import calls_of
from tests.server.accounts.people import Browser, hire
from tests.server.support import Page

OWN = frozenset({"claim", "grant", "revoke"})
"""Of access lists: accounts keep these, and no page changes one."""
READERS: Mapping[str, frozenset[str]] = {}
"""Operations for who may only read, by type."""
WRITERS: Mapping[str, frozenset[str]] = {
    "Block": frozenset({"delete", "edit", "join", "letters", "set", "split", "took_draft"}),
    "Cell": frozenset(
        {
            *("change", "decide", "delete", "grab", "operate", "part", "prepare", "put"),
            "release",
        }
    ),
    "DocumentOutline": frozenset({"describe", "insert", "move", "remove", "rename", "wake"}),
    "PlaceOutline": frozenset({"rename"}),
    "PlaceTalk": frozenset({"remove", "say", "take_back"}),
}
"""Operations for who may write, by type."""
MORE: Mapping[tuple[str, str], list[Any]] = {
    ("Block", "accept"): ["", "b1", [1, "append", [["x", {}]], 0, [], "", "", []]],
    ("Catalogue", "set"): ["x", ["Mine", 1.0]],
    ("Catalogue", "setdefault"): ["x", ["Mine", 1.0]],
    ("DocumentOutline", "grant"): ["user:1", "WRITE"],
    ("PlaceOutline", "grant"): ["user:1", "WRITE"],
}
"""Arguments where the samples have none that fit."""


def objects() -> dict[str, type[SharedObject]]:
    """The types with operations, by their names."""
    return {
        name: kind
        for name, kind in TYPES.items()
        if get_origin(kind) is None and issubclass(kind, SharedObject)
    }


def operations_of(name: str) -> set[str]:
    """All that the class has."""
    return set(declaration_of(objects()[name], SharedObject).operations)


def arguments_of(name: str) -> dict[str, list[Any]]:
    """A call of each operation."""
    found = {operation: list(wire) for operation, wire in calls_of(name)}  # type: ignore[call-overload]
    return found | {call: given for (kind, call), given in MORE.items() if kind == name}


@pytest.mark.parametrize("name", objects())
def test_each_operation_is_for_somebody(name: str) -> None:
    kind = objects()[name]
    known = kind.for_nodes | READERS.get(name, frozenset()) | WRITERS.get(name, frozenset()) | OWN
    assert operations_of(name) <= known, "say above for whom what is new is"
    assert operations_of(name) == arguments_of(name).keys(), "and how it is called"
    assert not kind.for_nodes & (WRITERS.get(name, frozenset()) | READERS.get(name, frozenset()))


async def test_nobody_calls_what_is_not_for_them(ann: Browser) -> None:
    """Strangers open nothing; readers change nothing; pages do nothing that is for nodes."""
    doc = await ann.create("Plan")
    status, made = await ann.ask("POST", "/places", {"title": "Board", "template": "kanban"})
    assert status == 201, made
    board = made["id"]
    _, read = await ann.ask("GET", f"/documents/{doc}")
    names = {
        "DocumentOutline": f"doc/{doc}",
        "Block": f"doc/{doc}/{read['blocks'][0]['id']}",
        "PlaceOutline": f"place/{board}",
        "Cell": f"place/{board}/r",
        "PlaceTalk": f"place/{board}/talk",
        "Catalogue": "documents",
        "Nodes": "nodes",
    }
    assert names.keys() == objects().keys()
    others = ("", "viewer", "commenter", "editor")
    for role in others:
        await hire(ann, f"the-{role}", role)
    before = await seen_by(ann, doc, board)
    async with AsyncExitStack() as stack:
        for role in (*others, "owner"):
            who = ann
            if role != "owner":
                who = await stack.enter_async_context(Browser(ann.node))
                await who.sign_in(f"the-{role}@example.org")
            async with await who.page() as page:
                for kind, name in names.items():
                    await refused(page, kind, name, role)
    assert await seen_by(ann, doc, board) == before


async def refused(page: Page, kind: str, name: str, role: str) -> None:
    """What this role may not do to the object is refused."""
    opened = await page.open(kind, name)
    is_open = opened["t"] != "error"
    if kind == "Catalogue" or (kind != "Nodes" and not role):
        assert (is_open, opened.get("code")) == (False, "forbidden"), (role, kind)
        return
    assert is_open, (role, kind, opened)
    writes = role in ("editor", "owner")
    mine = WRITERS.get(kind, frozenset()) if writes else READERS.get(kind, frozenset())
    for operation, given in arguments_of(kind).items():
        if operation not in mine:
            answer = await page.call(name, operation, *given)
            told = (answer["t"], answer.get("code"))
            assert told == ("error", "forbidden"), (role, kind, operation, answer)


async def seen_by(ann: Browser, doc: str, board: str) -> list[Any]:
    """What all this would have changed."""
    paths = (f"/documents/{doc}", f"/documents/{doc}/members", f"/places/{board}")
    _, files = await ann.ask("GET", "/files")  # when one was there last changes by being there
    titles = sorted(row["title"] for row in files["documents"])
    return [titles, *[await ann.ask("GET", one) for one in (*paths, f"/places/{board}/talk")]]
