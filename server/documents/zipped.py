"""A document as one file: its Markdown, and the pictures that it names."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

from server.documents.scratch import Scratch

MEMORY_BYTES = 8 << 20
"""What is larger goes by the disk, sealed."""
DATED = (1980, 1, 1, 0, 0, 0)
"""The same document is the same file."""


class Zipped:
    """Takes the parts; `file` is whole after `end`, and gone when it is closed."""

    def __init__(self) -> None:
        self.file = io.BufferedRandom(Scratch(MEMORY_BYTES))
        self._zip = zipfile.ZipFile(self.file, "w")

    def add(self, name: str, data: bytes, packed: bool = False) -> None:
        """One part; pictures are packed already."""
        how = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        self._zip.writestr(zipfile.ZipInfo(name, DATED), data, how)

    def end(self) -> Iterable[bytes]:
        """The pieces of the whole."""
        self._zip.close()
        self.file.seek(0)
        with self.file:
            while piece := self.file.read(1 << 18):
                yield piece
