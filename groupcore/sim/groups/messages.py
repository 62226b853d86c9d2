"""Messages to groups: who they are from, which they are, and how often they are to be answered."""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from msgpack import Unpacker, packb
from msgpack.exceptions import UnpackException

from groupcore.sequencing.names import GroupId, Process
from groupcore.sim.messages import content_hash
from groupcore.sim.trace_groups import GroupProcess, flatten_process


class Content(NamedTuple):
    """What a message says: its sender, its group, which of the sender's it is, answers wanted."""

    process: GroupProcess
    group: GroupId
    number: int
    depth: int


def compose(process: Process, group: GroupId, number: int, depth: int, size_bytes: int) -> bytes:
    """A message of about that size; its filler depends on the rest, so that a mix-up shows."""
    content = Content(flatten_process(process), group, number, depth)
    head: bytes = packb(content)
    filler = b"%08x" % crc32(head)
    return head + (filler * (max(size_bytes - len(head), 8) // 8 + 1))


def read(payload: bytes) -> Content:
    """What a message says; what is not one of ours becomes one that nobody has sent."""
    unpacker = Unpacker()
    unpacker.feed(payload)
    try:
        match unpacker.unpack():
            case [[str(name), int(life), int(process)], int(group), int(number), int(depth)]:
                return Content((name, life, process), group, number, depth)
    except (UnpackException, ValueError, TypeError):
        pass  # an insider's
    return Content(("?", 0, 0), 0, content_hash(payload), 0)
