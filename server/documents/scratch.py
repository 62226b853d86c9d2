"""A file for what is made in between: in memory, and on the disk sealed where it is large.

What goes by the disk is sealed a page at a time under a key that is in memory alone, in a file
without a name: nobody reads it after this program, or beside it.
"""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from groupcore.aio.box import OVERHEAD_BYTES, Box
from server.paged_file import PAGE_BYTES, PagedFile

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STORED_BYTES = PAGE_BYTES + OVERHEAD_BYTES


class Scratch(PagedFile):
    """Read and written anywhere, by one thread at a time; `memory_bytes` of it need no disk.

    OSError where the disk is full.
    """

    def __init__(self, memory_bytes: int) -> None:
        super().__init__()
        self._room = max(1, memory_bytes // PAGE_BYTES)
        self._pages: dict[int, bytearray] = {}
        self._box = Box.scratch("scratch")
        self._file: IO[bytes] | None = None

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: ReadableBuffer) -> int:
        """All of it; OSError."""
        given = memoryview(data).cast("B")
        done = 0
        while done < len(given):
            number, offset = divmod(self._at, PAGE_BYTES)
            piece = given[done : done + PAGE_BYTES - offset]
            self._page(number)[offset : offset + len(piece)] = piece
            done += len(piece)
            self._at += len(piece)
            self._size = max(self._size, self._at)
        return done

    def close(self) -> None:
        """It is gone."""
        self._pages.clear()
        if self._file is not None:
            self._file.close()
        super().close()

    def _page(self, number: int) -> bytearray:
        """A page, in memory; the one that was used longest ago makes room."""
        page = self._pages.pop(number, None)
        if page is None:
            if len(self._pages) >= self._room:
                self._put(next(iter(self._pages)))
            page = self._get(number)
        self._pages[number] = page
        return page

    def _put(self, number: int) -> None:
        if self._file is None:
            self._file = TemporaryFile(buffering=0)  # noqa: SIM115  # closed with this
        page = bytes(self._pages[number])
        self._file.seek(number * STORED_BYTES)
        self._file.write(self._box.seal(page, number.to_bytes(8, "big")))
        del self._pages[number]

    def _get(self, number: int) -> bytearray:
        if self._file is not None:
            self._file.seek(number * STORED_BYTES)
            stored = self._file.read(STORED_BYTES)
            if stored.strip(b"\0"):  # a page that was passed over is a hole, or behind the end
                return bytearray(self._box.open(stored, number.to_bytes(8, "big")))
        return bytearray(PAGE_BYTES)
