"""A file that is read a page at a time: what is the same whatever the pages are made of."""

from __future__ import annotations

import io
import os
from abc import abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PAGE_BYTES = 1 << 16


class PagedFile(io.RawIOBase):
    """Read anywhere, by one thread at a time; `size` bytes long. OSError where a page cannot be
    had."""

    def __init__(self, size: int = 0) -> None:
        self._size = size
        self._at = 0

    @abstractmethod
    def _page(self, number: int) -> bytes | bytearray:
        """A page, from the first one, 0; the last one may be shorter. OSError."""

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """As files do."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        """Where it is."""
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Some bytes, of one page; OSError."""
        room = memoryview(buffer).cast("B")
        number, offset = divmod(self._at, PAGE_BYTES)
        count = max(0, min(len(room), PAGE_BYTES - offset, self._size - self._at))
        if count:
            room[:count] = self._page(number)[offset : offset + count]
        self._at += count
        return count
