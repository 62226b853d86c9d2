"""A protocol layer of one's own: bodies for which it pays travel compressed."""

import asyncio
import zlib
from dataclasses import dataclass
from typing import ClassVar

from groupcore.aio import Channel
from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Up
from groupcore.headers import OWN_CODES, travels
from groupcore.layer import Layer
from groupcore.stacks import DEFAULT_STACK, Parts, register_layer

SIZE_MAX = 16 << 20


@travels(OWN_CODES)
@dataclass(slots=True)
class Packed(Header):
    """Sender to receivers: the body is compressed, and was this large."""

    kind: ClassVar[str] = "zip.packed"
    size: int


@dataclass(frozen=True, slots=True)
class ZipOptions:
    """Bodies up to `above_bytes` stay as they are."""

    above_bytes: int = 1_000


class Zip(Layer):
    """Compresses on the way down, and restores on the way up what has its header."""

    name = "ZIP"
    headers = (Packed,)

    def __init__(self, options: ZipOptions) -> None:
        self.options = options
        self.saved = self.dropped = 0

    def counters(self) -> dict[str, int]:
        return {"saved_bytes": self.saved, "dropped": self.dropped}

    def on_down(self, batch: Batch, now: float) -> list[Effect]:
        if batch.size_bytes <= self.options.above_bytes:
            return [Down(batch)]
        body = zlib.compress(batch.body, 1)
        self.saved += batch.size_bytes - len(body)
        packed = batch.with_header(Packed(batch.size_bytes))
        packed.body = body
        return [Down(packed)]

    def on_up(self, batch: Batch, now: float) -> list[Effect]:
        header = batch.headers[-1]
        assert isinstance(header, Packed)
        whole = batch.without_header()
        try:
            # A member may say anything: no more is restored than it has said, and than may be.
            whole.body = zlib.decompressobj().decompress(batch.body, min(header.size, SIZE_MAX))
        except zlib.error:
            whole.body = b""
        if len(whole.body) != header.size:
            self.dropped += 1
            return []
        return [Up(whole)]


def made(parts: Parts) -> Zip:
    assert isinstance(parts.options, ZipOptions)
    return Zip(parts.options)


async def main() -> None:
    register_layer(Zip, made, ZipOptions())
    stack = DEFAULT_STACK.replace(":SEQUENCER", ":ZIP(above_bytes=100):SEQUENCER")
    async with Channel("letters", node_id="ann", stack=stack) as ann:
        async with Channel("letters", node_id="bob", stack=stack) as bob:
            await ann.multicast(b"short")
            await ann.multicast(b"la " * 1_000)
            heard = 0
            async for message in bob:
                print(message.origin.name, "has sent", len(message.payload), "bytes")
                heard += 1
                if heard == 2:
                    break
        print("kept off the network:", ann.counters()["ZIP.saved_bytes"] > 2_000)


asyncio.run(main())
