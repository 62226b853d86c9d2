"""What the outline is told of blocks that somebody has open: type and length, and that a heading
is another one.

Idea. Who has no block open knows it by its entry in the outline: what it is, and about how much
room it takes. Headings are listed by who has them not open, as well. Their words and levels are
not in the outline, but whoever lists them asks anew when its version has moved; so a heading that
is another one is described again, though its entry stays the same.
"""

from __future__ import annotations

from groupcore.objects.rich_delta import length, plain
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.handing import OPEN
from groupcore.shared.documents.parts import Entry

News = tuple[str, str, int]
"""A block's id, type and length."""
Heading = tuple[object, str]
"""A heading's level, and its text without marks."""
LENGTH_OFF = 40
"""The outline's lengths may be wrong by so much, or a quarter; but for those of headings."""


def heading_of(block: Block) -> Heading:
    """What is listed of a block where it is a heading."""
    return block.attributes.get("level"), plain(block.content)


class Describing:
    """What one node has told, or has found when it opened a heading: then others had told it.

    A node that takes over tells once more what has changed since then: who did that before may
    have gone without.
    """

    def __init__(self) -> None:
        self._headings: dict[str, Heading] = {}

    def news(self, name: str, block: Block, entry: Entry | None) -> News | None:
        """What the outline should know of a block, if it has become another one."""
        if entry is None or block.status != OPEN:
            self._headings.pop(name, None)
            return None
        kind, size = str(block.attributes.get("type", "paragraph")), length(block.content)
        if kind == "heading":
            now = heading_of(block)
            is_another = self._headings.setdefault(name, now) != now or size != entry.length
        else:
            self._headings.pop(name, None)
            is_another = abs(size - entry.length) > max(LENGTH_OFF, entry.length // 4)
        return (name, kind, size) if is_another or kind != entry.type else None

    def told(self, name: str, heading: Heading) -> None:
        """The outline was told of a block when it was this, if it is a heading."""
        if name in self._headings:
            self._headings[name] = heading
