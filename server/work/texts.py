"""What a worker does with Markdown: these run in its process, never in the node's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from groupcore.objects.refusal import RefusalError
from groupcore.objects.rich_delta import Run
from server.documents.markdown import export_markdown, import_markdown
from server.work.process import RefusedWorkError

if TYPE_CHECKING:
    from server.documents.making import NewBlock

Packed = tuple[tuple[Any, Any], ...]
"""Blocks as MessagePack carries them: attributes, and runs as pairs."""


def imported(source: str, title: str) -> object:
    """Title, blocks and files of a Markdown text."""
    try:
        found = import_markdown(source, title)
    except RefusalError as error:
        raise RefusedWorkError(error.code, str(error)) from None
    return [found.title, found.blocks, found.files]


def exported(title: str, blocks: Packed) -> object:
    """The Markdown of blocks."""
    return export_markdown(title, blocks_of(blocks))


def blocks_of(found: Packed) -> list[NewBlock]:
    """Blocks as they were."""
    return [
        (cast("Any", attributes), tuple(Run(words, marks) for words, marks in text))
        for attributes, text in found
    ]
