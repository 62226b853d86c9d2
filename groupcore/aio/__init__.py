"""The asyncio shell of groupcore: channels on sockets, the loop's clock and a disk."""

from groupcore.aio.channel import Channel
from groupcore.aio.errors import (
    JoinRefusedError,
    LineageError,
    PortInUseError,
    ReaderTooSlowError,
)
from groupcore.aio.inbox import Message
from groupcore.aio.key_file import read_key_file
from groupcore.aio.lineage import FileLineage, Lineage, MemoryLineage

__all__ = [
    "Channel",
    "FileLineage",
    "JoinRefusedError",
    "Lineage",
    "LineageError",
    "MemoryLineage",
    "Message",
    "PortInUseError",
    "ReaderTooSlowError",
    "read_key_file",
]
