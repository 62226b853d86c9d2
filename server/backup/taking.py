"""Taking a backup at a node, while people write.

Idea. What a node has between two events is a cut: it has delivered, of every group, all that what
it has delivered rests on. So accounts, list and audit log are packed in one turn; each document,
when its blocks are open, in another; pictures last, as a picture is listed before a block names
it. What is written behind its document's turn is not in the backup.

A part that the cluster interrupts, as it goes on without this node, is taken again
(`server.backup.resuming`); the parts before it stay.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from groupcore.objects.rich_delta import Rich
from groupcore.objects.rich_parsing import to_wire
from groupcore.shared.documents import Document
from groupcore.shared.documents.handing import UNBORN
from groupcore.shared.documents.parts import Attributes
from groupcore.shared.documents.shown import Shot
from groupcore.shared.messages import pack
from groupcore.shared.object import declaration
from groupcore.shared.places import Thing
from groupcore.shared.places.talk import Remark
from groupcore.shared.schema import codec_of
from server import VERSION
from server.accounts.audit_file import KIND
from server.backup.archive import AUDIT, Writer
from server.backup.fields import packed_fields
from server.backup.resuming import outlasting
from server.documents.catalogue import PLACE, Catalogue, Listed
from server.errors import BadMessageError
from server.node import Node
from server.places.reading import ALL_CELLS
from server.places.reading import whole as whole_place
from server.places.talk import REMARKS, talk_of
from server.sealed_lines import plain_lines

LISTED, KINDS = "_items", "kinds"
"""The fields of the list of documents and places."""
THINGS = codec_of(list[Thing])
ATTEMPTS = 50
"""So often blocks that came while others were opened are opened, too."""


def whole(document: Document) -> Shot | None:
    """The document as it is in this turn; None when not all of it is open here."""
    outline, shot = document.outline, []
    for block, content in document.screen():
        if content is None:
            return None
        shot.append((block, attributes_of(document, block), content))
    assert len(shot) >= len(outline.order), "a screen has all blocks"
    return shot


def attributes_of(document: Document, block: str) -> Attributes:
    """Where the text is, there the attributes are: in the block, the seed, or on their way."""
    found, seed = document.blocks.get(block), document.outline.seeds.get(block)
    if found is not None and found.status != UNBORN:
        return tuple(sorted(found.attributes.items()))
    if seed is not None:
        return seed.attributes
    for other in document.blocks.values():
        for parcel in other.owes.get(block, ()):
            if parcel.kind == "birth":
                return parcel.attributes
    return ()


async def cut(document: Document) -> Shot:
    """The whole document at one place; BadMessageError `busy` when it does not come to rest."""
    for _ in range(ATTEMPTS):
        await document.snapshot()  # opens what is not open
        shot = whole(document)
        if shot is not None:
            return shot
    raise BadMessageError("busy", "a document changes too fast for a backup; try again")


def packed_document(title: str, shot: Shot) -> bytes:
    """As it stands in the file."""
    return pack([title, [block_to_wire(block, given, text) for block, given, text in shot]])


def packed_place(title: str, things: Sequence[Thing], talk: Sequence[Remark] = ()) -> bytes:
    """As it stands in the file: how often a thing was handed over is its order's alone.

    Nothing stands there of a chat in which nothing was said, as in backups of former versions.
    """
    settled = [replace(one, hops=0) for one in things]
    said = {"talk": REMARKS.to_wire(list(talk))} if talk else {}
    return pack({"place": title, "things": THINGS.to_wire(settled), **said})


def block_to_wire(block: str, attributes: Attributes, text: Rich) -> list[object]:
    """Id, attributes and text."""
    return [block, [list(pair) for pair in attributes], to_wire(text)]


def hash_of(packed: bytes) -> str:
    """What a document is compared by."""
    return sha256(packed).hexdigest()


async def take(node: Node) -> AsyncIterator[bytes]:
    """The file, a piece at a time; BadMessageError, GroupcoreError when it cannot go on."""
    writer = Writer(about(node))
    listed, first = await outlasting("the list of documents", lambda: _first(node, writer))
    for piece in first:
        yield piece
    for doc in listed:
        count, packed = await outlasting("a document", partial(_item, node, doc))
        writer.manifest.documents[doc] = {"blocks": count, "sha256": hash_of(packed)}
        yield writer.entry(f"documents/{doc}", packed)
    register = node.pictures.register
    await outlasting("the list of pictures", register.refresh)
    uses = {doc: dict(names) for doc, names in register.uses.items()}
    yield writer.entry("objects/pictures", packed_fields(register))
    for name in sorted({name for names in uses.values() for name in names}):
        doc = next(doc for doc, names in uses.items() if name in names)
        _, data = await outlasting("a picture", partial(node.pictures.read, doc, name))
        yield writer.entry(f"pictures/{name}", data)
    yield writer.end()


async def _first(node: Node, writer: Writer) -> tuple[list[str], list[bytes]]:
    """The documents that are to come, and what is packed in one turn with their list."""
    catalogue, files = node.whole_catalogue, node.files
    await catalogue.refresh()
    # In one turn: no await from here on.
    pieces = [writer.begin(), writer.entry("objects/documents", packed_list(catalogue))]
    pieces.append(writer.entry("objects/accounts", packed_fields(files.accounts)))
    pieces.append(writer.entry("objects/activity", packed_fields(files.activity)))
    log = node.settings.data / AUDIT
    if log.is_file():
        lines = plain_lines(log, node.seals.box(KIND))
        pieces.append(writer.entry(AUDIT, b"".join(lines)))
    return list(catalogue), pieces


def packed_list(catalogue: Catalogue) -> bytes:
    """The list of documents, without titles: each stands with its document."""
    untitled = {doc: Listed("", one.created_s) for doc, one in catalogue.items()}
    items = declaration(catalogue).fields[LISTED].codec.kept_to_wire(untitled)
    return pack({LISTED: items, KINDS: [list(pair) for pair in catalogue.kinds.items()]})


async def _item(node: Node, doc: str) -> tuple[int, bytes]:
    """How many blocks or things it has, and the whole of it at one place, packed."""
    if node.whole_catalogue.kind_of(doc) == PLACE:
        async with node.keepers.places.holding(doc) as minding:
            talk = await talk_of(minding)
            things = await whole_place(minding, ALL_CELLS)
            # No await from here on: it is one turn.
            title, said = minding.place.outline.title, list(talk.remarks.values())
            return len(things), packed_place(title, things, said)
    async with node.keeper.holding(doc) as document:
        shot = await cut(document)
        return len(shot), packed_document(document.outline.title, shot)


def about(node: Node) -> dict[str, Any]:
    """What was backed up, and when."""
    return {
        "cluster": node.settings.cluster,
        "node": node.settings.node_id,
        "version": VERSION,
        "accounts": node.accounts is not None,
        "taken_s": int(time.time()),
    }
