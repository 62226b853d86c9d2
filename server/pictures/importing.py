"""Pictures of a document that comes in as Markdown: files in the text, and pictures of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from groupcore.objects.rich_delta import Rich, joined, rich
from server.documents.making import NewBlock
from server.pictures.named import KIND, PICTURE
from server.pictures.naming import is_hash
from server.pictures.register import Kept
from server.pictures.service import PictureService


async def placed(
    pictures: PictureService,
    doc: str,
    blocks: list[NewBlock],
    files: Mapping[str, bytes],
    may_read: Callable[[str], bool],
    by: str,
) -> list[NewBlock]:
    """The blocks, with every picture that they name in the document; `by` waits for workers.

    A picture that who asks may not have becomes a text with its description. BadMessageError for a
    file that is no picture, or has no room; then the document is not made.
    """
    found: list[NewBlock] = []
    for given, text in blocks:
        attributes = dict(given)
        name = str(attributes.get(PICTURE, ""))
        if attributes.get("type") != KIND:
            found.append((given, text))
            continue
        if name in files:
            name, kept = await pictures.add(doc, files[name], by)
        else:
            known = await _copied(pictures, doc, name, may_read)
            if known is None:
                found.append(_told(str(attributes.get("alt", "")), text))
                continue
            kept = known
        attributes |= {PICTURE: name, "width": kept.width, "height": kept.height}
        found.append((tuple(sorted(attributes.items())), text))
    return found


async def _copied(
    pictures: PictureService, doc: str, name: str, may_read: Callable[[str], bool]
) -> Kept | None:
    """From any document that who asks may read."""
    if not is_hash(name):
        return None
    for source, uses in list(pictures.register.uses.items()):
        if name in uses and may_read(source):
            return await pictures.copy(source, doc, name)
    return None


def _told(alt: str, caption: Rich) -> NewBlock:
    words = rich(alt + " ") if alt and caption else rich(alt)
    return (("type", "paragraph"),), joined(words, caption)
