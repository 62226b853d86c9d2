"""What is read of places: things and edits over HTTP, what pages show, and backups."""

from __future__ import annotations

from typing import Any, cast

from msgpack import packb

from groupcore.shared import messages
from groupcore.shared.errors import MisfitError
from groupcore.shared.places.talk import Remark
from groupcore.shared.schema import codec_of
from server.backup.restoring import read_place
from server.backup.taking import packed_place
from server.documents.presence import Presences
from server.places.earshot import Uttered
from server.places.here import HereInPlace
from server.places.speaking import Speaking
from server.places.things import edits_of, shown, things_of

THING: dict[str, Any] = {
    **{"id": "a", "kind": "ball", "x": 5, "y": -7, "width": 64, "text": "é", "locked": False},
    **{"style": {"colour": "red"}, "props": {"vx": 1, "on": True}, "points": [1, 2]},
    "links": ["b"],
}


def _objects(data: bytes) -> list[dict[str, object]]:
    found = messages.unpack(data)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise MisfitError("a list of objects, as the routes ask for")
    return cast("list[dict[str, object]]", found)


def things(data: bytes) -> object:
    """What somebody wants to put, as an answer shows it."""
    return [shown(one) for one in things_of(_objects(data))]


def edits(data: bytes) -> object:
    """What somebody wants to change."""
    return edits_of(_objects(data), 500)


def here(data: bytes) -> object:
    """What a page wants to show of itself."""
    given = Presences(None, lambda: 0.0).presenting("guest", "a", "place/p/here", unpack(data))
    return codec_of(HereInPlace).from_wire(given)


def uttered(data: bytes) -> object:
    """What a page wants to say to those near its person."""
    speaking = Speaking(None, lambda: 0.0)
    given = speaking.publishing("guest", "a", "place/p/near/0:0", unpack(data))
    return codec_of(Uttered).from_wire(given)


def unpack(data: bytes) -> object:
    """As a frame's value."""
    return messages.unpack(data)


def backed_up(data: bytes) -> object:
    """A place of a backup, as it would be packed again."""
    found = messages.unpack(data)
    if not isinstance(found, dict):
        raise MisfitError("not a place")
    return packed_place(*read_place(found))


def seeds_of_things() -> list[bytes]:
    """Things, and the least thing."""
    return [packb([THING]), packb([{"kind": "text"}])]


def seeds_of_edits() -> list[bytes]:
    """Changes of fields, and of properties."""
    edit = {"id": "a", "changes": {"x": 1, "style.colour": None}, "expected": {"locked": False}}
    return [packb([edit])]


def seeds_of_here() -> list[bytes]:
    """All of it, and the least."""
    drag = [["a", 1, 2, 3, 4, 5]]
    whole = ["Ann", [1, 2], [0, 0, 9, 9], ["a"], drag, False, 1, "a", [1, 2], "red", 64]
    return [packb(whole), packb(["Ann"])]


def seeds_of_words() -> list[bytes]:
    """Words and a wave."""
    return [packb(["words", "Ann", 1, 2, 64_000, "Hi"]), packb(["wave", "Ann", 1, 2, 6_400, ""])]


def seeds_of_backups() -> list[bytes]:
    """A place with a thing, and an empty one."""
    said = [Remark("1", "user:ann", "", 5, "Hello"), Remark("2", "guest/b", "Bob", 6, "Hello 😀")]
    board = packed_place("Board", things_of([THING]), said)
    return [board, packed_place("Empty", [])]
