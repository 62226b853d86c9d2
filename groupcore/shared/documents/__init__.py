"""Documents as groups of shared objects: an outline, and a block for each paragraph.

`open_document` gives a document at a node; docs/shared/documents.md says how to use it.
"""

from groupcore.shared.documents.block import Block
from groupcore.shared.documents.document import Document, open_document
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import Edited, Elsewhere, Entry, Seed
from groupcore.shared.documents.tending import Host

__all__ = [
    "Block",
    "Document",
    "DocumentOutline",
    "Edited",
    "Elsewhere",
    "Entry",
    "Host",
    "Seed",
    "open_document",
]
