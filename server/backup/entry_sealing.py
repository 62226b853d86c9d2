"""Seals the documents and pictures in a backup's bytes under keys of their own, as they pass by.

The bytes are those of a tar. Of an entry that is to be sealed the whole passes at once, with the
size in its header that it has when it is sealed; everything else passes as it is. The list of
pictures passes before them: what it says of documents and their pictures is kept with the keys.
"""

from __future__ import annotations

import tarfile
from typing import cast

from groupcore.shared.errors import MisfitError
from groupcore.shared.messages import unpack
from groupcore.shared.object import declaration
from server.backup.keys import Keys, seal_entry
from server.pictures.register import Pictures, Use

SEALED = ("documents/", "pictures/")
LISTS_PICTURES = "objects/pictures"
BLOCK = tarfile.BLOCKSIZE


class EntrySealing:
    """Feed it the bytes; `keys` are those of the entries that have passed."""

    def __init__(self) -> None:
        self.keys = Keys()
        self._waiting = bytearray()
        self._passing = 0
        self._is_over = False

    def feed(self, data: bytes) -> bytes:
        """What can pass of the bytes up to here; OSError where they are not a backup's."""
        self._waiting += data
        passed = bytearray()
        while piece := self._next():
            passed += piece
        return bytes(passed)

    def end(self) -> bytes:
        """What is left: of bytes that are cut off in the middle of an entry, too."""
        left = bytes(self._waiting)
        self._waiting.clear()
        return left

    def _take(self, size: int) -> bytes:
        taken = bytes(self._waiting[:size])
        del self._waiting[:size]
        return taken

    def _next(self) -> bytes:
        """Some more that can pass; empty where it has to wait."""
        if self._is_over:
            return self._take(len(self._waiting))
        if self._passing:
            passed = self._take(self._passing)
            self._passing -= len(passed)
            return passed
        if len(self._waiting) < BLOCK:
            return b""
        block = bytes(self._waiting[:BLOCK])
        if not block.strip(b"\0"):
            self._is_over = True
            return self._take(len(self._waiting))
        try:
            head = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        except (tarfile.HeaderError, UnicodeError) as error:
            raise OSError(f"it is no backup: {error}") from None
        return self._entry(head)

    def _entry(self, head: tarfile.TarInfo) -> bytes:
        whole = BLOCK + -(-head.size // BLOCK) * BLOCK
        is_sealed = head.name.startswith(SEALED)
        if not is_sealed and head.name != LISTS_PICTURES:
            self._passing = whole
            return self._next()
        if len(self._waiting) < whole:
            return b""
        entry = self._take(whole)
        body = entry[BLOCK : BLOCK + head.size]
        if not is_sealed:
            self.keys.uses = uses_in(body)
            return entry
        body = seal_entry(self.keys.make(head.name), head.name, body)
        head.size = len(body)
        return head.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % BLOCK)


def uses_in(packed: bytes) -> dict[str, list[str]]:
    """Which pictures each document has, of the list of pictures as a backup has it; OSError."""
    try:
        fields = unpack(packed)
        assert isinstance(fields, dict), "the fields of an object"
        codec = declaration(Pictures()).fields["uses"].codec
        uses = cast("dict[str, dict[str, Use]]", codec.from_wire(fields["uses"]))
    except (MisfitError, AssertionError, LookupError, ValueError, TypeError) as error:
        raise OSError(f"its list of pictures cannot be read: {error}") from None
    return {doc: list(names) for doc, names in uses.items()}
