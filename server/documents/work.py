"""Markdown in and out for a node: what is small at once, anything else by the node's workers."""

from __future__ import annotations

import re
from typing import cast

from groupcore.objects.rich_delta import plain
from server.documents.making import NewBlock
from server.documents.markdown import Imported, export_markdown, import_markdown
from server.errors import BadMessageError
from server.work.kinds import EXPORT, IMPORT
from server.work.pool import Does
from server.work.texts import Packed, blocks_of

PLAIN_MAX = 2_048
PLAIN = re.compile(r"[\w\s.,;:?'\"()/-]*")
"""Text without the signs that cost a parser much; up to PLAIN_MAX of it is worked on here."""
SMALL_MAX = 256
"""So much of any text is worked on here: the worst takes some milliseconds."""


def is_small(source: str) -> bool:
    """Whether a text costs the loop next to nothing, whatever it is."""
    if len(source) <= SMALL_MAX:
        return True
    return len(source) <= PLAIN_MAX and PLAIN.fullmatch(source) is not None


async def imported(work: Does, by: str, source: str, title: str) -> Imported:
    """The blocks of a Markdown text that somebody has sent; BadMessageError, RefusalError."""
    if is_small(source):
        return import_markdown(source, title)
    found = await work.run(IMPORT, by, len(source), source, title)
    made, blocks, files = cast("tuple[str, Packed, dict[str, bytes]]", found)
    return Imported(made, blocks_of(blocks), files)


async def exported(work: Does, by: str, title: str, blocks: list[NewBlock]) -> str:
    """A document as Markdown, for somebody; BadMessageError."""
    size = sum(len(run.text) for _, text in blocks for run in text) + 16 * len(blocks)
    if size <= PLAIN_MAX and is_small("\n".join([title, *(plain(text) for _, text in blocks)])):
        return export_markdown(title, blocks)
    found = await work.run(EXPORT, by, size, title, blocks)
    if not isinstance(found, str):
        raise BadMessageError("internal", "the server has failed on this request; see its log")
    return found
