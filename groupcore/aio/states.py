"""What an application gives and takes in a state transfer: providers, files, coroutines.

A provider is asked for a copy of the state at one place in the order; the copy is read later, a
chunk at a time, while the application goes on. Where bytes in memory will not do, the copy is a
`StateSource` and the state is taken into a `StateSink`; here are those for files and coroutines.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Protocol

from groupcore.aio.private import open_file
from groupcore.transfer.sources import StateSource


class StateProvider(Protocol):
    """Gives copies of the application's state."""

    def copy(self) -> bytes | StateSource | None:
        """A snapshot of the state as it is now; None: a null state.

        Called between two messages: the state holds everything that came before, nothing that
        comes after. It must not change when messages are applied later. What raises is a null
        state too, and is logged.
        """
        ...


class FileSource:
    """A file as it is: the application sees to it that it does not change."""

    def __init__(self, path: Path | str) -> None:
        self._file = Path(path).open("rb")  # noqa: SIM115  # open until close()
        self.size_bytes: int | None = self._file.seek(0, io.SEEK_END)

    def read(self, offset: int, size: int) -> bytes:
        """See `StateSource`."""
        self._file.seek(offset)
        return self._file.read(size)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class FileSink:
    """Writes a state into a file, which is emptied first; complete when `get_state` says so."""

    def __init__(self, path: Path | str) -> None:
        self._file = open_file(Path(path), "wb")

    def write(self, data: bytes) -> bool:
        """See `StateSink`."""
        self._file.write(data)
        return True

    def reset(self) -> None:
        """See `StateSink`."""
        self._file.seek(0)
        self._file.truncate()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class AsyncSource:
    """A state that a coroutine makes piece by piece, once from the beginning to the end.

    One piece is made ahead. The state cannot be given again from the beginning.
    """

    def __init__(self, pieces: AsyncIterator[bytes], size_bytes: int | None = None) -> None:
        self.size_bytes = size_bytes
        self.on_ready: Callable[[], None] = lambda: None
        self._pieces = pieces
        self._ahead = b""
        self._offset = 0
        self._ended = False
        self._error: BaseException | None = None
        self._making: asyncio.Task[None] | None = None

    def read(self, offset: int, size: int) -> bytes | None:
        """See `StateSource`; OSError when it is read at another place than the next."""
        if offset != self._offset:
            raise OSError("this state can be read only once, from the beginning to the end")
        if self._error is not None:
            raise self._error
        if not self._ahead:
            if self._ended:
                return b""
            self._making = self._making or asyncio.get_running_loop().create_task(self._make())
            return None
        data, self._ahead = self._ahead[:size], self._ahead[size:]
        self._offset += len(data)
        return data

    async def _make(self) -> None:
        try:
            while not self._ahead:
                self._ahead = bytes(await anext(self._pieces))
        except StopAsyncIteration:
            self._ended = True
        except Exception as error:  # told to whoever reads
            self._error = error
        self._making = None
        self.on_ready()

    def close(self) -> None:
        """Stop the coroutine."""
        if self._making is not None:
            self._making.cancel()


class AsyncSink:
    """Hands a state to a coroutine, piece by piece; the next one comes when it has returned.

    `restart` is called when what was handed over is void.
    """

    def __init__(
        self, write: Callable[[bytes], Awaitable[None]], restart: Callable[[], None]
    ) -> None:
        self.on_ready: Callable[[], None] = lambda: None
        self._write = write
        self._restart = restart
        self._waiting: list[bytes] = []
        self._writing: asyncio.Task[None] | None = None

    def write(self, data: bytes) -> bool:
        """See `StateSink`."""
        self._waiting.append(data)
        self._writing = self._writing or asyncio.get_running_loop().create_task(self._run())
        return False

    def reset(self) -> None:
        """See `StateSink`."""
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        self._waiting.clear()
        self._restart()

    async def _run(self) -> None:
        while self._waiting:
            await self._write(self._waiting.pop(0))
        self._writing = None
        self.on_ready()

    async def finished(self) -> None:
        """Wait until everything that has come was handed over; raises what the coroutine raised."""
        if self._writing is not None:
            await self._writing
