"""Whether what an address names is there for who asks, and is what the address is for."""

from __future__ import annotations

from collections.abc import Callable

from groupcore.objects.parsing import is_identifier
from server.documents.catalogue import DOCUMENT, PLACE
from server.errors import BadMessageError
from server.node import Node
from server.routes.done import reached

THERE = ("no_such_document", "wrong_kind")
"""How what is for documents is refused."""
PLACE_THERE = ("no_such_place", "wrong_kind")
"""How what is for places is refused."""
AT = {DOCUMENT: "/api/v1/documents", PLACE: "/api/v1/places"}


async def check_there(
    node: Node, may_read: Callable[[str], bool], item: str, wanted: str = DOCUMENT
) -> None:
    """BadMessageError unless there is such an item, who asks may read it, and it is what is wanted.

    What one may not read is not there, whatever it is.
    """
    kind = ""
    if may_read(item) and is_identifier(item):
        kind = await reached(node.kind_of(item))
    if not kind:
        code = "no_such_document" if wanted == DOCUMENT else "no_such_place"
        raise BadMessageError(code, f"there is no {wanted} of this id here")
    if kind != wanted:
        raise BadMessageError("wrong_kind", f"this is a {kind}; ask {AT[kind]}/{item}")
