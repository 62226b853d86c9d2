"""Making a document: its blocks, its title, and at last its place in the list.

The blocks' ids follow from their places, so an attempt that was broken off is brought to its end by
the next one with the same document id, on any node, and nothing is there twice.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable

from groupcore.objects.refusal import BlockExistsError, TooLargeError
from groupcore.objects.rich_delta import Rich
from groupcore.shared.documents import Document
from groupcore.shared.documents.keeper import Keeper
from groupcore.shared.documents.limits import check_attributes, check_content
from groupcore.shared.documents.outline import BLOCKS_MAX
from groupcore.shared.documents.parts import Attributes, Seed
from groupcore.shared.documents.seeding import runs_of
from server.accounts.lists import Outline
from server.documents.catalogue import Catalogue, TooManyDocumentsError

NewBlock = tuple[Attributes, Rich]
"""Attributes and text of a block to be."""

EMPTY: list[NewBlock] = [((("type", "paragraph"),), ())]
"""A new document has one empty paragraph, so that whoever comes first types into the same."""


Settle = Callable[[str, Outline], Awaitable[None]]


async def leave_as_it_is(doc: str, outline: Outline) -> None:
    """A document without an access list is everybody's."""


def document_id(cluster: str, key: str) -> str:
    """A new id, the same for the same key, in this cluster."""
    if not key:
        return secrets.token_hex(8)
    return hashlib.blake2b(key.encode(), key=cluster.encode()[:64], digest_size=8).hexdigest()


def seeds_of(blocks: list[NewBlock]) -> list[Seed]:
    """The blocks with their ids; TooLargeError, BadChangeError when a document cannot have them."""
    if len(blocks) > BLOCKS_MAX:
        raise TooLargeError(f"a document may have {BLOCKS_MAX} blocks, this one has {len(blocks)}")
    for attributes, text in blocks:
        check_attributes(dict(attributes))
        check_content(text)
    return [
        Seed(f"b{number}", tuple(sorted(attributes)), text)
        for number, (attributes, text) in enumerate(blocks, 1)
    ]


async def make_document(
    keeper: Keeper,
    catalogue: Catalogue,
    doc: str,
    title: str,
    blocks: list[NewBlock],
    documents_max: int,
    settle: Settle = leave_as_it_is,
) -> bool:
    """Make the document of this id, unless it is there already; whether it was made.

    `settle` gives it its access list, once it is whole. Raises TooManyDocumentsError,
    TooLargeError, BadChangeError: then it is not in the list.
    """
    if doc in catalogue:
        return False
    if len(catalogue) >= documents_max:
        raise TooManyDocumentsError(f"the workspace holds {documents_max} documents at most")
    seeds = seeds_of(blocks or EMPTY)
    async with keeper.reading(doc) as document:
        if not document.outline.rights:  # else it is whole: somebody's since an attempt before
            await _fill(document, seeds)
            await document.outline.rename(title)
        await settle(doc, document.outline)
        return await catalogue.add(doc, title, documents_max)


async def _fill(document: Document, seeds: list[Seed]) -> None:
    """Put in the blocks that are not in."""
    outline = document.outline
    after = ""
    for run in runs_of(seeds):
        while missing := [
            one for one in run if one.id not in outline.entries and one.id not in outline.gone
        ]:
            try:
                await outline.insert(after, missing)
            except BlockExistsError:  # somebody else makes the same document
                await outline.refresh()
        after = run[-1].id
