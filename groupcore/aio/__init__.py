"""The asyncio shell of groupcore: channels on sockets, the loop's clock and a disk."""

from groupcore.aio.channel import Channel, JoinRefusedError
from groupcore.aio.inbox import Message, ReaderTooSlowError
from groupcore.aio.key_file import read_key_file
from groupcore.aio.lineage import FileLineage, Lineage, LineageError, MemoryLineage
from groupcore.aio.udp import PortInUseError

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
