"""What the outline is told of blocks that somebody has open: type and length, and that a heading
is another one.

Idea. Who has no block open knows it by its entry in the outline: what it is, and about how much
room it takes. Headings are listed by who has them not open, as well. Their words and levels are
not in the outline, but whoever lists them asks anew when its version has moved; so a heading that
is another one is described again, though its entry stays the same.

Everybody who has the document open is told of each message of the outline, whatever they look at.
Where a program sets `rest`, what becomes news while it rests goes into one message: who writes in a
heading would have all told with each letter.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping

from groupcore.errors import GroupcoreError
from groupcore.objects.rich_delta import length, plain
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.handing import OPEN
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import Entry

News = tuple[str, str, int]
"""A block's id, type and length."""
Heading = tuple[object, str]
"""A heading's level, and its text without marks."""
Rest = Callable[[], Awaitable[object]]
"""Waits a while."""
Start = Callable[[Coroutine[object, object, None]], None]
"""Runs a coroutine beside the others."""
DESCRIBED_AT_ONCE = 800
"""Of so many blocks one message tells."""
LENGTH_OFF = 40
"""The outline's lengths may be wrong by so much, or a quarter; but for those of headings."""


def heading_of(block: Block) -> Heading:
    """What is listed of a block where it is a heading."""
    return block.attributes.get("level"), plain(block.content)


class Describing:
    """What one node tells, and has told, or has found when it opened a heading: others had told it.

    A node that takes over tells once more what has changed since then: who did that before may
    have gone without. `rest`: between two messages, where that is set.
    """

    def __init__(self, outline: DocumentOutline, blocks: Mapping[str, Block], start: Start) -> None:
        self.rest: Rest | None = None
        self._outline = outline
        self._blocks = blocks
        self._start = start
        self._headings: dict[str, Heading] = {}
        self._due: dict[str, None] = {}
        self._is_telling = False

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

    async def tell(self, name: str) -> None:
        """Tell the outline what a block is now, if that is news: at once, or behind the rest."""
        self._due[name] = None
        if self.rest is None:
            await self._tell_due()
        elif not self._is_telling:
            self._is_telling = True
            self._start(self._tell_on(self.rest))

    async def _tell_on(self, rest: Rest) -> None:
        try:
            while self._due:
                await self._tell_due()
                await rest()
        except GroupcoreError:  # closed, or cut off: what changes then is told anew
            self._due.clear()
        finally:
            self._is_telling = False

    async def _tell_due(self) -> None:
        told: dict[str, tuple[News, Heading]] = {}
        for name in list(self._due)[:DESCRIBED_AT_ONCE]:
            del self._due[name]
            block = self._blocks.get(name)
            if block is None:
                continue
            news = self.news(name, block, self._outline.entries.get(name))
            if news is not None:
                told[name] = (news, heading_of(block))
        if not told:
            return
        await self._outline.describe([news for news, _ in told.values()])
        for name, (_, heading) in told.items():
            if name in self._headings:
                self._headings[name] = heading
