"""Who tends a document: nodes say that they come and go, and what one left undone is looked for.

Idea. A text that comes late to a block which was joined to another one goes on from there, and a
block owes what it splits off: so blocks owe texts that stand in the outline no more. Who tends them
has them open. But when these nodes are gone all at once, as in a power cut, whoever opens the
document opens what stands in its outline. So the outline counts the nodes that go without a word,
and remembers what was taken out last; the one that tends the document the longest opens those
blocks, and then tends them like all others.

Source. Decision 0075; invariant D1 of `groupcore.shared.documents.block`.

Invariants.
  S1  After a node that tended the document is gone, every block of `left` is opened where somebody
      tends the document, before that is told to the outline.
  S2  A node that goes with a word, having nothing under way, leaves nothing to look for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress

from groupcore.errors import GroupcoreError
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.tending import Host, Tender


class Attending:
    """This node's part; `find` opens a block, which `tender` tends from then on."""

    def __init__(
        self,
        host: Host,
        outline: DocumentOutline,
        tender: Tender,
        find: Callable[[str], Awaitable[Block]],
    ) -> None:
        self._host = host
        self._outline = outline
        self._tender = tender
        self._find = find
        self._has_begun = False
        self._is_looking = False

    async def begin(self) -> None:
        """Say that this node tends the document from now on."""
        await self._outline.attend()
        self._has_begun = True
        self.look()

    def again(self) -> None:
        """The node may live again, as another process."""
        if self._has_begun:
            self._host.start(self._again())

    async def _again(self) -> None:
        with suppress(GroupcoreError):
            await self._outline.attend()
        for block in list(self._tender.blocks):
            self._tender.wake(block)

    def end(self) -> None:
        """Tend no more; say so, if nothing is left undone (S2)."""
        tender = self._tender
        owing = any(block.owes for block in tender.blocks.values())
        if self._has_begun and not (tender.ended or tender.is_busy or owing):
            self._outline.retire()
        tender.ended = True

    # --- what others have left ------------------------------------------------------------------

    def look(self) -> None:
        """Look for it, if that is for this node to do."""
        if self._has_begun and self._is_due and not self._is_looking:
            self._is_looking = True
            self._host.start(self._look())

    @property
    def _is_due(self) -> bool:
        outline, tender = self._outline, self._tender
        if outline.looked >= outline.lost or tender.ended:
            return False
        return outline.tenders[:1] == [tender.node]

    async def _look(self) -> None:
        """Open what was taken out, last things first, until nobody else has gone meanwhile (S1).

        What fails, as this node's life is over, is begun again by whoever is next.
        """
        try:
            with suppress(GroupcoreError):
                while self._is_due:
                    lost = self._outline.lost
                    for block in reversed(list(self._outline.left)):
                        if self._tender.ended:
                            return
                        if block not in self._tender.blocks:
                            await self._find(block)
                    await self._outline.searched(lost)
        finally:
            self._is_looking = False
