"""Has pictures looked at by `server.pictures.worker`, each in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from pathlib import Path

from server.errors import BadMessageError
from server.pictures.bare import NOT_A_PICTURE, kind_of

AT_ONCE = 2
TIME_S = 30.0
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from server.pictures.worker import main; main(int(sys.argv[2]))"
)
MEDIA = {"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that may be kept: its file, what it is, and its size in pixels."""

    data: bytes
    media: str
    width: int
    height: int


class Checking:
    """Checks pictures of at most `pixels_max` pixels, AT_ONCE at a time."""

    def __init__(self, pixels_max: int, time_s: float = TIME_S) -> None:
        self._pixels_max = pixels_max
        self._time_s = time_s
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def check(self, data: bytes) -> Picture:
        """The picture as it is to be kept.

        BadMessageError: `not_a_picture`, `bad_picture`, `too_large`, in words for who has sent it.
        What no decoder would be asked about needs no process either.
        """
        if not kind_of(data):
            raise BadMessageError("not_a_picture", NOT_A_PICTURE)
        async with self._turn:
            out = await self._run(data)
        head, _, kept = out.partition(b"\n")
        try:
            told = json.loads(head)
        except ValueError:  # it was ended: by its limits, or by a decoder that fell over
            raise BadMessageError(
                "bad_picture", "this picture cannot be read: it is damaged, or asks for too much"
            ) from None
        if "code" in told:
            raise BadMessageError(told["code"], told["detail"])
        return Picture(kept, MEDIA[told["kind"]], told["width"], told["height"])

    async def _run(self, data: bytes) -> bytes:
        arguments = ("-I", "-c", PROGRAM, str(ROOT), str(self._pixels_max))
        environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment
        )
        try:
            async with asyncio.timeout(self._time_s):
                out, _ = await process.communicate(data)
        except TimeoutError:
            return b""
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return out
