"""Looks at one picture, in a worker that does nothing else: what is kept of the file.

Decoders have had holes, and a small file may want much memory; so the process has limits, no secret
and no open file, and ends with the picture (`server.work`).
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageOps, ImageSequence

from server.pictures.bare import NOT_A_PICTURE, BrokenFileError, bare, kind_of
from server.work.process import RefusedWorkError

SIDE_MAX = 2560
"""Longest side of what is kept; more pixels help nobody in a document."""
FRAMES_MAX = 1000
TURNS = 10
"""An animation may have so many times the pixels of a still picture, all frames together."""
FORMATS = {"png": "PNG", "jpeg": "JPEG", "gif": "GIF", "webp": "WEBP"}
ORIENTATION = 0x0112
QUALITY = 85


class RefusedPictureError(RefusedWorkError):
    """It is not taken; `code` and the text are for the person who has sent it."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What came out: the file to keep, its kind and its size in pixels."""

    data: bytes
    kind: str
    width: int
    height: int


def look(data: bytes, pixels_max: int) -> Looked:
    """Check a file and make it fit to be kept; RefusedPictureError."""
    kind = kind_of(data)
    if not kind:
        raise RefusedPictureError("not_a_picture", NOT_A_PICTURE)
    Image.MAX_IMAGE_PIXELS = None  # the limit is checked here, before anything is decoded
    try:
        with Image.open(BytesIO(data), formats=(FORMATS[kind],)) as picture:
            check_size(picture, pixels_max)
            return _kept(data, kind, picture, pixels_max)
    except RefusedPictureError:
        raise
    except MemoryError:
        raise RefusedPictureError("too_large", "this picture needs too much memory") from None
    except Exception:  # decoders raise whatever they like: OSError, SyntaxError, struct.error
        raise RefusedPictureError(
            "bad_picture", "this picture is damaged and cannot be shown"
        ) from None


def check_size(picture: Image.Image, pixels_max: int) -> None:
    """Only what the header says is known yet."""
    width, height = picture.size
    if width * height > pixels_max:
        raise RefusedPictureError(
            "too_large",
            f"this picture has {width} x {height} pixels; "
            f"{pixels_max // 1_000_000} million are the most",
        )


def _kept(data: bytes, kind: str, picture: Image.Image, pixels_max: int) -> Looked:
    frames = getattr(picture, "n_frames", 1) if kind != "jpeg" else 1
    if frames > 1:
        check_length(picture, frames, pixels_max)
        return _animation(data, kind, picture)
    turned = picture.getexif().get(ORIENTATION, 1) not in (0, 1)
    picture.load()
    if turned or max(picture.size) > SIDE_MAX:
        return _again(kind, picture)
    try:
        return Looked(_checked(bare(data), picture), kind, *picture.size)
    except (BrokenFileError, OSError):  # what shows well although it breaks the rules of its format
        return _again(kind, picture)


def _checked(data: bytes, picture: Image.Image) -> bytes:
    """The bare file, which still shows the same picture."""
    with Image.open(BytesIO(data)) as again:
        again.load()
        if again.size != picture.size:
            raise BrokenFileError("another picture is left")
    return data


def check_length(picture: Image.Image, frames: int, pixels_max: int) -> None:
    """Animations are kept as they are, so all of their frames have to be small together."""
    width, height = picture.size
    if max(width, height) > SIDE_MAX:
        raise RefusedPictureError(
            "too_large",
            f"a moving picture may be {SIDE_MAX} pixels wide and high; this has {width} x {height}",
        )
    if frames > FRAMES_MAX or frames * width * height > TURNS * pixels_max:
        raise RefusedPictureError("too_large", "this moving picture is too long for its size")


def _animation(data: bytes, kind: str, picture: Image.Image) -> Looked:
    """As it is, if all of it can be shown."""
    for frame in ImageSequence.Iterator(picture):
        frame.load()
    try:
        return Looked(_checked(bare(data), picture), kind, *picture.size)
    except BrokenFileError:
        raise RefusedPictureError("bad_picture", "this moving picture is damaged") from None


def _again(kind: str, picture: Image.Image) -> Looked:
    """Turned the right way up, at most SIDE_MAX a side, written anew without what it carried."""
    shown = ImageOps.exif_transpose(picture)
    profile = picture.info.get("icc_profile")
    if kind == "gif":
        kind, shown = "png", shown.convert("RGBA")
    if shown.mode in ("P", "1", "I", "I;16"):
        shown = shown.convert("RGBA" if kind != "jpeg" else "RGB")
    shown.thumbnail((SIDE_MAX, SIDE_MAX), Image.Resampling.LANCZOS)
    for name in list(shown.info):
        del shown.info[name]
    out = BytesIO()
    options = {} if profile is None else {"icc_profile": profile}
    if kind == "jpeg":
        shown.save(out, "JPEG", quality=QUALITY, progressive=True, optimize=True, **options)
    elif kind == "webp":
        shown.save(out, "WEBP", quality=QUALITY, **options)
    else:
        shown.save(out, "PNG", optimize=True, **options)
    return Looked(out.getvalue(), kind, *shown.size)


def looked(data: bytes, pixels_max: int) -> object:
    """What a worker does: see `look`. Kind, width, height and the file."""
    found = look(data, pixels_max)
    return [found.kind, found.width, found.height, found.data]


Image.preinit()  # before the limits of the process are set
