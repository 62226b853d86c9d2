"""Has pictures looked at by `server.pictures.worker`, each in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from server.errors import BadMessageError
from server.pictures.bare import NOT_A_PICTURE, kind_of
from server.work.kinds import picture_kind
from server.work.pool import TOO_COMPLEX, Does

MEDIA = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that may be kept: its file, what it is, and its size in pixels."""

    data: bytes
    media: str
    width: int
    height: int


class Checking:
    """Checks pictures of at most `pixels_max` pixels, by the node's workers."""

    def __init__(self, pixels_max: int, work: Does) -> None:
        self._pixels_max = pixels_max
        self._work = work

    async def check(self, data: bytes, by: str) -> Picture:
        """The picture as it is to be kept, for who has sent it.

        BadMessageError: `not_a_picture`, `bad_picture`, `too_large`, in words for who has sent it;
        `busy`, TooFastError. What no decoder would be asked about needs no process either.
        """
        if not kind_of(data):
            raise BadMessageError("not_a_picture", NOT_A_PICTURE)
        kind = picture_kind(self._pixels_max)
        try:
            told = await self._work.run(kind, by, len(data), data, self._pixels_max)
            return _picture(told)
        except BadMessageError as error:
            if error.code == TOO_COMPLEX:
                raise _unreadable() from None
            raise


def _picture(told: object) -> Picture:
    """Checked, as a decoder that has fallen to what it read says anything."""
    try:
        kind, width, height, data = cast("tuple[str, int, int, bytes]", told)
        sizes_fit = 0 < int(width) < 1 << 31 and 0 < int(height) < 1 << 31
        if not sizes_fit or kind_of(data) != kind:
            raise _unreadable()
        return Picture(data, MEDIA[kind], width, height)
    except (ValueError, TypeError, KeyError):
        raise _unreadable() from None


def _unreadable() -> BadMessageError:
    return BadMessageError(
        "bad_picture", "this picture cannot be read: it is damaged, or asks for too much"
    )
