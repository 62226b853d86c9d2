"""The asyncio shell of groupcore: channels on sockets, the loop's clock and a disk."""

from groupcore.aio.channel import Channel
from groupcore.aio.errors import (
    JoinRefusedError,
    LineageError,
    PortInUseError,
    ReaderTooSlowError,
    TransferError,
)
from groupcore.aio.group_node import GroupNode, Over
from groupcore.aio.inbox import Message
from groupcore.aio.key_file import KeyFile, read_key_file
from groupcore.aio.lineage import FileLineage, Lineage, MemoryLineage
from groupcore.aio.objects import Node
from groupcore.aio.states import AsyncSink, AsyncSource, FileSink, FileSource, StateProvider
from groupcore.shared.session import Session, SessionChange
from groupcore.transfer.events import SetState
from groupcore.transfer.sources import BytesSource, MemorySink, StateSink, StateSource

__all__ = [
    "AsyncSink",
    "AsyncSource",
    "BytesSource",
    "Channel",
    "FileLineage",
    "FileSink",
    "FileSource",
    "GroupNode",
    "JoinRefusedError",
    "KeyFile",
    "Lineage",
    "LineageError",
    "MemoryLineage",
    "MemorySink",
    "Message",
    "Node",
    "Over",
    "PortInUseError",
    "ReaderTooSlowError",
    "Session",
    "SessionChange",
    "SetState",
    "StateProvider",
    "StateSink",
    "StateSource",
    "TransferError",
    "read_key_file",
]
