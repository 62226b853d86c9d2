"""Blocks of the document at a simulated node, for who asks for one by its name.

On virtual time what `server.documents.entrance` is on an asyncio loop.
"""

from __future__ import annotations

from groupcore.objects.refusal import NoSuchBlockError
from groupcore.shared.documents import Document
from groupcore.shared.runtime import Runtime, elapse

NAME = "plan"
"""The document of a schedule."""
LINGER_S = 0.4
"""How long it stays open at a node where nobody holds it."""
POLL_S = 0.02
BLOCK_WAIT_S = 2.0
"""How long who asks for a block waits until the node knows it."""


async def have_block(runtime: Runtime, document: Document, block: str) -> None:
    """The block's text is in its group, not in the outline any more; NoSuchBlockError."""
    for _ in range(int(BLOCK_WAIT_S / POLL_S)):
        if _is_known(document, block):
            if block in document.outline.seeds:
                await document.block(block)
            elif block not in document.blocks:
                await document.group(block)
            return
        await elapse(runtime, POLL_S)
    raise NoSuchBlockError(f"there is no block {block}")


def _is_known(document: Document, block: str) -> bool:
    outline = document.outline
    if block in outline.entries or block in outline.gone or block in document.blocks:
        return True
    return any(block in one.owes for one in document.blocks.values())
