"""Files that are pictures, or say so."""

from __future__ import annotations

import zlib
from io import BytesIO

from PIL import Image

GPS = 0x8825


def made(
    kind: str, size: tuple[int, int] = (40, 30), colour: str = "teal", **options: object
) -> bytes:
    """A picture of one colour."""
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, kind, **options)
    return out.getvalue()


def photo(orientation: int = 1, size: tuple[int, int] = (40, 30)) -> bytes:
    """A JPEG that says where it was taken, and by which camera."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = "Camera & Sons"
    exif.get_ifd(GPS)[1] = "N"
    exif.get_ifd(GPS)[2] = (52.0, 31.0, 12.0)
    picture = Image.new("RGB", size, "teal")
    picture.paste((200, 0, 0), (0, 0, size[0] // 2, size[1] // 2))
    out = BytesIO()
    picture.save(out, "JPEG", exif=exif, comment=b"secret", quality=90)
    return out.getvalue()


def moving(frames: int = 3, size: tuple[int, int] = (20, 10)) -> bytes:
    """A GIF that moves."""
    pictures = [Image.new("RGB", size, (number, 0, 200)) for number in range(frames)]
    out = BytesIO()
    pictures[0].save(
        out, "GIF", save_all=True, append_images=pictures[1:], duration=100, loop=0, comment=b"hush"
    )
    return out.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    """A chunk of a PNG."""
    return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")


def bomb(width: int, height: int) -> bytes:
    """A small PNG that says it is huge."""
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x01\0\0\0\0"
    data = zlib.compress(bytes((width // 8 + 1) * min(height, 1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
