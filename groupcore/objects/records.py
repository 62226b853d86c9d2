"""What a document remembers beside its content: recent transactions and clients' last verdicts.

Both decide later verdicts, so they are part of the replicated state: what is kept and what is
dropped depends on nothing but the ordered operations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from groupcore.objects.changes import Limits, Transaction, mentioned, size_bytes

ENTRY_BYTES = 256
"""What an entry of the history is counted for beside its changes."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A transaction as it was applied: `epoch` and `version` are the position after it.

    `repeated` says that this submit was answered before and has changed nothing now: do not send
    the update to others again. The changes of a repeated one may no longer be kept (empty then).
    """

    client: str
    op: int
    epoch: int
    version: int
    changes: Transaction
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A submit that was not applied; `code` as in docs/transactions.md, `message` for people.

    Refusals are part of the order too: the same submit sent again gets the same one, with
    `repeated` set.
    """

    client: str
    op: int
    code: str
    message: str
    repeated: bool = False


Verdict: TypeAlias = Applied | Refused


class History:
    """The last transactions of a document, bounded by number and by estimated bytes.

    `floor` is the position before the oldest one that is kept.
    """

    __slots__ = ("_entries", "_limits", "_mentioned", "_sizes", "_total_bytes", "floor")

    def __init__(self, floor: tuple[int, int], limits: Limits) -> None:
        self.floor = floor
        self._limits = limits
        self._entries: deque[Applied] = deque()
        self._mentioned: deque[frozenset[str | None]] = deque()
        self._sizes: deque[int] = deque()
        self._total_bytes = 0

    def append(self, entry: Applied) -> None:
        """Keeps the next transaction and drops the oldest ones above the bounds."""
        changes = entry.changes
        size = ENTRY_BYTES + sum(map(size_bytes, changes))
        self._entries.append(entry)
        self._mentioned.append(frozenset([name for one in changes for name in mentioned(one)]))
        self._sizes.append(size)
        self._total_bytes += size
        limits = self._limits
        while len(self._entries) > limits.history or self._total_bytes > limits.history_bytes:
            oldest = self._entries.popleft()
            self._mentioned.popleft()
            self._total_bytes -= self._sizes.popleft()
            self.floor = (oldest.epoch, oldest.version)

    def knows(self, epoch: int, version: int) -> bool:
        """Whether the document was at exactly this position, as far as the history goes."""
        if version == self.floor[1]:
            return epoch == self.floor[0]
        behind = version - self.floor[1]
        return 0 < behind <= len(self._entries) and self._entries[behind - 1].epoch == epoch

    def since(self, version: int) -> list[Applied]:
        """The transactions behind a version that is at or above the floor."""
        count = self._count_since(version)
        return [self._entries[place] for place in range(-count, 0)]

    def since_with_names(self, version: int) -> list[tuple[Applied, frozenset[str | None]]]:
        """As `since`, each with the block ids that its changes name."""
        count = self._count_since(version)
        return [(self._entries[place], self._mentioned[place]) for place in range(-count, 0)]

    def at(self, version: int) -> Applied | None:
        """The transaction that led to this version, None when it is not kept (any more)."""
        behind = version - self.floor[1]
        return self._entries[behind - 1] if 0 < behind <= len(self._entries) else None

    def __iter__(self) -> Iterator[Applied]:
        return iter(self._entries)

    def _count_since(self, version: int) -> int:
        return self.floor[1] + len(self._entries) - version


@dataclass(frozen=True, slots=True)
class ClientRecord:
    """The last operation of a client and what became of it.

    `code` and `message` are empty when it was applied. `epoch`, `version` and `applied_op` belong
    to its last operation that was applied (0: none).
    """

    op: int
    digest: bytes
    code: str
    message: str
    epoch: int
    version: int
    applied_op: int


class ClientTable:
    """The newest clients by the version of their last applied operation.

    Clients that never had one applied are dropped first. A dropped client's operation 1 could be
    sent again and would count as new; it is still not applied twice, because its base is older
    than the history. That holds while more clients than transactions are kept.
    """

    __slots__ = ("_clients_max", "_refused", "_writers")

    def __init__(self, clients_max: int) -> None:
        self._clients_max = clients_max
        self._writers: dict[str, ClientRecord] = {}
        self._refused: dict[str, ClientRecord] = {}

    def get(self, client: str) -> ClientRecord | None:
        """What is remembered of the client."""
        record = self._writers.get(client)
        return record if record is not None else self._refused.get(client)

    def put(self, client: str, record: ClientRecord) -> None:
        """Remembers the verdict on the client's operation."""
        if not record.code:
            self._refused.pop(client, None)
            self._writers.pop(client, None)  # so that it becomes the newest
            self._writers[client] = record
        elif record.applied_op:
            self._writers[client] = record
        else:
            self._refused[client] = record
        if len(self._writers) + len(self._refused) > self._clients_max:
            oldest = self._refused or self._writers
            del oldest[next(iter(oldest))]

    def items(self) -> Iterator[tuple[str, ClientRecord]]:
        """All clients, the first to be dropped first; `put` in this order gives the same table."""
        yield from self._refused.items()
        yield from self._writers.items()
