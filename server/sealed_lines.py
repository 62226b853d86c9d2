"""Text files of one record a line, each line sealed by itself at its number.

A sealed line is `sealed:` and base64. So a file stays one of lines, to which a line is appended,
and whose last one a crash may cut short.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from struct import Struct

from groupcore.aio.box import Box
from groupcore.aio.data_key import write_whole
from groupcore.aio.errors import BrokenSealError, RestKeyError

MARK = b"sealed:"
_PLACE = Struct(">4sQ")


def seal_line(box: Box | None, number: int, line: bytes) -> bytes:
    """The line of this number, counted from 0, as it stands in the file; both without its end."""
    if box is None:
        return line
    return MARK + b64encode(box.seal(line, _PLACE.pack(b"line", number)))


def open_line(box: Box | None, number: int, stored: bytes) -> bytes:
    """What was written there; BrokenSealError, RestKeyError. Both without its end."""
    if not stored.startswith(MARK):
        return stored if box is None else box.open(stored)  # it says whether plain lines are right
    if box is None:
        raise RestKeyError("it is sealed, and what it was sealed with is not given")
    try:
        sealed = b64decode(stored[len(MARK) :], validate=True)
    except binascii.Error:
        raise BrokenSealError("a sealed line is no base64") from None
    return box.open(sealed, _PLACE.pack(b"line", number))


def plain_lines(path: Path, box: Box | None) -> Iterator[bytes]:
    """All lines as they were written, with their ends; BrokenSealError, RestKeyError, OSError."""
    with path.open("rb") as file:
        for number, stored in enumerate(file):
            end = b"\n" if stored.endswith(b"\n") else b""
            yield open_line(box, number, stored.removesuffix(b"\n")) + end


def has_plain(path: Path) -> bool:
    """Whether a line of the file is not sealed; OSError."""
    with path.open("rb") as file:
        return any(not line.startswith(MARK) for line in file)


def write_lines(path: Path, lines: Iterable[bytes], box: Box | None) -> None:
    """Have the file hold these lines, given with or without their ends, or stay; OSError."""
    whole = (line.removesuffix(b"\n") for line in lines)
    data = b"".join(seal_line(box, number, line) + b"\n" for number, line in enumerate(whole))
    write_whole(path, data)
