"""Blocks that show pictures."""

from __future__ import annotations

from groupcore.shared.documents.shown import Shot
from server.pictures.naming import is_hash

KIND = "image"
"""The type of a block that shows a picture; its text is what stands below it."""
PICTURE = "picture"
"""The attribute with the picture's hash."""


def named_in(shot: Shot) -> set[str]:
    """The pictures that the blocks of a document name."""
    values = (value for _, attributes, _ in shot for name, value in attributes if name == PICTURE)
    return {value for value in values if isinstance(value, str) and is_hash(value)}
