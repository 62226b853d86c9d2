"""Where a state comes from and where it goes: sources, sinks, and the hash between them.

No time, no messages, no I/O. A hash is SHA-256 over everything from the beginning.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

DIGEST_BYTES = 32
"""Length of a hash."""


class StateSource(Protocol):
    """A copy of the state that can be read; what it holds never changes."""

    @property
    def size_bytes(self) -> int | None:
        """Length of the state, None when it is not known before the end."""
        ...

    def read(self, offset: int, size: int) -> bytes | None:
        """Up to `size` bytes from `offset`: empty at the end, None when there are none yet.

        After None the owner tells `SourceReady`. It is read from 0 on, once or several times; a
        source that cannot go back, or is damaged, raises, and counts as a null state.
        """
        ...

    def close(self) -> None:
        """Nobody needs it any more."""
        ...


class StateSink(Protocol):
    """Where a state that is taken is written to."""

    def write(self, data: bytes) -> bool:
        """The next bytes. False: no more before the owner tells `SinkReady`."""
        ...

    def reset(self) -> None:
        """What was written is void: the state is written again from the beginning."""
        ...


class BytesSource:
    """A state that is in memory as a whole."""

    def __init__(self, state: bytes) -> None:
        self._state = memoryview(state)

    @property
    def size_bytes(self) -> int:
        """Length of the state."""
        return len(self._state)

    def read(self, offset: int, size: int) -> bytes:
        """See `StateSource`."""
        return bytes(self._state[offset : offset + size])

    def close(self) -> None:
        """See `StateSource`."""
        self._state = memoryview(b"")


class MemorySink:
    """Keeps a state in memory."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> bool:
        """See `StateSink`."""
        self._pieces.append(data)
        return True

    def reset(self) -> None:
        """See `StateSink`."""
        self._pieces.clear()

    def state(self) -> bytes:
        """Everything that was written, as one."""
        return b"".join(self._pieces)


class Intake:
    """A sink with the hash and the length of what it holds; both media write through it.

    `ready`: whether the sink takes more now.
    """

    def __init__(self, sink: StateSink) -> None:
        self.sink = sink
        self.offset = 0
        self.ready = True
        self._hash = sha256()

    @property
    def digest(self) -> bytes:
        """The hash of everything that was written."""
        return self._hash.digest()

    def take(self, data: bytes, digest: bytes | None = None) -> bool:
        """Write the next bytes, unless the hash would not be `digest` then: False, as it was."""
        ahead = self._hash.copy()
        ahead.update(data)
        if digest is not None and ahead.digest() != digest:
            return False
        self._hash = ahead
        self.offset += len(data)
        self.ready = self.sink.write(data)
        return True

    def reset(self) -> None:
        """Begin again."""
        self.offset = 0
        self.ready = True
        self._hash = sha256()
        self.sink.reset()
