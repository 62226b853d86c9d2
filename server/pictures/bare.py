"""A picture's file without what is not the picture: EXIF, GPS, comments, and what follows its end.

The parts of a file that are needed to show it are copied as they are, so nothing is decoded and
nothing gets worse. All else is left out: what is not known here is not needed.

Source. PNG 3rd edition (W3C), JPEG (ITU T.81, annex B), GIF89a, WebP container (RFC 9649).
"""

from __future__ import annotations

from collections.abc import Iterator

PNG = b"\x89PNG\r\n\x1a\n"
PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT bKGD pHYs acTL fcTL fdAT".split()
)
WEBP_KEPT = frozenset((b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"))
WEBP_EXIF_AND_XMP = 0b0000_1100
"""Flags of VP8X that say there are such chunks."""
GIF_LOOPS = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
"""Application extensions that say how often an animation runs."""
ICC = b"ICC_PROFILE\0"
ADOBE = b"Adobe"
JFIF = b"JFIF\0"


NOT_A_PICTURE = "this is no PNG, JPEG, GIF or WebP picture"
"""What is said of a file that `kind_of` does not know."""


class BrokenFileError(ValueError):
    """The file is not of the form that its beginning promises."""


def kind_of(data: bytes) -> str:
    """`png`, `jpeg`, `gif` or `webp` by the first bytes; empty for anything else."""
    if data.startswith(PNG):
        return "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return ""


def bare(data: bytes) -> bytes:
    """The file with nothing in it but the picture; BrokenFileError."""
    strip = {"png": _png, "jpeg": _jpeg, "gif": _gif, "webp": _webp}[kind_of(data)]
    try:
        return b"".join(strip(data))
    except IndexError:
        raise BrokenFileError("the file ends too early") from None


def _take(data: bytes, start: int, size: int) -> bytes:
    part = data[start : start + size]
    if len(part) != size:
        raise BrokenFileError("the file ends too early")
    return part


def _png(data: bytes) -> Iterator[bytes]:
    yield PNG
    at, name = len(PNG), b""
    while name != b"IEND":
        size = int.from_bytes(_take(data, at, 4), "big")
        name = _take(data, at + 4, 4)
        chunk = _take(data, at, size + 12)
        if name in PNG_KEPT:
            yield chunk
        at += len(chunk)


def _webp(data: bytes) -> Iterator[bytes]:
    end = min(len(data), 8 + int.from_bytes(_take(data, 4, 4), "little"))
    chunks, at = [], 12
    while at < end:
        name, size = _take(data, at, 4), int.from_bytes(_take(data, at + 4, 4), "little")
        chunk = _take(data, at, 8 + size)
        at += len(chunk) + (size & 1)
        if name == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~WEBP_EXIF_AND_XMP]) + chunk[9:]
        if name in WEBP_KEPT:
            chunks.append(chunk + b"\0" * (size & 1))
    body = b"WEBP" + b"".join(chunks)
    yield b"RIFF" + len(body).to_bytes(4, "little") + body


def _jpeg(data: bytes) -> Iterator[bytes]:
    yield data[:2]
    at = 2
    while True:
        if data[at] != 0xFF:
            raise BrokenFileError("a marker is missing")
        marker = data[at + 1]
        if marker == 0xFF:  # filling
            at += 1
            continue
        if marker == 0xD9:
            yield b"\xff\xd9"
            return
        if marker == 0x01 or 0xD0 <= marker <= 0xD7:
            at += 2
            continue
        size = int.from_bytes(_take(data, at + 2, 2), "big")
        segment = _take(data, at, size + 2)
        at += len(segment)
        if _is_kept(marker, segment[4:]):
            yield segment
        if marker == 0xDA:
            end = _scan_end(data, at)
            yield data[at:end]
            at = end


def _is_kept(marker: int, body: bytes) -> bool:
    """What decodes the picture, and says which colours it has."""
    if marker == 0xE0:
        return body.startswith(JFIF)
    if marker == 0xE2:
        return body.startswith(ICC)
    if marker == 0xEE:
        return body.startswith(ADOBE)
    return not (0xE0 <= marker <= 0xEF or marker == 0xFE)


def _scan_end(data: bytes, at: int) -> int:
    """Where the marker stands that follows the coded data from `at` on."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0:
            raise BrokenFileError("the file ends too early")
        if data[at + 1] == 0 or 0xD0 <= data[at + 1] <= 0xD7:
            at += 2
        else:
            return at


def _blocks_end(data: bytes, at: int) -> int:
    """Behind the sub-blocks of a GIF that begin at `at`."""
    while size := data[at]:
        at += 1 + size
    return at + 1


def _gif(data: bytes) -> Iterator[bytes]:
    at = 13 + (3 << ((data[10] & 7) + 1) if data[10] & 0x80 else 0)
    yield _take(data, 0, at)
    while data[at] != 0x3B:
        if data[at] == 0x21:
            label, body = data[at + 1], at + 2
            end = _blocks_end(data, body)
            is_kept = label == 0xF9 or (label == 0xFF and data[body + 1 : body + 12] in GIF_LOOPS)
        elif data[at] == 0x2C:
            flags = data[at + 9]
            body = at + 10 + (3 << ((flags & 7) + 1) if flags & 0x80 else 0)
            end = _blocks_end(data, body + 1)
            is_kept = True
        else:
            raise BrokenFileError("a block is of no known kind")
        if is_kept:
            yield _take(data, at, end - at)
        at = end
    yield b"\x3b"
