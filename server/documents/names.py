"""What pages may open, under which names, and what they show of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from groupcore.objects.delta import check_text
from groupcore.objects.parsing import is_identifier
from groupcore.objects.refusal import RefusalError
from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.documents.limits import HERE
from groupcore.shared.places import Cell, PlaceOutline, PlaceTalk
from groupcore.shared.places.squares import is_path
from groupcore.shared.places.talk import TALK
from groupcore.shared.types import Presence, Topic
from server.documents import catalogue
from server.documents.catalogue import DOCUMENT, PLACE
from server.places.earshot import EARSHOT, Uttered, is_square
from server.places.here import HereInPlace

NAME_MAX = 80
"""Most code points of a name that a page shows."""
PLACE_MAX = 1_000_000
"""No place in a text is behind this one."""
CALLS_MAX = 1_000_000
"""So often a page may ask everybody to come."""


@dataclass(frozen=True, slots=True)
class Here:
    """What a page shows of itself: a name, and where its selection is.

    `block` is None while the caret is in no text, or not to be seen; `anchor` and `head` are places
    in the block, in code points. `view`: the first block in sight. `idle`: nothing was done for a
    while. `calls`: how often the person has asked everybody to come. `start`: the block that
    `anchor` is a place in, None for the one that `head` is in. `version`: of the text of `block`
    that its places are in, `start_version` of that of `start`; None: as it is when it is heard.
    """

    name: str
    block: str | None
    anchor: int
    head: int
    view: str | None
    idle: bool
    calls: int
    start: str | None
    version: int | None
    start_version: int | None

    def __post_init__(self) -> None:
        try:
            check_text(self.name, NAME_MAX)
        except RefusalError as error:
            raise ValueError(str(error)) from None
        for block in (self.block, self.view, self.start):
            if block is not None and not is_identifier(block):
                raise ValueError("block, view and start must be ids of blocks, or nil")
        if not (0 <= self.anchor <= PLACE_MAX and 0 <= self.head <= PLACE_MAX):
            raise ValueError(f"places are from 0 to {PLACE_MAX}")
        if min(self.version or 0, self.start_version or 0) < 0:
            raise ValueError("versions are from 0 on")
        if not 0 <= self.calls <= CALLS_MAX:
            raise ValueError(f"calls are from 0 to {CALLS_MAX}")


TYPES: dict[str, type[object]] = {
    "Block": Block,
    "Catalogue": catalogue.Catalogue,
    "Cell": Cell,
    "DocumentOutline": DocumentOutline,
    "Nodes": catalogue.Nodes,
    "PlaceEarshot": Topic[Uttered],
    "PlaceOutline": PlaceOutline,
    "PlacePresence": Presence[HereInPlace],
    "PlaceTalk": PlaceTalk,
    "Presence": Presence[Here],
}
"""What pages may open, by the protocol's names."""


class Place(NamedTuple):
    """What a name means: the type that belongs there, the document or place (by `kind`), and which
    block or cell of it, or that it is its chat.
    """

    type: str
    doc: str = ""
    block: str = ""
    kind: str = DOCUMENT


def place_of(name: str) -> Place | None:
    """What an object's name means; None when nothing has this name."""
    match name.split("/"):
        case [catalogue.NAME]:
            return Place("Catalogue")
        case [catalogue.NODES]:
            return Place("Nodes")
        case ["doc", doc] if is_identifier(doc):
            return Place("DocumentOutline", doc)
        case ["doc", doc, part] if is_identifier(doc) and part == HERE:
            return Place("Presence", doc)
        case ["doc", doc, block] if is_identifier(doc) and is_identifier(block):
            return Place("Block", doc, block)
        case ["place", doc] if is_identifier(doc):
            return Place("PlaceOutline", doc, kind=PLACE)
        case ["place", doc, part] if is_identifier(doc) and part == HERE:
            return Place("PlacePresence", doc, kind=PLACE)
        case ["place", doc, part] if is_identifier(doc) and part == TALK:
            return Place("PlaceTalk", doc, TALK, PLACE)
        case ["place", doc, part, square] if is_identifier(doc) and part == EARSHOT:
            return Place("PlaceEarshot", doc, kind=PLACE) if is_square(square) else None
        case ["place", doc, path] if is_identifier(doc) and is_path(path):
            return Place("Cell", doc, path, PLACE)
    return None
